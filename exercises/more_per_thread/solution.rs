//! More work for few threads: eight lists at a time

use cuda_std::prelude::*;

/// Lists that a thread follows at a time.
const LISTS: usize = 8;

/// Follows each list for `steps` steps: list `i` begins at element `i`, and `ends[i]` is where it
/// comes to.
///
/// # Safety
/// `next` and `ends` hold `n` elements, those of `next` below `n`. Grids of any size.
#[kernel(block(32))]
pub unsafe fn follow(next: *const u32, ends: *mut u32, n: u32, steps: u32) {
    let (first, threads) = (thread::index_1d(), thread::grid_dim_x() * thread::block_dim_x());
    for list in (first..n).step_by(LISTS * threads as usize) {
        // Beyond the last list a thread follows the last one again.
        let mut at = [0; LISTS];
        cuda_std::unroll::<LISTS>(|k| at[k] = (list + k as u32 * threads).min(n - 1));
        for _ in 0..steps {
            // Eight loads, none of which needs another's result.
            cuda_std::unroll::<LISTS>(|k| at[k] = *next.add(at[k] as usize));
        }
        cuda_std::unroll::<LISTS>(|k| {
            let list = list + k as u32 * threads;
            if list < n {
                *ends.add(list as usize) = at[k];
            }
        });
    }
}
