//! What is in shared memory, any thread may have written.

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn shared_load(mut output: DisjointSlice<u32>) {
    #[address_space(shared)]
    static FLAG: SharedCell<u32> = SharedCell::uninit();
    // SAFETY: none here; the kernel is only compiled.
    let flag = unsafe {
        *FLAG.as_mut_ptr() = thread::thread_idx_x();
        thread::sync_threads();
        *FLAG.as_mut_ptr()
    };
    if flag > 3 {
        thread::sync_threads(); //~ may reach: the branch in line 15 depends on a value in memory that threads may write, read in line 13
    }
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = flag;
    }
}
