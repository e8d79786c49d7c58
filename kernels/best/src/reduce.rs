//! The best reductions. The lab's six steps are in `kernels/src/reduce.rs`.
//!
//! | step | what it removes |
//! | --- | --- |
//! | many words of 16 bytes for each thread | most barriers, shuffles and requests |
//! | four words of a thread in flight | waiting for memory (stall "long scoreboard") |
//! | one launch: the last block combines the blocks' values | a launch, and work on the host |
//! | marks instead of a counter (`combine.rs`) | a fence and an atomic: two trips to L2 |
//! | the kernel itself waits for the one before | the gap between launches, back to back |
//!
//! That is `reduce_best`. On an H200 it reads 2^28 values at 4.6 TB/s, 96 % of what its memory can
//! do by the data sheet. For a few thousand values one block is enough: `reduce_small` loads each
//! once, and waits for no other block.

#[gpu_only]
use crate::combine::{
    BLOCK, Indices, Maximum, Minimum, Number, Operation, Product, Sum, Word, reduce_array,
    reduce_block, reduce_blocks,
};
#[gpu_only]
use cuda_std::{dependent_launch, mem::load_ca, thread, unroll};
use cuda_std::{gpu_only, kernel};

#[cfg(not(target_arch = "nvptx64"))]
use crate::{Launch, blocks};

/// The threads of a block of `reduce_best`.
pub const THREADS: u32 = 512;
#[gpu_only]
const _: () = assert!(THREADS == BLOCK);

/// The threads of the block of `reduce_small`.
pub const SMALL_THREADS: u32 = 256;

/// The most values of `reduce_small`: eight words of four for each thread.
pub const SMALL_LENGTH: u32 = 32 * SMALL_THREADS;

/// `reduce_best`: as many threads as the GPU holds at once share the values, with four words of 16
/// bytes in flight each, and the last block finishes the work: one launch, and nothing left for the
/// host.
///
/// # Safety
/// As for the kernels below.
#[gpu_only]
#[inline(always)]
unsafe fn in_one_launch<T: Number, O: Operation<T>>(
    input: *const T,
    length: usize,
    output: *mut T,
    slots: *mut u64,
) {
    dependent_launch::wait();
    let (block, blocks) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    let first = block * BLOCK as usize + thread::thread_idx_x() as usize;
    let numbers = Indices { first, step: blocks * BLOCK as usize, end: length };
    // SAFETY: the input holds `length` values, the output one, and each block has its slot; all
    // threads of the block are here.
    unsafe {
        let block_value = reduce_block::<T, O, 4>(reduce_array::<T, O, 4>(input, numbers), 0);
        if let Some(value) = reduce_blocks::<T, O>(block_value, block, blocks, slots) {
            *output = value;
        }
    }
}

/// `reduce_small`: one block reduces a few thousand values sooner than several blocks could combine
/// theirs. It has few threads, because each warp's instructions take issue slots, and four words of
/// each in flight.
///
/// # Safety
/// As for the kernels below.
#[gpu_only]
#[inline(always)]
unsafe fn in_one_block<T: Number, O: Operation<T>>(input: *const T, length: u32, output: *mut T) {
    dependent_launch::wait();
    let t = thread::thread_idx_x();
    // SAFETY: words and values below the length are there.
    unsafe {
        let rest = length / 4 * 4 + t;
        let mut value = if rest < length { load_ca(input.add(rest as usize)) } else { O::IDENTITY };
        let words = input.cast::<T::Quad>();
        unroll::<2>(|round| {
            let first = 4 * SMALL_THREADS * round as u32 + t;
            if round == 0 || length > SMALL_LENGTH / 2 {
                let mut loaded = [T::Quad::all(O::IDENTITY); 4];
                unroll::<4>(|k| {
                    if first + k as u32 * SMALL_THREADS < length / 4 {
                        loaded[k] =
                            load_ca(words.add(first as usize).add(k * SMALL_THREADS as usize));
                    }
                });
                unroll::<4>(|k| value = O::combine(value, loaded[k].combined::<O>()));
            }
        });
        let value = reduce_block::<T, O, 2>(value, 0);
        if t == 0 {
            *output = value;
        }
    }
}

/// The entry points of `reduce_best` and `reduce_small`.
macro_rules! best {
    ($($best:ident $small:ident $ty:ty, $operation:ident;)*) => {$(
        #[doc = concat!("`reduce_best`: ", stringify!($operation), " of `", stringify!($ty), "`.")]
        ///
        /// # Safety
        /// `input` holds `length` values, `output` one, `slots` one for each block, zero on entry,
        /// and left zero. Nothing else uses the last two during the launch. Blocks have [`THREADS`]
        /// threads in x.
        #[kernel(launch_bounds(512))]
        pub unsafe fn $best(input: *const $ty, length: usize, output: *mut $ty, slots: *mut u64) {
            in_one_launch::<$ty, $operation>(input, length, output, slots);
        }

        #[doc = concat!("`reduce_small`: ", stringify!($operation), " of `", stringify!($ty), "`.")]
        ///
        /// # Safety
        /// `input` holds `length` values, at most [`SMALL_LENGTH`], and is aligned to 16 bytes;
        /// `output` holds one, and nothing else uses it during the launch, which is one block of
        /// [`SMALL_THREADS`] threads in x.
        #[kernel(launch_bounds(256))]
        pub unsafe fn $small(input: *const $ty, length: u32, output: *mut $ty) {
            in_one_block::<$ty, $operation>(input, length, output);
        }
    )*};
}

best! {
    reduce_best_sum_f32 reduce_small_sum_f32 f32, Sum;
    reduce_best_product_f32 reduce_small_product_f32 f32, Product;
    reduce_best_min_f32 reduce_small_min_f32 f32, Minimum;
    reduce_best_max_f32 reduce_small_max_f32 f32, Maximum;
    reduce_best_sum_i32 reduce_small_sum_i32 i32, Sum;
    reduce_best_product_i32 reduce_small_product_i32 i32, Product;
    reduce_best_min_i32 reduce_small_min_i32 i32, Minimum;
    reduce_best_max_i32 reduce_small_max_i32 i32, Maximum;
}

/// Whether one block is best, and so the kernel is `reduce_small`.
#[cfg(not(target_arch = "nvptx64"))]
pub fn is_small(length: usize) -> bool {
    length <= SMALL_LENGTH as usize
}

/// The launch of the best kernel for this many values.
#[cfg(not(target_arch = "nvptx64"))]
pub fn launch(length: usize, multiprocessors: u32) -> Launch {
    match is_small(length) {
        true => Launch::new([1, 1, 1], [SMALL_THREADS, 1, 1]),
        false => blocks::launch(length, multiprocessors),
    }
}
