//! What accesses to global memory cost, in the unit of the GPU: sectors from Volta on, and the
//! transactions of older models. Columns and the labs' sentences read it. Pure.

use std::fmt;

use device::Counters;
use simt::counts::{ByKind, MemoryCounters, ModelCounters, TransactionCounters};

use crate::units::three_digits;

/// The first compute capability whose profiler counts sectors and not transactions.
const SECTORS_SINCE: (u32, u32) = (7, 0);

const SECTOR_BYTES: u64 = 32;

/// The cost of a kind of access to global memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// `sectors` or `transactions`.
    pub unit: &'static str,
    /// How many of them all requests take.
    pub total: u64,
    /// How many of them a request takes, on average.
    pub per_request: f64,
    /// How much is moved for what was requested: sectors over the fewest that could hold it, or
    /// bytes over bytes. 1 is perfect.
    pub per_ideal: f64,
    /// The percentage of the bytes moved that was requested.
    pub percent_used: f64,
}

impl Cost {
    /// The cost of loads; `None` without any.
    pub fn of_loads(counters: &Counters) -> Option<Self> {
        let ByKind { load, .. } = counters.global;
        Self::of(load, old_model(counters).map(|model| model.global_load))
    }

    /// The cost of stores; `None` without any.
    pub fn of_stores(counters: &Counters) -> Option<Self> {
        let ByKind { store, .. } = counters.global;
        Self::of(store, old_model(counters).map(|model| model.global_store))
    }

    fn of(counted: MemoryCounters, old: Option<TransactionCounters>) -> Option<Self> {
        Some(match old {
            Some(old) if counted.requests > 0 => Self {
                unit: "transactions",
                total: old.transactions,
                per_request: old.transactions as f64 / counted.requests as f64,
                per_ideal: old.moved_per_asked()?,
                percent_used: old.percent_used()?,
            },
            _ => Self {
                unit: "sectors",
                total: counted.sectors,
                per_request: counted.sectors_per_request()?,
                per_ideal: counted.sectors_per_ideal()?,
                percent_used: counted.percent_of_bytes_used()?,
            },
        })
    }
}

/// What a request takes, with the unit: `4.00 sectors`.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", three_digits(self.per_request), self.unit)
    }
}

/// The bytes that loads from global memory, stores to it and atomic operations on it move; on older
/// models, those of loads and stores.
pub(super) fn bytes_moved(counters: &Counters) -> u64 {
    match old_model(counters) {
        Some(old) => old.global_load.bytes_moved + old.global_store.bytes_moved,
        None => {
            let ByKind { load, store, atomic, reduction, .. } = counters.global;
            SECTOR_BYTES * [load, store, atomic, reduction].map(|kind| kind.sectors).iter().sum::<u64>()
        }
    }
}

/// The counters of the launch's model, if that is of a GPU whose profiler counts transactions.
pub(super) fn old_model(counters: &Counters) -> Option<ModelCounters> {
    counters.model.filter(|counted| counted.model.compute_capability < SECTORS_SINCE)
}
