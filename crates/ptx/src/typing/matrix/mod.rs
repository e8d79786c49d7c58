//! Types matrices that the lanes of a warp, or the warps of a warpgroup, hold together.
//!
//! - `fragments`: `ldmatrix`, `stmatrix`, `movmatrix`; shapes, element types and the registers of
//!   fragments.
//! - `multiply`: `mma`. `wmma`: the older `wmma`. `warpgroup`: `wgmma`.
//! - `product`: what these three have in common.

pub(super) mod fragments;
pub(super) mod multiply;
mod product;
pub(super) mod warpgroup;
pub(super) mod wmma;
