//! No more tests at the edges
//!
//! One step of a diffusion: each element of a plate takes the mean of itself and its four
//! neighbours. Beyond the edges the plate is held at 0. The kernel must not read beyond the matrix,
//! so it tests four times whether there is a neighbour. Every thread pays for these tests, though
//! only those at the edges need them, and there the warps split.
//!
//! A texture knows where it ends. With the address mode *border*, a read beyond the edge returns 0.
//! The kernel need not test: the texture unit does, for all lanes at once.
//!
//! The kernel gets the plate twice: as plain memory, `plate`, and as a texture, `image`.
//! `image.sample_2d(x, y)` returns four values, and this texture fills only the first:
//! `image.sample_2d(x, y)[0]`. The middle of texel (x, y) is at (x + 0.5, y + 0.5).
//!
//! # Task
//!
//! Read the plate through the texture, without tests for the neighbours. Keep only the test whether
//! the thread has an element at all.
//!
//! The goals: no loads from global memory, about one branch for each warp, and about three quarters
//! of the instructions.
//!
//! # What the clock says
//!
//! On an H200 (4096 x 4096) the model solution takes 1.55 times as long as this kernel: the texture
//! units answer fewer lanes at a time than loads do, and the tests cost little there. Textures pay
//! where they do more for you: filtering, formats, reads without order.

use cuda_std::prelude::*;
use cuda_std::texture::Texture;

/// One step of a diffusion.
///
/// # Safety
/// `image` is a texture of `rows` x `columns` floats, whose border is 0; `plate` holds the same,
/// and `output` as many elements. Blocks have 32 x 8 threads, and there is a thread for each
/// element.
#[kernel(launch_bounds((32, 8)))]
pub unsafe fn diffuse(
    image: Texture,
    plate: *const f32,
    output: *mut f32,
    rows: u32,
    columns: u32,
) {
    let place = thread::index_2d();
    let (x, y) = (place.x as usize, place.y as usize);
    let (columns, rows) = (columns as usize, rows as usize);
    // TODO: read `image` instead, and leave the tests to it.
    let _ = image;
    if x < columns && y < rows {
        let i = y * columns + x;
        let mut sum = *plate.add(i);
        if x > 0 {
            sum += *plate.add(i - 1);
        }
        if x + 1 < columns {
            sum += *plate.add(i + 1);
        }
        if y > 0 {
            sum += *plate.add(i - columns);
        }
        if y + 1 < rows {
            sum += *plate.add(i + columns);
        }
        *output.add(i) = sum / 5.0;
    }
}
