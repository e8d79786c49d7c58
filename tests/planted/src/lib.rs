//! Kernels with one planted bug each, and their corrected twins: the suite that judges the sanitizer. Not a part of the course.
//!
//! A kernel says in its source how it is run and what must be found:
//!
//! * `// run: --grid 2 --block 64 f32[100] u32:100` before a kernel: the arguments of `host run`.
//! * `//~ KIND: WORDS` at the end of a line: a finding of that kind blames this line, and its message has these words.
//!   Each line that a finding blames is marked; of a race, the lines of both parties are. `KIND` is `memory`, `init`, `race`,
//!   `sync` or `undefined`.
//!
//! A kernel without a mark is clean: nothing may be found. The twin of `NAME` is `NAME_fixed`, which differs by the fix alone; a
//! clean kernel without a twin, in [`clean`], is right although it looks like a bug. The first line of a kernel's
//! documentation says what is wrong, for the table in `measurements/planted.md`.
//!
//! The PTX for sm_75 is checked in; `COALESCE_BLESS=1 cargo test -p planted` rebuilds it. What Rust cannot express is written
//! in PTX, in `ptx/by_hand.ptx`, with the same comments.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, link_llvm_intrinsics))]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]
// Each kernel is safe, or not, as its `run` line launches it.
#![allow(clippy::missing_safety_doc)]

pub mod access;
pub mod barriers;
pub mod block_races;
pub mod bounds;
pub mod clean;
pub mod grid_races;
pub mod initialization;
pub mod read_only;
pub mod warp_races;
pub mod warps;

use cuda_std::gpu_only;
#[gpu_only]
use cuda_std::thread;

/// The thread's number in its block.
#[gpu_only]
#[inline(always)]
fn in_block() -> usize {
    thread::thread_idx_x() as usize
}

/// The thread's number in the grid.
#[gpu_only]
#[inline(always)]
fn in_grid() -> usize {
    thread::wide_index_1d()
}

/// The block's number.
#[gpu_only]
#[inline(always)]
fn block() -> usize {
    thread::block_idx_x() as usize
}

/// Barriers with a number, for a part of the block's warps.
#[cfg(target_arch = "nvptx64")]
mod named_barrier {
    unsafe extern "C" {
        /// Waits until `threads` threads have come to this barrier (`bar.sync barrier, threads`).
        #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.count"]
        pub safe fn sync(barrier: u32, threads: u32);
        /// Counts this warp at the barrier, and goes on (`bar.arrive barrier, threads`).
        #[link_name = "llvm.nvvm.barrier.cta.arrive.aligned.count"]
        pub safe fn arrive(barrier: u32, threads: u32);
    }
}
