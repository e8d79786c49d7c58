//! Let x go along the row
//!
//! The matrix has `n` rows of `n` columns, and lies in memory row by row: element (row, column) is
//! at `row * n + column`. Neighbours in a row are neighbours in memory; neighbours in a column are
//! a whole row apart.
//!
//! A warp is 32 threads that follow each other in x first. In blocks of 32 x 8 threads its lanes
//! have x = 0 to 31, and one y. So whatever `x` stands for is what changes from lane to lane. Where
//! it stands for the row, the 32 addresses of a load are in 32 rows, and each needs a different
//! sector: 32 sectors, of which 4 bytes in 32 are used. 32 neighbours of a row would be 4 or 5
//! sectors.
//!
//! # Task
//!
//! Your kernel multiplies each row of the matrix by its own factor. Change what `x` and `y` stand
//! for, so that its loads and stores of elements take 4 or 5 sectors each. (All lanes of a warp
//! then load the same factor, which takes 1 sector. So the average of all loads is lower.)

use cuda_std::prelude::*;

/// `output[row][column] = factors[row] * input[row][column]`.
///
/// # Safety
/// `input` and `output` hold `n * n` elements, `factors` holds `n`. Blocks have 32 x 8 threads, and
/// the launch at least `n` threads in x and in y.
#[kernel]
pub unsafe fn scale_rows(input: *const f32, factors: *const f32, output: *mut f32, n: usize) {
    let place = thread::index_2d();
    // TODO: which of the two should change from lane to lane?
    let (row, column) = (place.x as usize, place.y as usize);
    if row < n && column < n {
        let i = row * n + column;
        *output.add(i) = *factors.add(row) * *input.add(i);
    }
}
