//! A patch in registers
//!
//! A load can fetch 16 bytes for each thread, four floats at once: `f32x4`. That takes a quarter of
//! the instructions for the same data, and a warp's request covers 512 bytes, which are 16 sectors
//! of 32 bytes. But four neighbours in a row of the input are not neighbours in the output, so a
//! transpose cannot simply load and store four at a time.
//!
//! A patch of 4 x 4 elements solves it: four loads of 16 bytes bring its rows to the registers of
//! one thread, and four stores of 16 bytes write its columns. Nothing is to be done in between:
//! which register holds which element is decided when the kernel is compiled.
//!
//! In this kernel each thread already has a patch. A warp has 8 x 4 patches: 32 columns, 16 rows.
//! But each access moves 4 bytes in steps of 16, so that of each sector only a quarter is used.
//!
//! # Task
//!
//! Load and store 16 bytes at a time. The numbers of rows and columns are multiples of 4, so that
//! each row of a patch starts on a multiple of 16 bytes; but the matrix need not fill its last
//! blocks.
//!
//! The goal: each sector is loaded once and stored once, 16 of them with each request.

use cuda_std::prelude::*;

/// Transposes the matrix.
///
/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`. Both
/// numbers are multiples of 4, and both matrices start on 16 bytes. Blocks are 8 x 32, with one
/// thread for each patch of 4 x 4 elements.
#[kernel(launch_bounds((8, 32)))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    let patch = thread::index_2d();
    let (row, col) = (4 * patch.y as usize, 4 * patch.x as usize);
    let (rows, cols) = (rows as usize, cols as usize);
    if row < rows && col < cols {
        // TODO: `*p.cast::<f32x4>()` loads or stores four floats at once, `f32x4::new(a, b, c, d)`
        // makes such a vector, and `to_array()` takes it apart.
        for i in 0..4 {
            for j in 0..4 {
                *output.add((col + j) * rows + row + i) = *input.add((row + i) * cols + col + j);
            }
        }
    }
}
