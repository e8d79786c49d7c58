//! Wide words: 4, 8 or 16 bytes a lane.
//!
//! A warp moves 128, 256 or 512 bytes with one load. The sectors are the same in all: what is saved is instructions and requests, 4, 2
//! or 1 for each 512 bytes, and with them the address arithmetic. Wide words also keep more bytes in flight with fewer threads (see
//! [`launch`](crate::launch)).
//!
//! `vector_copy_best` is `vector_copy16` with loads past L1, which has no use for what is read once. That is all there is to gain: with
//! 2048 threads a multiprocessor has 32 KB under way, as much as memory can use. Two or four words a thread, and blocks of 128 to 1024
//! threads, were no faster. Hints cost more than they bring: a load with `L1::no_allocate` also leaves L2 early, so the
//! next launch has to fetch its input again where it could have found it there (2^22 floats, back to back: 7.7 us instead of 5.4, and
//! 8.3 with stores that are evicted first; H200, 2026-11-22). Look at `lts__t_sectors_srcunit_tex_lookup_hit.sum`.
//!
//! A wide word has to stand on a multiple of its own size. Every allocation starts so; what is left over at the end, less than a
//! word, is copied element by element.
//!
//! What to look for: `l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`, and that sectors per request are 4, 8 and 16.
//!
//! Source: KAUST CS 380, lecture 14 ("vector types").

#[gpu_only]
use cuda_std::mem::load_cg;
#[gpu_only]
use cuda_std::thread;
#[gpu_only]
use cuda_std::vector::{f32x2, f32x4};
use cuda_std::{gpu_only, kernel};

/// The most threads of a block of [`vector_copy_best`].
pub const BEST_THREADS: u32 = 256;

/// Copies `length` floats, a word a thread; the last threads also copy what does not fill a word.
///
/// # Safety
/// `input` and `output` hold `length` floats, are aligned to a word and do not overlap. The launch has a thread for each word.
#[gpu_only]
#[inline(always)]
unsafe fn copy<Word: Copy>(input: *const f32, output: *mut f32, length: usize) {
    // SAFETY: as the caller says.
    unsafe { copy_by::<Word>(input, output, length, |from, to| *to = *from) }
}

/// The same, where `word` copies a word.
///
/// # Safety
/// As for [`copy`]; `word` does what it should.
#[gpu_only]
#[inline(always)]
unsafe fn copy_by<Word>(input: *const f32, output: *mut f32, length: usize, word: impl FnOnce(*const Word, *mut Word)) {
    let floats = size_of::<Word>() / size_of::<f32>();
    let words = length / floats;
    let i = thread::wide_index_1d();
    if i < words {
        // SAFETY: word `i` is within the arrays.
        unsafe { word(input.cast::<Word>().add(i), output.cast::<Word>().add(i)) };
    }
    let rest = words * floats + i;
    if rest < length {
        // SAFETY: `rest` is below the length.
        unsafe { *output.add(rest) = *input.add(rest) };
    }
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

/// 16 bytes a lane, past L1.
///
/// # Safety
/// As for [`vector_copy16`], in blocks of up to [`BEST_THREADS`] threads.
#[kernel(launch_bounds(256))]
pub unsafe fn vector_copy_best(input: *const f32, output: *mut f32, length: usize) {
    copy_by::<f32x4>(input, output, length, |from, to| *to = load_cg(from));
}
