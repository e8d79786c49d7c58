//! The rewrite of the LLVM IR that rustc emits, between rustc and `opt`: it moves variables into the address spaces
//! that Rust has no words for, and puts launch bounds on kernels.
//!
//! rustc is told to run no LLVM pass of its own (`-Cno-prepopulate-passes`), so the optimiser never sees a shared
//! variable as the private global that it looks like in Rust.

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
