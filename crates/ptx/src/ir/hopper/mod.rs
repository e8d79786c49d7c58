//! Operands of instructions that a course on memory does not need: tensor cores, asynchronous copies, mbarriers,
//! tensor maps. [`Op`](crate::Op) has a variant for each; `typing/hopper` makes them. Plain data, re-exported by
//! `ir`.

pub(super) mod asynchronous;
pub(super) mod matrix;
pub(super) mod tensor;
pub(super) mod warpgroup;
