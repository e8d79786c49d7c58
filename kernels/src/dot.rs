//! The dot product: where a block adds up, in global or in shared memory.
//!
//! Each thread multiplies a pair of elements, and the block adds up the products in a tree, which
//! needs memory that all threads of the block see. [`dot_global`] uses global memory: each step of
//! the tree is a trip through the caches. [`dot_shared`] uses shared memory, which is as close as
//! L1, with no traffic beyond the multiprocessor. Either way the host adds up the blocks' sums.
//!
//! The vectors may share one allocation, the second directly after the first (*linear*), or each
//! may have the device's alignment (*aligned*). The fastest kernel is in `best_kernels::dot`.
//!
//! What to look for: requests and sectors of global loads and stores, to which the tree in shared
//! memory adds none; with linear vectors whose length is not a multiple of 8, one more sector for
//! each load of the second.
//!
//! # Where `unsafe` begins
//!
//! In a step of the tree a thread reads what another one wrote. The programmer promises that no
//! other thread uses the two elements until the next barrier; the compiler sees one thread and
//! cannot tell. The sanitizer checks exactly this. Both kernels are safe to launch all the same: it
//! holds for any block, though the sum is right only if its threads are a power of two.
//!
//! Source: the lab sheet, exercise on vectors, variant 1 (1000 elements).

use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};

/// The most threads of a block.
pub const MOST_THREADS: u32 = 1024;

/// The tree in global memory: `tree` has an element for each thread, `out` one for each block.
#[kernel(linear)]
pub fn dot_global(a: &[f32], b: &[f32], mut tree: DisjointSlice<f32>, mut out: DisjointSlice<f32>) {
    let (t, i) = (thread::thread_idx_x(), thread::linear_index());
    let product = match (a.get(i.get()), b.get(i.get())) {
        (Some(a), Some(b)) => a * b,
        _ => 0.0,
    };
    if let Some(mine) = tree.get_mut(i) {
        *mine = product;
    }
    thread::sync_threads();

    let mut s = thread::block_dim_x() / 2;
    while s > 0 {
        // SAFETY: in this step only this thread uses these two elements.
        if t < s
            && let Some((mine, other)) = unsafe { tree.pair_mut(i, s as usize) }
        {
            *mine += *other;
        }
        thread::sync_threads();
        s /= 2;
    }

    // SAFETY: only the first thread of the block writes the block's sum.
    if t == 0
        && let Some(&mut total) = tree.get_mut(i)
        && let Some(sum) = unsafe { out.element_mut(thread::block_idx_x() as usize) }
    {
        *sum = total;
    }
}

/// The tree in shared memory.
#[kernel(linear)]
pub fn dot_shared(a: &[f32], b: &[f32], mut out: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; MOST_THREADS as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32>();
    let (t, i) = (thread::thread_idx_x(), thread::linear_index());
    let product = match (a.get(i.get()), b.get(i.get())) {
        (Some(a), Some(b)) => a * b,
        _ => 0.0,
    };
    // SAFETY: each thread has its own element.
    unsafe { *stage.add(t as usize) = product };
    thread::sync_threads();

    let mut s = thread::block_dim_x() / 2;
    while s > 0 {
        if t < s {
            // SAFETY: in this step only this thread uses these two, and t + s < 2 s <= threads.
            unsafe { *stage.add(t as usize) += *stage.add((t + s) as usize) };
        }
        thread::sync_threads();
        s /= 2;
    }

    // SAFETY: only the first thread of the block writes the block's sum, and reads its own element.
    if t == 0
        && let Some(sum) = unsafe { out.element_mut(thread::block_idx_x() as usize) }
    {
        *sum = unsafe { *stage };
    }
}
