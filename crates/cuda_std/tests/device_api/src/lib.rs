//! Kernels that use every device function of `cuda_std`, for its tests. They are not part of the
//! course.
//!
//! A comment `// ptx: TEXT` in a kernel says that the kernel's PTX must contain TEXT. The tests
//! check the checked-in PTX, and a fresh compilation if there is a device compiler;
//! `// ptx: not TEXT` says that it must not. Every kernel can also run on the simulator: one block
//! of 32 or 64 threads, buffers in which each thread has its own elements, predictable results.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod atomics;
pub mod constants;
pub mod disjoint;
pub mod hygiene;
pub mod math;
pub mod memory;
pub mod parameters;
pub mod phases;
pub mod shared_memory;
pub mod specials;
pub mod textures;
pub mod threads;
pub mod vectors;
pub mod warps;
