//! The best statistics of rows and columns. The lab's first steps are in `kernels/src/rows.rs`.
//!
//! One block per row wastes threads where rows are short, and multiprocessors where there are few;
//! and a tree has many barriers. What is best depends on the shape, and [`Best`] chooses:
//!
//! | rows of | kernel | what it removes |
//! | --- | --- | --- |
//! | up to 128 elements | `rows_*_lanes8`: eight lanes for each four rows | idle lanes |
//! | more | `rows_*_lanes32`: a warp a row | barriers and shared memory |
//! | thousands, or few rows | `rows_*_blocks`: one or several blocks a row | idle multiprocessors |
//!
//! Eight lanes have the loads of four rows in flight, a warp eight words of each lane. Where
//! several blocks share a row, the last one combines their results.
//!
//! All read words of 16 bytes where rows are aligned to them, else of 4, and combine by shuffles.
//! They themselves wait for the kernel before them (`cuda_std::dependent_launch`), which hides the
//! gap between launches.
//!
//! | kernels | threads of a warp read | sectors per load |
//! | --- | --- | --- |
//! | `rows_*_lanes8` | 4 rows, 8 words of 16 bytes each | 16 |
//! | `rows_*_lanes32`, `rows_*_blocks` | a row, words of 16 bytes | 16 |
//! | [`rows_column_means_best`] | 32 columns of a row | 4 |

#[cfg(target_arch = "nvptx64")]
mod blocks;
#[cfg(not(target_arch = "nvptx64"))]
mod choice;
mod columns;
#[cfg(target_arch = "nvptx64")]
mod statistic;

#[gpu_only]
use crate::combine::{BLOCK, Maximum, Minimum, Sum, Word, reduce_lanes};
#[gpu_only]
use crate::matrix::at;
#[gpu_only]
use blocks::by_blocks;
#[gpu_only]
use core::ops::Mul;
#[gpu_only]
use cuda_std::{dependent_launch, mem, thread, unroll, vector::f32x4};
use cuda_std::{gpu_only, kernel};
#[gpu_only]
use statistic::{Mean, Squares, Statistic, combine, nothing};

#[cfg(not(target_arch = "nvptx64"))]
pub use choice::Best;
pub use columns::{COLUMN_THREADS, rows_column_means_best};

/// The most threads of a block of the kernels with 8 or 32 lanes a row.
pub const LANES_THREADS: u32 = 256;

/// Threads of a block of the kernels with one or several blocks a row.
pub const BLOCK_THREADS: u32 = 512;
#[gpu_only]
const _: () = assert!(BLOCK_THREADS == BLOCK);

/// Rows that the kernels with 8 lanes a row take at once.
pub const SHORT_ROWS: u32 = 4;

/// `LANES` lanes a row, and `ROWS` rows of each lane at once, with `TOGETHER` words of each in
/// flight: rows that are too short to keep a warp busy share one, and the loads of several rows
/// make up for the few of one.
///
/// # Safety
/// The matrix holds the rows, the output an element for each; the block is made of whole warps, and
/// rows start on whole words.
#[gpu_only]
#[inline(always)]
unsafe fn by_lanes<
    S: Statistic,
    W: Word<f32> + Mul<Output = W>,
    const LANES: u32,
    const ROWS: usize,
    const TOGETHER: usize,
>(
    matrix: *const f32,
    output: *mut f32,
    rows: u32,
    columns: u32,
    pitch: u32,
) {
    // A warp's rows are neighbours, and so are those that it loads at once.
    let (lane, apart) = (thread::thread_idx_x() % LANES, 32 / LANES);
    let warp = thread::block_idx_x() * (thread::block_dim_x() / 32) + thread::thread_idx_x() / 32;
    let in_warp = thread::thread_idx_x() % 32 / LANES;
    let row_of = |k: usize| warp * apart * ROWS as u32 + k as u32 * apart + in_warp;
    let words = columns / (size_of::<W>() / size_of::<f32>()) as u32;
    let mut combined = [nothing::<S>(); ROWS];
    let mut first = lane;
    while first < words {
        let mut loaded = [[W::all(nothing::<S>()); TOGETHER]; ROWS];
        unroll::<ROWS>(|k| {
            let row = matrix.wrapping_add(at(row_of(k), 0, pitch)).cast::<W>();
            let end = if row_of(k) < rows { words } else { 0 };
            unroll::<TOGETHER>(|n| {
                let word = first + n as u32 * LANES;
                if word < end {
                    // SAFETY: row and word are within the matrix.
                    loaded[k][n] = unsafe { mem::load_ca(row.add(word as usize)) };
                }
            });
        });
        unroll::<ROWS>(|k| {
            unroll::<TOGETHER>(|n| {
                combined[k] =
                    combine::<S>(combined[k], S::of(loaded[k][n]).combined::<S::Combine>());
            });
        });
        first += TOGETHER as u32 * LANES;
    }
    unroll::<ROWS>(|k| {
        // SAFETY: all lanes are here; there is a place for each row.
        unsafe {
            let row_value = reduce_lanes::<f32, S::Combine, LANES>(combined[k]);
            if lane == 0 && row_of(k) < rows {
                *output.add(row_of(k) as usize) = S::finish(row_value, columns);
            }
        }
    });
}

/// The same in words of 16 bytes where all rows are made of them, else of 4.
///
/// # Safety
/// The matrix holds the rows, the output an element for each; the block is made of whole warps.
#[gpu_only]
#[inline(always)]
unsafe fn by_lanes_of_words<
    S: Statistic,
    const LANES: u32,
    const ROWS: usize,
    const TOGETHER: usize,
>(
    matrix: *const f32,
    output: *mut f32,
    rows: u32,
    columns: u32,
    pitch: u32,
) {
    // SAFETY: the matrix has the rows; words of four are read where all rows start on 16 bytes and
    // are made of them.
    unsafe {
        if matrix.addr().is_multiple_of(16) && (columns | pitch).is_multiple_of(4) {
            by_lanes::<S, f32x4, LANES, ROWS, TOGETHER>(matrix, output, rows, columns, pitch);
        } else {
            by_lanes::<S, f32, LANES, ROWS, TOGETHER>(matrix, output, rows, columns, pitch);
        }
    }
}

/// The entry points: each statistic in each way.
macro_rules! statistics {
    ($($what:literal $statistic:ident: $lanes8:ident, $lanes32:ident, $blocks:ident;)*) => {$(
        #[doc = concat!("The ", $what, " of each row, by eight lanes for four rows of up to 128.")]
        ///
        /// # Safety
        /// `from` holds `rows` rows of `pitch >= columns` elements, `to` `rows` elements, and
        /// nothing else uses it during the launch, in blocks of up to [`LANES_THREADS`] threads,
        /// whole warps: eight for each [`SHORT_ROWS`] rows.
        #[kernel(launch_bounds(256))]
        pub unsafe fn $lanes8(
            from: *const f32, to: *mut f32, rows: u32, columns: u32, pitch: u32,
        ) {
            const ROWS: usize = SHORT_ROWS as usize;
            dependent_launch::wait();
            by_lanes_of_words::<$statistic, 8, ROWS, 1>(from, to, rows, columns, pitch);
        }

        #[doc = concat!("The ", $what, " of each row, by a warp a row: best for many rows.")]
        ///
        /// # Safety
        /// As for the kernel with eight lanes, in blocks of up to [`LANES_THREADS`] threads, whole
        /// warps, 32 for each row.
        #[kernel(launch_bounds(256))]
        pub unsafe fn $lanes32(
            from: *const f32, to: *mut f32, rows: u32, columns: u32, pitch: u32,
        ) {
            dependent_launch::wait();
            by_lanes_of_words::<$statistic, 32, 1, 8>(from, to, rows, columns, pitch);
        }

        #[doc = concat!("The ", $what, " of each row, by blocks: best for long rows.")]
        ///
        /// # Safety
        /// `from` holds a row of `pitch >= columns` elements for each `per_row` blocks, `to` an
        /// element; `slots` has a place for each block, zero on entry, and left zero. Nothing else
        /// uses the last two during the launch. Blocks have [`BLOCK_THREADS`] threads in x.
        #[kernel(launch_bounds(512))]
        pub unsafe fn $blocks(
            from: *const f32, to: *mut f32, columns: u32, pitch: u32, per_row: u32, slots: *mut u64,
        ) {
            dependent_launch::wait();
            by_blocks::<$statistic>(from, to, columns, pitch, per_row, slots);
        }
    )*};
}

statistics! {
    "sum" Sum: rows_sum_lanes8, rows_sum_lanes32, rows_sum_blocks;
    "mean" Mean: rows_mean_lanes8, rows_mean_lanes32, rows_mean_blocks;
    "largest element" Maximum: rows_max_lanes8, rows_max_lanes32, rows_max_blocks;
    "smallest element" Minimum: rows_min_lanes8, rows_min_lanes32, rows_min_blocks;
    "sum of squares" Squares: rows_squares_lanes8, rows_squares_lanes32, rows_squares_blocks;
}
