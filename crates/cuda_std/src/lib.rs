//! The device library for kernels in Rust, and the typed kernel handles for the host.
//!
//! The names and the API are those of Rust-CUDA's `cuda_std`, on rustc's own NVPTX backend. A
//! kernel is a function with `#[kernel]`, in a `no_std` crate that is compiled twice: for
//! `nvptx64-nvidia-cuda` it becomes an entry point of the PTX, for the host a typed handle for
//! launching it.
//!
//! ```
//! use cuda_std::{DisjointSlice, gpu_only, kernel};
//! #[gpu_only]
//! use cuda_std::thread;
//!
//! /// Adds `x` to `y`, element by element.
//! #[kernel(linear)]
//! pub fn add(x: &[f32], mut y: DisjointSlice<f32>) {
//!     let i = thread::linear_index();
//!     if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
//!         *y += x;
//!     }
//! }
//! # #[cfg(not(target_arch = "nvptx64"))]
//! assert_eq!(add.name(), "add");
//! ```
//!
//! | on the device | |
//! | --- | --- |
//! | [`thread`] | indices, the barrier of the block, memory fences |
//! | [`warp`] | shuffles, votes, matches, reductions and the barrier of the warp |
//! | [`shared`] | shared memory: [`SharedCell`](shared::SharedCell), dynamic shared memory |
//! | [`constant`] | constant memory |
//! | [`atomic`] | atomic operations, for the block, the device or the system |
//! | [`mem`] | loads and stores with a cache operator, the read-only path |
//! | [`pipeline`] | asynchronous copies to shared memory |
//! | [`bulk`] | bulk copies by the copy engine, and the barriers that count them |
//! | [`dependent_launch`] | kernels that may begin before the previous one has ended |
//! | [`fast`] | the hardware's approximate math |
//! | [`special`] | clocks and other special registers, `trap`, `exit` |
//!
//! | on both | |
//! | --- | --- |
//! | [`phases`] | shared memory in safe kernels, which do not race |
//! | [`float`] | accurate math: the methods that `core` lacks |
//! | [`unroll`](unroll()) | loops that are unrolled at compile time |
//! | [`texture`] | texture objects, which a kernel takes by value |
//! | [`surface`] | surface objects: writes to what textures read later |
//! | [`value`] | what a kernel may take by value |
//! | [`vector`] | vectors of 8 and 16 bytes, which load and store as one access |
//!
//! | on the host | |
//! | --- | --- |
//! | [`launch`] | typed kernel handles, and the bytes of a launch's arguments |
//!
//! The device's modules exist for `nvptx64` only; this documentation shows them all.
//!
//! # How it is made
//!
//! Operations of several lanes (barriers, shuffles, votes) are LLVM's intrinsics, because the
//! optimizer knows that these may not be moved into or out of a branch. Inline assembly has no such
//! attribute, so it is only used for operations of one thread. rustc cannot express shared and
//! constant memory; the attributes write sections, and `cuda_builder` turns them into address
//! spaces. The device side needs unstable features of rustc, which `cuda_builder` enables; the host
//! side is stable Rust.
//!
//! # What differs from Rust-CUDA
//!
//! * On the host, `#[kernel]` makes a typed handle instead of nothing; the body of a kernel is an
//!   unsafe context in every edition.
//! * Atomic operations are functions on pointers ([`atomic::add`], ...), in addition to the types
//!   [`atomic::AtomicF32`] and [`atomic::AtomicF64`]; integers have the types of
//!   [`core::sync::atomic`], which work on this backend.
//! * The shuffles clamp as CUDA's do, `warp_shuffle_up` included; [`warp::warp_reduce_all`] needs
//!   no `redux.sync`.
//! * Vectors are this crate's ([`vector`]), coordinates plain structs ([`thread::Vec3`]); there is
//!   no dependency on `vek` or `half`.
//! * There is no allocator and no `print!`.
//!
//! `assert!`, `panic!`, an index out of bounds and `unwrap` work in kernels: they stop the launch
//! with a trap, without a message.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        abi_unadjusted,
        asm_experimental_arch,
        const_type_name,
        link_llvm_intrinsics,
        portable_simd,
        stdarch_nvptx
    )
)]

#[cfg(not(target_arch = "nvptx64"))]
extern crate alloc;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod atomic;
mod atomic_slice;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod bulk;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod constant;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod dependent_launch;
pub mod disjoint;
#[doc(hidden)]
pub mod entry;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod fast;
pub mod float;
#[cfg(any(target_arch = "nvptx64", doc))]
mod intrinsics;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod mem;
pub mod phases;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod pipeline;
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
pub mod shape;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod shared;
pub mod signature;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod special;
pub mod surface;
pub mod texture;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod thread;
mod unroll;
pub mod value;
pub mod vector;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod warp;

pub use atomic_slice::AtomicSlice;
pub use cuda_std_macros::{address_space, gpu_only, kernel};
pub use disjoint::{DisjointMatrix, DisjointSlice, Matrix};
pub use float::GpuFloat;
pub use unroll::unroll;

/// The items that most kernels use: `use cuda_std::prelude::*;`.
pub mod prelude {
    pub use crate::AtomicSlice;
    pub use crate::disjoint::{DisjointMatrix, DisjointSlice, Matrix};
    pub use crate::float::GpuFloat;
    #[cfg(any(target_arch = "nvptx64", doc))]
    pub use crate::shared::SharedCell;
    pub use crate::vector::*;
    pub use crate::{address_space, gpu_only, kernel};
    #[cfg(any(target_arch = "nvptx64", doc))]
    pub use crate::{atomic, fast, mem, shared, special, thread, warp};
}

/// A panic stops the launch. With `panic=immediate-abort`, as `cuda_builder` compiles, this is
/// never called.
#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    special::trap()
}

/// The README, whose example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
