//! The caches, and how a program controls them: by the operators of its loads, by the division
//! between L1 and shared memory, by compiler options.
//!
//! Each kernel reads the same elements with another cache operator (PTX manual, "Cache Operators"):
//!
//! | kernel | load | requests |
//! | --- | --- | --- |
//! | [`cache_default`] | `ld.global` | the default: `ptxas -dlcm=ca` or `ptxas -dlcm=cg` |
//! | [`cache_ca`] | `ld.global.ca` | caching at all levels, L1 and L2 |
//! | [`cache_cg`] | `ld.global.cg` | caching in L2 only |
//! | [`cache_cs`] | `ld.global.cs` | streaming: evict first |
//! | [`cache_lu`] | `ld.global.lu` | last use |
//! | [`cache_cv`] | `ld.global.cv` | do not use cached copies |
//! | [`cache_nc`] | `ld.global.nc` | the read-only path |
//!
//! Which is best depends on the pattern. *Aligned* reads touch each sector once, and no cache can
//! help. *Misaligned* ones share a sector with their neighbour, which L1 keeps. *Strided* reads use
//! 4 bytes of each sector and every sector of a line: L1 neither helps nor hurts. *Scattered* reads
//! use 4 bytes of each line: where L1 fetches whole lines, as on Fermi, bypassing it saves three
//! quarters of the traffic. A *stencil* reads each element several times, and a *table* of 32 KB is
//! read over and over: both depend on L1, and the table shows how large it is.
//!
//! What to look for: L1's hits (`l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum`), the
//! bytes from DRAM (`dram__bytes_read.sum`), on Fermi `gld_transactions`.
//!
//! # Shapes
//!
//! Each thread adds up the `taps` elements of `data` from its element of the pattern on, and writes
//! the sum to its own element of `output`. Threads whose elements are not all in `data` write
//! nothing.
//!
//! # Where `unsafe` begins
//!
//! A load with an operator is one instruction, whose address the compiler does not check: it has to
//! be in global memory. The elements of a kernel's `&[f32]` are.
//!
//! Sources: the Russian lecture and NVIDIA's webinar (the two by two of `{ca, cg}` and `{16 KB, 48
//! KB}` of L1), KAUST CS 380.

use crate::access::Pattern;
use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{mem, thread};

/// The default, which an option of `ptxas` sets.
#[kernel(linear)]
pub fn cache_default(data: &[f32], mut output: DisjointSlice<f32>, taps: u32, pattern: Pattern) {
    let i = thread::linear_index();
    let first = pattern.element(i.get() as u32) as usize;
    let elements = data.get(first..first + taps as usize);
    if let (Some(elements), Some(output)) = (elements, output.get_mut(i)) {
        // SAFETY: an element of a slice that the launch passed is in global memory.
        *output = elements.iter().fold(0.0, |sum, element| sum + unsafe { mem::load(element) });
    }
}

/// Cached at all levels.
#[kernel(linear)]
pub fn cache_ca(data: &[f32], mut output: DisjointSlice<f32>, taps: u32, pattern: Pattern) {
    let i = thread::linear_index();
    let first = pattern.element(i.get() as u32) as usize;
    let elements = data.get(first..first + taps as usize);
    if let (Some(elements), Some(output)) = (elements, output.get_mut(i)) {
        // SAFETY: an element of a slice that the launch passed is in global memory.
        *output = elements.iter().fold(0.0, |sum, element| sum + unsafe { mem::load_ca(element) });
    }
}

/// Cached in L2 only.
#[kernel(linear)]
pub fn cache_cg(data: &[f32], mut output: DisjointSlice<f32>, taps: u32, pattern: Pattern) {
    let i = thread::linear_index();
    let first = pattern.element(i.get() as u32) as usize;
    let elements = data.get(first..first + taps as usize);
    if let (Some(elements), Some(output)) = (elements, output.get_mut(i)) {
        // SAFETY: an element of a slice that the launch passed is in global memory.
        *output = elements.iter().fold(0.0, |sum, element| sum + unsafe { mem::load_cg(element) });
    }
}

/// Streaming.
#[kernel(linear)]
pub fn cache_cs(data: &[f32], mut output: DisjointSlice<f32>, taps: u32, pattern: Pattern) {
    let i = thread::linear_index();
    let first = pattern.element(i.get() as u32) as usize;
    let elements = data.get(first..first + taps as usize);
    if let (Some(elements), Some(output)) = (elements, output.get_mut(i)) {
        // SAFETY: an element of a slice that the launch passed is in global memory.
        *output = elements.iter().fold(0.0, |sum, element| sum + unsafe { mem::load_cs(element) });
    }
}

/// Last use.
#[kernel(linear)]
pub fn cache_lu(data: &[f32], mut output: DisjointSlice<f32>, taps: u32, pattern: Pattern) {
    let i = thread::linear_index();
    let first = pattern.element(i.get() as u32) as usize;
    let elements = data.get(first..first + taps as usize);
    if let (Some(elements), Some(output)) = (elements, output.get_mut(i)) {
        // SAFETY: an element of a slice that the launch passed is in global memory.
        *output = elements.iter().fold(0.0, |sum, element| sum + unsafe { mem::load_lu(element) });
    }
}

/// Fetched again.
#[kernel(linear)]
pub fn cache_cv(data: &[f32], mut output: DisjointSlice<f32>, taps: u32, pattern: Pattern) {
    let i = thread::linear_index();
    let first = pattern.element(i.get() as u32) as usize;
    let elements = data.get(first..first + taps as usize);
    if let (Some(elements), Some(output)) = (elements, output.get_mut(i)) {
        // SAFETY: an element of a slice that the launch passed is in global memory.
        *output = elements.iter().fold(0.0, |sum, element| sum + unsafe { mem::load_cv(element) });
    }
}

/// Through the read-only path.
#[kernel(linear)]
pub fn cache_nc(data: &[f32], mut output: DisjointSlice<f32>, taps: u32, pattern: Pattern) {
    let i = thread::linear_index();
    let first = pattern.element(i.get() as u32) as usize;
    let elements = data.get(first..first + taps as usize);
    if let (Some(elements), Some(output)) = (elements, output.get_mut(i)) {
        // SAFETY: an element of a slice that the launch passed is in global memory.
        *output = elements.iter().fold(0.0, |sum, element| sum + unsafe { mem::load_nc(element) });
    }
}
