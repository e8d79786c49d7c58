// fails: no grade yet
//! The fastest stencil: as it stands in a book

use cuda_std::prelude::*;

//@ launch relax: grid = ["ceil(columns / 32)", "ceil(rows / 8)", "planes"], block = [32, 8]

/// `output` becomes the mean of seven values of `input`.
///
/// # Safety
/// `input` and `output` hold `planes` planes of `rows` rows of `columns` values.
#[kernel]
pub unsafe fn relax(input: *const f32, output: *mut f32, planes: i32, rows: i32, columns: i32) {
    let value = |z: i32, y: i32, x: i32| {
        let inside =
            (0..planes).contains(&z) && (0..rows).contains(&y) && (0..columns).contains(&x);
        let row = z as usize * rows as usize + y as usize;
        if inside { *input.add(row * columns as usize + x as usize) } else { 0.0 }
    };
    let x = (thread::block_dim_x() * thread::block_idx_x() + thread::thread_idx_x()) as i32;
    let y = (thread::block_dim_y() * thread::block_idx_y() + thread::thread_idx_y()) as i32;
    let z = thread::block_idx_z() as i32;
    if y < rows && x < columns {
        let above_and_below = value(z - 1, y, x) + value(z + 1, y, x);
        let beside = value(z, y - 1, x) + value(z, y + 1, x) + value(z, y, x - 1);
        let sum = above_and_below + beside + value(z, y, x + 1) + value(z, y, x);
        *output.add((z as usize * rows as usize + y as usize) * columns as usize + x as usize) =
            sum / 7.0;
    }
}
