//! The best dot product. The lab's first steps, whose blocks add up in a tree, are in
//! `kernels/src/dot.rs`.
//!
//! It works like the best [`reduce`](crate::reduce): many pairs a thread, in words of 16 bytes, of
//! which four are in flight; shuffles, so that shared memory sees one value a warp
//! (`smsp__sass_inst_executed_op_shared_st.sum`); and one launch, whose last block adds up the
//! blocks' sums, so that the result is on the device. The kernel itself waits for the one before it
//! (`cuda_std::dependent_launch`), which hides the gap between launches. [`blocks`](crate::blocks)
//! says how many blocks there are.

#[gpu_only]
use crate::combine::{BLOCK, Indices, Sum, Word, reduce_block, reduce_blocks, reduce_indices};
#[gpu_only]
use core::ops::Mul;
#[gpu_only]
use cuda_std::{dependent_launch, mem::load_ca, thread, vector::f32x4};
use cuda_std::{gpu_only, kernel};

/// The threads of a block of [`dot_best`].
pub const THREADS: u32 = 512;
#[gpu_only]
const _: () = assert!(THREADS == BLOCK);

/// Many pairs a thread, in words of 16 bytes where both vectors are aligned to them, and in one
/// launch: the last block adds up the blocks' sums.
///
/// # Safety
/// `a` and `b` hold `length` elements, `sum` one, `slots` one for each block, zero on entry, and
/// left zero. Nothing else uses the last two during the launch. Blocks have [`THREADS`] threads in
/// x.
#[kernel(launch_bounds(512))]
pub unsafe fn dot_best(
    a: *const f32,
    b: *const f32,
    length: usize,
    sum: *mut f32,
    slots: *mut u64,
) {
    dependent_launch::wait();
    let (block, blocks) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    let first = block * BLOCK as usize + thread::thread_idx_x() as usize;
    let numbers = Indices { first, step: blocks * BLOCK as usize, end: length };
    let thread_sum = if (a.addr() | b.addr()).is_multiple_of(16) {
        products::<f32x4, 2>(a.cast(), b.cast(), numbers.quads())
            + products::<f32, 1>(a, b, numbers.after_quads())
    } else {
        products::<f32, 4>(a, b, numbers)
    };
    let block_sum = reduce_block::<f32, Sum, 4>(thread_sum, 0);
    if let Some(total) = reduce_blocks::<f32, Sum>(block_sum, block, blocks, slots) {
        *sum = total;
    }
}

/// Adds up a thread's products, with `TOGETHER` words of each vector in flight.
///
/// # Safety
/// The vectors have words below the end of the indices, which nothing writes during the launch.
#[gpu_only]
#[inline(always)]
unsafe fn products<W: Word<f32> + Mul<Output = W>, const TOGETHER: usize>(
    a: *const W,
    b: *const W,
    words: Indices,
) -> f32 {
    // SAFETY: `reduce_indices` asks for words below the end, which both vectors have.
    let load = |i| unsafe { [load_ca(a.add(i)), load_ca(b.add(i))] };
    reduce_indices::<f32, Sum, [W; 2], TOGETHER>(words, [W::all(0.0); 2], load, |[a, b]| {
        (a * b).combined::<Sum>()
    })
}
