//! The best copies of a vector, in words of 16 bytes. Narrower words are in
//! `kernels/src/vector.rs`.
//!
//! | step | what it removes |
//! | --- | --- |
//! | loads past L1 (`ld.global.cg`) | lines of L1 for data that is read once |
//! | two or four words a thread | a last wave that does not fill the GPU: 11.9 us, not 12.4 |
//! | the kernel itself waits for the one before | the gap between launches: 1.7 us, not 2.9 |
//! | full words separate from the rest | instructions before the load: 0.7 % of 2^20 floats, cold |
//! | L2 keeps what is loaded and stored longest | waiting for DRAM: 496 us, not 504 |
//!
//! The times are those of 2^22, 2^20 and 2^28 floats (H200, 2026-11-23 and 24). Several words a
//! thread pay where all threads then run at once. Only the last step helps large vectors: DRAM
//! moves as many bytes, but in 1 to 6 % less time from 2^24 floats on. The price: the next kernels
//! find L2 full of lines that it keeps. What else was tried is in `measurements/tried.md`.
//!
//! [`best`] chooses how many words a thread copies.

#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::launch::{Kernel, Pointer, PointerMut};
#[gpu_only]
use cuda_std::vector::f32x4;
#[gpu_only]
use cuda_std::{dependent_launch, mem, thread, unroll};
use cuda_std::{gpu_only, kernel};

#[cfg(not(target_arch = "nvptx64"))]
use crate::{Gpu, Launch};

/// Threads of a block of [`vector_copy_best`].
pub const THREADS: u32 = 256;

/// 16 bytes a lane, past L1, which L2 is asked to keep longest.
///
/// # Safety
/// `input` and `output` hold `length` floats, on 16 bytes, and do not overlap; nothing else uses
/// `output` during the launch, in blocks of [`THREADS`] threads in x, with a thread for each
/// [place](places).
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

/// The places that the best kernels copy: each word of 16 bytes, and each of the last floats that
/// do not fill one.
pub const fn places(length: usize) -> usize {
    length / 4 + length % 4
}

/// `EACH` places a thread, a block apart, so that the lanes of a warp stay side by side. All loads
/// are in flight before the first word is stored.
///
/// Most threads take a path without guards, and compute their addresses before they wait, so that
/// little is left to do after the wait.
///
/// # Safety
/// As for [`vector_copy_best`], with a thread for each `EACH` places.
#[gpu_only]
#[inline(always)]
unsafe fn copy_places<const EACH: usize>(input: *const f32, output: *mut f32, length: usize) {
    const THREADS: usize = self::THREADS as usize;
    let first = thread::block_idx_x() as usize * (THREADS * EACH) + thread::thread_idx_x() as usize;
    let words = words_of::<f32x4>(length);
    // SAFETY: words below `words` are within the arrays, and so are floats below `length`; each
    // place is that of one thread.
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

/// How many whole words `length` floats are.
#[gpu_only]
#[inline(always)]
fn words_of<Word>(length: usize) -> usize {
    length / (size_of::<Word>() / size_of::<f32>())
}

/// The kernels' parameters: input, output, and how many floats.
#[cfg(not(target_arch = "nvptx64"))]
pub type Copy = Kernel<(Pointer<f32>, PointerMut<f32>, usize)>;

/// The best kernel for this many floats, how many words each of its threads copies, and its launch.
#[cfg(not(target_arch = "nvptx64"))]
pub fn best(gpu: Gpu, length: usize) -> (&'static Copy, usize, Launch) {
    let words = words_of_a_thread(length / 4, gpu.resident_threads);
    let kernel = match words {
        4 => &vector_copy_best4,
        2 => &vector_copy_best2,
        _ => &vector_copy_best,
    };
    (kernel, words, Launch::linear(places(length).div_ceil(words), THREADS))
}

/// How many words a thread copies: as few as let all threads be resident at once, if four words are
/// enough, else one. So there is no last wave of blocks that leaves most of the GPU idle; where
/// there are many waves, it does not matter.
#[cfg(not(target_arch = "nvptx64"))]
fn words_of_a_thread(words: usize, resident_threads: u64) -> usize {
    [1, 2, 4].into_iter().find(|&each| words.div_ceil(each) as u64 <= resident_threads).unwrap_or(1)
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_several_words_where_all_threads_are_then_resident() {
        let on_h200 = |words| words_of_a_thread(words, Gpu::H200.resident_threads);
        assert_eq!(
            [1, 270_336, 270_337, 540_672, 540_673, 1 << 20, 1_081_344].map(on_h200),
            [1, 1, 2, 2, 4, 4, 4]
        );
        assert_eq!([1_081_345, 1 << 26].map(on_h200), [1, 1]);
    }

    #[test]
    fn the_launch_has_a_thread_for_each_place() {
        let (kernel, words, launch) = best(Gpu::H200, 4 * 270_337 + 3);
        assert_eq!((kernel.name(), words, launch.grid), ("vector_copy_best2", 2, [529, 1, 1]));
    }
}
