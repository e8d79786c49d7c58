//! A parameter that threads may write although it is a `&[T]`. Safe kernels take no such elements.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::phases::Block;
use cuda_std::prelude::*;

/// # Safety
/// `flags` has an element.
#[kernel(block(64))]
pub unsafe fn interior_mutability(mut block: Block<64>, flags: &[AtomicU32], mut output: DisjointSlice<u32>) {
    if flags[0].load(Ordering::Relaxed) > 1 {
        block.each(|_| ()); //~ the branch in line 12 depends on
    }
    flags[0].store(thread::thread_idx_x(), Ordering::Relaxed);
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = 1;
    }
}
