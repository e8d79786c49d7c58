//! The sum: each thread adds some of the numbers.

use cuda_std::prelude::*;

/// # Safety
/// As for the kernels of the exercise, with any launch.
#[kernel]
pub unsafe fn reference(input: *const i32, output: *mut i32, n: u32) {
    let mut sum = 0_i32;
    for index in thread::grid_stride(n as usize) {
        sum = sum.wrapping_add(*input.add(index.get()));
    }
    atomic::add(output, sum);
}
