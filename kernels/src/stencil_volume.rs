//! Stencils in three dimensions: seven points, and registers along z.
//!
//! A volume is planes of `height` rows, one after the other: a matrix of `planes * height` rows.
//! The neighbours above and below are a plane away. Other blocks load these planes, too, at another
//! time or on another multiprocessor, so that L1 finds two of the three planes less often than the
//! rows of one plane: L2 sends most values about three times.
//!
//! A block that walks along z keeps what it has loaded: the plane above becomes the one it is in,
//! and then the one below ([`stencil_registers_7`]). Only one new value is loaded a step, and each
//! plane once, but for the first and the last of a walk of [`WALK`] planes.
//!
//! | kernel | loads of a warp for 32 results | planes that a plane of results loads |
//! | --- | ---: | ---: |
//! | [`stencil_global_7`] | 7 | 3 |
//! | [`stencil_shared_7`]: a plane's tile in shared memory | 4.5 | 3 |
//! | [`stencil_registers_7`]: a column in registers | 5.1 | 1.1 |
//! | [`stencil_both_7`]: both | 3.4 | 1.1 |
//! | [`stencil_wide_7`]: a column of words of 16 bytes | 1.3 | 1.1 |
//!
//! In [`stencil_both_7`] the value of the tile comes from a register; only the halo is loaded for
//! it, and two barriers a plane keep the tile.
//!
//! What to look for: the sectors that L2 sends (`lts__t_sectors_op_read.sum`), over the input's.
//!
//! # Where `unsafe` begins
//!
//! As in [`stencil`](crate::stencil): barriers separate writes to a tile from reads of others, and
//! the results of a column are one thread's.

use bytemuck::{Pod, Zeroable};
use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{GpuFloat, address_space, shared::SharedCell, thread, vector::f32x4};

/// The weight of the point itself and of each of six neighbours.
pub const STAR: [f32; 2] = [0.25, 0.125];

/// Columns and rows of a block's results in a plane.
pub const BLOCK: [u32; 2] = [32, 8];

/// The planes that a block walks through.
pub const WALK: u32 = 16;

/// How a matrix of `planes * height` rows is a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Shape {
    /// The number of planes.
    pub planes: u32,
    /// The rows of each.
    pub height: u32,
}

/// A volume.
#[gpu_only]
#[derive(Clone, Copy)]
struct Volume<'a> {
    values: Matrix<'a, f32>,
    shape: Shape,
}

#[gpu_only]
impl Volume<'_> {
    /// The row of the matrix that is row `y` of plane `z`; outside of the volume no row.
    #[inline(always)]
    fn row(&self, z: u32, y: u32) -> u32 {
        let Shape { planes, height } = self.shape;
        if z < planes && y < height { z * height + y } else { u32::MAX }
    }

    /// A value, and 0 outside.
    #[inline(always)]
    fn value(&self, z: u32, y: u32, x: u32) -> f32 {
        self.values.get(self.row(z, y), x).copied().unwrap_or(0.0)
    }

    /// The neighbours of a value in its plane: up, left, right and down.
    #[inline(always)]
    fn beside(&self, z: u32, y: u32, x: u32) -> [f32; 4] {
        let (up, down) = (self.value(z, y.wrapping_sub(1), x), self.value(z, y + 1, x));
        [up, self.value(z, y, x.wrapping_sub(1)), self.value(z, y, x + 1), down]
    }

    /// Four values side by side.
    #[inline(always)]
    fn word(&self, z: u32, y: u32, x: u32) -> [f32; 4] {
        self.values.quad(self.row(z, y), x).to_array()
    }
}

/// The weighted sum of a point and six neighbours.
#[gpu_only]
#[inline(always)]
fn seven(here: f32, below: f32, [up, left, right, down]: [f32; 4], above: f32) -> f32 {
    let neighbours = [below, up, left, right, down, above];
    neighbours.into_iter().fold(STAR[0] * here, |sum, value| value.mul_add(STAR[1], sum))
}

/// The column and row of this thread in each plane.
#[gpu_only]
#[inline(always)]
fn column() -> (u32, u32) {
    let x = 32 * thread::block_idx_x() + thread::thread_idx_x();
    (x, 8 * thread::block_idx_y() + thread::thread_idx_y())
}

/// The planes of this block's walk.
#[gpu_only]
#[inline(always)]
fn walk(planes: u32) -> core::ops::Range<u32> {
    let first = WALK * thread::block_idx_z();
    first..(first + WALK).min(planes)
}

/// Straight from global memory: a thread for each value.
#[kernel(block(32, 8))]
pub fn stencil_global_7(input: Matrix<f32>, mut output: DisjointMatrix<f32>, shape: Shape) {
    let volume = Volume { values: input, shape };
    let ((x, y), z) = (column(), thread::block_idx_z());
    // Without this line, `ptxas` 13.0 has warps below the last row write to address 0 (docs/FOUND.md).
    if y >= shape.height {
        return;
    }
    // SAFETY: no other thread has this column, row and plane.
    if let Some(output) = unsafe { output.element_mut(volume.row(z, y), x) } {
        let (below, above) = (volume.value(z.wrapping_sub(1), y, x), volume.value(z + 1, y, x));
        *output = seven(volume.value(z, y, x), below, volume.beside(z, y, x), above);
    }
}

/// A tile of the plane in shared memory; what is above and below straight from global memory.
#[kernel(block(32, 8))]
pub fn stencil_shared_7(input: Matrix<f32>, mut output: DisjointMatrix<f32>, shape: Shape) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 34]; 10]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let volume = Volume { values: input, shape };
    let ((x, y), z) = (column(), thread::block_idx_z());
    let here = volume.value(z, y, x);
    // SAFETY: no thread reads the tile before the barrier.
    unsafe { fill(tile, &volume, here, [z, y, x]) };
    thread::sync_threads();
    // SAFETY: no other thread has this column, row and plane.
    if let Some(output) = unsafe { output.element_mut(volume.row(z, y), x) } {
        let (below, above) = (volume.value(z.wrapping_sub(1), y, x), volume.value(z + 1, y, x));
        // SAFETY: all threads only read the tile.
        *output = unsafe { from_tile(tile, here, below, above) };
    }
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
        if let Some(output) = unsafe { output.element_mut(volume.row(z, y), x) } {
            *output = seven(here, below, volume.beside(z, y, x), above);
        }
        (below, here) = (here, above);
    }
}

/// Along z in registers, and the plane in a tile, which all threads keep for a step.
#[kernel(block(32, 8))]
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
            if let Some(output) = output.element_mut(volume.row(z, y), x) {
                *output = from_tile(tile, here, below, above);
            }
        }
        thread::sync_threads();
        (below, here) = (here, above);
    }
}

/// Puts this thread's value into the tile; the threads at its edges load the halo.
///
/// # Safety
/// All threads of a block of 32 x 8 call it, and none reads the tile until a barrier.
#[gpu_only]
#[inline(always)]
unsafe fn fill(tile: *mut [[f32; 34]; 10], volume: &Volume, here: f32, [z, y, x]: [u32; 3]) {
    let (i, j) = (thread::thread_idx_y() as usize + 1, thread::thread_idx_x() as usize + 1);
    // SAFETY: no other thread has these elements.
    unsafe {
        (*tile)[i][j] = here;
        match i {
            1 => (*tile)[0][j] = volume.value(z, y.wrapping_sub(1), x),
            8 => (*tile)[9][j] = volume.value(z, y + 1, x),
            _ => {}
        }
        match j {
            1 => (*tile)[i][0] = volume.value(z, y, x.wrapping_sub(1)),
            32 => (*tile)[i][33] = volume.value(z, y, x + 1),
            _ => {}
        }
    }
}

/// This thread's sum, of its four neighbours in the tile.
///
/// # Safety
/// The tile is filled, and no thread writes it.
#[gpu_only]
#[inline(always)]
unsafe fn from_tile(tile: *const [[f32; 34]; 10], here: f32, below: f32, above: f32) -> f32 {
    let (i, j) = (thread::thread_idx_y() as usize + 1, thread::thread_idx_x() as usize + 1);
    // SAFETY: the caller promises it.
    let tile = unsafe { &*tile };
    let (up, down) = (tile[i - 1][j], tile[i + 1][j]);
    seven(here, below, [up, tile[i][j - 1], tile[i][j + 1], down], above)
}

/// Along z in registers, four columns side by side.
#[kernel(block(32, 8))]
pub fn stencil_wide_7(input: Matrix<f32>, mut output: DisjointMatrix<f32>, shape: Shape) {
    let volume = Volume { values: input, shape };
    let ((x, y), walk) = (column(), walk(shape.planes));
    let x = 4 * x;
    let mut below = volume.word(walk.start.wrapping_sub(1), y, x);
    let mut here = volume.word(walk.start, y, x);
    for z in walk {
        let above = volume.word(z + 1, y, x);
        let (up, down) = (volume.word(z, y.wrapping_sub(1), x), volume.word(z, y + 1, x));
        let left = volume.value(z, y, x.wrapping_sub(1));
        let right = volume.value(z, y, x.wrapping_add(4));
        let line = [left, here[0], here[1], here[2], here[3], right];
        let sums = core::array::from_fn(|i| {
            seven(line[i + 1], below[i], [up[i], line[i], line[i + 2], down[i]], above[i])
        });
        // SAFETY: no other thread has these columns and this row.
        unsafe { output.set_quad(volume.row(z, y), x, f32x4::from_array(sums)) };
        (below, here) = (here, above);
    }
}
