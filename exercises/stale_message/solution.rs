//! No stale message: the flag is released and acquired

use cuda_std::prelude::*;

/// Adds up the values of this block and of all blocks before it.
///
/// # Safety
/// `totals` and `flags` have an element for each block, and each block has a value. The flags are
/// 0. Blocks of one thread, which start in order.
#[kernel(block(1))]
pub unsafe fn running_totals(values: &[u32], totals: *mut u32, flags: *mut u32) {
    let block = thread::block_idx_x() as usize;
    let mut total = values[block];
    if block > 0 {
        // Whoever acquires what was released sees all that came before the release.
        while atomic::load_acquire(flags.add(block - 1)) == 0 {}
        total += *totals.add(block - 1);
    }
    *totals.add(block) = total;
    atomic::store_release(flags.add(block), 1);
}
