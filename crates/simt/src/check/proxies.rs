//! Writes that the async proxy need not see: bulk and tensor copies (`cp.async.bulk`, `cp.reduce.async.bulk`) and `wgmma` reach memory
//! by a proxy of their own. What threads have written by the generic one, with stores and atomic operations, comes before such an operation only if
//! a `fence.proxy.async` stands between the two, on the way by which they are in order: of the thread that wrote, or of one behind it.
//! What the copies bring is there for all who have waited for it.

use super::stamp::Stamp;
use crate::program::{Action, Asynchronous, Code, Matrix};

/// Which instructions write by the generic proxy.
#[derive(Default)]
pub(super) struct Proxies {
    /// For each place, whether it is one; empty if nothing of the kernel is done by the async proxy.
    places: Vec<bool>,
}

impl Proxies {
    pub fn new(code: &Code) -> Self {
        let actions = || code.instructions.iter().map(|instruction| (instruction.counter, &instruction.action));
        let is_async = |action: &Action| match action {
            Action::Asynchronous(action) => matches!(**action, Asynchronous::Bulk(_) | Asynchronous::Tensor(_)),
            Action::Matrix(operation) => matches!(**operation, Matrix::MultiplyTogether(_)),
            _ => false,
        };
        if !actions().any(|(_, action)| is_async(action)) {
            return Self::default();
        }
        let mut places = vec![false; code.places.len()];
        for (place, action) in actions() {
            let is_generic = matches!(action, Action::Store(_) | Action::Atomic(_) | Action::Matrix(_));
            // Helpers of an instruction have no place.
            if let Some(known) = places.get_mut(place as usize) {
                *known |= is_generic && !is_async(action);
            }
        }
        Self { places }
    }

    /// Whether nothing is done by the async proxy, and nobody asks how memory was written before a barrier.
    pub fn are_one(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether a write was by the generic proxy.
    pub fn is_generic(&self, write: Stamp) -> bool {
        self.places.get(write.place() as usize) == Some(&true)
    }
}
