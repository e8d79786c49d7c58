//! Loads of memory that the program promises not to write during the launch: `ld.global.nc` (`__ldg`, `const
//! __restrict__`, `&[T]`) and `ldu`.
//!
//! They may be served by a cache that no store reaches, and the compiler may move them across any write. So memory that
//! the launch both writes and reads this way is reported, whichever comes first and whatever orders the two. A write of
//! the value that is there already does not count.

use super::stamp::Stamp;
use super::touch::Reached;
use crate::program::{Action, Code};
use crate::site::AccessAction;

/// What such loads have read.
#[derive(Default)]
pub(super) struct ReadOnly {
    /// For each place, whether it is such a load; empty if none is.
    places: Vec<bool>,
    /// For each allocation, whether any has read of it.
    allocations: Vec<bool>,
}

impl ReadOnly {
    pub fn new(code: &Code) -> Self {
        let mut places = Vec::new();
        for instruction in &code.instructions {
            if matches!(&instruction.action, Action::Load(load) if load.order.read_only) {
                places.resize(code.places.len(), false);
                if let Some(known) = places.get_mut(instruction.counter as usize) {
                    *known = true;
                }
            }
        }
        Self { places, allocations: Vec::new() }
    }

    /// Whether an access may be worth reporting: it is such a load, or a write to where one has been.
    #[inline(always)]
    pub fn concerns(&mut self, reached: &Reached) -> bool {
        let Some(allocation) = reached.allocation.filter(|_| !self.places.is_empty()) else { return false };
        if reached.intent.order.read_only {
            if self.allocations.len() <= allocation {
                self.allocations.resize(allocation + 1, false);
            }
            self.allocations[allocation] = true;
            return true;
        }
        reached.intent.action != AccessAction::Read && self.allocations.get(allocation) == Some(&true)
    }

    /// Whether an access was such a load.
    pub fn made(&self, stamp: Stamp) -> bool {
        self.places.get(stamp.place() as usize) == Some(&true)
    }
}
