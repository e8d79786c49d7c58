//! Every kernel of the course, in Rust, one module for each lab.
//!
//! The modules are lecture notes that run. Each opens with what the lab teaches and what to look for in the counters; its
//! kernels then read as a sequence, in which each differs from the one before by the one thing it teaches.
//!
//! The crate is compiled twice. For the device (`nvptx64`, by `cargo xtask build-ptx`) the functions are the entry points of
//! the PTX in `kernels/ptx/`. For the host each of them is a typed handle ([`cuda_std::launch::Kernel`]) with the function's
//! name, and [`PTX`] is the checked-in result of the device's compilation, so that running a kernel needs no device compiler.
//!
//! Kernel bodies compile for the device only; what a launch must promise stands under `# Safety` of each kernel. The helper
//! functions that kernels share are device code too.
//!
//! | module | lab | course row |
//! | --- | --- | --- |
//! | [`offset`] | reads and writes that start in the middle of a sector | 3 |
//! | [`transpose`] | coalescing on both sides, shared memory, bank conflicts | 11 |

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod offset;
pub mod transpose;

#[cfg(not(target_arch = "nvptx64"))]
mod image;
#[cfg(not(target_arch = "nvptx64"))]
pub use image::{PTX, PtxImage};
