// fails: loads.requests
// One thread of each block looks up the start: fewer requests, but the block waits for it.

use cuda_std::prelude::*;

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn expand(packed: *const f32, starts: *const u32, square: *mut f32, n: usize) {
    #[address_space(shared)]
    static SHARED_START: SharedCell<u32> = SharedCell::uninit();
    let shared_start = SHARED_START.as_mut_ptr();
    let (row, column) = (thread::block_idx_y() as usize, thread::wide_index_1d());
    if thread::thread_idx_x() == 0 {
        *shared_start = *starts.add(row);
    }
    thread::sync_threads();
    if column < n {
        let mut value = 0.0;
        if column <= row {
            value = *packed.add(*shared_start as usize + column);
        }
        *square.add(row * n + column) = value;
    }
}
