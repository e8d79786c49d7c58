//! Means, extremes and sums of squares of rows. These kernels are generated, and differ from the
//! sums of [`rows`](crate::rows) only in what they do with the elements: read those.
//!
//! *Invariant:* they make the same accesses as the sums, so that memory counters do not depend on
//! the statistic.

#[gpu_only]
use crate::rows::MOST_THREADS;
use cuda_std::phases::{Block, BlockSlice, Shared};
use cuda_std::{DisjointSlice, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};

/// The entry points: each statistic by a thread and by a block for each row, and by a block in
/// phases. A statistic is what it begins with, what an element counts as, how two are combined, and
/// what becomes of all of them.
macro_rules! statistics {
    ($($global:ident, $shared:ident, $phased:ident, $what:literal:
        $identity:expr, $of:expr, $combine:expr, $finish:expr;)*) => {$(
        #[doc = concat!("The ", $what, " of each row, by a thread for each row.")]
        #[kernel(linear)]
        pub fn $global(matrix: Matrix<f32>, results: DisjointSlice<f32>) {
            by_threads(matrix, results, $identity, $of, $combine, $finish);
        }

        #[doc = concat!("The ", $what, " of each row, by a block for each row.")]
        #[kernel(linear)]
        pub fn $shared(matrix: Matrix<f32>, results: DisjointSlice<f32>) {
            by_blocks(matrix, results, $identity, $of, $combine, $finish);
        }

        #[doc = concat!("The ", $what, " of each row, by a block for each row, in phases.")]
        #[kernel(block(256), linear)]
        pub fn $phased(
            block: Block<256>,
            stage: Shared<[f32; 256]>,
            matrix: Matrix<f32>,
            results: BlockSlice<f32>,
        ) {
            by_phases(block, stage, matrix, results, $identity, $of, $combine, $finish);
        }
    )*};
}

statistics! {
    rows_mean_global, rows_mean_shared, rows_mean_phased, "mean":
        0.0, |x| x, |a, b| a + b, |sum, n| sum / n as f32;
    rows_max_global, rows_max_shared, rows_max_phased, "largest element":
        f32::NEG_INFINITY, |x| x, f32::max, |max, _| max;
    rows_min_global, rows_min_shared, rows_min_phased, "smallest element":
        f32::INFINITY, |x| x, f32::min, |min, _| min;
    rows_squares_global, rows_squares_shared, rows_squares_phased, "sum of squares":
        0.0, |x| x * x, |a, b| a + b, |sum, _| sum;
}

/// What `rows_sum_global` does, for any statistic.
#[gpu_only]
#[inline(always)]
fn by_threads(
    matrix: Matrix<f32>,
    mut results: DisjointSlice<f32>,
    identity: f32,
    of: impl Fn(f32) -> f32,
    combine: impl Fn(f32, f32) -> f32,
    finish: impl Fn(f32, u32) -> f32,
) {
    let i = thread::linear_index();
    if let (Some(row), Some(to)) = (matrix.row(i.get() as u32), results.get_mut(i)) {
        let result = row.iter().fold(identity, |result, &element| combine(result, of(element)));
        *to = finish(result, matrix.cols());
    }
}

/// What `rows_sum_shared` does, for any statistic.
#[gpu_only]
#[inline(always)]
fn by_blocks(
    matrix: Matrix<f32>,
    mut results: DisjointSlice<f32>,
    identity: f32,
    of: impl Fn(f32) -> f32,
    combine: impl Fn(f32, f32) -> f32,
    finish: impl Fn(f32, u32) -> f32,
) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; MOST_THREADS as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32>();
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());

    let mut result = identity;
    if let Some(row) = matrix.row(thread::block_idx_x()) {
        let mut i = t as usize;
        while let Some(&element) = row.get(i) {
            result = combine(result, of(element));
            i += threads as usize;
        }
    }
    // SAFETY: each thread has its own element.
    unsafe { *stage.add(t as usize) = result };
    thread::sync_threads();

    let mut s = threads / 2;
    while s > 0 {
        if t < s {
            // SAFETY: in this step only this thread uses these two, and t + s < 2 s <= threads.
            unsafe {
                let (to, from) = (stage.add(t as usize), stage.add((t + s) as usize));
                *to = combine(*to, *from);
            }
        }
        thread::sync_threads();
        s /= 2;
    }

    // SAFETY: only the block's first thread writes the row's result, and reads its own element.
    if t == 0
        && let Some(to) = unsafe { results.element_mut(thread::block_idx_x() as usize) }
    {
        *to = finish(unsafe { *stage }, matrix.cols());
    }
}

/// What `rows_sum_phased` does, for any statistic.
#[gpu_only]
#[inline(always)]
#[expect(clippy::too_many_arguments)]
fn by_phases(
    mut block: Block<256>,
    mut stage: Shared<[f32; 256]>,
    matrix: Matrix<f32>,
    mut results: BlockSlice<f32>,
    identity: f32,
    of: impl Fn(f32) -> f32,
    combine: impl Fn(f32, f32) -> f32,
    finish: impl Fn(f32, u32) -> f32,
) {
    block.fill(&mut stage, |thread, _| {
        let mut result = identity;
        if let Some(row) = matrix.row(thread::block_idx_x()) {
            let mut i = thread.x() as usize;
            while let Some(&element) = row.get(i) {
                result = combine(result, of(element));
                i += 256;
            }
        }
        result
    });

    let mut distance = 128;
    while distance > 0 {
        block.pairs(&mut stage, distance, |first, second| *first = combine(*first, *second));
        distance /= 2;
    }

    block.finish(|thread| {
        if let Some(to) = results.get_mut(thread) {
            *to = finish(stage.read(thread)[0], matrix.cols());
        }
    });
}
