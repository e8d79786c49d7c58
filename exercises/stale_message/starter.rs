//! A stale message
//!
//! Each block adds its value to the total of the block before it, which hands that total over in
//! memory: it stores the total, and then sets a flag. The next block waits for the flag, and reads
//! the total.
//!
//! That looks right, but a GPU promises no order between accesses to different words. Other blocks
//! may see the flag before the total, or still have an old total in their L1 cache. The next block
//! then reads a *stale* message: what was there before.
//!
//! `load_relaxed` and `store_relaxed` read and write the flag itself as a whole, in L2. They order
//! nothing else. `store_release` makes everything that this thread did before visible first;
//! `load_acquire` sees it, if it loads what the release stored. Both sides need theirs. `cargo run
//! -p host -- consistency` counts stale messages.
//!
//! # Task
//!
//! Make `running_totals` right, whatever the order in which blocks see memory. Blocks start in the
//! order of their numbers, so that each may wait for the one before it.

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
        // TODO: that the flag is there says nothing of the total.
        while atomic::load_relaxed(flags.add(block - 1)) == 0 {}
        total += *totals.add(block - 1);
    }
    *totals.add(block) = total;
    atomic::store_relaxed(flags.add(block), 1);
}
