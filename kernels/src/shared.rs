//! Shared memory by the kilobyte: static, dynamic, and more than a block may have without asking.
//!
//! A kernel can fix the size of its shared memory when it is compiled (*static*), or leave it to the launch (*dynamic*). The two are
//! the same memory, and as fast. Static memory ends at 48 KB; dynamic memory may be larger where the host opts in for the kernel
//! (`cuFuncSetAttribute`), up to 64 KB on Turing and 227 KB on Hopper.
//!
//! What a block takes, its neighbours cannot have: shared memory decides how many blocks fit on a multiprocessor, and with them how
//! many warps there are to hide latency behind. It is also taken from the L1 cache, with which it shares a memory: the *carveout*
//! says how much of that is for whom.
//!
//! Each block stages a chunk of the input in shared memory and writes it back in reverse order. What to look for: that static and
//! dynamic memory of the same size make the same accesses; occupancy and its limiter as the chunk grows (`sm__maximum_warps_per_active_cycle_pct`,
//! `launch__occupancy_limit_shared_mem`), and the time.
//!
//! # Shapes
//!
//! `input` and `output` have `length` elements; block `b` reverses those from `b * chunk` on, `chunk` of them or what is left. Blocks
//! are one-dimensional and of any size.
//!
//! Source: KAUST CS 380, lecture 14.

#[gpu_only]
use cuda_std::{address_space, shared as shared_memory, shared::SharedCell, thread};
use cuda_std::{gpu_only, kernel};

/// Elements of the chunk of [`shared_static`]: 16 KB.
pub const STATIC_CHUNK: u32 = 4096;

/// Reverses the block's chunk through `stage`.
///
/// # Safety
/// `stage` is shared memory with room for `chunk` elements; `input` and `output` hold `length`, and all threads of the block are here.
#[gpu_only]
#[inline(always)]
unsafe fn reverse(input: *const f32, output: *mut f32, length: usize, chunk: usize, stage: *mut f32) {
    let first = thread::block_idx_x() as usize * chunk;
    let count = chunk.min(length - first);
    let (t, threads) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    // SAFETY: i is below the count, which is below chunk and within the vectors.
    unsafe {
        let mut i = t;
        while i < count {
            *stage.add(i) = *input.add(first + i);
            i += threads;
        }
        thread::sync_threads();
        let mut i = t;
        while i < count {
            *output.add(first + i) = *stage.add(count - 1 - i);
            i += threads;
        }
    }
}

/// A chunk of 16 KB, whose size the compiler knows.
///
/// # Safety
/// `input` and `output` hold `length` elements, and nothing else uses `output` during the launch, which has a block for each
/// [`STATIC_CHUNK`] elements.
#[kernel]
pub unsafe fn shared_static(input: *const f32, output: *mut f32, length: usize) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; STATIC_CHUNK as usize]> = SharedCell::uninit();
    reverse(input, output, length, STATIC_CHUNK as usize, STAGE.as_mut_ptr().cast());
}

/// A chunk as large as the launch says.
///
/// # Safety
/// As for [`shared_static`], with a block for each `chunk` elements and dynamic shared memory for so many.
#[kernel]
pub unsafe fn shared_dynamic(input: *const f32, output: *mut f32, length: usize, chunk: u32) {
    reverse(input, output, length, chunk as usize, shared_memory::dynamic_shared_mem());
}
