//! The banks of shared memory: 32 words at once, if they are in 32 banks.
//!
//! Shared memory has 32 banks. Word `w` (4 bytes) is in bank `w % 32`, and each bank serves one
//! word at a time, to as many lanes as ask for it. So a warp's load takes as many passes
//! (*wavefronts*) as the busiest bank has different words:
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
//! Loads of 8 bytes are served half a warp at a time, loads of 16 a quarter: the banks deliver 128
//! bytes at once, no more. Two neighbouring halves or quarters become one if lanes read the same in
//! pairs: each lane `i` what lane `i ^ 1` reads, or each what `i ^ 2` reads. (Stores are never
//! merged.)
//!
//! The first GPUs (G80, Tesla) had 16 banks and served half a warp at a time: gcd(s, 16) wavefronts
//! for each half, so that a stride of 16 was the worst case already. Words of 1, 2, 8 and 16 bytes
//! conflicted there, too: 8, 4, 8 and 32 wavefronts a warp.
//!
//! Each kernel fills its stage side by side, then reads it `rounds` times with the pattern, one
//! word further each time (which shifts all lanes alike and changes no conflict), and adds up what
//! it reads.
//!
//! What to look for: wavefronts of each shared load
//! (`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum` over
//! `smsp__sass_inst_executed_op_shared_ld.sum`).
//!
//! # Shapes
//!
//! One warp a block: 32 threads in x. The stage has [`STAGE_WORDS`] words, which the block fills
//! with `input`; each thread writes its sum to its own element of `output`. A thread whose pattern
//! leaves the stage writes nothing.
//!
//! # Where `unsafe` begins
//!
//! The compiler does not know that a barrier lies between the writes to the stage and the reads of
//! other threads: the kernel promises it, and the sanitizer checks exactly this. The reads are
//! volatile, so that the compiler keeps each round's loads, though an earlier round may have read
//! the same words.
//!
//! Source: KAUST CS 380, lecture 14.

#[gpu_only]
use bytemuck::Pod;
use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{
    address_space,
    shared::{self, SharedCell},
    thread,
    vector::{u32x2, u32x4},
};

/// Words of 4 bytes on the stage: more than a column of 32 x 33, and as many as `rounds` steps
/// beyond.
pub const STAGE_WORDS: u32 = 2048;

/// The most rounds: with so many steps the last lane's word is still on the stage.
pub const MOST_ROUNDS: u32 = 512;

/// The stage of this block, filled with the first words of `input`, side by side.
///
/// # Safety
/// All threads of the block call it, once.
#[gpu_only]
#[inline(always)]
unsafe fn filled_stage<T: Pod>(input: &[u32]) -> &'static [T] {
    #[address_space(shared)]
    static STAGE: SharedCell<[u32; STAGE_WORDS as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    for word in (thread::thread_idx_x() as usize..STAGE_WORDS as usize).step_by(32) {
        // SAFETY: no other thread of the warp has this word.
        unsafe { (*stage)[word] = input.get(word).copied().unwrap_or(0) };
    }
    thread::sync_threads();
    const { assert!(align_of::<T>() <= align_of::<SharedCell<u32>>()) };
    // SAFETY: all bytes are written, and after the barrier they are only read.
    unsafe { core::slice::from_raw_parts(stage.cast(), 4 * STAGE_WORDS as usize / size_of::<T>()) }
}

/// Words of 4 bytes, lane `l` reads word `stride * l`.
#[kernel(block(32), linear)]
pub fn banks_stride(input: &[u32], mut output: DisjointSlice<u32>, rounds: u32, stride: u32) {
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // SAFETY: all threads of the block are here, once.
    let words: &[u32] = unsafe { filled_stage(input) };
    let first = stride as usize * t;
    let words = words.get(first..first + rounds as usize);
    if let (Some(words), Some(output)) = (words, output.get_mut(i)) {
        // SAFETY: a word of the stage.
        *output = words.iter().fold(0, |sum, word| sum.wrapping_add(unsafe { shared::load(word) }));
    }
}

/// Words of 4 bytes, lane `l` reads word `l ^ 5`: the same 32 words in another order.
#[kernel(block(32), linear)]
pub fn banks_permuted(input: &[u32], mut output: DisjointSlice<u32>, rounds: u32) {
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // SAFETY: all threads of the block are here, once.
    let words: &[u32] = unsafe { filled_stage(input) };
    let first = t ^ 5;
    let words = words.get(first..first + rounds as usize);
    if let (Some(words), Some(output)) = (words, output.get_mut(i)) {
        // SAFETY: a word of the stage.
        *output = words.iter().fold(0, |sum, word| sum.wrapping_add(unsafe { shared::load(word) }));
    }
}

/// Words of one byte, side by side.
#[kernel(block(32), linear)]
pub fn banks_bytes1(input: &[u32], mut output: DisjointSlice<u32>, rounds: u32) {
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // SAFETY: all threads of the block are here, once.
    let bytes: &[u8] = unsafe { filled_stage(input) };
    let bytes = bytes.get(t..t + 4 * rounds as usize);
    if let (Some(bytes), Some(output)) = (bytes, output.get_mut(i)) {
        let mut sum = 0_u32;
        for round in 0..rounds as usize {
            // SAFETY: there are four bytes for each round.
            sum =
                sum.wrapping_add(u32::from(unsafe { shared::load(bytes.as_ptr().add(4 * round)) }));
        }
        *output = sum;
    }
}

/// Words of two bytes, side by side.
#[kernel(block(32), linear)]
pub fn banks_bytes2(input: &[u32], mut output: DisjointSlice<u32>, rounds: u32) {
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // SAFETY: all threads of the block are here, once.
    let halves: &[u16] = unsafe { filled_stage(input) };
    let halves = halves.get(t..t + 2 * rounds as usize);
    if let (Some(halves), Some(output)) = (halves, output.get_mut(i)) {
        let mut sum = 0_u32;
        for round in 0..rounds as usize {
            // SAFETY: there are two halves for each round.
            sum = sum
                .wrapping_add(u32::from(unsafe { shared::load(halves.as_ptr().add(2 * round)) }));
        }
        *output = sum;
    }
}

/// Words of 8 bytes, side by side.
#[kernel(block(32), linear)]
pub fn banks_bytes8(input: &[u32], mut output: DisjointSlice<u32>, rounds: u32) {
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // SAFETY: all threads of the block are here, once.
    let pairs: &[u32x2] = unsafe { filled_stage(input) };
    let pairs = pairs.get(t..t + rounds as usize);
    if let (Some(pairs), Some(output)) = (pairs, output.get_mut(i)) {
        *output = pairs.iter().fold(0, |sum, pair| {
            // SAFETY: two words of the stage.
            let [x, y] = unsafe { shared::load(pair) }.to_array();
            sum.wrapping_add(x).wrapping_add(y)
        });
    }
}

/// Words of 16 bytes, side by side.
#[kernel(block(32), linear)]
pub fn banks_bytes16(input: &[u32], mut output: DisjointSlice<u32>, rounds: u32) {
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // SAFETY: all threads of the block are here, once.
    let quads: &[u32x4] = unsafe { filled_stage(input) };
    let quads = quads.get(t..t + rounds as usize);
    if let (Some(quads), Some(output)) = (quads, output.get_mut(i)) {
        *output = quads.iter().fold(0, |sum, quad| {
            // SAFETY: four words of the stage.
            let [x, y, z, w] = unsafe { shared::load(quad) }.to_array();
            sum.wrapping_add(x).wrapping_add(y).wrapping_add(z).wrapping_add(w)
        });
    }
}

/// A structure of two words for each lane, field by field: each load has a stride of 2.
#[kernel(block(32), linear)]
pub fn banks_structure2(input: &[u32], mut output: DisjointSlice<u32>, rounds: u32) {
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // SAFETY: all threads of the block are here, once.
    let words: &[u32] = unsafe { filled_stage(input) };
    let words = words.get(2 * t..2 * t + rounds as usize + 1);
    if let (Some(words), Some(output)) = (words, output.get_mut(i)) {
        let mut sum = 0_u32;
        for round in 0..rounds as usize {
            // SAFETY: there is one word more than rounds.
            let (x, y) = unsafe {
                let x = words.as_ptr().add(round);
                (shared::load(x), shared::load(x.add(1)))
            };
            sum = sum.wrapping_add(x).wrapping_add(y);
        }
        *output = sum;
    }
}

/// A structure of three words for each lane, field by field: each load has a stride of 3.
#[kernel(block(32), linear)]
pub fn banks_structure3(input: &[u32], mut output: DisjointSlice<u32>, rounds: u32) {
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // SAFETY: all threads of the block are here, once.
    let words: &[u32] = unsafe { filled_stage(input) };
    let words = words.get(3 * t..3 * t + rounds as usize + 2);
    if let (Some(words), Some(output)) = (words, output.get_mut(i)) {
        let mut sum = 0_u32;
        for round in 0..rounds as usize {
            // SAFETY: there are two words more than rounds.
            let (x, y, z) = unsafe {
                let x = words.as_ptr().add(round);
                (shared::load(x), shared::load(x.add(1)), shared::load(x.add(2)))
            };
            sum = sum.wrapping_add(x).wrapping_add(y).wrapping_add(z);
        }
        *output = sum;
    }
}

/// Two elements a thread, `apart` words apart: 1 is interleaved, lane `l` reads words `2 l` and `2
/// l + 1`; 32 is block-apart, lane `l` reads words `l` and `l + 32`.
#[kernel(block(32), linear)]
pub fn banks_two(input: &[u32], mut output: DisjointSlice<u32>, rounds: u32, apart: u32) {
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    let (rounds, apart) = (rounds as usize, apart as usize);
    // SAFETY: all threads of the block are here, once.
    let words: &[u32] = unsafe { filled_stage(input) };
    let first = if apart == 1 { 2 * t } else { t };
    let (ones, others) =
        (words.get(first..first + rounds), words.get(first + apart..first + apart + rounds));
    if let (Some(ones), Some(others), Some(output)) = (ones, others, output.get_mut(i)) {
        let mut sum = 0_u32;
        for (one, other) in ones.iter().zip(others) {
            // SAFETY: words of the stage.
            let (one, other) = unsafe { (shared::load(one), shared::load(other)) };
            sum = sum.wrapping_add(one).wrapping_add(other);
        }
        *output = sum;
    }
}
