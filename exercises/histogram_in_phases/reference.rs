//! The histograms, twice, by a thread for each counter.

use cuda_std::prelude::*;

/// How often `i % 64` occurs, modulo 64, in the 2048 bytes of its block.
#[kernel(linear)]
pub fn reference(input: &[u8], mut plain: DisjointSlice<u32>, mut phased: DisjointSlice<u32>) {
    for i in thread::grid_stride(plain.len()) {
        let chunk = input.chunks(2048).nth(i.get() / 64).unwrap_or_default();
        let count = chunk.iter().filter(|&&value| value as usize % 64 == i.get() % 64).count();
        for counts in [&mut plain, &mut phased] {
            if let Some(to) = counts.get_mut(i) {
                *to = count as u32;
            }
        }
    }
}
