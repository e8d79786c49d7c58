//! Where the lists end, in one thread.

use cuda_std::prelude::*;

/// Follows each list for `steps` steps.
///
/// # Safety
/// `next` and `ends` hold `n` elements, those of `next` below `n`; one thread.
#[kernel]
pub unsafe fn reference(next: *const u32, ends: *mut u32, n: u32, steps: u32) {
    for list in 0..n {
        let mut at = list;
        for _ in 0..steps {
            at = *next.add(at as usize);
        }
        *ends.add(list as usize) = at;
    }
}
