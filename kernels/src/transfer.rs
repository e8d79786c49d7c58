//! Copies between the host and the device, and the kernel beside which they run.
//!
//! A copy costs a latency, whatever its size, and its bytes at the link's bandwidth. From *pinned*
//! memory, which the system does not move, the GPU's copy engines read by themselves. The driver
//! first copies *pageable* memory to a pinned buffer, piece by piece, and that copy on the host is
//! what limits it.
//!
//! The device has an engine for copies in each direction beside its multiprocessors. In one stream
//! copies and kernels take turns. With the data in chunks, and the chunks in several streams, one
//! chunk is copied to the device while the kernel works on the one before and the result of an
//! earlier one is copied back: at best, all of it takes as long as the longest of the three.
//!
//! A kernel can also read the host's memory itself: pinned memory over the link at each access
//! (*zero-copy*), *managed* memory after its pages have moved, because an access faulted or because
//! the host asked for them in advance (*prefetch*).
//!
//! What to look for: the times of a kilobyte and of many megabytes; and in the timeline of the
//! engines, what runs at the same time.

#[gpu_only]
use cuda_std::thread;
use cuda_std::{DisjointSlice, gpu_only, kernel};

/// The factor and the addend of a round: Knuth's for 64 bits.
const FACTOR: u64 = 6_364_136_223_846_793_005;
const ADDEND: u64 = 1_442_695_040_888_963_407;

/// A number after so many rounds of a random generator, each of which needs the one before.
#[inline(always)]
pub fn after_rounds(seed: u32, rounds: u32) -> u32 {
    let mut state = seed as u64;
    for _ in 0..rounds {
        state = state.wrapping_mul(FACTOR).wrapping_add(ADDEND);
    }
    (state >> 32) as u32
}

/// A thread works on one element: 4 bytes from the host, `rounds` products, 4 bytes back.
#[kernel(linear)]
pub fn transfer_rounds(x: &[u32], mut y: DisjointSlice<u32>, rounds: u32) {
    let i = thread::linear_index();
    if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
        *y = after_rounds(*x, rounds);
    }
}
