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
//! and writes it twice, so that half of the arithmetic is saved. [`gram_best`] does that with the register tiles of
//! [`matmul_best`](crate::matmul::matmul_best), and takes `A` transposed.
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
use cuda_std::{GpuFloat, address_space, dependent_launch, shared, shared::SharedCell, thread, vector::f32x4};
use cuda_std::{gpu_only, kernel};

use crate::matmul::{BestTile, Shares};
#[gpu_only]
use crate::matrix::Matrix;
use crate::product;
#[gpu_only]
use crate::product::{AcrossK, AlongK, Operand, Product, Sharing, Tile, order};

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

/// The tile of [`gram_best`].
pub const BEST: BestTile =
    BestTile { rows: 128, columns: 128, resident: 2, shared_bytes: product::shared_bytes(128, 128) };

/// The tile of [`gram_best_small`].
pub const BEST_SMALL: BestTile = BestTile {
    rows: 64,
    columns: 128,
    resident: 1,
    shared_bytes: product::shared_bytes(product::turned_pitch(64), product::turned_pitch(128)),
};

/// The tiles of [`matmul_best`](crate::matmul::matmul_best), only on and below the diagonal, and what is below also written above. The last
/// tiles are split, as there.
///
/// Both operands' rows run along `k` here, so both would be turned on their way to shared memory, float by float, and again for each tile.
/// Transposing the whole matrix once is cheaper: the kernel takes `A` as [`transpose_best`](crate::transpose::transpose_best) leaves it, and
/// copies 16 bytes at a time. For 8192 x 8192 it takes 10.3 ms, and the transpose 0.13; turning in each tile took 10.9 (H200, 2026-11-24).
///
/// # Safety
/// As for [`gram_tiled16`], but `transposed` is the transpose of A, and `a_pitch` its pitch, a multiple of 4; its rows may be read up to there. C is
/// at least as large as a tile ([`BEST`]). Both start on 16 bytes. Tiles are counted as [`best_tiles`]
/// says, and `shares`, `ready` and `room` are as for [`matmul_best`](crate::matmul::matmul_best), as are the blocks.
#[kernel(launch_bounds(256, 2))]
pub unsafe fn gram_best(
    transposed: *const f32,
    c: *mut f32,
    shape: Shape,
    scale: f32,
    shares: Shares,
    ready: *mut u32,
    room: *mut f32,
) {
    let Shape { rows, columns, a_pitch, .. } = shape;
    let a = Matrix { first: transposed.cast_mut(), rows: columns, columns: rows, pitch: a_pitch };
    let sharing = Sharing { shares, ready, room };
    best::<AcrossK<f32x4, 128>, AcrossK<f32x4, 128>, { order::MATMUL }>(a, c, shape, scale, sharing);
}

/// The same in tiles of half the size, and `A` as it is: for matrices so small that a transpose before would take longer than what it saves.
///
/// # Safety
/// As for [`gram_tiled16`]. C is at least as large as a tile ([`BEST_SMALL`]) and starts on 16 bytes; the rest is as for [`gram_best`].
#[kernel(launch_bounds(256, 1))]
pub unsafe fn gram_best_small(
    a: *const f32,
    c: *mut f32,
    shape: Shape,
    scale: f32,
    shares: Shares,
    ready: *mut u32,
    room: *mut f32,
) {
    let Shape { rows, columns, a_pitch, .. } = shape;
    let a = Matrix { first: a.cast_mut(), rows, columns, pitch: a_pitch };
    let sharing = Sharing { shares, ready, room };
    best::<AlongK<64>, AlongK<128>, { order::GRAM_SMALL }>(a, c, shape, scale, sharing);
}

/// The tiles of a Gram matrix whose operands come as `L` and `R`. A tile of `L` is part of a square of `R`'s side.
///
/// # Safety
/// As for [`gram_best`].
#[gpu_only]
#[inline(always)]
unsafe fn best<L: Operand, R: Operand, const O: usize>(
    a: Matrix,
    c: *mut f32,
    shape: Shape,
    scale: f32,
    sharing: Sharing,
) {
    dependent_launch::wait();
    let in_square = R::SIDE / L::SIDE;
    let c = Matrix { first: c, rows: shape.rows, columns: shape.rows, pitch: shape.c_pitch };
    let tiles = tiles_below_diagonal(shape.rows.div_ceil(R::SIDE)) as u32 * in_square;
    let product = Product { left: a, right: a, k: shape.columns, scale };
    let tile = |number: u32| {
        let [square_row, square_column] = below_diagonal(number / in_square);
        let row = square_row * in_square + number % in_square;
        let tile = Tile::<L, R, O>::new(row, square_column, c.rows, c.columns);
        // The last square may reach beyond the matrix.
        (row * L::SIDE < shape.rows).then_some((tile, square_row != square_column))
    };
    // SAFETY: as the caller says. Squares on the diagonal are computed whole, so nothing of them is mirrored.
    unsafe {
        sharing.for_each_piece(
            product,
            tiles,
            |number| tile(number).map(|(tile, _)| tile),
            |number, sums, before| {
                let Some((tile, below)) = tile(number) else { return };
                tile.store_with(c, sums, scale, before);
                if below {
                    tile.store_mirrored_with(c, sums, scale, before);
                }
            },
        );
    }
}

/// Tiles of [`gram_best`] or [`gram_best_small`] for a matrix of this many rows: those of each square of C on or below the diagonal, row by
/// row.
pub const fn best_tiles(tile: BestTile, rows: u32) -> u64 {
    tiles_below_diagonal(rows.div_ceil(tile.columns)) * (tile.columns / tile.rows) as u64
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
