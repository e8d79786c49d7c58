//! Checks that all threads of a block go through the same barriers and the same phases.
//!
//! A barrier in control flow that depends on the thread is undefined on a GPU. And the phases of
//! `cuda_std::phases`, which make shared memory safe, are sound only if all threads of a block go
//! through the same ones in the same order. Rust cannot see either: `thread_idx_x()` is a safe
//! function. So the builder proves it, on the LLVM IR of the kernels:
//!
//! 1. [`part`] makes a module of what the check needs: some kernels, whose functions are all to be
//!    inlined. `opt` inlines them and keeps local variables in values. This copy is for the check
//!    alone; the PTX is compiled from the original.
//! 2. [`function`] and [`instruction`] parse it.
//! 3. [`analysis`] finds what depends on the thread, with [`flow`] and [`values`].
//! 4. [`check()`] compares that with the barriers and phases, [`ends`] finds threads that end while
//!    their warp shuffles, and [`places`] names the lines.
//!
//! Kernels with phases are always checked in this way. The others are checked in what the optimiser
//! makes of them, which costs no second run of it: only a kernel that has something suspicious there
//! is checked in a copy, where nothing has lost its line.
//!
//! LLVM has a uniformity analysis, too. It takes `%ctaid` for divergent, which is the same in a block,
//! and it knows no read-only parameters.

mod analysis;
mod check;
mod ends;
mod flow;
mod function;
#[cfg(test)]
mod fuzz;
mod instruction;
mod part;
mod places;
#[cfg(test)]
mod tests;
mod values;

pub use check::UniformityError;
pub(crate) use check::{Finding, check};
pub(crate) use part::{Kernels, part};
