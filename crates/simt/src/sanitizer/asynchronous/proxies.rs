//! Knows which writes the async proxy may not see: those by instructions of the generic proxy. The
//! checker asks for accesses through the async proxy.
//!
//! Bulk and tensor copies (`cp.async.bulk`, `cp.reduce.async.bulk`) and `wgmma` access memory
//! through the async proxy (PTX ISA, "Proxies"). What threads wrote through the generic proxy,
//! with stores and atomic operations, is visible to such an operation only if a `fence.proxy.async`
//! is on the path that orders the two: by the writing thread, or by a later one on that path, for
//! example after the barrier.
//!
//! Only writes count, and only by threads of the same cluster: copies commonly overwrite what
//! threads have *read* without a fence. The data of a copy is visible to all that have waited for
//! it. Writes by `cp.async` do not count either.

use crate::program::{Code, Proxy};
use crate::sanitizer::stamp::Stamp;

/// Which instructions write through the generic proxy.
#[derive(Default)]
pub(in crate::sanitizer) struct Proxies {
    /// For each place, whether it is one; empty if the kernel does not use the async proxy.
    places: Vec<bool>,
}

impl Proxies {
    pub fn new(code: &Code) -> Self {
        let proxies = || code.instructions.iter().map(|step| (step.place, step.action.effects().proxy));
        if !proxies().any(|(_, proxy)| proxy == Some(Proxy::Async)) {
            return Self::default();
        }
        let mut places = vec![false; code.places.len()];
        for (place, proxy) in proxies() {
            // Helpers of an instruction have no place.
            if let Some(is_generic) = places.get_mut(place as usize) {
                *is_generic |= proxy == Some(Proxy::Generic);
            }
        }
        Self { places }
    }

    /// Whether the kernel does not use the async proxy, so that it does not matter how memory was
    /// written.
    pub fn are_one(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether a write went through the generic proxy.
    pub fn is_generic(&self, write: Stamp) -> bool {
        self.places.get(write.place() as usize) == Some(&true)
    }
}
