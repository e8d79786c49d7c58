// fails: loads.sectors_per_request
// The arrays are n apart: those of speeds and drags start in the middle of a sector.

use cuda_std::prelude::*;

const STEP: f32 = 0.05;

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn throw(power: *const f32, balls: *mut f32, n: usize, _room: usize) {
    let i = thread::wide_index_1d();
    if i < n {
        let power = *power.add(i);
        *balls.add(i) = 1.0 + 0.5 * power;
        *balls.add(n + i) = 8.0 * power;
        *balls.add(2 * n + i) = 0.1 + 0.1 * power * power;
    }
}

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn update(balls: *mut f32, heights: *mut f32, n: usize, _room: usize) {
    let i = thread::wide_index_1d();
    if i < n {
        let (height, speed, drag) = (balls.add(i), balls.add(n + i), balls.add(2 * n + i));
        *speed += STEP * (-9.81 - *drag * *speed);
        *height += STEP * *speed;
        *heights.add(i) = *height;
    }
}
