//! Models of GPUs, one for each architecture: how it cuts accesses into transactions, what its
//! caches hold, what fits on a multiprocessor.
//!
//! Without a model a launch counts what Volta and all later GPUs have in common, and is fast. With
//! one ([`Launch::model`](crate::Launch::model)) the grid runs as that GPU would run it: blocks
//! resident side by side on its multiprocessors, their accesses going through its L1 and L2 caches.
//! The report then has [`ModelCounters`] as well.
//!
//! - `gpu`: what a model is; `data`: the models and where each number comes from;
//! - `transactions`: global memory, `banks`: shared memory, as pure functions of one warp's access;
//! - `occupancy`: how many blocks fit on a multiprocessor, and what limits them; `placement`: on
//!   which multiprocessors the blocks of a launch run;
//! - `priority`: which lines L2 keeps; `cache`: a cache with sets, lines and sectors; `multiprocessor`: L1 and the path to it;
//!   `read_only`: Kepler's read-only cache; `chip`: L2 and DRAM;
//! - `counters`: what is counted; `timing`: how fast each model is, in the terms of `rates`;
//!   `links`: how fast data comes to it; `traffic`, `sources`, `atomics` and `partitions`: what more a launch counts if it asks for its
//!   time.
//!
//! The machine's side, which block runs where and when, is `machine/schedule/resident.rs`; it calls
//! into this folder, and `machine/observe/model.rs` passes the requests. Nothing here reads the
//! memory of a program: a model only counts.

mod atomics;
mod banks;
mod cache;
mod chip;
mod counters;
mod data;
mod gpu;
mod links;
mod multiprocessor;
mod occupancy;
mod partitions;
mod placement;
mod priority;
mod rates;
mod read_only;
mod sources;
mod timing;
mod traffic;
mod transactions;

pub use counters::{CacheCounters, ModelCounters, SectorCounters, TransactionCounters};
pub use gpu::{
    BankRule, Banks, L1, L1Size, L2, Limits, LoadCaching, Model, RegisterAllocation, Shared, StoreHit, TransactionRule,
};
pub use links::{HostLink, Links, PeerLink};
pub use occupancy::{BlockNeeds, Limiter, Occupancy};
pub use priority::AccessWindow;
pub use rates::Timing;

pub(crate) use atomics::Busiest;
pub(crate) use banks::{list as list_wavefronts, wavefronts};
pub(crate) use chip::Chip;
pub(crate) use gpu::LINE_BYTES;
pub(crate) use multiprocessor::{AccessOrigin, CacheHint, Multiprocessor, TextureNeeds};
pub(crate) use placement::Neighbourhood;
pub(crate) use priority::{policy_of, priority_of};
pub(crate) use sources::{Growth, Sources};
pub(crate) use traffic::{Density, Traffic, WrittenBack};
pub(crate) use transactions::{Route, bulk_lines, list as list_transactions};

impl Model {
    /// All models, in the order of their compute capabilities.
    pub fn all() -> &'static [Self] {
        &data::MODELS
    }

    /// The model of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        data::MODELS.iter().find(|model| model.name == name)
    }

    /// The GB/s that its DRAM delivers to a stream of reads; `None` for a model without times.
    pub fn dram_gbps(&self) -> Option<f64> {
        self.timing().map(|timing| timing.memory.dram)
    }

    /// Microseconds of a launch that does nothing; `None` for a model without times.
    pub fn empty_launch_us(&self) -> Option<f64> {
        self.timing().map(|timing| timing.launch.empty_us)
    }

    /// The bytes that each multiprocessor must have in flight to keep DRAM busy, by Little's law:
    /// the latency times the bandwidth. `None` for a model without times.
    pub fn bytes_in_flight(&self) -> Option<f64> {
        let timing = self.timing()?;
        let nanoseconds = timing.latency.dram / timing.clock_mhz * 1e3;
        Some(timing.memory.dram * nanoseconds / f64::from(self.multiprocessors))
    }

    /// The possible sizes of a multiprocessor's shared memory, in bytes; empty for unknown compute
    /// capabilities.
    pub fn shared_sizes(capability: (u32, u32)) -> &'static [u32] {
        data::shared_sizes(capability)
    }
}
