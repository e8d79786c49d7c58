//! Allocations of kernels that are never freed.

use super::{Finding, FindingKind};
use crate::memory::HeapAllocation;

/// The allocations that are left, grouped by the call that made them.
pub(crate) fn leaks(left: Vec<HeapAllocation>) -> Vec<Finding> {
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
