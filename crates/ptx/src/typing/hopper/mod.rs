//! Instructions that a course on memory does not need: tensor cores (`ldmatrix`, `mma`, `wmma`, `wgmma`), asynchronous
//! copies (`cp.async`, bulk copies, tensor maps), `mbarrier`, and clusters. Most came with Hopper.

pub(super) mod asynchronous;
pub(super) mod bulk;
pub(super) mod cluster;
pub(super) mod matrix;
pub(super) mod multiply;
pub(super) mod tensor;
pub(super) mod warpgroup;
pub(super) mod wmma;
