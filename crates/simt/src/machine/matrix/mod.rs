//! Matrices that the lanes of a warp, or the warps of a warpgroup, hold together.
//!
//! - `tiles`: `ldmatrix`, `stmatrix`, `movmatrix`, and loads and stores of `wmma`.
//! - `multiply`: `mma`. `warpgroup`: `wgmma`, whose factors in shared memory `descriptor`
//!   describes.
//! - `products`: the arithmetic of both.

mod descriptor;
mod multiply;
mod products;
pub(super) mod tiles;
mod warpgroup;
