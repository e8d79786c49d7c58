//! The best means of columns.

#[gpu_only]
use cuda_std::{address_space, dependent_launch, mem, shared::SharedCell, thread};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::combine::{Indices, Sum, publish, reduce_indices, wait_for};
#[gpu_only]
use crate::matrix::at;

/// Threads of a block of [`rows_column_means_best`] on each column.
pub const COLUMN_THREADS: u32 = 8;

/// The mean of each column, by several blocks for each 32 columns: there are enough of them for the
/// GPU, eight loads of each thread are in flight, and the last block adds up their sums.
///
/// # Safety
/// `matrix` holds `rows` rows of `pitch >= columns` elements, `output` `columns` elements, and
/// nothing else uses it during the launch, in blocks of 32 x [`COLUMN_THREADS`] threads, for each
/// 32 columns in x; the grid's y is the number of blocks for the same columns, and `slots` has a
/// place for each column and each y, zero on entry, and left zero.
#[kernel(launch_bounds((32, 8)))]
pub unsafe fn rows_column_means_best(
    matrix: *const f32,
    output: *mut f32,
    rows: u32,
    columns: u32,
    pitch: u32,
    slots: *mut u64,
) {
    dependent_launch::wait();
    let (column, y) = (thread::index_1d(), thread::thread_idx_y());
    let (part, parts) = (thread::block_idx_y(), thread::grid_dim_y());
    let (first, step) = (part * COLUMN_THREADS + y, parts * COLUMN_THREADS);
    let end = if column < columns { rows } else { 0 };
    let indices = Indices { first: first as usize, step: step as usize, end: end as usize };
    let load = |row: usize| mem::load_ca(matrix.add(at(row as u32, column, pitch)));
    let mut sum =
        column_sums(reduce_indices::<f32, Sum, f32, 8>(indices, 0.0, load, |element| element));
    let slot_of = |part: u32| slots.add(at(part, column, columns));
    if part + 1 < parts {
        if y == 0 && column < columns {
            publish(slot_of(part), sum);
        }
        return;
    }
    if parts > 1 {
        sum = if y == 0 { sum } else { 0.0 };
        let mut part = if column < columns { y } else { parts };
        while part + 1 < parts {
            sum += wait_for::<f32>(slot_of(part));
            part += COLUMN_THREADS;
        }
        // The stage is used again.
        thread::sync_threads();
        sum = column_sums(sum);
    }
    if y == 0 && column < columns {
        *output.add(column as usize) = sum / rows as f32;
    }
}

/// Adds up the values of each column's threads, in a block of 32 x [`COLUMN_THREADS`]: the sum is
/// in the first of them.
///
/// # Safety
/// All threads of the block are here. Between two calls there is a barrier.
#[gpu_only]
#[inline(always)]
unsafe fn column_sums(value: f32) -> f32 {
    #[address_space(shared)]
    static SUMS: SharedCell<[f32; 32 * COLUMN_THREADS as usize]> = SharedCell::uninit();
    let sums = SUMS.as_mut_ptr().cast::<f32>();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let mut sum = 0.0;
    // SAFETY: each thread has its place.
    unsafe {
        *sums.add((32 * y + x) as usize) = value;
        thread::sync_threads();
        if y == 0 {
            for y in 0..COLUMN_THREADS {
                sum += *sums.add((32 * y + x) as usize);
            }
        }
    }
    sum
}
