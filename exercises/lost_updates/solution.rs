//! No lost updates: an atomic addition

use cuda_std::prelude::*;

/// Counts the elements above 0.
///
/// # Safety
/// `count` points to one number, which nothing else uses during the launch.
#[kernel(linear)]
pub unsafe fn count_positive(input: &[f32], count: *mut u32) {
    if input.get(thread::linear_index().get()).is_some_and(|&element| element > 0.0) {
        // In whatever order the threads come, each adds to what the one before has left.
        atomic::add(count, 1);
    }
}
