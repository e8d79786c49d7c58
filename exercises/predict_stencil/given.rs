//! What do caches do for a stencil?
//!
//! A warp computes results of row 2 of a matrix, from column 32 on. The matrix has 10 rows of 192
//! floats and is aligned to 128 bytes, so column 32 of each row is aligned, too.
//!
//! - `straight`: 32 results, each of a value and its four neighbours.
//! - `square`: 32 results, each of the 5 x 5 values around it.
//! - `wide`: 128 results as in `straight`, four for each lane. Each lane loads a word of 16 bytes
//!   from the row above, its own and the row below, and the two floats beside its own word.
//! - `walk`: 32 results in each of rows 1 to 8, each of a value and the ones above and below it,
//!   added up. The warp goes from row to row, and keeps what it has loaded in registers.
//!
//! A load touches sectors of 32 bytes, 8 floats each. L1 keeps all that these
//! kernels load, so it asks L2 for each sector only once.
//!
//! # Task
//!
//! Predict the requests, the sectors that they touch, and the sectors that come from L2.

use cuda_std::prelude::*;
use cuda_std::unroll;
use cuda_std::vector::f32x4;

/// Floats of a row.
const WIDTH: usize = 192;

/// Five points.
///
/// # Safety
/// `input` holds 10 rows of 192 floats, `output` 128 floats. One block of 32 threads.
#[kernel(block(32))]
pub unsafe fn straight(input: *const f32, output: *mut f32) {
    let lane = thread::thread_idx_x() as usize;
    let here = input.add(2 * WIDTH + 32 + lane);
    let beside = *here.sub(1) + *here.add(1) + *here.sub(WIDTH) + *here.add(WIDTH);
    *output.add(lane) = 0.5 * *here + 0.125 * beside;
}

/// 25 points.
///
/// # Safety
/// As for [`straight`].
#[kernel(block(32))]
pub unsafe fn square(input: *const f32, output: *mut f32) {
    let lane = thread::thread_idx_x() as usize;
    let first = input.add(32 + lane - 2);
    let mut sum = 0.0;
    unroll::<5>(|i| unroll::<5>(|j| sum += *first.add(i * WIDTH + j)));
    *output.add(lane) = sum / 25.0;
}

/// Four results a lane.
///
/// # Safety
/// As for [`straight`].
#[kernel(block(32))]
pub unsafe fn wide(input: *const f32, output: *mut f32) {
    let lane = thread::thread_idx_x() as usize;
    let first = input.add(2 * WIDTH + 32 + 4 * lane);
    let word = |first: *const f32| (*first.cast::<f32x4>()).to_array();
    let (up, here, down) = (word(first.sub(WIDTH)), word(first), word(first.add(WIDTH)));
    let (left, right) = (*first.sub(1), *first.add(4));
    let line = [left, here[0], here[1], here[2], here[3], right];
    let sum = |i: usize| 0.5 * here[i] + 0.125 * (line[i] + line[i + 2] + up[i] + down[i]);
    let sums = f32x4::from_array([sum(0), sum(1), sum(2), sum(3)]);
    *output.add(4 * lane).cast::<f32x4>() = sums;
}

/// A walk down the rows.
///
/// # Safety
/// As for [`straight`].
#[kernel(block(32))]
pub unsafe fn walk(input: *const f32, output: *mut f32) {
    let lane = thread::thread_idx_x() as usize;
    let column = input.add(32 + lane);
    let (mut above, mut here) = (*column, *column.add(WIDTH));
    let mut sum = 0.0;
    for row in 1..=8 {
        let below = *column.add((row + 1) * WIDTH);
        sum += 0.25 * above + 0.5 * here + 0.25 * below;
        (above, here) = (here, below);
    }
    *output.add(lane) = sum;
}
