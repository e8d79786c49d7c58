// fails: heights[
// Changes the layout in `throw`, and not in `update`.

use cuda_std::prelude::*;

const STEP: f32 = 0.05;

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn throw(power: *const f32, balls: *mut f32, n: usize, room: usize) {
    let i = thread::wide_index_1d();
    if i < n {
        let power = *power.add(i);
        *balls.add(i) = 1.0 + 0.5 * power;
        *balls.add(room + i) = 8.0 * power;
        *balls.add(2 * room + i) = 0.1 + 0.1 * power * power;
    }
}

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn update(balls: *mut f32, heights: *mut f32, n: usize, _room: usize) {
    let i = thread::wide_index_1d();
    if i < n {
        let (height, speed, drag) = (balls.add(3 * i), balls.add(3 * i + 1), balls.add(3 * i + 2));
        *speed += STEP * (-9.81 - *drag * *speed);
        *height += STEP * *speed;
        *heights.add(i) = *height;
    }
}
