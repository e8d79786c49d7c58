//! The best matrix products. The lab's first steps, up to tiles in registers, are in
//! `kernels/src/matmul.rs`; here is what those still lose: waiting for global memory, registers
//! that hold data in flight, and conflicts of the register banks. The last tiles are split among
//! blocks, so that no multiprocessor waits for others. [`product`] describes all of it, and
//! [`best`] chooses among the kernels.
//!
//! For m n k multiplications, [`matmul_best`] copies m n k / 128 numbers of A by 4 bytes and m n k
//! / 512 words of B by 16, and loads a number from shared memory for each 16 multiplications.
//!
//! Any `m`, `n`, `k` for which `C` has room for a tile. Rows are `a_pitch`, `b_pitch` and `c_pitch`
//! elements apart.

#[cfg(not(target_arch = "nvptx64"))]
mod choice;

use bytemuck::{Pod, Zeroable};
#[gpu_only]
use cuda_std::{dependent_launch, vector::f32x4};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::matrix::Matrix;
use crate::product::{self, Shares, TileSize};
#[gpu_only]
use crate::product::{AcrossK, AlongK, Operand, Piece, Product, Sharing, Tile, orders};
#[cfg(not(target_arch = "nvptx64"))]
pub use choice::{Alone, Best, Split, best};

/// The shapes of a product, and how far apart the rows of its matrices are, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Shape {
    /// Rows of A and C.
    pub m: u32,
    /// Columns of B and C.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
    /// From one row of A to the next.
    pub a_pitch: u32,
    /// From one row of B to the next.
    pub b_pitch: u32,
    /// From one row of C to the next.
    pub c_pitch: u32,
}

/// The tile of [`matmul_best`].
pub const LARGE: TileSize =
    TileSize { rows: 128, columns: 128, resident: 2, shared_bytes: shared_bytes(128, 128) };

/// The tile of [`matmul_best_small`].
pub const SMALL: TileSize =
    TileSize { rows: 64, columns: 128, resident: 1, shared_bytes: shared_bytes(64, 128) };

const fn shared_bytes(rows: u32, columns: u32) -> u32 {
    product::shared_bytes(product::transposed_pitch(rows), columns)
}

/// Register tiles again, with all that `product/mod.rs` describes: slabs of A and B are copied
/// asynchronously, two ahead, and the order of the multiplications suits the banks of the
/// registers. `c` becomes `scale` times the product, as in BLAS.
///
/// All best kernels wait by themselves for the one before (`cuda_std::dependent_launch`): back to
/// back, 1024 x 1024, by [`matmul_best_small`], takes 49.2 us instead of 50.2 (H200, 2026-11-24).
///
/// The last tiles are split: only the first ones have a block each. Each of the grid's other blocks
/// takes some slabs of the other tiles, as `shares` says, and leaves incomplete sums in `sums`.
///
/// # Safety
/// The matrices have the shapes that `shape` says, and nothing else uses `c` during the launch. C
/// is at least as large as a tile ([`LARGE`]); the matrices start on 16 bytes; B's pitch is a
/// multiple of 4, and its rows may be read up to there. Tiles are counted down their columns.
/// Blocks have [`THREADS`](product::THREADS) threads in x; a GPU that does not hold all blocks that
/// share starts them in order. For each of these, `ready` has an element, zero on entry and left
/// zero, and `sums` [`SUMS_PER_BLOCK`](product::SUMS_PER_BLOCK) numbers, on 16 bytes.
#[kernel(launch_bounds(256, 2))]
pub unsafe fn matmul_best(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    shape: Shape,
    scale: f32,
    shares: Shares,
    ready: *mut u32,
    sums: *mut f32,
) {
    best::<AlongK<128>, AcrossK<f32x4, 128>, { orders::MATMUL }>(
        a,
        b,
        c,
        shape,
        scale,
        Sharing { shares, ready, sums },
    );
}

/// The same where B's rows are not aligned to 16 bytes: they are copied in words of 4.
///
/// # Safety
/// As for [`matmul_best`], with any pitch of B.
#[kernel(launch_bounds(256, 2))]
pub unsafe fn matmul_best_unaligned(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    shape: Shape,
    scale: f32,
    shares: Shares,
    ready: *mut u32,
    sums: *mut f32,
) {
    best::<AlongK<128>, AcrossK<f32, 128>, { orders::MATMUL_UNALIGNED }>(
        a,
        b,
        c,
        shape,
        scale,
        Sharing { shares, ready, sums },
    );
}

/// Tiles of half the size, for products that have too few of the others to keep all multiprocessors
/// busy. A tile has room for four of the eight warps, so each half of the block takes half of the
/// steps of every slab, and adds its sums to the other's at the end. Each tile has a block of its
/// own, and the kernel is a little faster for it.
///
/// # Safety
/// As for [`matmul_best_unaligned`], with tiles of [`SMALL`], of which none is split.
#[kernel(launch_bounds(256, 1))]
pub unsafe fn matmul_best_small(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    shape: Shape,
    scale: f32,
) {
    if shape.b_pitch.is_multiple_of(4) {
        alone::<AlongK<64>, AcrossK<f32x4, 128>, { orders::MATMUL_SMALL }>(a, b, c, shape, scale);
    } else {
        alone::<AlongK<64>, AcrossK<f32, 128>, { orders::MATMUL_SMALL }>(a, b, c, shape, scale);
    }
}

/// The same in split tiles, for few tiles and long rows.
///
/// # Safety
/// As for [`matmul_best_unaligned`], with tiles of [`SMALL`].
#[kernel(launch_bounds(256, 1))]
pub unsafe fn matmul_best_small_split(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    shape: Shape,
    scale: f32,
    shares: Shares,
    ready: *mut u32,
    sums: *mut f32,
) {
    let sharing = Sharing { shares, ready, sums };
    if shape.b_pitch.is_multiple_of(4) {
        best::<AlongK<64>, AcrossK<f32x4, 128>, { orders::MATMUL_SMALL_SPLIT }>(
            a, b, c, shape, scale, sharing,
        );
    } else {
        best::<AlongK<64>, AcrossK<f32, 128>, { orders::MATMUL_SMALL_SPLIT }>(
            a, b, c, shape, scale, sharing,
        );
    }
}

/// This block's tile of a product whose operands come as `L` and `R`.
///
/// # Safety
/// As for [`matmul_best_small`].
#[gpu_only]
#[inline(always)]
unsafe fn alone<L: Operand, R: Operand, const O: usize>(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    shape: Shape,
    scale: f32,
) {
    dependent_launch::wait();
    let (product, c) = matrices(a, b, c, shape, scale);
    let tile = in_columns::<L, R, O>(cuda_std::thread::block_idx_x(), shape);
    // SAFETY: the matrices have the shape and room for a full tile, and this block alone stores the
    // tile.
    unsafe { tile.store(c, &tile.sums(product, Piece::all(shape.k)), scale) };
}

/// The tiles of such a product, the last of them split.
///
/// # Safety
/// As for [`matmul_best`].
#[gpu_only]
#[inline(always)]
unsafe fn best<L: Operand, R: Operand, const O: usize>(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    shape: Shape,
    scale: f32,
    sharing: Sharing,
) {
    dependent_launch::wait();
    let (product, c) = matrices(a, b, c, shape, scale);
    let tiles = shape.m.div_ceil(L::SIDE) * shape.n.div_ceil(R::SIDE);
    let tile = |number| in_columns::<L, R, O>(number, shape);
    // SAFETY: the matrices have the shape and room for full tiles, each tile is stored by one
    // block, and the blocks that share have flags and a workspace.
    unsafe {
        sharing.for_each_piece(
            product,
            tiles,
            |number| Some(tile(number)),
            |number, sums, before| tile(number).store_with(c, sums, scale, before),
        );
    }
}

/// The operands and the result as matrices.
#[gpu_only]
#[inline(always)]
fn matrices(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    shape: Shape,
    scale: f32,
) -> (Product, Matrix) {
    let Shape { m, n, k, .. } = shape;
    let left = Matrix { first: a.cast_mut(), rows: m, columns: k, pitch: shape.a_pitch };
    let right = Matrix { first: b.cast_mut(), rows: k, columns: n, pitch: shape.b_pitch };
    (
        Product { left, right, k, scale },
        Matrix { first: c, rows: m, columns: n, pitch: shape.c_pitch },
    )
}

/// A tile by its number, counted down the columns of tiles.
#[gpu_only]
#[inline(always)]
fn in_columns<L: Operand, R: Operand, const O: usize>(number: u32, shape: Shape) -> Tile<L, R, O> {
    let down = shape.m.div_ceil(L::SIDE);
    Tile::new(number % down, number / down, shape.m, shape.n)
}
