//! Steps that a course on memory does not need: matrices of tensor cores, asynchronous copies, mbarriers.
//!
//! What they do is in `machine/hopper`.

pub(super) mod asynchronous;
pub(super) mod fragment;
pub(super) mod matrix;
