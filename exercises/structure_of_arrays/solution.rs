//! Three arrays instead of one: all heights, all speeds, all drags

use cuda_std::prelude::*;

/// Seconds of a time step.
const STEP: f32 = 0.05;

/// Fills `balls`: what each ball starts with follows from the power of its throw.
///
/// # Safety
/// `power` holds `n` elements, `balls` has room for `3 * room`. The launch has a thread for each
/// ball.
#[kernel]
pub unsafe fn throw(power: *const f32, balls: *mut f32, n: usize, room: usize) {
    let i = thread::wide_index_1d();
    if i < n {
        let power = *power.add(i);
        // The arrays are `room` apart, a multiple of 32 words: each starts with a line.
        *balls.add(i) = 1.0 + 0.5 * power;
        *balls.add(room + i) = 8.0 * power;
        *balls.add(2 * room + i) = 0.1 + 0.1 * power * power;
    }
}

/// Moves each ball by a time step, and writes its height to `heights`.
///
/// # Safety
/// `balls` is what `throw` has filled, `heights` has `n` elements. The launch has a thread for each
/// ball.
#[kernel]
pub unsafe fn update(balls: *mut f32, heights: *mut f32, n: usize, room: usize) {
    let i = thread::wide_index_1d();
    if i < n {
        let (height, speed, drag) = (balls.add(i), balls.add(room + i), balls.add(2 * room + i));
        *speed += STEP * (-9.81 - *drag * *speed);
        *height += STEP * *speed;
        *heights.add(i) = *height;
    }
}
