//! The rewrite of rustc's LLVM IR before `opt`: it drops what no kernel needs, moves variables into the address spaces that Rust
//! cannot express, and puts launch bounds on kernels.
//!
//! rustc runs no LLVM pass of its own (`-Cno-prepopulate-passes`), so the optimiser never sees a shared variable as the private
//! global that it looks like in Rust.

mod definition;
mod files;
mod lexer;
mod names;
mod reachable;
mod rewrite;

pub(crate) use names::demangle;
pub(crate) use reachable::reachable;
pub use rewrite::{RewriteError, Space};
pub(crate) use rewrite::{Variable, rewrite};
