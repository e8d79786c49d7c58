//! Expands the packed triangle, in one thread.

use cuda_std::prelude::*;

/// # Safety
/// As for the kernel of the exercise; one thread.
#[kernel]
pub unsafe fn reference(packed: *const f32, starts: *const u32, square: *mut f32, n: usize) {
    for row in 0..n {
        for column in 0..n {
            let mut value = 0.0;
            if column <= row {
                value = *packed.add(*starts.add(row) as usize + column);
            }
            *square.add(row * n + column) = value;
        }
    }
}
