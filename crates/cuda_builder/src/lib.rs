//! Compiles a crate of kernels, written in Rust, to PTX.
//!
//! The names are those of Rust-CUDA's `cuda_builder`. The compiler is rustc's own NVPTX backend
//! instead of a separate one, so any recent rustc with its `rust-src` and the `opt` and `llc` of
//! its LLVM works.
//!
//! ```no_run
//! use cuda_builder::{CudaBuilder, NvvmArch};
//!
//! let ptx = CudaBuilder::new("kernels").arch(NvvmArch::Compute75).copy_to("kernels.ptx").build()?;
//! # Ok::<(), cuda_builder::CudaBuilderError>(())
//! ```
//!
//! The steps from Rust to PTX, one module each:
//!
//! 1. [`toolchain`] finds the compiler;
//! 2. `rustc` runs it through cargo, with `core` built from source, and gets one module of textual
//!    LLVM IR;
//! 3. `ir` drops what no kernel needs, moves variables to the address spaces that Rust cannot
//!    express, and puts launch bounds on kernels;
//! 4. `uniform` proves that all threads of a block go through the same barriers;
//! 5. `llvm` runs `opt` and `llc`;
//! 6. `ptx` tidies the PTX (each instruction gets a line of the kernel crate), checks it (shared
//!    variables are only reached by `.shared` accesses), and adds the kernels' signatures as
//!    comments;
//! 7. [`SourceDigest`] adds the digest of the sources.
//!
//! [`Prepared`] splits the second step, for sources that are not trusted: cargo compiles the
//! dependencies, and then rustc alone compiles one crate against them, in whatever confinement the
//! caller runs it.
//!
//! The same sources and the same compiler make the same bytes, in any folder.
//!
//! # Why this backend
//!
//! Rust-CUDA's own backend needs one old nightly and LLVM 7. rustc's NVPTX backend needs any recent
//! rustc with its sources, and its LLVM is current. The API keeps Rust-CUDA's names, so kernels can
//! move either way.
//!
//! PTX is meant to be checked in, as the course's is: a fresh clone then runs with stable Rust
//! alone, and only those who change kernels need the device compiler.

mod arch;
mod builder;
mod error;
mod ir;
mod llvm;
mod messages;
mod prepared;
mod ptx;
#[cfg(test)]
mod robustness;
mod rustc;
mod steps;
pub mod toolchain;
mod uniform;
mod workspace;
mod write;

pub use arch::NvvmArch;
pub use builder::{CudaBuilder, DebugInfo, Runner};
pub use error::CudaBuilderError;
pub use ir::{RewriteError, Space, with_kernels_name};
pub use prepared::Prepared;
pub use ptx::CheckError;
pub use source_digest::SourceDigest;
pub use steps::digest_of_crate;
pub use uniform::UniformityError;
pub use write::write_whole;

/// The README, whose example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
