//! Types instructions that a course on memory does not need: tensor cores (`ldmatrix`, `mma`, `wmma`, `wgmma`),
//! asynchronous copies (`cp.async`, bulk copies, tensor maps), `mbarrier`, and clusters. Most came with Hopper.
//! `typing/mod.rs` is the only caller; nothing outside this folder depends on it otherwise.

pub(super) mod asynchronous;
pub(super) mod bulk;
pub(super) mod cluster;
pub(super) mod matrix;
pub(super) mod multiply;
mod product;
pub(super) mod tensor;
pub(super) mod warpgroup;
pub(super) mod wmma;
