//! Allocations of kernels that are never freed.

use super::{Finding, FindingKind};
use crate::memory::{HeapAllocation, Memory};

/// The allocations that are left, grouped by the call that made them.
fn leaks(left: Vec<HeapAllocation>) -> Vec<Finding> {
    let mut leaks: Vec<Finding> = Vec::new();
    for HeapAllocation { span, module, kernel, site } in left {
        let same = |known: &&mut Finding| {
            (known.module.as_str(), known.kernel.as_str(), known.first.ptx_line) == (&*module, &*kernel, site.ptx_line)
        };
        match leaks.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => leaks.push(Finding {
                kind: FindingKind::Leak { allocation: span },
                kernel: kernel.as_ref().into(),
                module: module.as_ref().into(),
                first: site,
                second: None,
                count: 1,
            }),
        }
    }
    leaks
}

impl Memory {
    /// The same as findings, one for each call of `malloc`: to be asked when no kernel is to come that could free it. What the
    /// host allocated, and did not free, is among [`Memory::allocations`].
    pub fn leaks(&self) -> Vec<Finding> {
        leaks(self.heap_allocations())
    }
}
