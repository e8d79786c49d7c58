//! How many bytes does a wavefront deliver?
//!
//! Shared memory has 32 banks of 4 bytes, so a *wavefront*, one pass over the banks, delivers at
//! most 128 bytes: one word of 4 bytes from each bank. Lanes that want the same word get it
//! together, since a bank's word goes to as many lanes as want it: a *broadcast*.
//!
//! One load instruction can fetch 4, 8 or 16 bytes for each lane. A warp that asks for more than
//! 128 different bytes needs more wavefronts, without any bank conflict: there is simply more to
//! deliver. The hardware then serves a part of the warp at a time: half of it for words of 8 bytes,
//! a quarter for words of 16 bytes. Two neighbouring parts are served together if lanes read the
//! same in pairs: each lane `i` what lane `i ^ 1` reads, or each what lane `i ^ 2` reads.
//!
//! In each kernel here the block fills its stage, then each lane reads once, as the kernel's name
//! and its comment say.
//!
//! # Task
//!
//! Predict how many wavefronts that one load takes on a Hopper GPU.

use cuda_std::prelude::*;

/// Words of 16 bytes on the stage.
const WORDS: usize = 64;

/// Fills the stage, and returns its address.
///
/// # Safety
/// `input` holds 64 words. One block of 32 threads.
#[inline(always)]
unsafe fn fill(input: *const u32x4) -> *const u32 {
    #[address_space(shared)]
    static STAGE: SharedCell<[u32x4; WORDS]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let lane = thread::thread_idx_x() as usize;
    // SAFETY: both are below 64.
    unsafe {
        (*stage)[lane] = *input.add(lane);
        (*stage)[lane + 32] = *input.add(lane + 32);
    }
    thread::sync_threads();
    stage.cast()
}

/// Lane `l` reads the byte `l`.
///
/// # Safety
/// `input` holds 64 words, `output` 128. One block of 32 threads.
#[kernel(block(32))]
pub unsafe fn bytes(input: *const u32x4, output: *mut u32) {
    let stage = fill(input).cast::<u8>();
    let lane = thread::thread_idx_x() as usize;
    *output.add(lane) = u32::from(*stage.add(lane));
}

/// Lane `l` reads the word `l` of 4 bytes.
///
/// # Safety
/// As for [`bytes`].
#[kernel(block(32))]
pub unsafe fn words_4(input: *const u32x4, output: *mut u32) {
    let stage = fill(input);
    let lane = thread::thread_idx_x() as usize;
    *output.add(lane) = *stage.add(lane);
}

/// Lane `l` reads the word `l` of 8 bytes.
///
/// # Safety
/// As for [`bytes`].
#[kernel(block(32))]
pub unsafe fn words_8(input: *const u32x4, output: *mut u32x2) {
    let stage = fill(input).cast::<u32x2>();
    let lane = thread::thread_idx_x() as usize;
    *output.add(lane) = *stage.add(lane);
}

/// Lane `l` reads the word `l` of 16 bytes.
///
/// # Safety
/// As for [`bytes`].
#[kernel(block(32))]
pub unsafe fn words_16(input: *const u32x4, output: *mut u32x4) {
    let stage = fill(input).cast::<u32x4>();
    let lane = thread::thread_idx_x() as usize;
    *output.add(lane) = *stage.add(lane);
}

/// All lanes read the word 5 of 4 bytes.
///
/// # Safety
/// As for [`bytes`].
#[kernel(block(32))]
pub unsafe fn one_word_4(input: *const u32x4, output: *mut u32) {
    let stage = fill(input);
    let lane = thread::thread_idx_x() as usize;
    *output.add(lane) = *stage.add(5);
}

/// All lanes read the word 5 of 8 bytes.
///
/// # Safety
/// As for [`bytes`].
#[kernel(block(32))]
pub unsafe fn one_word_8(input: *const u32x4, output: *mut u32x2) {
    let stage = fill(input).cast::<u32x2>();
    let lane = thread::thread_idx_x() as usize;
    *output.add(lane) = *stage.add(5);
}

/// Lane `l` reads the word `2 l` of 8 bytes: every other one.
///
/// # Safety
/// As for [`bytes`].
#[kernel(block(32))]
pub unsafe fn every_other_8(input: *const u32x4, output: *mut u32x2) {
    let stage = fill(input).cast::<u32x2>();
    let lane = thread::thread_idx_x() as usize;
    *output.add(lane) = *stage.add(2 * lane);
}
