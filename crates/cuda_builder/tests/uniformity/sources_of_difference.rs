//! Less common ways to differ: addresses of locals, tables, `black_box`, lanes, clocks.

use core::hint::black_box;

use cuda_std::prelude::*;

const TABLE: [u32; 4] = [1, 2, 3, 4];

#[kernel(linear)]
pub fn sources_of_difference(n: u32, mut output: DisjointSlice<u32>) {
    let local = [n; 3];
    if (&raw const local).addr() % 256 == 0 {
        thread::sync_threads(); //~ the branch in line 12 depends on
    }
    if TABLE[thread::thread_idx_x() as usize % 4] == 2 {
        thread::sync_threads(); //~ the branch in line 15 depends on `thread_idx_x()` in line 15
    }
    if TABLE[n as usize % 4] == 2 {
        thread::sync_threads();
    }
    if black_box(thread::thread_idx_x()) == 2 {
        thread::sync_threads(); //~ the branch in line 21 depends on
    }
    if warp::lane_id() == 2 {
        thread::sync_threads(); //~ the branch in line 24 depends on `lane_id()` in line 24
    }
    if special::clock() % 2 == 0 {
        thread::sync_threads(); //~ the branch in line 27 depends on `clock()` in line 27
    }
    if warp::activemask() > n {
        thread::sync_threads(); //~ the branch in line 30 depends on `activemask()` in line 30
    }
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = local[1];
    }
}
