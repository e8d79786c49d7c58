//! Reports what kernels allocated with `malloc` and never freed. The host asks after its last
//! launch; this only reads the heap.

use super::finding::{Finding, FindingKind};
use crate::memory::{HeapAllocation, Memory};

/// Groups the remaining allocations by the call that made them.
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
    /// Memory that kernels have allocated and not freed, as findings, one for each call of
    /// `malloc`. Ask after the last launch. What the host has not freed is in
    /// [`Memory::allocations`].
    pub fn leaks(&self) -> Vec<Finding> {
        leaks(self.heap_allocations())
    }
}
