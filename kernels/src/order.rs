//! The order in which blocks take the tiles of a product, and what it changes in L2.
//!
//! All kernels compute the same tiles of `C = A B` in the same way, each element of a factor loaded
//! once for each of its tiles. They differ in one line: which tile a block takes. Blocks start in
//! the order of their numbers, as many at once as there is room for, so that the number says which
//! blocks run together. Those load from L2 what one of them has brought there from DRAM.
//!
//! | kernel | blocks that follow each other take | 64 blocks at once need |
//! | --- | --- | --- |
//! | [`order_rows`] | the tiles of a row of C | a row of A, 64 columns of B |
//! | [`order_squares`] | `side` rows of tiles, column by column | with side 8, 8 rows, 8 columns |
//! | [`order_curve`] | tiles along Hilbert's curve, in squares of every size | 8 rows, 8 columns |
//!
//! Blocks that run later gain, too: a band of `side` rows of A stays in L2 while all of B is read
//! once. Row by row, all of B is read for each row of tiles, and if L2 is smaller than B, it comes
//! from DRAM each time. Triton's matrix product groups its blocks like
//! [`order_squares`]. The curve needs no `side` that fits the cache.
//!
//! What to look for: L2's hits (`lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum` of
//! `lts__t_sectors_srcunit_tex_op_read.sum`) and the bytes from DRAM (`dram__bytes_read.sum`).
//! Requests and sectors are the same for all. Time follows only where DRAM limits it, which is not
//! so here. Factors of 8192 x 2048 and 2048 x 8192 on an H200 (Nsight Compute, 2026-11-29):
//!
//! | kernel | GB from DRAM | ms |
//! | --- | ---: | ---: |
//! | [`order_rows`] | 17.1 | 31.9 |
//! | [`order_squares`], side 8 | 2.21 | 30.9 |
//! | [`order_curve`] | 0.54 | 30.0 |
//!
//! 264 of its blocks run at once: squares of side 8 are narrow bands there, of side 16 squares.
//!
//! # Shapes
//!
//! Any `m`, `n`, `k`, as in [`matmul`](crate::matmul); a block has a tile of 32 x 32. The grid is
//! linear and has a block for each tile; the curve has more ([`curve_turns`]), which leave at once.
//!
//! # Where `unsafe` begins
//!
//! A tile belongs to one block because each order has each tile once, which the compiler cannot
//! see.
//!
//! Sources: P. Tillet and others, Triton's tutorial "Matrix Multiplication" (grouped ordering).

use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{GpuFloat, address_space, shared::SharedCell, thread};

/// Rows and columns of a tile.
pub const TILE: u32 = 32;

/// Tiles of a product: how many rows of them, and how many columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Rows of tiles.
    pub rows: u32,
    /// Columns of tiles.
    pub cols: u32,
}

impl Tiles {
    /// Those of a product of this size.
    pub fn of(rows: u32, cols: u32) -> Self {
        Self { rows: rows.div_ceil(TILE), cols: cols.div_ceil(TILE) }
    }
}

/// The row and column of the tile that comes at this turn, row by row.
#[inline(always)]
pub fn in_rows(turn: u32, tiles: Tiles) -> (u32, u32) {
    let cols = tiles.cols.max(1);
    (turn / cols, turn % cols)
}

/// The same in bands of `side` rows, and in each column by column; the last band may have fewer.
#[inline(always)]
pub fn in_squares(turn: u32, tiles: Tiles, side: u32) -> (u32, u32) {
    let of_a_band = (side * tiles.cols).max(1);
    let (band, within) = (turn / of_a_band, turn % of_a_band);
    let rows = side.min(tiles.rows - band * side).max(1);
    (band * side + within % rows, within / rows)
}

/// The side of the squares that [`on_curve`] fills one after the other, a power of two.
#[inline(always)]
fn curve_side(tiles: Tiles) -> u32 {
    tiles.rows.min(tiles.cols).next_power_of_two()
}

/// Turns of [`on_curve`], as many as its squares have tiles.
pub fn curve_turns(tiles: Tiles) -> u32 {
    let side = curve_side(tiles);
    tiles.rows.max(tiles.cols).div_ceil(side) * side * side
}

/// The same along Hilbert's curve, square by square. Turns without a tile give one outside.
#[inline(always)]
pub fn on_curve(turn: u32, tiles: Tiles) -> (u32, u32) {
    let side = curve_side(tiles);
    // The tiles of a square are a power of two, whose logarithm needs no division.
    let bits = 2 * side.trailing_zeros();
    let square = turn.unbounded_shr(bits);
    let (mut x, mut y) = (0, 0);
    let mut left = turn - square.unbounded_shl(bits);
    // From the smallest square to the largest: each quarter is the curve so far, turned or mirrored
    // so that it begins where the one before ends.
    let mut half = 1;
    while half < side {
        let upper = left / 2;
        let (right, down) = (upper & 1, (left ^ upper) & 1);
        if down == 0 {
            (x, y) = if right == 1 { (half - 1 - y, half - 1 - x) } else { (y, x) };
        }
        (x, y) = (x + half * right, y + half * down);
        left /= 4;
        half *= 2;
    }
    let along = x + square * side;
    if tiles.rows > tiles.cols { (along, y) } else { (y, along) }
}

/// Row by row.
#[kernel(block(32, 32))]
pub fn order_rows(a: Matrix<f32>, b: Matrix<f32>, c: DisjointMatrix<f32>) {
    let tile = in_rows(thread::block_idx_x(), Tiles::of(c.rows(), c.cols()));
    product(tile, a, b, c);
}

/// In squares: bands of `side` rows, column by column.
#[kernel(block(32, 32))]
pub fn order_squares(a: Matrix<f32>, b: Matrix<f32>, c: DisjointMatrix<f32>, side: u32) {
    let tile = in_squares(thread::block_idx_x(), Tiles::of(c.rows(), c.cols()), side);
    product(tile, a, b, c);
}

/// Along Hilbert's curve.
#[kernel(block(32, 32))]
pub fn order_curve(a: Matrix<f32>, b: Matrix<f32>, c: DisjointMatrix<f32>) {
    let tiles = Tiles::of(c.rows(), c.cols());
    let tile = on_curve(thread::block_idx_x(), tiles);
    if tile.0 < tiles.rows && tile.1 < tiles.cols {
        product(tile, a, b, c);
    }
}

/// The tile of C in this row and column of tiles, as
/// [`matmul_tiled32`](crate::matmul::matmul_tiled32) computes it.
#[gpu_only]
#[inline(always)]
fn product(tile: (u32, u32), a: Matrix<f32>, b: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static A: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    #[address_space(shared)]
    static B: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    let (a_tile, b_tile) = (A.as_mut_ptr(), B.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (TILE * tile.0 + y, TILE * tile.1 + x);

    let mut sum = 0.0;
    for k in (0..a.cols()).step_by(32) {
        // SAFETY: these elements are this thread's until the barrier.
        unsafe {
            (*a_tile)[y as usize][x as usize] = a.get(row, k + x).copied().unwrap_or(0.0);
            (*b_tile)[y as usize][x as usize] = b.get(k + y, col).copied().unwrap_or(0.0);
        }
        thread::sync_threads();
        for i in 0..32 {
            // SAFETY: between the barriers all threads only read the tiles.
            sum = unsafe { (*a_tile)[y as usize][i].mul_add((*b_tile)[i][x as usize], sum) };
        }
        // No thread may overwrite a tile that another one still reads.
        thread::sync_threads();
    }
    // SAFETY: each order has each tile once, and no other thread of the block has this element.
    if let Some(c) = unsafe { c.element_mut(row, col) } {
        *c = sum;
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::vec::Vec;

    const SIZES: [Tiles; 6] = [
        Tiles { rows: 1, cols: 1 },
        Tiles { rows: 8, cols: 64 },
        Tiles { rows: 16, cols: 16 },
        Tiles { rows: 5, cols: 13 },
        Tiles { rows: 21, cols: 3 },
        Tiles { rows: 1, cols: 7 },
    ];

    #[test]
    fn each_order_has_each_tile_once() {
        for tiles in SIZES {
            let count = tiles.rows * tiles.cols;
            let is_inside = |&(row, col): &(u32, u32)| row < tiles.rows && col < tiles.cols;
            let curve = (0..curve_turns(tiles)).map(|turn| on_curve(turn, tiles)).filter(is_inside);
            let rows = (0..count).map(|turn| in_rows(turn, tiles));
            let mut orders = Vec::from([rows.collect::<Vec<_>>(), curve.collect()]);
            for side in [1, 2, 3, 8, 100] {
                orders.push((0..count).map(|turn| in_squares(turn, tiles, side)).collect());
            }
            for order in orders {
                assert!(order.iter().all(is_inside));
                assert_eq!(order.len(), count as usize, "{tiles:?}");
                assert_eq!(order.iter().collect::<HashSet<_>>().len(), count as usize, "{tiles:?}");
            }
        }
    }

    #[test]
    fn squares_of_one_row_are_rows_and_the_curve_has_no_gaps() {
        let tiles = Tiles { rows: 5, cols: 13 };
        assert!((0..65).all(|turn| in_squares(turn, tiles, 1) == in_rows(turn, tiles)));
        for tiles in [Tiles { rows: 8, cols: 64 }, Tiles { rows: 32, cols: 16 }] {
            for turn in 1..curve_turns(tiles) {
                let ((a, b), (c, d)) = (on_curve(turn - 1, tiles), on_curve(turn, tiles));
                assert_eq!(a.abs_diff(c) + b.abs_diff(d), 1, "{tiles:?}: turn {turn}");
            }
        }
    }
}
