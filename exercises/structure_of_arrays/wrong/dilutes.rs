// fails: wrong loads.sectors is
// Loads of a word that all lanes share, which bring the average down.

use cuda_std::prelude::*;

/// Seconds of a time step.
const STEP: f32 = 0.05;

/// All lanes load and store one word, many times: a sector for each request.
///
/// # Safety
/// `balls` has room for an element.
unsafe fn dilute(balls: *mut f32) {
    static mut WORD: u32 = 0;
    let word = &raw mut WORD;
    let mut sum = 0;
    for _ in 0..60 {
        sum += word.read_volatile();
    }
    if sum == 1 {
        *balls = 0.0;
    }
}

/// Fills `balls`: what each ball starts with follows from the power of its throw.
///
/// # Safety
/// `power` holds `n` elements, `balls` has room for `3 * room`. The launch has a thread for each
/// ball.
#[kernel]
pub unsafe fn throw(power: *const f32, balls: *mut f32, n: usize, _room: usize) {
    let i = thread::wide_index_1d();
    if i < n {
        let power = *power.add(i);
        dilute(balls);
        *balls.add(3 * i) = 1.0 + 0.5 * power;
        *balls.add(3 * i + 1) = 8.0 * power;
        *balls.add(3 * i + 2) = 0.1 + 0.1 * power * power;
    }
}

/// Moves each ball by a time step, and writes its height to `heights`.
///
/// # Safety
/// `balls` is what `throw` has filled, `heights` has `n` elements. The launch has a thread for each
/// ball.
#[kernel]
pub unsafe fn update(balls: *mut f32, heights: *mut f32, n: usize, _room: usize) {
    let i = thread::wide_index_1d();
    if i < n {
        dilute(balls);
        let (height, speed, drag) = (balls.add(3 * i), balls.add(3 * i + 1), balls.add(3 * i + 2));
        *speed += STEP * (-9.81 - *drag * *speed);
        *height += STEP * *speed;
        *heights.add(i) = *height;
    }
}
