//! What an instruction is executed for.

use crate::machine::state::Split;

/// Where an instruction is executed, and by which lanes.
#[derive(Clone, Copy)]
pub(crate) struct At<'s> {
    /// The split that has come to it.
    pub split: &'s Split,
    /// Those lanes of the split that execute it.
    pub mask: u32,
    /// Where it is counted.
    pub counter: u32,
}

impl At<'_> {
    /// The same for other lanes of the split.
    pub fn with_mask(self, mask: u32) -> Self {
        Self { mask, ..self }
    }
}
