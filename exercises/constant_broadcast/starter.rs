//! One address for the whole warp
//!
//! Constant memory is for what all threads read and none writes: 64 KB, with its own cache. The
//! cache serves one address at a time. If all lanes of a warp read the same one, it goes to all of
//! them at once, a *broadcast*. If they read 16 different ones, the request takes 16 turns.
//!
//! A spectrum is a sum of up to 16 peaks, each with a place and a height. The author of this kernel
//! knew that threads should not compete for one place, so each lane begins with a different peak:
//! lane 0 adds peaks 0, 1, 2, ..., lane 1 adds peaks 1, 2, 3, ... In shared memory this can be a
//! good trick against bank conflicts. In constant memory it is the worst possible order.
//!
//! # Task
//!
//! Make all lanes of a warp read the same peak at the same time: one address for each request to
//! constant memory. The peaks stay in constant memory.

use cuda_std::constant::ConstantCell;
use cuda_std::prelude::*;

/// The most peaks that a spectrum can have.
const MOST: usize = 16;

/// Place and height of each peak.
#[address_space(constant)]
static PEAKS: ConstantCell<[[f32; 2]; MOST]> = ConstantCell::new([
    [-0.95, 0.3],
    [-0.82, 1.1],
    [-0.74, 0.7],
    [-0.61, 0.2],
    [-0.43, 1.6],
    [-0.38, 0.9],
    [-0.21, 0.4],
    [-0.07, 1.3],
    [0.04, 0.8],
    [0.19, 0.5],
    [0.27, 1.9],
    [0.46, 0.6],
    [0.58, 1.2],
    [0.69, 0.1],
    [0.83, 1.4],
    [0.97, 1.0],
]);

/// `y[i]` becomes the sum of `count` peaks at `x[i]`: `height / (1 + (16 * (x - place))^2)` of
/// each.
///
/// # Safety
/// `x` and `y` hold `n` elements, and the launch has a thread for each. There are 1 to 16 peaks.
#[kernel]
pub unsafe fn spectrum(x: *const f32, y: *mut f32, n: usize, count: usize) {
    let i = thread::wide_index_1d();
    if i < n {
        let x = *x.add(i);
        let peaks = PEAKS.as_ptr().cast::<[f32; 2]>();
        let mut sum = 0.0;
        for step in 0..count {
            // TODO: which peak should a lane add in this step?
            let [place, height] = *peaks.add((i + step) % count);
            let distance = 16.0 * (x - place);
            sum += height / (1.0 + distance * distance);
        }
        *y.add(i) = sum;
    }
}
