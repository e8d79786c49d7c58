//! Numbers of each row of a matrix: sum, mean, largest, smallest, sum of squares; and the mean of each column.
//!
//! The first idea is a thread for each row. It walks its row in global memory, and at each step the lanes of a warp are in 32
//! different rows: 32 sectors for 32 floats. The second is a block for each row: its threads read the row side by side, and meet in shared
//! memory.
//!
//! With columns it is the other way round. A thread for each column reads side by side with its neighbours all the way down, and global
//! memory alone is fine, except that there may be too few threads; the shared version puts eight of them on each column.
//!
//! | kernels | threads of a warp read | sectors per load |
//! | --- | --- | --- |
//! | `rows_*_global` | 32 rows at once | 32 |
//! | `rows_*_shared` | a row, side by side | 4 |
//! | [`rows_column_means_global`], [`rows_column_means_shared`] | 32 columns of a row | 4 |
//!
//! What is left to gain, for each shape by a kernel of its own, is in `kernels/best/src/rows.rs`.
//!
//! What to look for: sectors per request of loads; with rows of 1000 or 1001 floats, linear against pitched.
//!
//! # Shapes
//!
//! `rows` x `columns` floats, row `r` at `r * pitch`; an output element for each row, or for each column. Blocks of the shared kernels
//! have a power of two of threads, up to [`MOST_THREADS`]; those of [`rows_column_means_shared`] are 32 x [`COLUMN_THREADS`].
//!
//! Source: the lab sheet, exercise on matrices, variants 2 to 6 (1000 x 1000).

#[gpu_only]
use crate::matrix::at;
#[gpu_only]
use crate::operation::{Maximum, Minimum, Operation, Sum};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};
use cuda_std::{gpu_only, kernel};

/// The most threads of a block.
pub const MOST_THREADS: u32 = 1024;

/// Threads of a block of [`rows_column_means_shared`] on each column.
pub const COLUMN_THREADS: u32 = 8;

/// What a kernel computes of a row.
#[gpu_only]
trait Statistic {
    /// How elements are combined.
    type Combine: Operation<f32>;
    /// What elements count as.
    fn of(element: f32) -> f32 {
        element
    }
    /// The row's result, of its `count` elements combined.
    fn finish(combined: f32, _count: u32) -> f32 {
        combined
    }
}

#[gpu_only]
struct Mean;
#[gpu_only]
struct Squares;

#[gpu_only]
impl Statistic for Sum {
    type Combine = Sum;
}

#[gpu_only]
impl Statistic for Mean {
    type Combine = Sum;
    #[inline(always)]
    fn finish(combined: f32, count: u32) -> f32 {
        combined / count as f32
    }
}

#[gpu_only]
impl Statistic for Maximum {
    type Combine = Maximum;
}

#[gpu_only]
impl Statistic for Minimum {
    type Combine = Minimum;
}

#[gpu_only]
impl Statistic for Squares {
    type Combine = Sum;
    #[inline(always)]
    fn of(element: f32) -> f32 {
        element * element
    }
}

/// What changes nothing.
#[gpu_only]
const fn nothing<S: Statistic>() -> f32 {
    S::Combine::IDENTITY
}

/// Combines two elements, or what elements were combined to.
#[gpu_only]
#[inline(always)]
fn combine<S: Statistic>(a: f32, b: f32) -> f32 {
    S::Combine::combine(a, b)
}

/// One thread a row, which it walks in global memory.
#[gpu_only]
#[inline(always)]
unsafe fn walk<S: Statistic>(matrix: *const f32, output: *mut f32, rows: u32, columns: u32, pitch: u32) {
    let row = thread::index_1d();
    if row < rows {
        // SAFETY: the row is in the matrix.
        let elements = unsafe { matrix.add(at(row, 0, pitch)) };
        let mut combined = nothing::<S>();
        for column in 0..columns {
            // SAFETY: so is the column.
            combined = combine::<S>(combined, S::of(unsafe { *elements.add(column as usize) }));
        }
        // SAFETY: there is a place for each row.
        unsafe { *output.add(row as usize) = S::finish(combined, columns) };
    }
}

/// One block a row: its threads take elements side by side, and meet in shared memory.
#[gpu_only]
#[inline(always)]
unsafe fn meet<S: Statistic>(matrix: *const f32, output: *mut f32, columns: u32, pitch: u32) {
    let stage = stage();
    let (row, t) = (thread::block_idx_x(), thread::thread_idx_x());
    let mut combined = nothing::<S>();
    let mut column = t;
    // SAFETY: row and column are within the matrix; each thread has its own place on the stage; barriers part the steps.
    unsafe {
        while column < columns {
            combined = combine::<S>(combined, S::of(*matrix.add(at(row, column, pitch))));
            column += thread::block_dim_x();
        }
        let mine = stage.add(t as usize);
        *mine = combined;
        thread::sync_threads();
        let mut s = thread::block_dim_x() / 2;
        while s > 0 {
            if t < s {
                *mine = combine::<S>(*mine, *mine.add(s as usize));
            }
            thread::sync_threads();
            s /= 2;
        }
        if t == 0 {
            *output.add(row as usize) = S::finish(*stage, columns);
        }
    }
}

#[gpu_only]
#[inline(always)]
fn stage() -> *mut f32 {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; MOST_THREADS as usize]> = SharedCell::uninit();
    STAGE.as_mut_ptr().cast()
}

/// The entry points: each statistic in each way.
macro_rules! statistics {
    ($($what:literal $statistic:ident: $global:ident, $shared:ident;)*) => {$(
        #[doc = concat!("The ", $what, " of each row, by one thread a row.")]
        ///
        /// # Safety
        /// `matrix` holds `rows` rows of `pitch >= columns` elements, `output` `rows` elements, and nothing else uses it during the
        /// launch, which has a thread for each row.
        #[kernel]
        pub unsafe fn $global(matrix: *const f32, output: *mut f32, rows: u32, columns: u32, pitch: u32) {
            walk::<$statistic>(matrix, output, rows, columns, pitch);
        }

        #[doc = concat!("The ", $what, " of each row, by one block a row.")]
        ///
        /// # Safety
        /// `matrix` holds a row of `pitch >= columns` elements for each block, `output` an element, and nothing else uses it during
        /// the launch. Blocks have a power of two of threads.
        #[kernel]
        pub unsafe fn $shared(matrix: *const f32, output: *mut f32, columns: u32, pitch: u32) {
            meet::<$statistic>(matrix, output, columns, pitch);
        }
    )*};
}

statistics! {
    "sum" Sum: rows_sum_global, rows_sum_shared;
    "mean" Mean: rows_mean_global, rows_mean_shared;
    "largest element" Maximum: rows_max_global, rows_max_shared;
    "smallest element" Minimum: rows_min_global, rows_min_shared;
    "sum of squares" Squares: rows_squares_global, rows_squares_shared;
}

/// The mean of each column, by one thread a column.
///
/// # Safety
/// `matrix` holds `rows` rows of `pitch >= columns` elements, `output` `columns` elements, and nothing else uses it during the launch,
/// which has a thread for each column.
#[kernel]
pub unsafe fn rows_column_means_global(matrix: *const f32, output: *mut f32, rows: u32, columns: u32, pitch: u32) {
    let column = thread::index_1d();
    if column < columns {
        let mut element = matrix.add(column as usize);
        let mut sum = 0.0;
        for _ in 0..rows {
            sum += *element;
            element = element.add(pitch as usize);
        }
        *output.add(column as usize) = sum / rows as f32;
    }
}

/// The mean of each column, by eight threads a column: each walks every eighth row, and they meet in shared memory.
///
/// # Safety
/// As for [`rows_column_means_global`], in blocks of 32 x [`COLUMN_THREADS`] threads, one for each 32 columns.
#[kernel(launch_bounds((32, 8)))]
pub unsafe fn rows_column_means_shared(matrix: *const f32, output: *mut f32, rows: u32, columns: u32, pitch: u32) {
    let (column, y) = (thread::index_1d(), thread::thread_idx_y());
    let mut sum = 0.0;
    if column < columns {
        let mut row = y;
        while row < rows {
            sum += *matrix.add(at(row, column, pitch));
            row += COLUMN_THREADS;
        }
    }
    let sum = of_columns(sum);
    if y == 0 && column < columns {
        *output.add(column as usize) = sum / rows as f32;
    }
}

/// Adds up the values of each column's threads, in a block of 32 x [`COLUMN_THREADS`]: the sum is in the first of them.
///
/// # Safety
/// All threads of the block are here. Between two calls there is a barrier.
#[gpu_only]
#[inline(always)]
unsafe fn of_columns(value: f32) -> f32 {
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
