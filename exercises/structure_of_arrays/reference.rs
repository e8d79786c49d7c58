//! Throws the balls and moves each of them three times, in one thread.

use cuda_std::prelude::*;

/// # Safety
/// As for the kernels of the exercise; one thread.
#[kernel]
pub unsafe fn reference(power: *const f32, heights: *mut f32, n: usize) {
    for i in 0..n {
        let power = *power.add(i);
        let (mut height, mut speed) = (1.0 + 0.5 * power, 8.0 * power);
        let drag = 0.1 + 0.1 * power * power;
        for _ in 0..3 {
            speed += 0.05 * (-9.81 - drag * speed);
            height += 0.05 * speed;
        }
        *heights.add(i) = height;
    }
}
