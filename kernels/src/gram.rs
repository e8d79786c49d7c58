//! The product of a matrix with its own transpose, `C = A A^T`: bank conflicts in earnest.
//!
//! An element of `C` is the product of two *rows* of `A`. So both tiles of a block are loaded the same way, along the rows of `A`; but
//! where the matrix product reads its second tile by rows, this one reads it by columns: lane `x` wants element `k` of row `x`.
//! In a tile with rows of `T` words the lanes' words are `T` apart:
//!
//! | tile | 16 banks, half warps (the lab sheet's GPU) | 32 banks |
//! | --- | --- | --- |
//! | `[16][16]` | all 16 lanes in one bank: 16 ways | 16 words in 2 banks: 8 ways |
//! | `[16][17]` | none | none |
//! | `[32][32]` | | all 32 lanes in one bank: 32 ways |
//! | `[32][33]` | | none |
//!
//! One unused column is all it takes. (What is left are the stores of the 17-word rows: a warp writes two of them, which overlap by a
//! bank.) [`gram_mirrored`] also uses that `C` is symmetric: a block computes a tile on or below the diagonal
//! and writes it twice, so that half of the arithmetic is saved. `kernels/best/src/gram.rs` does that with tiles in
//! registers.
//!
//! What to look for: wavefronts of each shared load
//! (`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum` over `smsp__sass_inst_executed_op_shared_ld.sum`). Half of the loads are of
//! the first tile and have no conflicts, so `[16][16]` shows (1 + 8) / 2 = 4.5, and `[32][32]` (1 + 32) / 2 = 16.5.
//!
//! # Shapes
//!
//! `A` has `rows` x `columns` elements, `C` `rows` x `rows`, of any size; what lies beyond counts as 0. Rows are `a_pitch` and
//! `c_pitch` elements apart.
//!
//! Source: the lab sheet, table 3.2 (551.73 ms and 120.59 ms).

use bytemuck::{Pod, Zeroable};
#[gpu_only]
use cuda_std::{GpuFloat, address_space, shared, shared::SharedCell, thread};
use cuda_std::{gpu_only, kernel};

/// The shape of A, and how far apart the rows of both matrices are, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Shape {
    /// Rows of A, rows and columns of C.
    pub rows: u32,
    /// Columns of A.
    pub columns: u32,
    /// From one row of A to the next.
    pub a_pitch: u32,
    /// From one row of C to the next.
    pub c_pitch: u32,
}

/// Tiles of 16 x 16: the columns of the second tile collide 8 ways.
///
/// # Safety
/// The matrices have the shapes that `shape` says, and nothing else uses `c` during the launch. Blocks are 16 x 16, a block for each
/// tile of C.
#[kernel(launch_bounds((16, 16)))]
pub unsafe fn gram_tiled16(a: &[f32], c: *mut f32, shape: Shape) {
    #[address_space(shared)]
    static ROWS: SharedCell<[[f32; 16]; 16]> = SharedCell::uninit();
    #[address_space(shared)]
    static COLUMNS: SharedCell<[[f32; 16]; 16]> = SharedCell::uninit();
    tile::<16, 16>(a, c, shape, block(), ROWS.as_mut_ptr(), COLUMNS.as_mut_ptr());
}

/// Tiles of 16 x 17: no conflicts.
///
/// # Safety
/// As for [`gram_tiled16`].
#[kernel(launch_bounds((16, 16)))]
pub unsafe fn gram_padded16(a: &[f32], c: *mut f32, shape: Shape) {
    #[address_space(shared)]
    static ROWS: SharedCell<[[f32; 17]; 16]> = SharedCell::uninit();
    #[address_space(shared)]
    static COLUMNS: SharedCell<[[f32; 17]; 16]> = SharedCell::uninit();
    tile::<16, 17>(a, c, shape, block(), ROWS.as_mut_ptr(), COLUMNS.as_mut_ptr());
}

/// Tiles of 32 x 32: all lanes in one bank.
///
/// # Safety
/// As for [`gram_tiled16`], in blocks of 32 x 32 threads.
#[kernel(launch_bounds((32, 32)))]
pub unsafe fn gram_tiled32(a: &[f32], c: *mut f32, shape: Shape) {
    #[address_space(shared)]
    static ROWS: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    #[address_space(shared)]
    static COLUMNS: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    tile::<32, 32>(a, c, shape, block(), ROWS.as_mut_ptr(), COLUMNS.as_mut_ptr());
}

/// Tiles of 32 x 33: no conflicts.
///
/// # Safety
/// As for [`gram_tiled32`].
#[kernel(launch_bounds((32, 32)))]
pub unsafe fn gram_padded32(a: &[f32], c: *mut f32, shape: Shape) {
    #[address_space(shared)]
    static ROWS: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    #[address_space(shared)]
    static COLUMNS: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    tile::<32, 33>(a, c, shape, block(), ROWS.as_mut_ptr(), COLUMNS.as_mut_ptr());
}

/// This block's tile of C: row and column of tiles.
#[gpu_only]
#[inline(always)]
fn block() -> [u32; 2] {
    [thread::block_idx_y(), thread::block_idx_x()]
}

/// The sum of this thread's element of a tile of C; `T`: the side of a tile, `W`: the words of its rows in shared memory.
///
/// # Safety
/// As for [`gram_tiled16`], in blocks of `T` x `T` threads.
#[gpu_only]
#[inline(always)]
unsafe fn sum<const T: usize, const W: usize>(
    a: &[f32],
    shape: Shape,
    [tile_row, tile_column]: [u32; 2],
    rows: *mut [[f32; W]; T],
    columns: *mut [[f32; W]; T],
) -> f32 {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let row = tile_row * T as u32 + y as u32;
    let other_row = tile_column * T as u32 + y as u32;
    let mut sum = 0.0;
    // SAFETY: the block is T x T, so x and y are below T; elements are read where A has them.
    unsafe {
        core::hint::assert_unchecked(x < T && y < T);
        let mut first = 0;
        while first < shape.columns {
            let k = first + x as u32;
            let element = |row: u32| match row < shape.rows && k < shape.columns {
                true => *a.get_unchecked(row as usize * shape.a_pitch as usize + k as usize),
                false => 0.0,
            };
            (*rows)[y][x] = element(row);
            (*columns)[y][x] = element(other_row);
            thread::sync_threads();
            for k in 0..T {
                // One word for all lanes with this y; and a column. `shared::load` is a load each: left to itself, the assembler
                // fetches four neighbours at once where rows are 16 words, and the conflicts are not those of the lecture.
                let (row, column) = (&raw const (*rows)[y][k], &raw const (*columns)[x][k]);
                sum = GpuFloat::mul_add(shared::load(row), shared::load(column), sum);
            }
            thread::sync_threads();
            first += T as u32;
        }
    }
    sum
}

/// A tile of C.
///
/// # Safety
/// As for [`sum`].
#[gpu_only]
#[inline(always)]
unsafe fn tile<const T: usize, const W: usize>(
    a: &[f32],
    c: *mut f32,
    shape: Shape,
    block: [u32; 2],
    rows: *mut [[f32; W]; T],
    columns: *mut [[f32; W]; T],
) {
    // SAFETY: as the caller says; the element is written where C has it.
    unsafe {
        let sum = sum(a, shape, block, rows, columns);
        let row = block[0] * T as u32 + thread::thread_idx_y();
        let column = block[1] * T as u32 + thread::thread_idx_x();
        if row < shape.rows && column < shape.rows {
            *c.add(row as usize * shape.c_pitch as usize + column as usize) = sum;
        }
    }
}

/// The padded tile again, only on and below the diagonal; what is below is also written above, turned in shared memory so that these
/// stores are coalesced, too.
///
/// # Safety
/// As for [`gram_tiled32`], but blocks count the tiles on and below the diagonal, row by row, in x.
#[kernel(launch_bounds((32, 32)))]
pub unsafe fn gram_mirrored(a: &[f32], c: *mut f32, shape: Shape) {
    #[address_space(shared)]
    static ROWS: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    #[address_space(shared)]
    static COLUMNS: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let (rows, columns) = (ROWS.as_mut_ptr(), COLUMNS.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    core::hint::assert_unchecked(x < 32 && y < 32);

    let [tile_row, tile_column] = below_diagonal(thread::block_idx_x());
    let sum = sum(a, shape, [tile_row, tile_column], rows, columns);
    let write = |row: u32, column: u32, value: f32| {
        if row < shape.rows && column < shape.rows {
            *c.add(row as usize * shape.c_pitch as usize + column as usize) = value;
        }
    };
    write(tile_row * 32 + y as u32, tile_column * 32 + x as u32, sum);
    if tile_row != tile_column {
        (*rows)[y][x] = sum;
        thread::sync_threads();
        write(tile_column * 32 + y as u32, tile_row * 32 + x as u32, (*rows)[x][y]);
    }
}

/// The tiles on and below the diagonal, counted row by row: row `r` begins at `r (r + 1) / 2`. How many there are in this many rows of tiles.
pub const fn tiles_below_diagonal(rows_of_tiles: u32) -> u64 {
    rows_of_tiles as u64 * (rows_of_tiles as u64 + 1) / 2
}

/// Row and column of the tile with this number.
#[inline(always)]
pub fn below_diagonal(number: u32) -> [u32; 2] {
    // The root in floating point may be off by one where it is nearly whole.
    let guess = (cuda_std::GpuFloat::sqrt(8.0 * f64::from(number) + 1.0) - 1.0) / 2.0;
    let mut row = guess as u32;
    if tiles_below_diagonal(row + 1) <= number as u64 {
        row += 1;
    }
    if tiles_below_diagonal(row) > number as u64 {
        row -= 1;
    }
    [row, number - tiles_below_diagonal(row) as u32]
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_counted_row_by_row() {
        let mut number = 0;
        for row in 0..300 {
            for column in 0..=row {
                assert_eq!(below_diagonal(number), [row, column]);
                number += 1;
            }
        }
        for row in [1 << 10, 65_535, 92_680] {
            let first = tiles_below_diagonal(row) as u32;
            assert_eq!(below_diagonal(first), [row, 0]);
            assert_eq!(below_diagonal(first - 1), [row - 1, row - 1]);
        }
    }
}
