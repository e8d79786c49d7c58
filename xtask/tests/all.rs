//! Tests of the chores, as a user runs them, as one program.

mod browser;
mod cli;
#[cfg(unix)]
mod compare;
mod fresh;
#[cfg(unix)]
mod gradescope;
mod own_kernels;
