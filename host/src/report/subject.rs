//! Which counters a table shows. A lab names its subjects, each of which is a few measures. Pure.

use simt::{ByKind, Counters};

use super::measure::Measure;
use super::measures;

/// A subject of counters. A lab chooses the subjects that its table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Loads from global memory: sectors per request, and how much of each sector is used.
    GlobalLoads,
    /// All sectors of those loads.
    GlobalLoadTotals,
    /// Stores to global memory, likewise.
    GlobalStores,
    /// The number of requests to global memory.
    GlobalRequests,
    /// Loads from shared memory: wavefronts per request.
    SharedLoads,
    /// Stores to shared memory, likewise.
    SharedStores,
    /// The total number of bank conflicts.
    BankConflicts,
    /// Active lanes of a warp instruction.
    ActiveLanes,
    /// Warp instructions, of PTX.
    Instructions,
    /// Atomic operations on global and on shared memory.
    Atomics,
    /// Loads from constant memory: requests, and addresses per request.
    Constants,
    /// Textures: requests, and sectors per request.
    Textures,
    /// Textures: requests, and all of their sectors.
    TextureTotals,
    /// Local memory: sectors.
    LocalMemory,
}

impl Subject {
    /// Its columns.
    pub(super) fn measures(self) -> &'static [Measure] {
        match self {
            Self::GlobalLoads => measures::LOADS,
            Self::GlobalLoadTotals => measures::LOAD_TOTALS,
            Self::GlobalStores => measures::STORES,
            Self::GlobalRequests => measures::REQUESTS,
            Self::SharedLoads => measures::SHARED_LOADS,
            Self::SharedStores => measures::SHARED_STORES,
            Self::BankConflicts => measures::BANK_CONFLICTS,
            Self::ActiveLanes => measures::ACTIVE_LANES,
            Self::Instructions => measures::INSTRUCTIONS,
            Self::Atomics => measures::ATOMICS,
            Self::Constants => measures::CONSTANTS,
            Self::Textures => measures::TEXTURES,
            Self::TextureTotals => measures::TEXTURE_TOTALS,
            Self::LocalMemory => measures::LOCAL_MEMORY,
        }
    }

    /// The subjects for a kernel that is not a lab's.
    pub(super) fn of(counters: &Counters) -> Vec<Self> {
        let ByKind { load, store, atomic, reduction, .. } = counters.global;
        let shared = &counters.shared;
        let kinds = [&shared.load, &shared.store, &shared.atomic, &shared.reduction, &shared.copy];
        let atomics = [atomic.requests, reduction.requests, shared.atomic.requests, shared.reduction.requests];
        let all = [
            (Self::GlobalLoads, load.requests > 0),
            (Self::GlobalStores, store.requests > 0),
            (Self::SharedLoads, shared.load.requests > 0),
            (Self::SharedStores, shared.store.requests > 0),
            (Self::BankConflicts, kinds.iter().any(|access| access.requests > 0)),
            (Self::Atomics, atomics.iter().any(|&requests| requests > 0)),
            (Self::Constants, counters.constant.requests > 0),
            (Self::Textures, counters.texture.requests > 0),
            (Self::LocalMemory, counters.local.load.requests + counters.local.store.requests > 0),
            (Self::GlobalRequests, load.requests + store.requests > 0),
            (Self::ActiveLanes, true),
            (Self::Instructions, true),
        ];
        all.into_iter().filter(|(_, concerned)| *concerned).map(|(subject, _)| subject).collect()
    }
}
