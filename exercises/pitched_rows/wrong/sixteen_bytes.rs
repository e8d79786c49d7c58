// fails: loads.sectors_per_request of blur
// Rounds the rows up to 16 bytes: every second row still starts in the middle of a sector.

use cuda_std::prelude::*;

/// The row and the column of this thread: a row of blocks for each row of the matrix.
fn place() -> (usize, usize) {
    (thread::block_idx_y() as usize, thread::wide_index_1d())
}

fn distance(columns: usize) -> usize {
    columns.next_multiple_of(4)
}

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn spread(input: *const f32, a: *mut f32, columns: usize, _pitch: usize) {
    let (row, column) = place();
    if column < columns {
        *a.add(row * distance(columns) + column) = *input.add(row * columns + column);
    }
}

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn blur(from: *const f32, to: *mut f32, rows: usize, columns: usize, _pitch: usize) {
    let (row, column) = place();
    if column < columns {
        let at = |row: usize| row * distance(columns) + column;
        // At the edge of the matrix an element stands for the missing one.
        let (above, below) = (row.saturating_sub(1), (row + 1).min(rows - 1));
        let sum = *from.add(at(above)) + *from.add(at(row)) + *from.add(at(below));
        *to.add(at(row)) = sum / 3.0;
    }
}

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn gather(a: *const f32, output: *mut f32, columns: usize, _pitch: usize) {
    let (row, column) = place();
    if column < columns {
        *output.add(row * columns + column) = *a.add(row * distance(columns) + column);
    }
}
