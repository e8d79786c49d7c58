// fails: uninitialised read
// The block's counters are never set to 0.

use cuda_std::prelude::*;

/// Adds the number of times that each value occurs to its place in `counts`.
///
/// # Safety
/// `data` holds `n` bytes, `counts` 256 counters. Blocks have 256 threads.
#[kernel(block(256))]
pub unsafe fn histogram(data: *const u8, counts: *mut u32, n: u32) {
    #[address_space(shared)]
    static OWN: SharedCell<[u32; 256]> = SharedCell::uninit();
    let own = OWN.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;

    let threads = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut i = thread::wide_index_1d();
    while i < n as usize {
        atomic::add(&raw mut (*own)[*data.add(i) as usize], 1);
        i += threads;
    }

    thread::sync_threads();
    atomic::add(counts.add(t), (*own)[t]);
}
