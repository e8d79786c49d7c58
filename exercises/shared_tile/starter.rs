//! Stage once, read many times
//!
//! A moving average: each output is the mean of 17 inputs, the element itself and 8 on either side.
//! Each input is needed by 17 threads, and here each of them fetches it from global memory for
//! itself.
//!
//! The threads of a block can share. Shared memory is fast memory of the block, on the
//! multiprocessor itself: the block copies the inputs that it needs there once, neighbouring
//! threads loading neighbours, and every thread then reads its 17 inputs there. A block of 256
//! threads needs 256 inputs and 8 more on either side, the *halo*: 272 in all.
//!
//! `thread::sync_threads()` is the barrier of the block: no thread continues before all have
//! arrived, and what was written before it can be read after it.
//!
//! # Task
//!
//! Stage the block's 272 inputs in shared memory, and average from there. Blocks have 256 threads;
//! `n` may be any number. Inputs before the first element and after the last count as 0.
//!
//! The goal: global loads move each sector (32 bytes, 8 floats) about once. That is n / 8 sectors,
//! and a few for the halos.
//!
//! # What the clock says
//!
//! On an H200 (2^25 elements) the model solution takes half as long as this kernel, 170 us against
//! 331, although today's L1 cache holds the 17 neighbours, too. On GPUs before Fermi (2010), which
//! had no such cache for global memory, each of the 17 loads went to DRAM.

use cuda_std::prelude::*;

/// Elements on either side.
const RADIUS: i32 = 8;

/// The mean of each element's neighbourhood.
///
/// # Safety
/// `input` and `output` hold `n` elements. Blocks have 256 threads, and there is a thread for each
/// element.
#[kernel(block(256))]
pub unsafe fn average(input: *const f32, output: *mut f32, n: u32) {
    // TODO: copy what the block needs to shared memory, wait for all threads, then sum up from
    // there. This is the array; its elements are `(*stage)[0]` to `(*stage)[271]`:
    //     #[address_space(shared)]
    //     static STAGE: SharedCell<[f32; 272]> = SharedCell::uninit();
    //     let stage = STAGE.as_mut_ptr();
    let (i, n) = (thread::index_1d() as i32, n as i32);
    if i < n {
        let mut sum = 0.0;
        for j in i - RADIUS..=i + RADIUS {
            if 0 <= j && j < n {
                sum += *input.offset(j as isize);
            }
        }
        *output.offset(i as isize) = sum / 17.0;
    }
}
