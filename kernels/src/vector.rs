//! Wide words: 4, 8 or 16 bytes a lane.
//!
//! A warp moves 128, 256 or 512 bytes with one load. The sectors are the same in all: what is saved is instructions and requests, 4, 2
//! or 1 for each 512 bytes, and with them the address arithmetic. Wide words also keep more bytes in flight with fewer threads (see
//! [`launch`](crate::launch)).
//!
//! What is left to gain is in `kernels/best/src/vector.rs`.
//!
//! A wide word has to be aligned to its own size. Every allocation is; what is left over at the end, less than a
//! word, is copied element by element.
//!
//! What to look for: `l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`, and that sectors per request are 4, 8 and 16.
//!
//! Source: KAUST CS 380, lecture 14 ("vector types").

#[gpu_only]
use cuda_std::thread;
#[gpu_only]
use cuda_std::vector::{f32x2, f32x4};
use cuda_std::{gpu_only, kernel};

/// Copies `length` floats, a word a thread; the first threads also copy what does not fill a word.
///
/// # Safety
/// `input` and `output` hold `length` floats, are aligned to a word and do not overlap. The launch has a thread for each word.
#[gpu_only]
#[inline(always)]
unsafe fn copy<Word: Copy>(input: *const f32, output: *mut f32, length: usize) {
    let words = words_of::<Word>(length);
    let i = thread::wide_index_1d();
    // SAFETY: word `i` is within the arrays; the rest is the caller's promise.
    unsafe {
        if i < words {
            *output.cast::<Word>().add(i) = *input.cast::<Word>().add(i);
        }
        copy_rest::<Word>(input, output, length);
    }
}

/// Copies the floats that do not fill a word, one a thread.
///
/// # Safety
/// As for [`copy`].
#[gpu_only]
#[inline(always)]
unsafe fn copy_rest<Word>(input: *const f32, output: *mut f32, length: usize) {
    let rest = words_of::<Word>(length) * (size_of::<Word>() / size_of::<f32>()) + thread::wide_index_1d();
    if rest < length {
        // SAFETY: `rest` is below the length.
        unsafe { *output.add(rest) = *input.add(rest) };
    }
}

/// How many whole words `length` floats are.
#[gpu_only]
#[inline(always)]
fn words_of<Word>(length: usize) -> usize {
    length / (size_of::<Word>() / size_of::<f32>())
}

/// 4 bytes a lane: 128 bytes a request.
///
/// # Safety
/// `input` and `output` hold `length` floats, and nothing else uses `output` during the launch, which has a thread for each float.
#[kernel]
pub unsafe fn vector_copy4(input: *const f32, output: *mut f32, length: usize) {
    copy::<f32>(input, output, length);
}

/// 8 bytes a lane: 256 bytes a request.
///
/// # Safety
/// As for [`vector_copy4`], with a thread for each 8 bytes, and at least one.
#[kernel]
pub unsafe fn vector_copy8(input: *const f32, output: *mut f32, length: usize) {
    copy::<f32x2>(input, output, length);
}

/// 16 bytes a lane: 512 bytes a request.
///
/// # Safety
/// As for [`vector_copy4`], with a thread for each 16 bytes, and at least three.
#[kernel]
pub unsafe fn vector_copy16(input: *const f32, output: *mut f32, length: usize) {
    copy::<f32x4>(input, output, length);
}
