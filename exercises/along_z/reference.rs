//! Means of seven values, in one thread.

use cuda_std::prelude::*;

/// # Safety
/// As for the kernel of the exercise; one thread.
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
    let mut index = 0;
    for z in 0..planes {
        for y in 0..rows {
            for x in 0..columns {
                let above_and_below = value(z - 1, y, x) + value(z + 1, y, x);
                let rows = value(z, y - 1, x) + value(z, y + 1, x);
                let sides = value(z, y, x - 1) + value(z, y, x + 1);
                *output.add(index) = (above_and_below + rows + sides + value(z, y, x)) / 7.0;
                index += 1;
            }
        }
    }
}
