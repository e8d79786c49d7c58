//! Every kernel of the course, in Rust, one module for each lab.
//!
//! The modules are lecture notes that run. Each opens with what the lab teaches and what to look
//! for in the counters; its kernels then read as a sequence, in which each differs from the one
//! before by the one thing it teaches.
//!
//! The crate is compiled twice. For the device (`nvptx64`, by `cargo xtask build-ptx`) the
//! functions are the entry points of the PTX in `kernels/ptx/`. For the host each of them is a
//! typed handle ([`cuda_std::launch::Kernel`]) with the function's name, and [`PTX`] is the
//! checked-in result of the device's compilation, so that running a kernel needs no device
//! compiler.
//!
//! Kernel bodies compile for the device only. What a launch of an unsafe kernel must promise is in
//! its section `# Safety`. The helper functions that kernels share are device code too. A kernel's
//! name begins with its lab's.
//!
//! In the course's order, which is also an order to read in:
//!
//! | module | what it is about |
//! | --- | --- |
//! | [`launch`] | bytes in flight: blocks, grids, words and independent loads |
//! | [`offset`] | reads and writes that start in the middle of a sector |
//! | [`access`] | the access patterns of a warp, one by one |
//! | [`layout`] | arrays of structures and structures of arrays |
//! | [`vector`] | words of 4, 8 and 16 bytes |
//! | [`cache`] | cache operators, and how L1 and shared memory are divided |
//! | [`pitch`] | rows padded to the hardware's alignment |
//! | [`constant`] | constant memory: one address for all, or one for each lane |
//! | [`table`] | accurate and fast math |
//! | [`transpose`], [`transpose_wide`] | coalescing on both sides, shared memory, bank conflicts |
//! | [`transpose_diagonal`] | the order of the tiles, and the partitions of old memory |
//! | [`matmul`] | the matrix product, through tiles |
//! | [`gram`], [`gram_registers`] | a matrix times its transpose, where bank conflicts dominate |
//! | [`order`], [`order_table`] | which blocks run together, and which lines L2 keeps |
//! | [`reduce`] | six steps to a good reduction ([`reduce_all`]: other operations and types) |
//! | [`dot`] | the dot product: global against shared memory |
//! | [`rows`] | sums of rows and means of columns ([`rows_all`]: other statistics of rows) |
//! | [`banks`] | the banks of shared memory, pattern by pattern |
//! | [`shared`] | static and dynamic shared memory, up to the most that a block can have |
//! | [`phases`] | textbook kernels again, as safe functions that cannot race |
//! | [`texture`] | textures, and the Morton order that they hide |
//! | [`atomics`] | histograms: counters that all threads share, and private ones |
//! | [`consistency`], [`look_back`] | a message and its flag: what other blocks see, and when |
//! | [`spill`] | arrays in registers and in local memory; more work a thread, fewer threads |
//! | [`transfer`] | a kernel beside which the host's copies run |
//! | [`stencil`], [`stencil_registers`] | sums of neighbours: caches, tiles, registers, words |
//! | [`stencil_volume`], [`stencil_walk`] | the same in three dimensions: registers along z |
//! | [`scan`], [`scan_tiles`] | prefix sums, in blocks and in one pass ([`scan_compact`]: a use) |
//! | [`sparse`] | a sparse matrix times a vector: which entries a warp reads |
//! | [`pipeline`] | tiles on their way while a block works: stages against occupancy |
//!
//! The crate `best_kernels`, in `kernels/best`, has the fastest kernels of some labs.
//!
//! # Sources
//!
//! What the labs teach and measure follows five lectures and lab sheets: a Russian lecture on
//! global memory; a Chinese worked example on aligned reads; KAUST's course CS 380, lecture 14,
//! "GPU memory"; NVIDIA's webinar on global memory of 2011; and a Russian lab sheet on global,
//! shared and constant memory, called "the lab sheet" here, whose matrices are 1000 x 1000.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

#[cfg(all(test, not(target_arch = "nvptx64")))]
extern crate std;

pub mod access;
pub mod atomics;
pub mod banks;
pub mod cache;
pub mod consistency;
pub mod constant;
pub mod dot;
pub mod gram;
pub mod gram_registers;
pub mod launch;
pub mod layout;
pub mod look_back;
pub mod matmul;
pub mod offset;
#[cfg(target_arch = "nvptx64")]
mod operation;
pub mod order;
pub mod order_table;
pub mod phases;
pub mod pipeline;
pub mod pitch;
pub mod reduce;
pub mod reduce_all;
pub mod register_tiles;
pub mod rows;
pub mod rows_all;
pub mod scan;
pub mod scan_compact;
pub mod scan_tiles;
pub mod shared;
pub mod sparse;
pub mod spill;
#[cfg(target_arch = "nvptx64")]
mod stage;
pub mod stencil;
pub mod stencil_registers;
pub mod stencil_volume;
pub mod stencil_walk;
pub mod table;
pub mod texture;
pub mod transfer;
pub mod transpose;
pub mod transpose_diagonal;
pub mod transpose_wide;
pub mod vector;

/// The kernels as PTX, ascending by architecture. The last one that a device can run is the one for
/// that device. For `sm_90` the compiler makes the same code as for `sm_80`.
#[cfg(not(target_arch = "nvptx64"))]
pub const PTX: &[cuda_std::launch::PtxImage] = &[
    cuda_std::launch::PtxImage { arch: "sm_75", text: include_str!("../ptx/kernels.sm_75.ptx") },
    cuda_std::launch::PtxImage { arch: "sm_80", text: include_str!("../ptx/kernels.sm_80.ptx") },
];
