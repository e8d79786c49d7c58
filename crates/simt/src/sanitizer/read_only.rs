//! Finds writes to memory that the program promises not to write during the launch, because it
//! reads it with `ld.global.nc` (`__ldg`, `const __restrict__`, `&[T]`) or `ldu`. The checker asks
//! about each access; this remembers which allocations such loads have read.
//!
//! A non-coherent cache may serve these loads, and the compiler may move them across any write. So
//! memory that the launch both writes and reads this way is reported, in either order, and even if
//! something orders the two. A write that does not change the value does not count.

use super::stamp::Stamp;
use super::touch::Reached;
use crate::program::{Action, Code};
use crate::site::AccessAction;

/// The read-only loads, and what they have read.
#[derive(Default)]
pub(super) struct ReadOnly {
    /// For each place, whether it is a read-only load; empty if none is.
    places: Vec<bool>,
    /// For each allocation, whether such a load has read it.
    allocations: Vec<bool>,
}

impl ReadOnly {
    pub fn new(code: &Code) -> Self {
        let mut places = Vec::new();
        for instruction in &code.instructions {
            if matches!(&instruction.action, Action::Load(load) if load.operation.order.read_only) {
                places.resize(code.places.len(), false);
                if let Some(known) = places.get_mut(instruction.place as usize) {
                    *known = true;
                }
            }
        }
        Self { places, allocations: Vec::new() }
    }

    /// Whether an access needs checking: it is a read-only load, or a write to an allocation that
    /// one has read.
    #[inline(always)]
    pub fn concerns(&mut self, reached: &Reached) -> bool {
        let Some(allocation) = reached.allocation.filter(|_| !self.places.is_empty()) else { return false };
        if reached.operation.order.read_only {
            if self.allocations.len() <= allocation {
                self.allocations.resize(allocation + 1, false);
            }
            self.allocations[allocation] = true;
            return true;
        }
        reached.operation.action != AccessAction::Read && self.allocations.get(allocation) == Some(&true)
    }

    /// Whether an access was a read-only load.
    pub fn made(&self, stamp: Stamp) -> bool {
        self.places.get(stamp.place() as usize) == Some(&true)
    }
}
