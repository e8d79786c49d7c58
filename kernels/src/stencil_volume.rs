//! Stencils in three dimensions: seven points.
//!
//! A volume is planes of `height` rows, one after the other: a matrix of `planes * height` rows.
//! The neighbours above and below are a plane away. Other blocks load these planes, too, at another
//! time or on another multiprocessor, so that L1 has those planes less often than the rows of the
//! block's own plane: L2 sends most values about three times.
//!
//! A block that walks along z loads each plane once, but for the first and the last of a walk of
//! [`WALK`] planes ([`stencil_walk`](crate::stencil_walk)):
//!
//! | kernel | loads of a warp for 32 results | planes that a plane of results loads |
//! | --- | ---: | ---: |
//! | [`stencil_global_7`] | 7 | 3 |
//! | [`stencil_shared_7`]: a plane's tile in shared memory | 5.3 | 3 |
//! | `stencil_registers_7`: a column in registers | 5.1 | 1.1 |
//! | `stencil_both_7`: both | 3.4 | 1.1 |
//! | `stencil_wide_7`: a column of words of 16 bytes | 1.3 | 1.1 |
//!
//! A tile replaces four loads by one, and 2.3 for its halo: one lane of each warp loads the value
//! left of the tile, one that right of it, and two of eight warps a row above or below.
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
use cuda_std::{GpuFloat, address_space, shared::SharedCell, thread};

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
pub(crate) struct Volume<'a> {
    pub values: Matrix<'a, f32>,
    pub shape: Shape,
}

#[gpu_only]
impl Volume<'_> {
    /// The row of the matrix that is row `y` of plane `z`.
    #[inline(always)]
    pub fn row(&self, z: u32, y: u32) -> u32 {
        z * self.shape.height + y
    }

    /// Whether the volume has that row. `&`, not `&&`: one condition and no branches, so that the
    /// loads that depend on it follow each other.
    #[inline(always)]
    pub fn has(&self, z: u32, y: u32) -> bool {
        let Shape { planes, height } = self.shape;
        (z < planes) & (y < height) & (self.row(z, y) < self.values.rows())
    }

    /// A value, and 0 outside.
    #[inline(always)]
    pub fn value(&self, z: u32, y: u32, x: u32) -> f32 {
        let inside = self.has(z, y) & (x < self.values.cols());
        if inside { self.values.get(self.row(z, y), x).copied().unwrap_or(0.0) } else { 0.0 }
    }

    /// The neighbours of a value in its plane: up, left, right and down.
    #[inline(always)]
    pub fn beside(&self, z: u32, y: u32, x: u32) -> [f32; 4] {
        let (up, down) = (self.value(z, y.wrapping_sub(1), x), self.value(z, y + 1, x));
        [up, self.value(z, y, x.wrapping_sub(1)), self.value(z, y, x + 1), down]
    }

    /// Those above and below it.
    #[inline(always)]
    fn along_z(&self, z: u32, y: u32, x: u32) -> [f32; 2] {
        [self.value(z.wrapping_sub(1), y, x), self.value(z + 1, y, x)]
    }
}

/// The weighted sum of a point and six neighbours.
#[gpu_only]
#[inline(always)]
pub(crate) fn seven(here: f32, [up, left, right, down]: [f32; 4], [below, above]: [f32; 2]) -> f32 {
    let neighbours = [below, up, left, right, down, above];
    neighbours.into_iter().fold(STAR[0] * here, |sum, value| value.mul_add(STAR[1], sum))
}

/// The column and row of this thread in each plane.
#[gpu_only]
#[inline(always)]
pub(crate) fn column() -> (u32, u32) {
    let x = 32 * thread::block_idx_x() + thread::thread_idx_x();
    (x, 8 * thread::block_idx_y() + thread::thread_idx_y())
}

/// Straight from global memory: a thread for each value.
#[kernel(block(32, 8))]
pub fn stencil_global_7(input: Matrix<f32>, mut output: DisjointMatrix<f32>, shape: Shape) {
    let volume = Volume { values: input, shape };
    let ((x, y), z) = (column(), thread::block_idx_z());
    if !volume.has(z, y) || x >= volume.values.cols() {
        return;
    }
    // SAFETY: no other thread has this column, row and plane.
    if let Some(output) = unsafe { output.element_mut(volume.row(z, y), x) } {
        let here = volume.value(z, y, x);
        *output = seven(here, volume.beside(z, y, x), volume.along_z(z, y, x));
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
    if !volume.has(z, y) {
        return;
    }
    // SAFETY: no other thread has this column, row and plane, and all only read the tile.
    unsafe {
        if let Some(output) = output.element_mut(volume.row(z, y), x) {
            *output = seven(here, from_tile(tile), volume.along_z(z, y, x));
        }
    }
}

/// Puts this thread's value into the tile; the threads at its edges load the halo.
///
/// # Safety
/// All threads of a block of 32 x 8 call it, and none reads the tile until a barrier.
#[gpu_only]
#[inline(always)]
pub(crate) unsafe fn fill(
    tile: *mut [[f32; 34]; 10],
    volume: &Volume,
    here: f32,
    [z, y, x]: [u32; 3],
) {
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

/// The neighbours of this thread's value in the tile: up, left, right and down.
///
/// # Safety
/// The tile is filled, and no thread writes it.
#[gpu_only]
#[inline(always)]
pub(crate) unsafe fn from_tile(tile: *const [[f32; 34]; 10]) -> [f32; 4] {
    let (i, j) = (thread::thread_idx_y() as usize + 1, thread::thread_idx_x() as usize + 1);
    // SAFETY: the caller promises it.
    let tile = unsafe { &*tile };
    [tile[i - 1][j], tile[i][j - 1], tile[i][j + 1], tile[i + 1][j]]
}
