//! Stencils: each result is a weighted sum of a point and its neighbours.
//!
//! A stencil reads every value once for each neighbour that needs it: 5 times, or 25. In a warp's
//! load of the right-hand neighbours, 31 of 32 values are those that the load before it had. So
//! the question is where a value waits until its neighbours come:
//!
//! | kernel | where | loads of a warp for 32 results: 5 points | 25 points |
//! | --- | --- | ---: | ---: |
//! | [`stencil_global_5`], [`stencil_global_25`] | in L1, with no code for it | 5 | 25 |
//! | [`stencil_shared_5`], [`stencil_shared_25`] | in a tile in shared memory | 2.1 | 2.25 |
//! | `stencil_registers_25` | in a tile, then in registers | | 2.25 |
//! | [`stencil_texture_5`], [`stencil_texture_25`] | in L1, by texture fetches | 5 | 25 |
//! | `stencil_wide_5`, `stencil_wide_25` | in registers: words of 16 bytes | 1.25 | 3.75 |
//!
//! For 5 points the caches do what shared memory would do: L1 finds most of what is asked
//! for, L2 sends each value about 1.7 times, and DRAM once. A tile saves loads, but each of its
//! values is stored, waited for and loaded again. With 25 points each value of a tile serves 25
//! loads, which need no checks of the edges. A thread that keeps values in registers for several
//! results needs fewer: 10 a result from the tile, or 3.75 from L1 with no tile at all
//! ([`stencil_registers`](crate::stencil_registers)). A texture needs as many fetches as there are
//! points, and is slow: a multiprocessor's four texture units take 8 cycles for a warp's fetch,
//! where a load takes one. On an H200 25 points take 1.70 ms that way, and 0.49 by loads (8192 x
//! 8192, 2026-11-29). [`stencil_volume`](crate::stencil_volume) goes on in three dimensions.
//!
//! What to look for: L1's hits (`l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct`), the
//! sectors that L2 sends (`lts__t_sectors_op_read.sum`) and what DRAM reads
//! (`dram__bytes_read.sum`), over the bytes of the input.
//!
//! # Shapes
//!
//! Any matrix, linear or pitched. What is outside of it counts as 0, in all kernels: a texture's
//! border gives that, and a tile holds zeros there. Row -1 is [`u32::MAX`], and no matrix has that
//! row. Sums go over the neighbours in any order, so results differ by rounding.
//!
//! # Where `unsafe` begins
//!
//! A barrier separates the writes to a tile from the reads of other threads; a result that is not
//! at the thread's position is no other thread's; a texture is alive and as large as the matrix.

use cuda_std::texture::Texture;
use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{GpuFloat, address_space, shared::SharedCell, thread, unroll};

/// The weight of the point itself and of each of four neighbours.
pub const STAR: [f32; 2] = [0.5, 0.125];

/// The weights of five neighbours in a row or in a column. The weight of one of 25 is a product.
pub const SMOOTH: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

/// The side of the tiles, without their halo.
pub const TILE: u32 = 32;

/// A value of the matrix, and 0 outside of it.
#[gpu_only]
#[inline(always)]
pub(crate) fn value(input: &Matrix<f32>, row: u32, col: u32) -> f32 {
    input.get(row, col).copied().unwrap_or(0.0)
}

/// The weighted sum of a point and four neighbours.
#[gpu_only]
#[inline(always)]
pub(crate) fn five(here: f32, neighbours: [f32; 4]) -> f32 {
    neighbours.into_iter().fold(STAR[0] * here, |sum, value| value.mul_add(STAR[1], sum))
}

/// The weighted sum of 5 x 5 values: `window(i, j)` is the one in row `i` and column `j`.
#[gpu_only]
#[inline(always)]
fn twenty_five(window: impl Fn(usize, usize) -> f32) -> f32 {
    let mut sum = 0.0;
    unroll::<5>(|i| {
        unroll::<5>(|j| sum = window(i, j).mul_add(SMOOTH[i] * SMOOTH[j], sum));
    });
    sum
}

/// Five points, straight from global memory.
#[kernel]
pub fn stencil_global_5(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let at = thread::position();
    if let Some(output) = output.get_mut(at) {
        let (row, col) = (at.row(), at.col());
        let (up, down) = (value(&input, row.wrapping_sub(1), col), value(&input, row + 1, col));
        let (left, right) = (value(&input, row, col.wrapping_sub(1)), value(&input, row, col + 1));
        *output = five(value(&input, row, col), [up, left, right, down]);
    }
}

/// 25 points, straight from global memory.
#[kernel]
pub fn stencil_global_25(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let at = thread::position();
    if let Some(output) = output.get_mut(at) {
        let (row, col) = (at.row().wrapping_sub(2), at.col().wrapping_sub(2));
        *output = twenty_five(|i, j| {
            value(&input, row.wrapping_add(i as u32), col.wrapping_add(j as u32))
        });
    }
}

/// Five points from a texture, whose border is 0.
///
/// # Safety
/// The texture is alive, has two dimensions, the size of `output`, and is sampled by texels.
#[kernel]
pub unsafe fn stencil_texture_5(image: Texture, mut output: DisjointMatrix<f32>) {
    let at = thread::position();
    if let Some(output) = output.get_mut(at) {
        let (x, y) = (at.col() as f32 + 0.5, at.row() as f32 + 0.5);
        let texel = |dx: f32, dy: f32| image.sample_2d(x + dx, y + dy)[0];
        let neighbours = [texel(0.0, -1.0), texel(-1.0, 0.0), texel(1.0, 0.0), texel(0.0, 1.0)];
        *output = five(texel(0.0, 0.0), neighbours);
    }
}

/// 25 points from a texture.
///
/// # Safety
/// As for [`stencil_texture_5`].
#[kernel]
pub unsafe fn stencil_texture_25(image: Texture, mut output: DisjointMatrix<f32>) {
    let at = thread::position();
    if let Some(output) = output.get_mut(at) {
        let (x, y) = (at.col() as f32 - 1.5, at.row() as f32 - 1.5);
        *output = twenty_five(|i, j| image.sample_2d(x + j as f32, y + i as f32)[0]);
    }
}

/// Fills a tile: 32 x 32 values that begin at `row` and `col`, and `HALO` more on each side.
///
/// # Safety
/// All threads of a block of 32 x 8 call it, and none uses the tile until a barrier.
#[gpu_only]
#[inline(always)]
pub(crate) unsafe fn fill<const HALO: usize, const SIDE: usize>(
    tile: *mut [[f32; SIDE]; SIDE],
    input: &Matrix<f32>,
    row: u32,
    col: u32,
) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (first_row, first_col) = (row.wrapping_sub(HALO as u32), col.wrapping_sub(HALO as u32));
    // As `while`, so that the compiler sees that no index is beyond the tile.
    let mut line = y;
    while line < SIDE {
        let mut place = x;
        while place < SIDE {
            let (row, col) =
                (first_row.wrapping_add(line as u32), first_col.wrapping_add(place as u32));
            // SAFETY: no other thread has this line and place of the tile before the barrier.
            unsafe { (*tile)[line][place] = value(input, row, col) };
            place += 32;
        }
        line += 8;
    }
}

/// Five points from a tile with its halo: 34 x 34 values for 32 x 32 results.
#[kernel(block(32, 8))]
pub fn stencil_shared_5(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 34]; 34]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());

    // SAFETY: all threads fill it, then they wait.
    unsafe { fill::<1, 34>(tile, &input, row, col) };
    thread::sync_threads();
    let mut line = y;
    while line < 32 {
        let (i, j) = (line as usize + 1, x as usize + 1);
        // SAFETY: after the barrier all threads only read the tile, and no other thread has this
        // line and column of it.
        unsafe {
            if let Some(output) = output.element_mut(row + line, col + x) {
                let tile = &*tile;
                let neighbours = [tile[i - 1][j], tile[i][j - 1], tile[i][j + 1], tile[i + 1][j]];
                *output = five(tile[i][j], neighbours);
            }
        }
        line += 8;
    }
}

/// 25 points from a tile: 36 x 36 values for 32 x 32 results.
#[kernel(block(32, 8))]
pub fn stencil_shared_25(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 36]; 36]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());

    // SAFETY: all threads fill it, then they wait.
    unsafe { fill::<2, 36>(tile, &input, row, col) };
    thread::sync_threads();
    let mut line = y;
    while line < 32 {
        // SAFETY: as in `stencil_shared_5`.
        unsafe {
            if let Some(output) = output.element_mut(row + line, col + x) {
                let tile = &*tile;
                *output = twenty_five(|i, j| tile[line as usize + i][x as usize + j]);
            }
        }
        line += 8;
    }
}
