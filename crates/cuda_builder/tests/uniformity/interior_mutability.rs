//! A parameter that threads may write although it is a `&[T]`.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn interior_mutability(flags: &[AtomicU32], mut output: DisjointSlice<u32>) {
    if flags[0].load(Ordering::Relaxed) > 1 {
        thread::sync_threads(); //~ the branch in line 9 depends on
    }
    flags[0].store(thread::thread_idx_x(), Ordering::Relaxed);
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = 1;
    }
}
