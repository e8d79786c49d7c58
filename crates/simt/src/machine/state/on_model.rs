//! A worker's part of a model: the multiprocessors that its blocks run on, and which block is
//! where.

use crate::model::{BankRule, Multiprocessor};
use crate::timing::Tracer;

/// The multiprocessors that a worker's blocks can run on.
pub(crate) struct Modelled {
    /// Their caches and counters.
    pub multiprocessors: Vec<Multiprocessor>,
    /// Bytes of local memory of a warp of this launch.
    pub local_bytes_per_warp: u64,
    /// The banks of shared memory.
    pub banks: BankRule,
    /// Records what the first multiprocessor does, if the launch asks for its time.
    pub tracer: Option<Box<Tracer>>,
}

/// Where a block runs on the model.
#[derive(Clone, Copy, Default)]
pub(crate) struct BlockLocation {
    /// The index of its multiprocessor in the worker's.
    pub multiprocessor: usize,
    /// The number of its first warp among all that are resident on the chip.
    pub first_warp: u64,
}
