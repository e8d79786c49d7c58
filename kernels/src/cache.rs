//! The caches, and what a program can say to them: by operators of loads, by how the memory is divided, by how it is compiled.
//!
//! Each kernel reads the same elements with another cache operator (PTX manual, "Cache Operators"):
//!
//! | kernel | load | asks for |
//! | --- | --- | --- |
//! | [`cache_default`] | `ld.global` | as the compiler is asked to: `-dlcm=ca` (all levels) or `-dlcm=cg` (past L1) |
//! | [`cache_ca`] | `ld.global.ca` | all levels, L1 and L2 |
//! | [`cache_cg`] | `ld.global.cg` | L2 alone |
//! | [`cache_cs`] | `ld.global.cs` | streaming: evict it first |
//! | [`cache_lu`] | `ld.global.lu` | last use |
//! | [`cache_cv`] | `ld.global.cv` | fetch it anew |
//! | [`cache_nc`] | `ld.global.nc` | the read-only path |
//!
//! Which is best depends on the pattern. *Aligned* reads touch each sector once, and no cache can help. *Misaligned* ones share a
//! sector with their neighbour, which L1 keeps. *Strided* reads use 4 bytes of each sector and every sector of a line: L1 neither
//! helps nor hurts. *Scattered* reads use 4 bytes of each line: where L1 fetches whole lines, as on Fermi, going past it saves three
//! quarters of the traffic. A *stencil* reads each element several times, and a *table* of 32 KB is read over and over: both live
//! on L1, and the table shows how large it is.
//!
//! What to look for: L1's hits (`l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum`), the bytes from DRAM
//! (`dram__bytes_read.sum`), on Fermi `gld_transactions`.
//!
//! Sources: the Russian lecture and NVIDIA's webinar (the two by two of `{ca, cg}` and `{16 KB, 48 KB}` of L1), KAUST CS 380.

#[gpu_only]
use crate::access::Pattern;
use cuda_std::{gpu_only, kernel};
#[gpu_only]
use cuda_std::{mem, thread};

/// Adds up `taps` neighbouring elements from the pattern's on, for thread `i` below `threads`.
///
/// # Safety
/// `load` may be called for each address named, and `output` holds `threads` elements.
#[gpu_only]
#[inline(always)]
unsafe fn gather(
    data: *const f32,
    output: *mut f32,
    threads: u32,
    taps: u32,
    pattern: Pattern,
    load: impl Fn(*const f32) -> f32,
) {
    let i = thread::index_1d();
    if i < threads {
        let first = pattern.element(i);
        let mut sum = 0.0;
        for tap in 0..taps {
            // SAFETY: the caller says that the pattern's elements are there.
            sum += load(unsafe { data.add((first + tap) as usize) });
        }
        // SAFETY: `i` is below the number of elements.
        unsafe { *output.add(i as usize) = sum };
    }
}

/// The entry points: each operator.
macro_rules! operators {
    ($($(#[$documentation:meta])* $name:ident = $load:expr;)*) => {$(
        $(#[$documentation])*
        ///
        /// # Safety
        /// `data` has `taps` elements from each place of the pattern on, which nothing writes during the launch; `output` holds
        /// `threads` elements, and nothing else uses it. Blocks and grid are one-dimensional.
        #[kernel]
        pub unsafe fn $name(
            data: *const f32,
            output: *mut f32,
            threads: u32,
            taps: u32,
            pattern: crate::access::Pattern,
        ) {
            gather(data, output, threads, taps, pattern, $load);
        }
    )*};
}

operators! {
    /// As the compiler is asked to.
    cache_default = |address| *address;
    /// At all levels.
    cache_ca = |address| mem::load_ca(address);
    /// In L2 alone.
    cache_cg = |address| mem::load_cg(address);
    /// Streaming.
    cache_cs = |address| mem::load_cs(address);
    /// Last use.
    cache_lu = |address| mem::load_lu(address);
    /// Fetched anew.
    cache_cv = |address| mem::load_cv(address);
    /// By the read-only path.
    cache_nc = |address| mem::load_nc(address);
}
