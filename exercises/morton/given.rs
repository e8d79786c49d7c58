//! An image along a curve
//!
//! A warp that works on an image reads a small region, its *footprint*: 32 texels (the elements of
//! an image) of one row, 8 x 4 texels, or 32 texels of a column. How many sectors of 8 texels that
//! takes depends on how the image lies in memory.
//!
//! *By rows*, texel (x, y) is at `64 * y + x`. A sector is 8 texels wide and 1 high.
//!
//! In *Morton order* the bits of the place come from x and y in turn: bit 0 is the lowest bit of x,
//! bit 1 the lowest of y, bit 2 the next of x, and so on. It begins like this:
//!
//! ```text
//!  0  1  4  5 16 17 20 21
//!  2  3  6  7 18 19 22 23
//!  8  9 12 13 24 25 28 29
//! 10 11 14 15 26 27 30 31
//! ```
//!
//! A sector, places 0 to 7, is 4 wide and 2 high; a line of 32 texels is 8 wide and 4 high. What is
//! close in the image is close in memory, whichever way a kernel goes. That is why textures are
//! stored in orders of this kind.
//!
//! # Task
//!
//! The image has 64 x 64 texels. Each kernel runs with one warp, whose footprint begins at texel
//! (0, 0), and makes one load request. Draw the footprints on squared paper, count the sectors
//! (what Hopper moves) and the lines (what Fermi moves), and see whether the simulator counts as
//! many.

use cuda_std::prelude::*;

/// Texels of a row.
const SIDE: usize = 64;

/// The place of a texel in an image that lies by rows.
fn by_rows(x: usize, y: usize) -> usize {
    SIDE * y + x
}

/// The place of a texel in Morton order, in an image of 64 x 64: six bits of x, six of y.
fn by_morton(x: usize, y: usize) -> usize {
    let mut place = 0;
    for bit in 0..6 {
        place |= (x >> bit & 1) << (2 * bit);
        place |= (y >> bit & 1) << (2 * bit + 1);
    }
    place
}

/// 32 texels of a row; the image lies by rows.
///
/// # Safety
/// One block of 32 x 1 threads; `image` has 64 x 64 elements, `output` has 32.
#[kernel]
pub unsafe fn rows_32x1(image: *const f32, output: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    *output.add(32 * y + x) = *image.add(by_rows(x, y));
}

/// 8 x 4 texels; the image lies by rows.
///
/// # Safety
/// One block of 8 x 4 threads; `image` has 64 x 64 elements, `output` has 32.
#[kernel]
pub unsafe fn rows_8x4(image: *const f32, output: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    *output.add(8 * y + x) = *image.add(by_rows(x, y));
}

/// 32 texels of a column; the image lies by rows.
///
/// # Safety
/// One block of 1 x 32 threads; `image` has 64 x 64 elements, `output` has 32.
#[kernel]
pub unsafe fn rows_1x32(image: *const f32, output: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    *output.add(y + x) = *image.add(by_rows(x, y));
}

/// 32 texels of a row; the image lies in Morton order.
///
/// # Safety
/// One block of 32 x 1 threads; `image` has 64 x 64 elements, `output` has 32.
#[kernel]
pub unsafe fn morton_32x1(image: *const f32, output: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    *output.add(32 * y + x) = *image.add(by_morton(x, y));
}

/// 8 x 4 texels; the image lies in Morton order.
///
/// # Safety
/// One block of 8 x 4 threads; `image` has 64 x 64 elements, `output` has 32.
#[kernel]
pub unsafe fn morton_8x4(image: *const f32, output: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    *output.add(8 * y + x) = *image.add(by_morton(x, y));
}

/// 32 texels of a column; the image lies in Morton order.
///
/// # Safety
/// One block of 1 x 32 threads; `image` has 64 x 64 elements, `output` has 32.
#[kernel]
pub unsafe fn morton_1x32(image: *const f32, output: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    *output.add(y + x) = *image.add(by_morton(x, y));
}
