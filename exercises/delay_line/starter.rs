//! An array with a column for each thread
//!
//! Each thread has a channel of samples, which is a column of a matrix, and adds an echo: half of
//! what it computed `delay` samples before. It keeps the last `delay` values in a ring, and goes
//! around in it.
//!
//! How long the ring is and where the thread is in it are known only when the kernel runs. So the
//! ring cannot be in registers, which have no addresses: the compiler puts it into *local memory*,
//! the thread's own piece of global memory. Word `at` of the 32 lanes of a warp is a line of 128
//! bytes, so these accesses are coalesced. But 2048 threads with 64 words each have 512 KB, and
//! L1 on an H200 has at most 256 KB: most accesses go to L2 or DRAM.
//!
//! In `local_memory` a loop could be written out, so that all indices were constants. Here none
//! can. But a block can put its rings into shared memory.
//!
//! # Task
//!
//! Keep the rings in shared memory. `delay` is at most 64, and a block has 128 threads.
//!
//! The goals: no access to local memory, no bank conflicts, and no more loads from global memory
//! than before.

use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: usize = 128;

/// The longest delay.
const MOST: usize = 64;

/// Adds to each sample of a column half of the output `delay` rows before.
///
/// # Safety
/// `samples` and `output` hold `rows` x `columns` elements; `delay` is from 1 to 64. Blocks have
/// 128 threads, and there is a thread for each column.
#[kernel(block(128))]
pub unsafe fn echo(samples: *const f32, output: *mut f32, rows: u32, columns: u32, delay: u32) {
    let (column, columns) = (thread::wide_index_1d(), columns as usize);
    if column < columns {
        // TODO: a column of shared memory.
        let mut ring = [0.0; MOST];
        let mut at = 0;
        for row in 0..rows as usize {
            let i = row * columns + column;
            let sample = *samples.add(i) + 0.5 * ring[at];
            ring[at] = sample;
            *output.add(i) = sample;
            at = if at + 1 < (delay as usize).min(MOST) { at + 1 } else { 0 };
        }
    }
}
