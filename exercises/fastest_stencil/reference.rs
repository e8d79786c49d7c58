//! Means of seven values: each thread computes some.

use cuda_std::prelude::*;

/// # Safety
/// As for the kernel of the exercise, with any launch.
#[kernel]
pub unsafe fn reference(
    input: *const f32,
    output: *mut f32,
    planes: i32,
    rows: i32,
    columns: i32,
) {
    let value = |z: i32, y: i32, x: i32| {
        let inside =
            (0..planes).contains(&z) && (0..rows).contains(&y) && (0..columns).contains(&x);
        let row = z as usize * rows as usize + y as usize;
        if inside { *input.add(row * columns as usize + x as usize) } else { 0.0 }
    };
    for index in thread::grid_stride((planes * rows * columns) as usize) {
        let at = index.get() as i32;
        let (z, y, x) = (at / columns / rows, at / columns % rows, at % columns);
        let above_and_below = value(z - 1, y, x) + value(z + 1, y, x);
        let beside = value(z, y - 1, x) + value(z, y + 1, x);
        let sides = value(z, y, x - 1) + value(z, y, x + 1);
        *output.add(index.get()) = (above_and_below + beside + sides + value(z, y, x)) / 7.0;
    }
}
