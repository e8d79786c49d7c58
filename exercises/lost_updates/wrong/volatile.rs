// fails: count[0]
// Volatile accesses are made exactly as written, but a load and a store are still two steps.

use cuda_std::prelude::*;

/// Counts the elements above 0.
///
/// # Safety
/// `count` points to one number, which nothing else uses during the launch.
#[kernel(linear)]
pub unsafe fn count_positive(input: &[f32], count: *mut u32) {
    if input.get(thread::linear_index().get()).is_some_and(|&element| element > 0.0) {
        count.write_volatile(count.read_volatile() + 1);
    }
}
