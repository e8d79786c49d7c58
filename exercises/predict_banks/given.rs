//! Which banks does a warp read from?
//!
//! Shared memory is divided into 32 *banks*, each 4 bytes wide: word `w` (4 bytes) is in bank `w %
//! 32`. In one pass, a *wavefront*, each bank delivers one word, to as many lanes as want it. If
//! the lanes of a warp want several words of one bank, a *bank conflict*, the load takes more
//! wavefronts: as many as the busiest bank has different words to deliver.
//!
//! The first GPUs for computing, such as the G80 of 2006, had 16 banks, and served the two halves
//! of a warp one after the other: word `w` was in bank `w % 16`, and each half warp of 16 lanes
//! took at least one wavefront.
//!
//! Each kernel here fills its stage side by side, then reads one word in each lane: lane `l` reads
//! word `stride * l`.
//!
//! # Task
//!
//! Predict how many wavefronts that one load takes, on a Hopper GPU (32 banks) and, for two of the
//! strides, on a G80.

use cuda_std::prelude::*;

/// Words on the stage: lane 31 at a stride of 33 reads the last one.
const WORDS: usize = 31 * 33 + 1;

/// Lane `l` reads word `STRIDE * l`.
///
/// # Safety
/// `input` holds 1024 words, `output` 32. One block of 32 threads.
#[inline(always)]
unsafe fn read<const STRIDE: usize>(input: *const u32, output: *mut u32) {
    // SAFETY: `first + lane` is below 1024, `STRIDE * lane` at most 33 * 31.
    unsafe {
        #[address_space(shared)]
        static STAGE: SharedCell<[u32; WORDS]> = SharedCell::uninit();
        let stage = STAGE.as_mut_ptr();
        let lane = thread::thread_idx_x() as usize;
        for first in (0..WORDS).step_by(32) {
            (*stage)[first + lane] = *input.add(first + lane);
        }
        thread::sync_threads();
        *output.add(lane) = (*stage)[STRIDE * lane];
    }
}

/// # Safety
/// As for [`read`].
#[kernel(block(32))]
pub unsafe fn stride_1(input: *const u32, output: *mut u32) {
    read::<1>(input, output);
}

/// # Safety
/// As for [`read`].
#[kernel(block(32))]
pub unsafe fn stride_2(input: *const u32, output: *mut u32) {
    read::<2>(input, output);
}

/// # Safety
/// As for [`read`].
#[kernel(block(32))]
pub unsafe fn stride_3(input: *const u32, output: *mut u32) {
    read::<3>(input, output);
}

/// # Safety
/// As for [`read`].
#[kernel(block(32))]
pub unsafe fn stride_8(input: *const u32, output: *mut u32) {
    read::<8>(input, output);
}

/// # Safety
/// As for [`read`].
#[kernel(block(32))]
pub unsafe fn stride_16(input: *const u32, output: *mut u32) {
    read::<16>(input, output);
}

/// # Safety
/// As for [`read`].
#[kernel(block(32))]
pub unsafe fn stride_32(input: *const u32, output: *mut u32) {
    read::<32>(input, output);
}

/// # Safety
/// As for [`read`].
#[kernel(block(32))]
pub unsafe fn stride_33(input: *const u32, output: *mut u32) {
    read::<33>(input, output);
}
