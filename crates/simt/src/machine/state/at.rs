//! Where an instruction is executed and by which lanes: the argument that every instruction gets.

use super::warp::Split;

/// Where an instruction is executed, and by which lanes.
#[derive(Clone, Copy)]
pub(crate) struct At<'s> {
    /// The split that has reached it.
    pub split: &'s Split,
    /// The lanes of the split that execute it.
    pub mask: u32,
    /// The index of its counters.
    pub place: u32,
}

/// A lane, and the index of the counters of the instruction that it executes.
#[derive(Clone, Copy)]
pub(crate) struct AtLane {
    pub lane: usize,
    pub place: u32,
}

impl At<'_> {
    /// [`At`] for other lanes of the split.
    #[inline]
    pub fn with_mask(self, mask: u32) -> Self {
        Self { mask, ..self }
    }
}
