//! The distances of all pairs, a thread for each.

use cuda_std::prelude::*;

/// `distances[row * n + column]` = the bits in which row `row` of A and row `column` of B differ.
///
/// # Safety
/// `a` holds `m` rows of `k` words, `b` holds `n`, `distances` has `m * n` words.
#[kernel]
pub unsafe fn reference(a: *const u32, b: *const u32, distances: *mut u32, m: u32, n: u32, k: u32) {
    let [m, n, k] = [m, n, k].map(|size| size as usize);
    for pair in thread::grid_stride(m * n) {
        let (row, column) = (pair.get() / n, pair.get() % n);
        let mut bits = 0;
        for i in 0..k {
            bits += (*a.add(row * k + i) ^ *b.add(column * k + i)).count_ones();
        }
        *distances.add(pair.get()) = bits;
    }
}
