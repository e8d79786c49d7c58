// fails: wrong loads.sectors of blur is
// Loads of a word that all lanes share, which bring the average down.

use cuda_std::prelude::*;

/// The row and the column of this thread: a row of blocks for each row of the matrix.
fn place() -> (usize, usize) {
    (thread::block_idx_y() as usize, thread::wide_index_1d())
}

/// Copies `input` into `a`.
///
/// # Safety
/// `input` holds `rows * columns` elements, `a` has room for `rows * pitch`. The launch has a
/// thread for each column, and a row of blocks for each row.
#[kernel]
pub unsafe fn spread(input: *const f32, a: *mut f32, columns: usize, _pitch: usize) {
    let (row, column) = place();
    if column < columns {
        *a.add(row * columns + column) = *input.add(row * columns + column);
    }
}

/// Each element becomes the mean of itself, of the one above and of the one below.
///
/// # Safety
/// `from` and `to` have room for `rows * pitch` elements each. The launch is as for [`spread`].
#[kernel]
pub unsafe fn blur(from: *const f32, to: *mut f32, rows: usize, columns: usize, _pitch: usize) {
    let (row, column) = place();
    if column < columns {
        // All lanes load one word: a sector for each request.
        let mut nothing = 0.0;
        for _ in 0..60 {
            nothing += if from.read_volatile() == 12345.0 { 1.0 } else { 0.0 };
        }
        let at = |row: usize| row * columns + column;
        // At the edge of the matrix an element stands for the missing one.
        let (above, below) = (row.saturating_sub(1), (row + 1).min(rows - 1));
        let sum = *from.add(at(above)) + *from.add(at(row)) + *from.add(at(below)) + nothing;
        *to.add(at(row)) = sum / 3.0;
    }
}

/// Copies `a` into `output`.
///
/// # Safety
/// `output` has room for `rows * columns` elements, `a` for `rows * pitch`. The launch is as for
/// [`spread`].
#[kernel]
pub unsafe fn gather(a: *const f32, output: *mut f32, columns: usize, _pitch: usize) {
    let (row, column) = place();
    if column < columns {
        *output.add(row * columns + column) = *a.add(row * columns + column);
    }
}
