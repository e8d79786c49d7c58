//! Stencils of which a thread computes several results: what these share is loaded once, and
//! waits in registers.
//!
//! The lab's text is in [`stencil`](crate::stencil). Four results side by side need words of 16
//! bytes of each row, and the words beside them; four below each other share most of their rows.
//! Each value that is in a register serves all of the thread's results that need it.

use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{GpuFloat, address_space, shared::SharedCell, thread, unroll, vector::f32x4};

#[gpu_only]
use crate::stencil::{SMOOTH, fill, five, value};

/// 25 points from a tile, four results below each other: eight lines of five values for all four,
/// so that a result takes 10 loads from the tile and not 25.
#[kernel(block(32, 8))]
pub fn stencil_registers_25(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 36]; 36]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());

    // SAFETY: all threads fill it, then they wait.
    unsafe { fill::<2, 36>(tile, &input, row, col) };
    thread::sync_threads();
    let mut sums = [0.0; 4];
    unroll::<8>(|line| {
        // SAFETY: after the barrier all threads only read the tile.
        let values: [f32; 5] =
            unsafe { core::array::from_fn(|j| (*tile)[4 * y as usize + line][x as usize + j]) };
        unroll::<4>(|result| add_line(&mut sums[result], line.wrapping_sub(result), values));
    });
    for (line, sum) in (4 * y..).zip(sums) {
        // SAFETY: no other thread has this line and column of the tile.
        if let Some(output) = unsafe { output.element_mut(row + line, col + x) } {
            *output = sum;
        }
    }
}

/// Adds row `i` of a window to a result, if its window has that row.
#[gpu_only]
#[inline(always)]
fn add_line(sum: &mut f32, i: usize, values: [f32; 5]) {
    if i < 5 {
        unroll::<5>(|j| *sum = values[j].mul_add(SMOOTH[i] * SMOOTH[j], *sum));
    }
}

/// Five points, four results side by side: a word of 16 bytes of each row, and one value more at
/// each end.
#[kernel]
pub fn stencil_wide_5(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let at = thread::position();
    let (row, col) = (at.row(), 4 * at.col());
    let word = |row| input.quad(row, col).to_array();
    let (up, here, down) = (word(row.wrapping_sub(1)), word(row), word(row.wrapping_add(1)));
    let left = value(&input, row, col.wrapping_sub(1));
    let right = value(&input, row, col.wrapping_add(4));
    let sums = [
        five(here[0], [up[0], left, here[1], down[0]]),
        five(here[1], [up[1], here[0], here[2], down[1]]),
        five(here[2], [up[2], here[1], here[3], down[2]]),
        five(here[3], [up[3], here[2], right, down[3]]),
    ];
    // SAFETY: four columns belong to each position.
    unsafe { output.set_quad(row, col, f32x4::from_array(sums)) };
}

/// 25 points, four results side by side: three words of each of five rows.
#[kernel]
pub fn stencil_wide_25(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let at = thread::position();
    let (row, col) = (at.row(), 4 * at.col());
    let mut sums = [0.0; 4];
    unroll::<5>(|i| {
        let line = line_around(&input, row.wrapping_add(i as u32).wrapping_sub(2), col);
        unroll::<4>(|result| {
            add_line(&mut sums[result], i, core::array::from_fn(|j| line[result + j]));
        });
    });
    // SAFETY: four columns belong to each position.
    unsafe { output.set_quad(row, col, f32x4::from_array(sums)) };
}

/// Eight values of a row: four from `col` on, and two on each side. Three words, if the matrix
/// consists of words, and else value by value.
#[gpu_only]
#[inline(always)]
fn line_around(input: &Matrix<f32>, row: u32, col: u32) -> [f32; 8] {
    match input.quads::<3>(row, col.wrapping_sub(4)).map(|words| words.map(f32x4::to_array)) {
        Some([left, here, right]) => {
            [left[2], left[3], here[0], here[1], here[2], here[3], right[0], right[1]]
        }
        None => {
            core::array::from_fn(|j| value(input, row, col.wrapping_add(j as u32).wrapping_sub(2)))
        }
    }
}
