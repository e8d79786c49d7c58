//! Three arrays instead of one
//!
//! A ball has a height, a speed and a drag. The first layout that comes to mind is an *array of
//! structures*: the three numbers of ball 0, the three of ball 1, and so on. But the lanes of a
//! warp read one field at a time, each of its own ball, so their addresses are 12 bytes apart: a
//! load touches 12 sectors, and wants a third of what is in them.
//!
//! In a *structure of arrays* the heights of all balls come first, then all speeds, then all drags.
//! The lanes read 32 neighbours: 4 sectors, all used. The other two fields are in later sectors,
//! which the next loads read.
//!
//! # Task
//!
//! `balls` is a buffer between your two kernels: `throw` fills it, `update` works on it three
//! times, and nothing else uses it. So its layout is your choice. Choose one in which each load and
//! store takes 4 sectors, and change both kernels.
//!
//! The buffer has room for 3 arrays of `room` elements: `n`, rounded up to a multiple of 32. (In
//! the code it is `_room` until you use it.) Mind where each array starts: a warp whose words start
//! in the middle of a sector needs a fifth one.
//!
//! # What the clock says
//!
//! On an H200 (2^23 balls) the time is the same within 1 %: all three fields are used, so the L1
//! cache serves the later loads from what the first one fetched. A kernel that needs one field of
//! three saves two thirds.

use cuda_std::prelude::*;

/// Seconds of a time step.
const STEP: f32 = 0.05;

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
        // TODO: choose where the three numbers of a ball are.
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
        // TODO: and find them there again.
        let (height, speed, drag) = (balls.add(3 * i), balls.add(3 * i + 1), balls.add(3 * i + 2));
        *speed += STEP * (-9.81 - *drag * *speed);
        *height += STEP * *speed;
        *heights.add(i) = *height;
    }
}
