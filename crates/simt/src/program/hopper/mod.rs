//! The decoded form of steps that the memory course does not need: matrices of tensor cores, asynchronous copies, mbarriers. Plain
//! data; `machine/hopper` executes them.

pub(super) mod asynchronous;
pub(super) mod fragment;
pub(super) mod matrix;
