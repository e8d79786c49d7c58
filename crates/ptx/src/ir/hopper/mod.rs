//! Instructions that a course on memory does not need: tensor cores, asynchronous copies, mbarriers, tensor maps.

pub(super) mod asynchronous;
pub(super) mod matrix;
pub(super) mod tensor;
pub(super) mod warpgroup;
