//! Planted bugs: read-only loads (`__ldg`) of what the kernel itself writes. A cache that stores do not reach may
//! serve them.

use cuda_std::{gpu_only, kernel};
#[gpu_only]
use cuda_std::{mem, thread};

#[gpu_only]
use crate::in_block;

/// The mean of an element and the next, in place, through the read-only path: a barrier orders the threads, but not the cache.
// run: --grid 1 --block 64 f32[64]=ramp
#[kernel]
pub unsafe fn read_only_in_place(data: *mut f32) {
    let t = in_block();
    let sum = mem::load_nc(data.add(t)) + mem::load_nc(data.add((t + 1) % 64)); //~ race: read-only data
    thread::sync_threads();
    *data.add(t) = sum / 2.0; //~ race: read-only data
}

/// The means go to an array of their own.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn read_only_in_place_fixed(data: *const f32, output: *mut f32) {
    let t = in_block();
    let sum = mem::load_nc(data.add(t)) + mem::load_nc(data.add((t + 1) % 64));
    thread::sync_threads();
    *output.add(t) = sum / 2.0;
}

/// A second pass over the first one's results in global memory, through the read-only path: it may get what was there before the launch.
// run: --grid 1 --block 64 u32[64]=ramp u32[64] u32[64]
#[kernel]
pub unsafe fn read_only_second_pass(input: *const u32, squares: *mut u32, output: *mut u32) {
    let t = in_block();
    let value = mem::load_nc(input.add(t));
    *squares.add(t) = value * value; //~ race: read-only data
    thread::sync_threads();
    *output.add(t) = mem::load_nc(squares.add(63 - t)); //~ race: read-only data
}

/// Only data that nothing writes is read through that path.
// run: --grid 1 --block 64 u32[64]=ramp u32[64] u32[64]
#[kernel]
pub unsafe fn read_only_second_pass_fixed(input: *const u32, squares: *mut u32, output: *mut u32) {
    let t = in_block();
    let value = mem::load_nc(input.add(t));
    *squares.add(t) = value * value;
    thread::sync_threads();
    *output.add(t) = *squares.add(63 - t);
}
