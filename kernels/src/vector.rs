//! Wide words: 4, 8 or 16 bytes a lane.
//!
//! A warp moves 128, 256 or 512 bytes with one load. The sectors are the same in all: what is saved is instructions and requests, 4, 2
//! or 1 for each 512 bytes, and with them the address arithmetic. Wide words also keep more bytes in flight with fewer threads (see
//! [`launch`](crate::launch)).
//!
//! # From there to the best
//!
//! | step | what it changes | what it removes |
//! | --- | --- | --- |
//! | loads past L1 | `ld.global.cg` | lines of L1 for data that is read once |
//! | two or four words a thread | where all threads then run at once | a last wave of blocks that does not fill the GPU: 2^22 floats take 11.9 us, not 12.4 |
//! | the kernel itself waits for the one before | `cuda_std::dependent_launch` | the gap between launches: back to back, 2^20 floats take 1.7 us, not 2.9 |
//! | whole words apart from the rest, addresses before the wait | one branch, then a load | instructions before the load: 2^20 floats take 0.7 % less, cold |
//! | L2 is to keep what is loaded and stored longest | `evict_last`, a cache policy | waiting for DRAM: 2^28 floats take 496 us, not 504 |
//!
//! That is [`vector_copy_best`] (times: H200, 2026-11-23 and 24). Only the last helps large vectors: with 2048 threads a
//! multiprocessor has 32 KB under way, as much as memory can use, and waves are many. There one word a thread is best, and blocks
//! of 128 to 1024 threads are the same.
//!
//! The last step has two sides. Nobody reads these lines again, and DRAM moves as many bytes, but in 1 to 6 % less time from 2^24 floats on. Small
//! vectors, cold, gain more, 4 to 9 %, but only where L2 is full of lines that have to be written to DRAM before they can be replaced, as after
//! the flush (`docs/TIMING.md`); among lines that were only read, they gain nothing. And the kernels that follow find L2 full of lines that it
//! keeps.
//!
//! Other hints cost more than they bring: a load with `L1::no_allocate` also leaves L2 early, so the next launch has to fetch its input
//! again where it could have found it there (2^22 floats, back to back: 7.7 us instead of 5.4, and 8.3 with stores that are evicted
//! first; H200, 2026-11-22). Look at `lts__t_sectors_srcunit_tex_lookup_hit.sum`.
//!
//! A wide word has to be aligned to its own size. Every allocation is; what is left over at the end, less than a
//! word, is copied element by element.
//!
//! What to look for: `l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`, and that sectors per request are 4, 8 and 16.
//!
//! Source: KAUST CS 380, lecture 14 ("vector types").

#[gpu_only]
use cuda_std::vector::{f32x2, f32x4};
#[gpu_only]
use cuda_std::{dependent_launch, mem, thread, unroll};
use cuda_std::{gpu_only, kernel};

/// Threads of a block of [`vector_copy_best`].
pub const BEST_THREADS: u32 = 256;

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

/// 16 bytes a lane, past L1, and L2 is to keep it longest.
///
/// # Safety
/// As for [`vector_copy4`], in blocks of [`BEST_THREADS`] threads in x, with a thread for each [place](places).
#[kernel(launch_bounds(256, 8))]
pub unsafe fn vector_copy_best(input: *const f32, output: *mut f32, length: usize) {
    copy_places::<1>(input, output, length);
}

/// Two words of 16 bytes a lane, past L1.
///
/// # Safety
/// As for [`vector_copy_best`], with a thread for each two places.
#[kernel(launch_bounds(256, 8))]
pub unsafe fn vector_copy_best2(input: *const f32, output: *mut f32, length: usize) {
    copy_places::<2>(input, output, length);
}

/// Four words of 16 bytes a lane, past L1.
///
/// # Safety
/// As for [`vector_copy_best`], with a thread for each four places.
#[kernel(launch_bounds(256, 8))]
pub unsafe fn vector_copy_best4(input: *const f32, output: *mut f32, length: usize) {
    copy_places::<4>(input, output, length);
}

/// The places that the best kernels copy: each word of 16 bytes, and each of the last floats that do not fill one.
pub const fn places(length: usize) -> usize {
    length / 4 + length % 4
}

/// `EACH` places a thread, a block apart, so that the lanes of a warp stay side by side. All words are under way before the first is stored.
///
/// What most threads do comes first, and without guards; and they know their places before they wait: so little is left to do when the
/// wait is over.
///
/// # Safety
/// As for [`vector_copy_best`], with a thread for each `EACH` places.
#[gpu_only]
#[inline(always)]
unsafe fn copy_places<const EACH: usize>(input: *const f32, output: *mut f32, length: usize) {
    const THREADS: usize = BEST_THREADS as usize;
    let first = thread::block_idx_x() as usize * (THREADS * EACH) + thread::thread_idx_x() as usize;
    let words = words_of::<f32x4>(length);
    // SAFETY: words below `words` are within the arrays, and so are floats below `length`; the rest is the caller's promise.
    unsafe {
        if first + (EACH - 1) * THREADS >= words {
            dependent_launch::wait();
            for place in (first..).step_by(THREADS).take(EACH) {
                if place < words {
                    *output.cast::<f32x4>().add(place) = *input.cast::<f32x4>().add(place);
                } else if let float = 4 * words + (place - words)
                    && float < length
                {
                    *output.add(float) = *input.add(float);
                }
            }
            return;
        }
        let (from, to) = (input.cast::<f32x4>().add(first), output.cast::<f32x4>().add(first));
        let from = dependent_launch::wait_with(from);
        let mut loaded = [f32x4::default(); EACH];
        unroll::<EACH>(|k| loaded[k] = mem::load_l2_evict_last(from.add(k * THREADS)));
        unroll::<EACH>(|k| mem::store_l2_evict_last(to.add(k * THREADS), loaded[k]));
    }
}
