//! Stencils of seven points whose blocks walk along z, with the planes in registers.
//!
//! The lab's text is in [`stencil_volume`](crate::stencil_volume). A thread keeps what it has
//! loaded: the value above becomes the one it is at, and then the one below. Only one new value is
//! loaded a step. In [`stencil_both_7`] the tile gets its values from registers, and only the halo
//! is loaded for it; two barriers a plane keep the tile.
//!
//! A walk waits for its loads at each step, and only other warps hide that. So the kernels say how
//! many blocks a multiprocessor is to hold (`min_blocks`), and `ptxas` allots no more registers
//! than that allows: 32 a thread for 8 blocks of 256 threads, 48 for 5.

use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread, vector::f32x4};

use crate::stencil_volume::Shape;
#[gpu_only]
use crate::stencil_volume::{Volume, WALK, column, fill, from_tile, seven};

/// The planes of this block's walk.
#[gpu_only]
#[inline(always)]
fn walk(planes: u32) -> core::ops::Range<u32> {
    let first = WALK * thread::block_idx_z();
    first..(first + WALK).min(planes)
}

/// Along z in registers; the neighbours in the plane straight from global memory.
#[kernel(block(32, 8))]
pub fn stencil_registers_7(input: Matrix<f32>, mut output: DisjointMatrix<f32>, shape: Shape) {
    let volume = Volume { values: input, shape };
    let ((x, y), walk) = (column(), walk(shape.planes));
    let mut below = volume.value(walk.start.wrapping_sub(1), y, x);
    let mut here = volume.value(walk.start, y, x);
    for z in walk {
        let above = volume.value(z + 1, y, x);
        // SAFETY: no other thread has this column and row.
        if volume.has(z, y)
            && let Some(output) = unsafe { output.element_mut(volume.row(z, y), x) }
        {
            *output = seven(here, volume.beside(z, y, x), [below, above]);
        }
        (below, here) = (here, above);
    }
}

/// Along z in registers, and the plane in a tile, which all threads keep for a step.
#[kernel(block(32, 8), min_blocks(8))]
pub fn stencil_both_7(input: Matrix<f32>, mut output: DisjointMatrix<f32>, shape: Shape) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 34]; 10]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let volume = Volume { values: input, shape };
    let ((x, y), walk) = (column(), walk(shape.planes));
    let mut below = volume.value(walk.start.wrapping_sub(1), y, x);
    let mut here = volume.value(walk.start, y, x);
    for z in walk {
        let above = volume.value(z + 1, y, x);
        // SAFETY: no thread reads the tile before the next barrier.
        unsafe { fill(tile, &volume, here, [z, y, x]) };
        thread::sync_threads();
        // SAFETY: no other thread has this column and row, and all only read the tile.
        unsafe {
            if volume.has(z, y)
                && let Some(output) = output.element_mut(volume.row(z, y), x)
            {
                *output = seven(here, from_tile(tile), [below, above]);
            }
        }
        thread::sync_threads();
        (below, here) = (here, above);
    }
}

/// Four values side by side.
#[gpu_only]
#[inline(always)]
fn word(volume: &Volume, z: u32, y: u32, x: u32) -> [f32; 4] {
    let row = if volume.has(z, y) { volume.row(z, y) } else { u32::MAX };
    volume.values.quad(row, x).to_array()
}

/// Along z in registers, four columns side by side.
#[kernel(block(32, 8), min_blocks(5))]
pub fn stencil_wide_7(input: Matrix<f32>, mut output: DisjointMatrix<f32>, shape: Shape) {
    let volume = Volume { values: input, shape };
    let ((x, y), walk) = (column(), walk(shape.planes));
    let x = 4 * x;
    let mut below = word(&volume, walk.start.wrapping_sub(1), y, x);
    let mut here = word(&volume, walk.start, y, x);
    for z in walk {
        let above = word(&volume, z + 1, y, x);
        let (up, down) = (word(&volume, z, y.wrapping_sub(1), x), word(&volume, z, y + 1, x));
        let left = volume.value(z, y, x.wrapping_sub(1));
        let right = volume.value(z, y, x.wrapping_add(4));
        let line = [left, here[0], here[1], here[2], here[3], right];
        let sums = core::array::from_fn(|i| {
            seven(line[i + 1], [up[i], line[i], line[i + 2], down[i]], [below[i], above[i]])
        });
        if volume.has(z, y) {
            // SAFETY: no other thread has these columns and this row.
            unsafe { output.set_quad(volume.row(z, y), x, f32x4::from_array(sums)) };
        }
        (below, here) = (here, above);
    }
}
