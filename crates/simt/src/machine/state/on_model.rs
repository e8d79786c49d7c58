//! What a worker has of a model: the multiprocessors that its blocks are on, and which block is on which.

use crate::counters::SharedCounters;
use crate::model::Multiprocessor;

/// The multiprocessors of the model where a worker's blocks can be.
pub(crate) struct Modelled {
    /// Their caches and counters.
    pub multiprocessors: Vec<Multiprocessor>,
    /// Bytes of local memory of a warp of this launch.
    pub local_of_a_warp: u64,
    /// For each instruction, what the model's banks need beyond what is counted anyway.
    pub more_wavefronts: Vec<MoreWavefronts>,
}

/// Where a block is on the model.
#[derive(Clone, Copy, Default)]
pub(crate) struct Residence {
    /// Which of its worker's multiprocessors it is on.
    pub multiprocessor: usize,
    /// The number of its first warp among all that are resident on the chip.
    pub first_warp: u64,
}

/// Wavefronts and bank conflicts in addition to those counted anyway; negative if there are fewer.
#[derive(Clone, Copy, Default)]
pub(crate) struct MoreWavefronts {
    pub wavefronts: i64,
    pub conflicts: i64,
}

impl MoreWavefronts {
    /// Adds them to what was counted.
    pub fn add_to(self, counters: &mut SharedCounters) {
        counters.wavefronts = counters.wavefronts.saturating_add_signed(self.wavefronts);
        counters.bank_conflicts = counters.bank_conflicts.saturating_add_signed(self.conflicts);
    }
}
