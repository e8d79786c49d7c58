//! How to launch: how many threads, and how much each of them asks for at once.
//!
//! A load from global memory takes several hundred cycles. By Little's law a multiprocessor reaches its share of the bandwidth only
//! while enough bytes are on their way: the latency times that share. On an H200 the share is 18 bytes a cycle, so 600 cycles need 11 KB;
//! and the latency grows with the load: in blocks of 256 threads, this lab has 86 to 92 % of the copy's speed with 16 KB on their way, and
//! 96 to 99 % with 32 (2026-11-23).
//! There are two ways to have them on their way: many threads that each wait for one word, or fewer threads that each ask for several
//! before they use the first. So bytes in flight are
//!
//! ```text
//! resident threads x independent loads of a thread x bytes of a word
//! ```
//!
//! and each factor may stand in for another: four independent loads of 4 bytes are as good as one of 16.
//!
//! The kernels add 1 to each element. They differ in the word (4, 8 or 16 bytes) and in the number of independent loads; the host
//! chooses the block and the grid. What to look for: GB/s against bytes in flight on a GPU; on the simulator the requests
//! (`l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`), of which wide words need fewer, while the sectors stay the same.
//!
//! # Shapes
//!
//! `data` has `length` floats and starts on a multiple of 16 bytes, as every allocation does. Blocks and grids are one-dimensional
//! and of any size: each thread goes on in steps of the whole grid until nothing is left.
//!
//! Source: NVIDIA's webinar on global memory (2011), "Launch configuration".

#[cfg(target_arch = "nvptx64")]
use core::ops::Add;

#[gpu_only]
use cuda_std::thread;
#[gpu_only]
use cuda_std::vector::{f32x2, f32x4};
use cuda_std::{gpu_only, kernel};

/// What the kernels add to each element.
pub const INCREMENT: f32 = 1.0;

/// Adds `step` to each of the words that fit `length` floats, `LOADS` of them in a round.
///
/// # Safety
/// `data` holds `length` floats and is aligned to a word.
#[gpu_only]
#[inline(always)]
unsafe fn increment<Word: Copy + Add<Output = Word>, const LOADS: usize>(data: *mut f32, length: usize, step: Word) {
    let words = data.cast::<Word>();
    let count = length * size_of::<f32>() / size_of::<Word>();
    let threads = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let mut i = thread::wide_index_1d();
    // SAFETY: each index is below the number of words, and no other thread has it.
    unsafe {
        while i + (LOADS - 1) * threads < count {
            // All loads of a round start before the first one is used: a thread has LOADS words in flight.
            let mut values = [step; LOADS];
            for (load, value) in values.iter_mut().enumerate() {
                *value = *words.add(i + load * threads);
            }
            for (load, &value) in values.iter().enumerate() {
                *words.add(i + load * threads) = value + step;
            }
            i += LOADS * threads;
        }
        // The last round, if it is not whole.
        while i < count {
            *words.add(i) = *words.add(i) + step;
            i += threads;
        }
    }
    // What is less than a word, element by element.
    let rest = count * size_of::<Word>() / size_of::<f32>() + thread::wide_index_1d();
    if rest < length {
        // SAFETY: `rest` is below the length, and the thread's own.
        unsafe { *data.add(rest) += INCREMENT };
    }
}

/// The entry points: each word with each number of loads.
macro_rules! increments {
    ($($(#[$documentation:meta])* $name:ident = $loads:literal of $word:expr;)*) => {$(
        $(#[$documentation])*
        ///
        /// # Safety
        /// `data` holds `length` floats, and nothing else uses it during the launch.
        #[kernel]
        pub unsafe fn $name(data: *mut f32, length: usize) {
            increment::<_, $loads>(data, length, $word);
        }
    )*};
}

increments! {
    /// One load of 4 bytes at a time: the usual kernel.
    launch_f32_1 = 1 of INCREMENT;
    /// Two independent loads of 4 bytes.
    launch_f32_2 = 2 of INCREMENT;
    /// Four independent loads of 4 bytes: as many bytes in flight as with one of 16.
    launch_f32_4 = 4 of INCREMENT;
    /// Eight independent loads of 4 bytes.
    launch_f32_8 = 8 of INCREMENT;
    /// One load of 8 bytes at a time.
    launch_f32x2_1 = 1 of f32x2::splat(INCREMENT);
    /// Two independent loads of 8 bytes.
    launch_f32x2_2 = 2 of f32x2::splat(INCREMENT);
    /// Four independent loads of 8 bytes.
    launch_f32x2_4 = 4 of f32x2::splat(INCREMENT);
    /// Eight independent loads of 8 bytes.
    launch_f32x2_8 = 8 of f32x2::splat(INCREMENT);
    /// One load of 16 bytes at a time.
    launch_f32x4_1 = 1 of f32x4::splat(INCREMENT);
    /// Two independent loads of 16 bytes.
    launch_f32x4_2 = 2 of f32x4::splat(INCREMENT);
    /// Four independent loads of 16 bytes.
    launch_f32x4_4 = 4 of f32x4::splat(INCREMENT);
    /// Eight independent loads of 16 bytes.
    launch_f32x4_8 = 8 of f32x4::splat(INCREMENT);
}
