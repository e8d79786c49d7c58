//! The best kernels: each lab's problem, solved as fast as the hardware allows.
//!
//! The course's crate `kernels` teaches one idea at a time; here they are combined. A module has
//! the name of its lab, and says what makes its kernels fast. Each has a plain function, compiled
//! for the host only, that chooses the kernel and the [`Launch`] for a problem and a [`Gpu`]: the
//! host calls it and decides nothing itself. On an H200 the kernels are as fast as cuBLAS, CUB and
//! the driver's copies, or faster: `docs/PEERS.md`.
//!
//! | module | what it is about |
//! | --- | --- |
//! | [`vector`] | copies: words, and lines that L2 keeps |
//! | [`transpose`] | the same for both sides of a tile |
//! | [`reduce`], [`dot`], [`rows`] | one launch for all blocks, with `combine` |
//! | [`matmul`], [`gram`] | tiles in registers, with [`product`] |
//! | [`pipeline`] | tiles that the copy engine brings |
//!
//! Like `kernels`, the crate is compiled twice: for the device to the PTX in `kernels/best/ptx/`,
//! for the host to typed handles and [`PTX`]. Neither crate depends on the other, so the few
//! helpers that both need are in both. A kernel's name begins with its lab's, and no kernel of
//! `kernels` has the same.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

#[cfg(all(test, not(target_arch = "nvptx64")))]
extern crate std;

#[cfg(target_arch = "nvptx64")]
mod combine;
pub mod dot;
pub mod gram;
pub mod matmul;
#[cfg(target_arch = "nvptx64")]
mod matrix;
pub mod pipeline;
pub mod product;
pub mod reduce;
pub mod rows;
pub mod transpose;
#[cfg(target_arch = "nvptx64")]
mod transpose_tile;
pub mod vector;

#[cfg(not(target_arch = "nvptx64"))]
pub mod blocks;
#[cfg(not(target_arch = "nvptx64"))]
mod launch;
#[cfg(not(target_arch = "nvptx64"))]
pub use launch::{Gpu, Launch};

/// The kernels as PTX, ascending by architecture. The last one that a device can run is the one for
/// that device.
///
/// From `sm_80` on, copies to shared memory are asynchronous (`cuda_std::pipeline`). From `sm_90`
/// on, the kernels wait by themselves for the kernel before them (`cuda_std::dependent_launch`).
#[cfg(not(target_arch = "nvptx64"))]
pub const PTX: &[cuda_std::launch::PtxImage] = &[
    cuda_std::launch::PtxImage {
        arch: "sm_75",
        text: include_str!("../ptx/best_kernels.sm_75.ptx"),
    },
    cuda_std::launch::PtxImage {
        arch: "sm_80",
        text: include_str!("../ptx/best_kernels.sm_80.ptx"),
    },
    cuda_std::launch::PtxImage {
        arch: "sm_90",
        text: include_str!("../ptx/best_kernels.sm_90.ptx"),
    },
];
