//! The host's side of a kernel: typed handles, and the bytes of a launch's arguments.
//!
//! In host builds `#[kernel]` makes a `static` of type [`Kernel<P>`](Kernel), where `P` is the
//! tuple of the kernel's parameters. A launcher takes that handle and a tuple of host values that
//! implements [`ArgumentList<P>`](ArgumentList), so that an argument of the wrong type, or one too
//! many, does not compile:
//!
//! ```
//! use cuda_std::kernel;
//! use cuda_std::launch::{ArgumentList, Arguments, Kernel};
//!
//! // On the host, `static scale: Kernel<(f32, u32)>`.
//! #[kernel]
//! pub unsafe fn scale(factor: f32, count: u32) {}
//!
//! fn launch<P, A: ArgumentList<P>>(kernel: &Kernel<P>, arguments: A) -> Vec<Vec<u8>> {
//!     let mut bytes = Arguments::new();
//!     arguments.push_all(&mut bytes);
//!     bytes.iter().map(<[u8]>::to_vec).collect()
//! }
//!
//! assert_eq!(launch(&scale, (2.0, 7)), [[0, 0, 0, 0x40], [7, 0, 0, 0]]);
//! ```
//!
//! ```compile_fail,E0277
//! # use cuda_std::kernel;
//! # use cuda_std::launch::{ArgumentList, Kernel};
//! # #[kernel]
//! # pub unsafe fn scale(factor: f32, count: u32) {}
//! # fn launch<P, A: ArgumentList<P>>(kernel: &Kernel<P>, arguments: A) {}
//! launch(&scale, (2.0_f64, 7)); // the kernel takes an f32
//! ```
//!
//! Scalars, vectors and `#[repr(C)]` values are arguments themselves. For its buffers, the
//! launcher's crate implements [`Argument`], which decides which of them may be passed for a
//! [`Slice`] or a [`DisjointSlice`].
//!
//! A kernel that is a safe function has a [`SafeKernel`], which a launcher may start by a safe
//! function if it checks the [`LaunchShape`], and that the PTX has the kernel's
//! [signature](crate::signature). Whoever launches any other kernel promises what its
//! `# Safety` asks for.

mod arguments;
mod image;
mod kernel;
mod symbol;

pub use arguments::{Argument, ArgumentList, Arguments};
pub use image::PtxImage;
pub use kernel::{
    DisjointMatrix, DisjointSlice, Kernel, LaunchBounds, LaunchShape, Matrix, Pointer, PointerMut, SafeKernel, Slice,
};
pub use symbol::Symbol;
