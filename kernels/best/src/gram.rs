//! The best products of a matrix with its own transpose. The lab's first steps are in
//! `kernels/src/gram.rs`. As there, a block computes a tile on or below the diagonal and writes it
//! twice; the tiles are those of [`matmul`](crate::matmul), and `A` comes transposed. [`best`]
//! chooses among the kernels.
//!
//! `A` has `rows` x `columns` elements, `C` `rows` x `rows`: any size for which `C` has room for a
//! tile. Rows are `a_pitch` and `c_pitch` elements apart.

use bytemuck::{Pod, Zeroable};
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::launch::{Kernel, Pointer, PointerMut};
#[gpu_only]
use cuda_std::{dependent_launch, vector::f32x4};
use cuda_std::{gpu_only, kernel};

#[cfg(not(target_arch = "nvptx64"))]
use crate::Gpu;
#[gpu_only]
use crate::matrix::Matrix;
use crate::product::{self, Shares, TileSize};
#[gpu_only]
use crate::product::{AcrossK, AlongK, Operand, Product, Sharing, Tile, orders};
#[cfg(not(target_arch = "nvptx64"))]
use crate::product::{
    Candidate, SMALL_TILE_COST, TRANSPOSING_COST, TileLaunch, cost_of_transpose, fastest,
};

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

/// The tile of [`gram_best`].
pub const LARGE: TileSize = TileSize {
    rows: 128,
    columns: 128,
    resident: 2,
    shared_bytes: product::shared_bytes(128, 128),
};

/// The tile of [`gram_best_small`].
pub const SMALL: TileSize = TileSize {
    rows: 64,
    columns: 128,
    resident: 1,
    shared_bytes: product::shared_bytes(
        product::transposed_pitch(64),
        product::transposed_pitch(128),
    ),
};

/// The tiles of [`matmul_best`](crate::matmul::matmul_best), only on and below the diagonal; those
/// below are also written above. The last tiles are split, as there.
///
/// Both operands' rows run along `k` here, so both would be transposed on the way to shared memory,
/// float by float, and again for each tile. Transposing the whole matrix once is cheaper: the
/// kernel takes `A` as [`transpose_best`](crate::transpose::transpose_best) leaves it, and copies
/// 16 bytes at a time. For 8192 x 8192 it takes 10.3 ms, and the transpose 0.13; transposing in
/// each tile took 10.9 (H200, 2026-11-24).
///
/// # Safety
/// The matrices have the shapes that `shape` says, and nothing else uses `c` during the launch.
/// `transposed` is the transpose of A, and `a_pitch` its pitch, a multiple of 4; its rows may be
/// read up to there. C is at least as large as a tile ([`LARGE`]). Both start on 16 bytes. Tiles
/// are those of each square of C on or below the diagonal, row by row, and `shares`, `ready` and
/// `sums` are as for [`matmul_best`](crate::matmul::matmul_best), as are the blocks.
#[kernel(launch_bounds(256, 2))]
pub unsafe fn gram_best(
    transposed: *const f32,
    c: *mut f32,
    shape: Shape,
    scale: f32,
    shares: Shares,
    ready: *mut u32,
    sums: *mut f32,
) {
    let Shape { rows, columns, a_pitch, .. } = shape;
    let a = Matrix { first: transposed.cast_mut(), rows: columns, columns: rows, pitch: a_pitch };
    let sharing = Sharing { shares, ready, sums };
    best::<AcrossK<f32x4, 128>, AcrossK<f32x4, 128>, { orders::MATMUL }>(
        a, c, shape, scale, sharing,
    );
}

/// The same in tiles of half the size, and `A` as it is: for matrices so small that a separate
/// transpose would take longer than it saves.
///
/// # Safety
/// The matrices have the shapes that `shape` says, and nothing else uses `c` during the launch. C
/// is at least as large as a tile ([`SMALL`]) and starts on 16 bytes; the rest is as for
/// [`gram_best`].
#[kernel(launch_bounds(256, 1))]
pub unsafe fn gram_best_small(
    a: *const f32,
    c: *mut f32,
    shape: Shape,
    scale: f32,
    shares: Shares,
    ready: *mut u32,
    sums: *mut f32,
) {
    let Shape { rows, columns, a_pitch, .. } = shape;
    let a = Matrix { first: a.cast_mut(), rows, columns, pitch: a_pitch };
    let sharing = Sharing { shares, ready, sums };
    best::<AlongK<64>, AlongK<128>, { orders::GRAM_SMALL }>(a, c, shape, scale, sharing);
}

/// The tiles of a Gram matrix whose operands come as `L` and `R`. A tile of `L` is part of a square
/// of `R`'s side.
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
    // SAFETY: the kernel's promises are those of `for_each_piece` and of the stores: operands with
    // whole tiles, and a C of this shape that nothing else uses. Squares on the diagonal are
    // computed whole, so nothing of them is mirrored.
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

/// Tiles of [`gram_best`] or [`gram_best_small`] for a matrix of this many rows: those of each
/// square of C on or below the diagonal, row by row.
#[cfg(not(target_arch = "nvptx64"))]
const fn tiles(tile: TileSize, rows: u32) -> u64 {
    tiles_below_diagonal(rows.div_ceil(tile.columns)) * (tile.columns / tile.rows) as u64
}

/// The tiles on and below the diagonal, counted row by row: row `r` begins at `r (r + 1) / 2`. How
/// many there are in this many rows of tiles.
const fn tiles_below_diagonal(rows_of_tiles: u32) -> u64 {
    rows_of_tiles as u64 * (rows_of_tiles as u64 + 1) / 2
}

/// Row and column of the tile with this number.
#[cfg(any(test, target_arch = "nvptx64"))]
#[inline(always)]
fn below_diagonal(number: u32) -> [u32; 2] {
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

/// The kernels' parameters: A or its transpose, C, their shape, a factor of the product, and what
/// blocks need to share tiles.
#[cfg(not(target_arch = "nvptx64"))]
pub type Gram =
    Kernel<(Pointer<f32>, PointerMut<f32>, Shape, f32, Shares, PointerMut<u32>, PointerMut<f32>)>;

/// A kernel, by the matrix that it takes.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy)]
pub enum Best {
    /// The matrix as it is.
    Plain(&'static Gram),
    /// The transposed matrix.
    Transposed(&'static Gram),
}

/// The best kernel for a matrix of this shape, and how its tiles are shared out. `None` if C is
/// smaller than a tile.
#[cfg(not(target_arch = "nvptx64"))]
pub fn best(gpu: Gpu, rows: u32, columns: u32) -> Option<TileLaunch<Best>> {
    let (large, small) = (Best::Transposed(&gram_best), Best::Plain(&gram_best_small));
    let cost_before = cost_of_transpose(u64::from(rows) * u64::from(columns));
    let transposing = SMALL_TILE_COST * TRANSPOSING_COST;
    let kernels = [
        Candidate { kernel: large, tile: LARGE, splits: true, cost: 1.0, cost_before },
        Candidate { kernel: small, tile: SMALL, splits: true, cost: transposing, cost_before: 0.0 },
    ];
    fastest(gpu, &kernels, [rows, rows], columns, |tile| tiles(tile, rows))
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
