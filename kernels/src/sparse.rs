//! A sparse matrix times a vector, `y = A x`: the format decides whether a warp reads neighbours.
//!
//! Only the entries that are not zero are stored, each with its column. In what order, and which
//! thread reads which, is the format. A thread that adds up entries begins at one and steps to the
//! next:
//!
//! | kernel | a thread begins at | and steps by | a warp reads |
//! | --- | --- | --- | --- |
//! | [`sparse_csr_threads`] | the first entry of its row | 1 | 32 rows, apart |
//! | [`sparse_csr_warps`] | its lane's entry of its warp's row | 32 | neighbours |
//! | [`sparse_ell`] | its row's place in the table | all rows | neighbours |
//! | [`sparse_sliced`] | its row's place in its slice | the slice's rows | neighbours |
//!
//! CSR (compressed sparse rows) has where each row begins. A warp a row reads neighbours, but a row
//! of fewer than 32 entries leaves lanes idle. ELL (of ELLPACK) makes all rows as long as the
//! longest and stores the first entries of all rows, then the second ones, and so on: neighbouring
//! threads read neighbouring entries, and padding. Sliced ELL does so for a few rows at a time,
//! which are as long as their own longest. Padding has no column.
//!
//! COO (coordinates) has the row beside each entry, too, and a thread for each: equal work, but the
//! sums of a row meet in memory. [`sparse_coo`] adds each product by an atomic operation,
//! [`sparse_coo_segments`] those that a warp has of a row by one.
//!
//! What to look for: sectors and words per load; warp instructions; padding. Loads of `x` go where
//! the columns say, in any format.
//!
//! Sectors do not decide alone. By threads, the next loads of a row touch the sectors of its first
//! again, and L1 has them while rows are short; by warps, a short row takes all steps of the sum
//! for a few entries. An H200 (`host sparse`, cold, 2026-11-30) takes for 2^20 rows of 16 entries
//! 81.5 us by threads and 218 by warps, for 2^16 rows of 200 entries (2026-11-29) 73.2 and 47.6.
//!
//! # Shapes
//!
//! `y` has an element for each row; `starts` one more, of CSR for each row, of sliced ELL for each
//! slice. The table of ELL has a multiple of `y.len()` entries. Entries of COO are in the order of
//! their rows, and the grid has a thread for each.
//!
//! Sources: N. Bell, M. Garland, "Implementing Sparse Matrix-Vector Multiplication on
//! Throughput-Oriented Processors" (SC 2009); A. Monakov, A. Lokhmotov, A. Avetisyan,
//! "Automatically Tuning Sparse Matrix-Vector Multiplication for GPU Architectures" (HiPEAC 2010).

#[gpu_only]
use core::ops::Range;

use cuda_std::{AtomicSlice, DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{GpuFloat, thread, unroll, warp};

/// Threads of a block.
pub const BLOCK: u32 = 256;

/// The column of padding: no matrix has it.
pub const NO_COLUMN: u32 = u32::MAX;

/// CSR, a thread for each row.
#[kernel(block(256), linear)]
pub fn sparse_csr_threads(
    starts: &[u32],
    columns: &[u32],
    values: &[f32],
    x: &[f32],
    mut y: DisjointSlice<f32>,
) {
    let row = thread::linear_index();
    if let Some(to) = y.get_mut(row) {
        *to = add_up(columns, values, x, part(starts, row.get()), 1);
    }
}

/// CSR, a warp for each row.
#[kernel(block(256), linear)]
pub fn sparse_csr_warps(
    starts: &[u32],
    columns: &[u32],
    values: &[f32],
    x: &[f32],
    mut y: DisjointSlice<f32>,
) {
    let (row, lane) = (thread::linear_index().get() / 32, thread::lane_id());
    let Range { start, end } = part(starts, row);
    let sum = add_up(columns, values, x, start + lane as usize..end, 32);
    // SAFETY: all lanes are here. Only the first one of this warp has this row.
    unsafe {
        let sum = warp::warp_reduce_first(sum, |a, b| a + b);
        if lane == 0
            && let Some(to) = y.element_mut(row)
        {
            *to = sum;
        }
    }
}

/// ELL, a thread for each row: entry `k` of all rows, then entry `k + 1`.
#[kernel(block(256), linear)]
pub fn sparse_ell(columns: &[u32], values: &[f32], x: &[f32], mut y: DisjointSlice<f32>) {
    let (row, rows) = (thread::linear_index(), y.len());
    if let Some(to) = y.get_mut(row) {
        *to = add_up(columns, values, x, row.get()..columns.len(), rows);
    }
}

/// Sliced ELL, a thread for each row: slices of `2^log_rows` rows are stored so.
#[kernel(block(256), linear)]
pub fn sparse_sliced(
    starts: &[u32],
    columns: &[u32],
    values: &[f32],
    x: &[f32],
    mut y: DisjointSlice<f32>,
    log_rows: u32,
) {
    let (row, rows) = (thread::linear_index(), 1 << log_rows);
    if let Some(to) = y.get_mut(row) {
        let Range { start, end } = part(starts, row.get() >> log_rows);
        *to = add_up(columns, values, x, start + (row.get() & (rows - 1))..end, rows);
    }
}

/// Where the entries of a row, or of a slice, are.
#[gpu_only]
#[inline(always)]
fn part(starts: &[u32], index: usize) -> Range<usize> {
    let start = |index: usize| starts.get(index).map_or(0, |start| *start as usize);
    start(index)..start(index + 1)
}

/// The products of every `step`th entry of these with their elements of `x`, added up.
///
/// The entries are a part of whole tables: of a slice that may be empty, and so nowhere, the
/// compiler would not know that nobody writes to it, and load it without `nc`, one by one.
#[gpu_only]
#[inline(always)]
fn add_up(columns: &[u32], values: &[f32], x: &[f32], entries: Range<usize>, step: usize) -> f32 {
    let end = entries.end.min(columns.len()).min(values.len());
    let (mut i, mut sum) = (entries.start, 0.0);
    let (Some(columns), Some(values)) = (columns.get(..end), values.get(..end)) else { return sum };
    while let (Some(column), Some(value)) = (columns.get(i), values.get(i)) {
        if let Some(x) = x.get(*column as usize) {
            sum = GpuFloat::mul_add(*value, *x, sum);
        }
        i += step;
    }
    sum
}

/// What COO adds to.
#[kernel(block(256), linear)]
pub fn sparse_coo_zero(mut y: DisjointSlice<f32>) {
    if let Some(to) = y.get_mut(thread::linear_index()) {
        *to = 0.0;
    }
}

/// COO, a thread for each entry: its product is added in global memory.
#[kernel(block(256), linear)]
pub fn sparse_coo(rows: &[u32], columns: &[u32], values: &[f32], x: &[f32], y: AtomicSlice<f32>) {
    let i = thread::linear_index().get();
    if let Some(row) = rows.get(i) {
        y.add(*row as usize, product(columns, values, x, i));
    }
}

/// COO, a thread for each entry: a warp adds up what it has of each row, and its last lane of the
/// row adds that in global memory.
#[kernel(block(256), linear)]
pub fn sparse_coo_segments(
    rows: &[u32],
    columns: &[u32],
    values: &[f32],
    x: &[f32],
    y: AtomicSlice<f32>,
) {
    let i = thread::linear_index().get();
    // Beyond the end: a row that `y` does not have.
    let row = rows.get(i).copied().unwrap_or(u32::MAX);
    let mut sum = product(columns, values, x, i);
    // SAFETY: all lanes are here. The second result says whether there is such a lane.
    unsafe {
        unroll::<5>(|step| {
            let (earlier, _) = warp::warp_shuffle_up(warp::FULL, sum, 1 << step, 32);
            let (of, is_lane) = warp::warp_shuffle_up(warp::FULL, row, 1 << step, 32);
            sum += if is_lane && of == row { earlier } else { 0.0 };
        });
        let (next, is_lane) = warp::warp_shuffle_down(warp::FULL, row, 1, 32);
        if !is_lane || next != row {
            y.add(row as usize, sum);
        }
    }
}

/// An entry times its element of `x`.
#[gpu_only]
#[inline(always)]
fn product(columns: &[u32], values: &[f32], x: &[f32], i: usize) -> f32 {
    if let (Some(column), Some(value)) = (columns.get(i), values.get(i))
        && let Some(x) = x.get(*column as usize)
    {
        value * x
    } else {
        0.0
    }
}
