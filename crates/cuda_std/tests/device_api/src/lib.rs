//! Kernels that use every device function of `cuda_std`: the subject of its tests, not a part of the course.
//!
//! A comment `// ptx: TEXT` in a kernel says that the kernel's PTX contains TEXT. The tests check that of the checked-in PTX,
//! and of a fresh compilation where there is a device compiler. Every kernel is of use to the simulator too: one block of 32
//! or 64 threads, buffers in which each thread has its own place, results that can be foretold.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod atomics;
pub mod constants;
pub mod math;
pub mod memory;
pub mod parameters;
pub mod shared_memory;
pub mod specials;
pub mod textures;
pub mod threads;
pub mod vectors;
pub mod warps;
