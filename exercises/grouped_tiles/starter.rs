//! Blocks that share
//!
//! Each pair of a row of A and a row of B gets a number: in how many bits the two rows differ. A
//! block computes one pair. Blocks start in the order of their numbers, and about 14 run at once on
//! the GPU that is modelled here. Each block reads both of its rows, of 64 KiB; L2 has 768 KiB, and
//! what L2 does not have comes from DRAM.
//!
//! Numbered row by row, 14 blocks that run together need one row of A and 14 rows of B. The next
//! ones need other rows of B, and all of B is 1 MiB: its first rows are gone from L2 before the
//! next row of pairs begins. Blocks that form a square need fewer rows: 16 pairs of 4 rows of A and
//! 4 rows of B are 8 rows instead of 17.
//!
//! So go through the pairs in *bands*: the first 4 rows of A with row 0 of B, then with row 1, and
//! so on to the last; then the next 4 rows of A. The 4 rows of A stay in L2 while all of B is read.
//!
//! # Task
//!
//! Choose the pair of a block so that blocks with neighbouring numbers form bands. The last band
//! has fewer rows if their number is no multiple of 4. The blocks' work stays as it is, and so does
//! the place of a result.

use cuda_std::prelude::*;

/// `distances[row * n + column]` = the bits in which row `row` of A and row `column` of B differ.
///
/// # Safety
/// `a` holds `m` rows of `k` words, `b` holds `n`, `distances` has `m * n` words. `m * n` blocks of
/// 1024 threads.
#[kernel(block(1024))]
pub unsafe fn distances(a: *const u32, b: *const u32, distances: *mut u32, m: u32, n: u32, k: u32) {
    #[address_space(shared)]
    static WARPS: SharedCell<[u32; 32]> = SharedCell::uninit();
    let warps = WARPS.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let block = thread::block_idx_x();
    // TODO: bands of 4 rows, column by column.
    let _ = m;
    let (row, column) = (block / n, block % n);
    let (from_a, from_b) = (a.add((row * k) as usize), b.add((column * k) as usize));

    let mut bits = 0;
    for i in (t..k as usize).step_by(1024) {
        bits += (*from_a.add(i) ^ *from_b.add(i)).count_ones();
    }
    // One number a warp, and then one of them all.
    let sum = warp::warp_reduce_first(bits, |a, b| a + b);
    if t % 32 == 0 {
        (*warps)[t / 32] = sum;
    }
    thread::sync_threads();
    if t < 32 {
        let sum = warp::warp_reduce_first((*warps)[t], |a, b| a + b);
        if t == 0 {
            *distances.add((row * n + column) as usize) = sum;
        }
    }
}
