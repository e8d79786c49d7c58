//! Only some threads wait.

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn branch_on_thread(mut output: DisjointSlice<u32>) {
    let i = thread::linear_index();
    if let Some(output) = output.get_mut(i) {
        thread::sync_threads(); //~ may reach: the branch in line 8 depends on `linear_index()` in line 7
        *output = 1;
    }
}
