//! Decodes the instructions of [`hopper`](crate::program::hopper): tensor cores, asynchronous copies, mbarriers. The dispatch in
//! `decode/arithmetic.rs` comes here.

pub(super) mod asynchronous;
pub(super) mod held;
pub(super) mod matrix;
