//! What one warp's addresses cost: the patterns of the lectures, as loads and as stores.
//!
//! A warp accesses 32 addresses at once, and the hardware fetches memory in units: lines of 128
//! bytes through Fermi's L1, sectors of 32 bytes past it and on everything later. What counts is
//! how many different units the warp touches, not in what order:
//!
//! | pattern | words of 4 bytes | lines of 128 bytes | sectors of 32 bytes |
//! | --- | --- | --- | --- |
//! | aligned | `a[i]` | 1, 100 % used | 4, 100 % |
//! | permuted | `a[i ^ 5]` | 1, 100 % | 4, 100 % |
//! | misaligned | `a[i + 1]` | 2, 50 % | 5, 80 % |
//! | one word | `a[0]` for the whole warp | 1, 3.125 % | 1, 12.5 % |
//! | stride s | `a[s * i]` | s, 100 / s % | 4 s, 100 / s % (up to 8) |
//! | scattered | each lane in its own line | 32, 3.125 % | 32, 12.5 % |
//! | difference of neighbours | `a[i + 1]` and `a[i]` | 2 and 1 | 5 and 4 |
//! | difference far apart | `a[64 * i]` and `a[i]` | 32 and 1 | 32 and 4 |
//! | random | anywhere | nearly 32 | nearly 32 |
//!
//! The program shows the mean of the two loads of a difference: 1.50 lines, 4.50 sectors.
//!
//! What to look for: sectors per request and the bytes used of each
//! (`l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum` over
//! `l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`,
//! `smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct`); on older models the
//! transactions (`gld_transactions`, `gld_efficiency`).
//!
//! Loading kernels write what they read side by side, so that only the loads have the pattern. The
//! storing kernel computes its values from their places ([`value_at`]), so that there are no loads
//! at all.
//!
//! # Where `unsafe` begins
//!
//! [`access_store`] writes wherever the pattern says, and lanes that share a word race for it. They
//! write the same value, so it does not matter whose store is the last; the compiler sees one
//! thread and cannot tell. The sanitizer checks exactly this: it reports threads that write
//! different values to one element.
//!
//! Sources: the three lectures on global memory (a Russian one; KAUST CS 380, lecture 14; NVIDIA's
//! webinar of 2011).

use bytemuck::{Pod, Zeroable};
#[gpu_only]
use cuda_std::thread;
use cuda_std::{DisjointSlice, gpu_only, kernel};

/// Which element each thread accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Pattern {
    /// Elements from one thread's to the next one's.
    pub stride: u32,
    /// Exchanges lanes: the thread's number is combined with this by exclusive or.
    pub exchange: u32,
    /// Elements before the first.
    pub offset: u32,
    /// If not 0, thread numbers are shuffled among the numbers below `2^scatter_bits`
    /// ([`scatter`]).
    pub scatter_bits: u32,
}

impl Pattern {
    /// Thread by thread, side by side.
    pub const ALIGNED: Self = Self { stride: 1, exchange: 0, offset: 0, scatter_bits: 0 };

    /// The element of thread `i`.
    #[inline(always)]
    pub const fn element(&self, i: u32) -> u32 {
        let i = i ^ self.exchange;
        let i = if self.scatter_bits == 0 { i } else { scatter(i, self.scatter_bits) };
        i * self.stride + self.offset
    }
}

/// Another number below 2^bits for each number below 2^bits: two rounds of multiplying by an odd
/// number, which loses nothing, and of folding the upper half into the lower.
#[inline(always)]
pub const fn scatter(i: u32, bits: u32) -> u32 {
    let mask = u32::MAX >> (32 - bits);
    let fold = bits / 2 + 1;
    let mut i = i;
    i = (i ^ i >> fold) & mask;
    i = i.wrapping_mul(0x9e37_79b1) & mask;
    i = (i ^ i >> fold) & mask;
    i = i.wrapping_mul(0x85eb_ca6b) & mask;
    (i ^ i >> fold) & mask
}

/// What a storing kernel writes to element `i`: a number that identifies the place.
#[inline(always)]
pub const fn value_at(i: u32, seed: u32) -> u32 {
    (i ^ seed).wrapping_mul(0x2545_f491)
}

/// `out[i] = data[pattern(i)]`.
#[kernel(linear)]
pub fn access_load(data: &[u32], mut out: DisjointSlice<u32>, pattern: Pattern) {
    let i = thread::linear_index();
    let element = pattern.element(i.get() as u32);
    if let (Some(from), Some(to)) = (data.get(element as usize), out.get_mut(i)) {
        *to = *from;
    }
}

/// `out[pattern(i)]` becomes a number computed from its place, for `i` below `threads`.
///
/// # Safety
///
/// Threads that share an element race for it, all with the same value. Who launches this with such
/// a pattern relies on the device to store that value, as GPUs do.
#[kernel(linear)]
pub unsafe fn access_store(mut out: DisjointSlice<u32>, threads: u32, seed: u32, pattern: Pattern) {
    let i = thread::index_1d();
    let element = pattern.element(i);
    if i < threads
        && let Some(to) = out.element_mut(element as usize)
    {
        *to = value_at(element, seed);
    }
}

/// `out[i] = data[scale * i + shift] - data[i]`: with 1 and 1 the difference of neighbours, whose
/// two loads share their sectors; with 64 and 0 the second load needs a sector for each lane.
#[kernel(linear)]
pub fn access_difference(data: &[u32], mut out: DisjointSlice<u32>, scale: u32, shift: u32) {
    let i = thread::linear_index();
    let other = scale * i.get() as u32 + shift;
    let (here, there) = (data.get(i.get()), data.get(other as usize));
    if let (Some(here), Some(there), Some(to)) = (here, there, out.get_mut(i)) {
        *to = there.wrapping_sub(*here);
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn scattering_loses_no_number() {
        for bits in [5, 8, 13, 16] {
            let mut seen = std::collections::HashSet::new();
            assert!((0..1 << bits).all(|i| seen.insert(scatter(i, bits))), "{bits} bits");
            assert!(seen.iter().all(|&i| i < 1 << bits));
        }
    }

    #[test]
    fn scattered_neighbours_are_far_apart() {
        let apart = (0..1000).filter(|&i| scatter(i, 16).abs_diff(scatter(i + 1, 16)) >= 8).count();
        assert!(apart > 990, "{apart}");
    }
}
