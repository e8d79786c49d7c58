//! The rewrite of rustc's LLVM IR before `opt`: it drops what no kernel needs, moves variables into
//! the address spaces that Rust cannot express, and puts launch bounds on kernels.
//!
//! rustc runs no LLVM pass of its own (`-Cno-prepopulate-passes`), so the optimiser never sees a
//! shared variable as the private global that it looks like in Rust.
//!
//! The alternative, inline assembly (`cvta.shared`), would give generic accesses, which are slower.
//! A static inside a function works as well as a module's.
//!
//! No pass may duplicate a barrier, or a diverged warp would meet two of them where the source has
//! one. Two passes would: MIR's jump threading, which `rustc` switches off, and LLVM's, before it
//! has inlined the functions that call the barrier. Hence `convergent` on every function, as clang
//! has it for CUDA; LLVM removes the attribute where there is no barrier inside.

mod called;
mod definition;
mod error;
mod files;
mod lexer;
mod names;
mod phases;
mod reachable;
mod rewrite;
mod signature;

pub use error::RewriteError;
pub(crate) use lexer::{Kind, Token, tokens};
pub(crate) use names::demangle;
pub(crate) use phases::{PHASE, without_phases};
pub(crate) use reachable::{Item, is_whole, items, reachable, references};
pub(crate) use rewrite::{Divergent, Rewritten, Variable, rewrite, with_attributes};
pub use rewrite::{Space, with_kernels_name};
