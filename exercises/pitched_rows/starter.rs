//! Rows that start on a sector
//!
//! A row of 121 floats takes 484 bytes. If the rows follow each other directly, row 1 starts at
//! byte 484, in the middle of a sector, and so do most rows. A warp that reads 32 neighbours from
//! there needs 5 sectors, where 4 would do.
//!
//! A *pitched* matrix makes its rows longer than they have to be. The distance from row to row, the
//! *pitch*, is a multiple of the device's preferred row alignment, so that every row starts with a
//! sector; the elements past the end of a row are never used. Element (row, column) is at `row *
//! pitch + column`. It costs a little memory, once, and saves sectors in each pass.
//!
//! # Task
//!
//! Your kernels blur a matrix vertically, twice: `blur` goes from `a` to `b` and back. `input` and
//! `output` are linear, and stay so. But the two buffers between the kernels, `a` and `b`, were
//! allocated with a pitch, and have room for `rows * pitch` elements. The kernels don't use it yet:
//! they put the rows directly one after the other. Use the pitch in all three kernels, so that the
//! loads and stores of `blur` take 4 sectors. (In the code it is `_pitch` until you use it.)
//!
//! # What the clock says
//!
//! On an H200 (65,535 rows) the time is the same within 1 %: the fifth sector is also the next
//! warp's first, and the L2 cache still has it. The sectors matter where a cache is short of space
//! or of bandwidth.

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
        // TODO: how far apart are the rows of `a`?
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
        // TODO: and here?
        let at = |row: usize| row * columns + column;
        // At the edge of the matrix an element stands for the missing one.
        let (above, below) = (row.saturating_sub(1), (row + 1).min(rows - 1));
        let sum = *from.add(at(above)) + *from.add(at(row)) + *from.add(at(below));
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
        // TODO: and here?
        *output.add(row * columns + column) = *a.add(row * columns + column);
    }
}
