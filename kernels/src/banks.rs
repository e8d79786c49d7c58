//! The banks of shared memory: 32 words at once, if they are in 32 banks.
//!
//! Shared memory is 32 banks wide. Word `w` (4 bytes) is in bank `w % 32`, and each bank serves one word at a time, to as many lanes as
//! want it. So a warp's load takes as many passes (*wavefronts*) as the most wanted bank has different words:
//!
//! | pattern | wavefronts, 32 banks |
//! | --- | --- |
//! | stride `s` in words | gcd(s, 32): 1 for odd strides, 2 for 2, 8 for 8, 32 for 32 |
//! | a permutation of 32 neighbours | 1 |
//! | one word for all lanes | 1 |
//! | words of 1, 2 and 4 bytes, side by side | 1 |
//! | words of 8 and 16 bytes, side by side | 2 and 4: half a warp, or a quarter, at a time |
//! | one word of 8 or 16 bytes for all lanes | 1 and 2: see below |
//! | a structure of three words, field by field | 1: stride 3 |
//! | a structure of two words, field by field | 2: stride 2 |
//! | two words a thread: interleaved, lane `l` has words `2 l` and `2 l + 1` | 2 |
//! | two words a thread: a block apart, words `l` and `l + 32` | 1 |
//! | a column of 32 x 32 | 32 |
//! | a column of 32 x 33 | 1 |
//!
//! Loads of 8 bytes are served half a warp at a time, loads of 16 a quarter: 128 bytes are all that the banks have at once. Two
//! neighbouring halves or quarters become one if lanes read the same in pairs, each lane `i` what lane `i ^ 1` reads, or each what
//! `i ^ 2` reads. (Stores are never merged.)
//!
//! The first GPUs (G80, Tesla) had 16 banks and served half a warp at a time: gcd(s, 16) wavefronts for each half, so that a stride
//! of 16 was the worst case already. Words of 1, 2, 8 and 16 bytes conflicted there, too: 8, 4, 8 and 32 wavefronts a warp.
//!
//! Each kernel fills its stage side by side, then reads it `rounds` times with the pattern, a word further each time (that moves all
//! lanes alike and changes no conflict), and adds up what it reads.
//!
//! What to look for: wavefronts of each shared load
//! (`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum` over `smsp__sass_inst_executed_op_shared_ld.sum`).
//!
//! # Shapes
//!
//! One warp a block: 32 threads in x. The stage has [`STAGE_WORDS`] words, which the block fills with `input`; the output has an
//! element for each thread of the launch.
//!
//! Source: KAUST CS 380, lecture 14.

#[gpu_only]
use cuda_std::{
    address_space, shared,
    shared::SharedCell,
    thread,
    vector::{u32x2, u32x4},
};
use cuda_std::{gpu_only, kernel};

/// Words of 4 bytes on the stage: more than a column of 32 x 33, and as many as `rounds` steps beyond.
pub const STAGE_WORDS: u32 = 2048;

/// The most rounds: with so many steps the last lane's word is still on the stage.
pub const MOST_ROUNDS: u32 = 512;

/// The stage, filled with the first words of `input`, side by side.
///
/// # Safety
/// `input` holds [`STAGE_WORDS`] words. All 32 threads of the block are here.
#[gpu_only]
#[inline(always)]
unsafe fn fill(input: *const u32) -> *mut u32 {
    #[address_space(shared)]
    static STAGE: SharedCell<[u32x4; STAGE_WORDS as usize / 4]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<u32>();
    let t = thread::thread_idx_x() as usize;
    for round in 0..STAGE_WORDS / 32 {
        let word = 32 * round as usize + t;
        // SAFETY: the word is below both lengths.
        unsafe { *stage.add(word) = *input.add(word) };
    }
    thread::sync_threads();
    stage
}

/// Adds up what `read` gives in each round, and writes the sum.
///
/// # Safety
/// `output` has an element for each thread of the launch.
#[gpu_only]
#[inline(always)]
unsafe fn add_up(output: *mut u32, rounds: u32, read: impl Fn(usize) -> u32) {
    let mut sum = 0_u32;
    for round in 0..rounds {
        sum = sum.wrapping_add(read(round as usize));
    }
    // SAFETY: the output has this thread's element, which no other thread writes.
    unsafe { *output.add(thread::wide_index_1d()) = sum };
}

/// Words of 4 bytes, lane `l` reads word `stride * l`.
///
/// # Safety
/// `input` holds [`STAGE_WORDS`] words, `output` one for each thread, and nothing else uses it during the launch. Blocks have 32
/// threads, `rounds` is at most [`MOST_ROUNDS`], and `31 * stride + rounds` is below [`STAGE_WORDS`].
#[kernel(launch_bounds(32))]
pub unsafe fn banks_stride(input: *const u32, output: *mut u32, rounds: u32, stride: u32) {
    let stage = fill(input);
    let first = (stride * thread::thread_idx_x()) as usize;
    add_up(output, rounds, |round| shared::load(stage.add(first + round)));
}

/// Words of 4 bytes, lane `l` reads word `l ^ 5`: the same 32 words in another order.
///
/// # Safety
/// As for [`banks_stride`].
#[kernel(launch_bounds(32))]
pub unsafe fn banks_permuted(input: *const u32, output: *mut u32, rounds: u32) {
    let stage = fill(input);
    let first = (thread::thread_idx_x() ^ 5) as usize;
    add_up(output, rounds, |round| shared::load(stage.add(first + round)));
}

/// Words of one byte, side by side.
///
/// # Safety
/// As for [`banks_stride`].
#[kernel(launch_bounds(32))]
pub unsafe fn banks_bytes1(input: *const u32, output: *mut u32, rounds: u32) {
    let stage = fill(input).cast::<u8>();
    let first = thread::thread_idx_x() as usize;
    add_up(output, rounds, |round| u32::from(shared::load(stage.add(first + 4 * round))));
}

/// Words of two bytes, side by side.
///
/// # Safety
/// As for [`banks_stride`].
#[kernel(launch_bounds(32))]
pub unsafe fn banks_bytes2(input: *const u32, output: *mut u32, rounds: u32) {
    let stage = fill(input).cast::<u16>();
    let first = thread::thread_idx_x() as usize;
    add_up(output, rounds, |round| u32::from(shared::load(stage.add(first + 2 * round))));
}

/// Words of 8 bytes, side by side.
///
/// # Safety
/// As for [`banks_stride`].
#[kernel(launch_bounds(32))]
pub unsafe fn banks_bytes8(input: *const u32, output: *mut u32, rounds: u32) {
    let stage = fill(input).cast::<u32x2>();
    let first = thread::thread_idx_x() as usize;
    add_up(output, rounds, |round| {
        let [x, y] = shared::load(stage.add(first + round)).to_array();
        x.wrapping_add(y)
    });
}

/// Words of 16 bytes, side by side.
///
/// # Safety
/// As for [`banks_stride`]; `rounds` is at most a quarter of [`MOST_ROUNDS`].
#[kernel(launch_bounds(32))]
pub unsafe fn banks_bytes16(input: *const u32, output: *mut u32, rounds: u32) {
    let stage = fill(input).cast::<u32x4>();
    let first = thread::thread_idx_x() as usize;
    add_up(output, rounds, |round| {
        let [x, y, z, w] = shared::load(stage.add(first + round)).to_array();
        x.wrapping_add(y).wrapping_add(z).wrapping_add(w)
    });
}

/// A structure of `WORDS` words for each lane, field by field: each load has a stride of `WORDS`.
///
/// # Safety
/// As for [`banks_stride`], with `WORDS` as its stride.
#[gpu_only]
#[inline(always)]
unsafe fn field_by_field<const WORDS: u32>(input: *const u32, output: *mut u32, rounds: u32) {
    // SAFETY: the stage has `32 * WORDS + rounds` words, and the barrier of `fill` is behind.
    unsafe {
        let stage = fill(input);
        let first = (WORDS * thread::thread_idx_x()) as usize;
        add_up(output, rounds, |round| {
            (0..WORDS).fold(0, |sum, field| sum.wrapping_add(shared::load(stage.add(first + round + field as usize))))
        });
    }
}

/// A structure of two words for each lane, field by field.
///
/// # Safety
/// As for [`banks_stride`], with a stride of 2.
#[kernel(launch_bounds(32))]
pub unsafe fn banks_structure2(input: *const u32, output: *mut u32, rounds: u32) {
    field_by_field::<2>(input, output, rounds);
}

/// A structure of three words for each lane, field by field.
///
/// # Safety
/// As for [`banks_stride`], with a stride of 3.
#[kernel(launch_bounds(32))]
pub unsafe fn banks_structure3(input: *const u32, output: *mut u32, rounds: u32) {
    field_by_field::<3>(input, output, rounds);
}

/// Two elements a thread, `apart` words apart: 1 is interleaved, lane `l` reads words `2 l` and `2 l + 1`; 32 is block-apart, lane `l`
/// reads words `l` and `l + 32`.
///
/// # Safety
/// As for [`banks_stride`]; `apart` is 1 or 32.
#[kernel(launch_bounds(32))]
pub unsafe fn banks_two(input: *const u32, output: *mut u32, rounds: u32, apart: u32) {
    let stage = fill(input);
    let step = if apart == 1 { 2 } else { 1 };
    let first = (step * thread::thread_idx_x()) as usize;
    add_up(output, rounds, |round| {
        let [one, other] = [first + round, first + apart as usize + round].map(|word| shared::load(stage.add(word)));
        one.wrapping_add(other)
    });
}
