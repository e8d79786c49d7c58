//! Knows which writes the async proxy may not see: those by instructions of the generic proxy. The checker asks for accesses
//! through the async proxy. Pure data about the kernel's code.
//!
//! Bulk and tensor copies (`cp.async.bulk`, `cp.reduce.async.bulk`) and `wgmma` access memory through a proxy of their
//! own (PTX ISA, "Proxies"). What threads wrote through the generic proxy, with stores and atomic operations, is visible to
//! such an operation only if a `fence.proxy.async` is on the path that orders the two: by the writing thread, or by a later
//! one on that path, for example after the barrier.
//!
//! Only writes count, and only by threads of the same cluster: copies commonly overwrite what threads have *read* without a
//! fence. The data of a copy is visible to all that have waited for it. Writes by `cp.async` do not count either.

use crate::program::{Action, Asynchronous, Code, Matrix};
use crate::sanitizer::stamp::Stamp;

/// Which instructions write through the generic proxy.
#[derive(Default)]
pub(in crate::sanitizer) struct Proxies {
    /// For each place, whether it is one; empty if the kernel does not use the async proxy.
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

    /// Whether the kernel does not use the async proxy, so that it does not matter how memory was written.
    pub fn are_one(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether a write went through the generic proxy.
    pub fn is_generic(&self, write: Stamp) -> bool {
        self.places.get(write.place() as usize) == Some(&true)
    }
}
