//! A closure carries the thread's position out in a local variable, or in a cell.

use core::cell::Cell;

use cuda_std::prelude::*;

fn run(mut body: impl FnMut(u32)) {
    body(thread::thread_idx_x());
}

#[kernel(linear)]
pub fn captured_local(mut output: DisjointSlice<u32>) {
    let mut taken = 0;
    let cell = Cell::new(0);
    run(|thread| taken = thread);
    run(|thread| cell.set(thread));
    if taken > 5 {
        thread::sync_threads(); //~ may reach: the branch in line 17 depends on `thread_idx_x()` in line 8
    }
    if cell.get() > 6 {
        thread::sync_threads(); //~ may reach: the branch in line 20 depends on `thread_idx_x()` in line 8
    }
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = taken;
    }
}
