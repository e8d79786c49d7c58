//! Decodes the instructions of [`hopper`](crate::program::hopper): tensor cores, asynchronous copies, mbarriers. `memory`
//! dispatches to these files.

pub(super) mod asynchronous;
pub(super) mod held;
pub(super) mod matrix;
