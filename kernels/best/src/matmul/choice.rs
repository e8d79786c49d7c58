//! Which kernel is the best for a product. Pure.

use cuda_std::launch::{Kernel, Pointer, PointerMut};

use super::{
    LARGE, SMALL, Shape, matmul_best, matmul_best_small, matmul_best_small_split,
    matmul_best_unaligned,
};
use crate::Gpu;
use crate::product::{Candidate, SMALL_TILE_COST, Shares, TileLaunch, TileSize, fastest};

/// The parameters of a kernel whose tiles are not split: A, B and C, their shape, and a factor of
/// the product.
pub type Alone = Kernel<(Pointer<f32>, Pointer<f32>, PointerMut<f32>, Shape, f32)>;

/// The same with what blocks need to share tiles.
pub type Split = Kernel<(
    Pointer<f32>,
    Pointer<f32>,
    PointerMut<f32>,
    Shape,
    f32,
    Shares,
    PointerMut<u32>,
    PointerMut<f32>,
)>;

/// A kernel, by its parameters.
#[derive(Clone, Copy)]
pub enum Best {
    /// Each tile has one block.
    Alone(&'static Alone),
    /// Blocks may share tiles.
    Split(&'static Split),
}

/// The best kernel for a product of this shape, and how its tiles are shared out. `None` if it is
/// smaller than a tile.
pub fn best(gpu: Gpu, shape: Shape) -> Option<TileLaunch<Best>> {
    let large = if shape.b_pitch.is_multiple_of(4) { &matmul_best } else { &matmul_best_unaligned };
    let candidate =
        |kernel, tile, splits, cost| Candidate { kernel, tile, splits, cost, cost_before: 0.0 };
    let kernels = [
        candidate(Best::Split(large), LARGE, true, 1.0),
        candidate(Best::Alone(&matmul_best_small), SMALL, false, SMALL_TILE_COST),
        candidate(Best::Split(&matmul_best_small_split), SMALL, true, SMALL_TILE_COST),
    ];
    let tiles = |tile: TileSize| {
        u64::from(shape.m.div_ceil(tile.rows)) * u64::from(shape.n.div_ceil(tile.columns))
    };
    fastest(gpu, &kernels, [shape.m, shape.n], shape.k, tiles)
}
