//! Decodes what is in [`hopper`](crate::program::hopper).

pub(super) mod asynchronous;
pub(super) mod held;
pub(super) mod matrix;
