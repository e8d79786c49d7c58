//! The transpose, where one side is always against the grain, until shared memory turns it.
//!
//! A matrix of `rows` x `cols` floats becomes one of `cols` x `rows`. Consecutive lanes of a warp should touch consecutive
//! floats, but what is consecutive in the input is `output_pitch` floats apart in the output. The kernels in order:
//!
//! | kernel | what it shows | sectors per request, load and store | wavefronts per shared load |
//! | --- | --- | --- | --- |
//! | [`transpose_copy`] | no transpose at all: what `tiled` and `padded` can reach | 4, 4 | |
//! | [`transpose_naive_reads`] | reads along the rows, writes down the columns | 4, 32 | |
//! | [`transpose_naive_writes`] | the other way round | 32, 4 | |
//! | [`transpose_block16`] | square blocks: two rows a warp, so each sector written holds two floats | 4, 16 | |
//! | [`transpose_tiled`] | a tile in shared memory: both sides along the rows, the turn between them | 4, 4 | 32 |
//! | [`transpose_padded`] | one unused column in the tile | 4, 4 | 1 |
//!
//! What is left to gain, words of 16 bytes outside the tile and larger tiles, is in `kernels/best/src/transpose.rs`.
//!
//! What to look for: the sectors per request (`l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum` over
//! `l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`, and the same with `_op_st`), the bytes used of each sector
//! (`smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct`), and for the tile
//! `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum` with its `l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum`.
//! The numbers of the table are those of whole tiles whose rows start on 32 bytes. The tile alone does not pay on an H200, where
//! [`transpose_naive_writes`] is faster: its bank conflicts cost more than the reads down the columns, which often hit the caches.
//! With the padding it does.
//!
//! # Shapes
//!
//! Matrices are row-major; element (row, column) is at `row * pitch + column`, with the pitch in elements. A pitch equal to
//! the number of columns is a linear matrix, a larger one a pitched matrix: the kernels cannot tell.
//!
//! A block moves one tile: 32 x 32 elements, with 32 x [`BLOCK_ROWS`] threads, each of which moves 4 elements of one column.
//! Blocks of another height work too: one of 32 x 32 threads moves one element a thread. [`transpose_block16`] always does,
//! with blocks of any shape, of which 16 x 16 is the lab sheet's. [`grid`] says how many blocks that makes.

#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread, unroll};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::matrix::{at, block_row};

/// Rows and columns of a tile, and the width of its block.
pub const TILE: u32 = 32;

/// The height of the block that moves a tile, unless the host chooses another.
pub const BLOCK_ROWS: u32 = 8;

/// The sides of the block of [`transpose_block16`].
pub const BLOCK16: u32 = 16;

/// The grid that covers a `rows` x `cols` matrix with tiles of `tile = [columns, rows]` elements.
///
/// `[TILE, TILE]`, except for [`transpose_block16`], whose tile is its block. A grid has at most 65535 blocks in y, so a taller one continues in z.
pub const fn grid(rows: u32, cols: u32, tile: [u32; 2]) -> [u32; 3] {
    let tiles = rows.div_ceil(tile[1]);
    let layers = tiles.div_ceil(65_535);
    let tiles_per_layer = if layers == 0 { 0 } else { tiles.div_ceil(layers) };
    [cols.div_ceil(tile[0]), tiles_per_layer, layers]
}

/// Copies the matrix, in the same tiles with the same words: what [`transpose_tiled`] and [`transpose_padded`] can reach.
///
/// # Safety
/// `input` holds `rows` rows of `input_pitch >= cols` elements, `output` has room for `rows` rows of `output_pitch >= cols`,
/// and nothing else uses `output` during the launch. Blocks are [`TILE`] wide, the grid is that of [`grid`].
#[kernel]
pub unsafe fn transpose_copy(
    input: &[f32],
    output: *mut f32,
    rows: u32,
    cols: u32,
    input_pitch: u32,
    output_pitch: u32,
) {
    let tile = Tile::of_block(rows, cols);
    let x = lane_in_tile();
    for_each_line(
        x < tile.width,
        tile.height,
        |y| *input.get_unchecked(at(tile.row + y, tile.col + x, input_pitch)),
        |y, value| *output.add(at(tile.row + y, tile.col + x, output_pitch)) = value,
    );
}

/// Transposes with coalesced reads: a warp reads 32 floats of a row, and writes each to a row of its own.
///
/// # Safety
/// `input` holds `rows` rows of `input_pitch >= cols` elements, `output` has room for `cols` rows of `output_pitch >= rows`,
/// and nothing else uses `output` during the launch. Blocks are [`TILE`] wide, the grid is that of [`grid`].
#[kernel]
pub unsafe fn transpose_naive_reads(
    input: &[f32],
    output: *mut f32,
    rows: u32,
    cols: u32,
    input_pitch: u32,
    output_pitch: u32,
) {
    let tile = Tile::of_block(rows, cols);
    let x = lane_in_tile();
    for_each_line(
        x < tile.width,
        tile.height,
        |y| *input.get_unchecked(at(tile.row + y, tile.col + x, input_pitch)),
        |y, value| *output.add(at(tile.col + x, tile.row + y, output_pitch)) = value,
    );
}

/// Transposes with coalesced writes: a warp reads 32 floats of a column, and writes them side by side.
///
/// # Safety
/// As for [`transpose_naive_reads`].
#[kernel]
pub unsafe fn transpose_naive_writes(
    input: &[f32],
    output: *mut f32,
    rows: u32,
    cols: u32,
    input_pitch: u32,
    output_pitch: u32,
) {
    let tile = Tile::of_block(rows, cols);
    let x = lane_in_tile();
    for_each_line(
        x < tile.height,
        tile.width,
        |y| *input.get_unchecked(at(tile.row + x, tile.col + y, input_pitch)),
        |y, value| *output.add(at(tile.col + y, tile.row + x, output_pitch)) = value,
    );
}

/// Transposes one element a thread, in blocks of 16 x 16: a warp reads two half rows, and so writes 16 pairs.
///
/// # Safety
/// As for [`transpose_naive_reads`], but blocks have any shape, which is the tile that the grid counts.
#[kernel]
pub unsafe fn transpose_block16(
    input: &[f32],
    output: *mut f32,
    rows: u32,
    cols: u32,
    input_pitch: u32,
    output_pitch: u32,
) {
    let row = block_row() * thread::block_dim_y() + thread::thread_idx_y();
    let col = thread::index_1d();
    if row < rows && col < cols {
        *output.add(at(col, row, output_pitch)) = *input.get_unchecked(at(row, col, input_pitch));
    }
}

/// Transposes through shared memory: the tile is filled by rows and emptied by columns, so that both sides are coalesced.
///
/// A column of the tile is 32 floats that are 32 words apart: all in one bank, and a warp takes 32 turns to read it.
///
/// # Safety
/// As for [`transpose_naive_reads`].
#[kernel]
pub unsafe fn transpose_tiled(
    input: &[f32],
    output: *mut f32,
    rows: u32,
    cols: u32,
    input_pitch: u32,
    output_pitch: u32,
) {
    #[address_space(shared)]
    static STAGE: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();

    let tile = Tile::of_block(rows, cols);
    let x = lane_in_tile();
    for_each_line(
        x < tile.width,
        tile.height,
        |y| *input.get_unchecked(at(tile.row + y, tile.col + x, input_pitch)),
        |y, value| (*stage)[y as usize][x as usize] = value,
    );
    thread::sync_threads();
    for_each_line(
        x < tile.height,
        tile.width,
        |_| (),
        |y, ()| *output.add(at(tile.col + y, tile.row + x, output_pitch)) = (*stage)[x as usize][y as usize],
    );
}

/// The tile again, its rows one float longer: a column is now 33 words apart, each float in a bank of its own.
///
/// # Safety
/// As for [`transpose_naive_reads`].
#[kernel]
pub unsafe fn transpose_padded(
    input: &[f32],
    output: *mut f32,
    rows: u32,
    cols: u32,
    input_pitch: u32,
    output_pitch: u32,
) {
    #[address_space(shared)]
    static STAGE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();

    let tile = Tile::of_block(rows, cols);
    let x = lane_in_tile();
    for_each_line(
        x < tile.width,
        tile.height,
        |y| *input.get_unchecked(at(tile.row + y, tile.col + x, input_pitch)),
        |y, value| (*stage)[y as usize][x as usize] = value,
    );
    thread::sync_threads();
    for_each_line(
        x < tile.height,
        tile.width,
        |_| (),
        |y, ()| *output.add(at(tile.col + y, tile.row + x, output_pitch)) = (*stage)[x as usize][y as usize],
    );
}

#[gpu_only]
struct Tile {
    /// The first row.
    row: u32,
    /// The first column.
    col: u32,
    /// The number of rows: [`TILE`], or what the matrix leaves of it.
    height: u32,
    /// The number of columns: [`TILE`], or what the matrix leaves of it.
    width: u32,
}

#[gpu_only]
impl Tile {
    /// The tile of this block in a `rows` x `cols` matrix.
    #[inline(always)]
    fn of_block(rows: u32, cols: u32) -> Self {
        let row = block_row() * TILE;
        let col = thread::block_idx_x() * TILE;
        Self { row, col, height: rows.saturating_sub(row).min(TILE), width: cols.saturating_sub(col).min(TILE) }
    }
}

/// The thread's x, with the promise that it is inside the tile: array indexing then needs no check.
///
/// # Safety
/// The block is at most [`TILE`] wide.
#[gpu_only]
#[inline(always)]
unsafe fn lane_in_tile() -> u32 {
    let x = thread::thread_idx_x();
    // SAFETY: the caller says so.
    unsafe { core::hint::assert_unchecked(x < TILE) };
    x
}

/// Loads and stores the lines below `limit` that are this thread's: every `block_dim_y`-th, from its own y on; none if the thread is
/// not `inside` the tile.
///
/// In blocks of the usual height the number of lines is known, and all four loads are under way before the first store waits for
/// its value, which hides the latency of global memory. (Shared memory answers soon: there a store takes its value itself.) Blocks of another height take one line at a time.
#[gpu_only]
#[inline(always)]
fn for_each_line<T: Copy + Default>(inside: bool, limit: u32, load: impl Fn(u32) -> T, mut store: impl FnMut(u32, T)) {
    let limit = if inside { limit.min(TILE) } else { 0 };
    // SAFETY: only lines below the limit are loaded and stored. That lets array indexing go without a check.
    let in_tile = |y: u32| unsafe { core::hint::assert_unchecked(y < TILE) };
    let load = |y| {
        in_tile(y);
        load(y)
    };
    let mut store = |y, value| {
        in_tile(y);
        store(y, value);
    };
    let mut y = thread::thread_idx_y();
    if thread::block_dim_y() == BLOCK_ROWS {
        let lines = [0, 1, 2, 3].map(|step| y + step * BLOCK_ROWS);
        let values = lines.map(|y| if y < limit { load(y) } else { T::default() });
        unroll::<4>(|step| {
            if lines[step] < limit {
                store(lines[step], values[step]);
            }
        });
    } else {
        while y < limit {
            store(y, load(y));
            y += thread::block_dim_y();
        }
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn the_grid_covers_ragged_and_tall_matrices() {
        assert_eq!(grid(1000, 777, [TILE, TILE]), [25, 32, 1]);
        assert_eq!(grid(1, 1, [BLOCK16, BLOCK16]), [1, 1, 1]);
        assert_eq!(grid(65_535 * 32, 1, [TILE, TILE]), [1, 65_535, 1]);
        for rows in [65_535 * 32 + 1, 3_000_000, u32::MAX] {
            let [_, y, z] = grid(rows, 1, [TILE, TILE]);
            assert!(y <= 65_535 && z <= 65_535);
            assert!(u64::from(y) * u64::from(z) * 32 >= u64::from(rows));
        }
    }
}
