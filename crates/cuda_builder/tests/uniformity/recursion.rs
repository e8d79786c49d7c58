//! Nobody can follow the barrier into a recursion.

use cuda_std::prelude::*;

fn wait(times: u32) -> u32 {
    thread::sync_threads();
    if times > 1 { wait(times - 1) * wait(times / 2) } else { times }
}

#[kernel(linear)]
pub fn recursion(n: u32, mut output: DisjointSlice<u32>) {
    let waited = wait(n); //~ calls `uniformity::recursion::wait`, which may reach a barrier
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = waited;
    }
}
