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
//! | [`transpose_best_small`] | words of 16 bytes outside the tile | 16, 16 | 1 |
//! | [`transpose_best`] | the same, with larger tiles | 16, 16 | 2 |
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
use cuda_std::{address_space, dependent_launch, mem, shared::SharedCell, thread, unroll};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::matrix::{at, block_row};
#[gpu_only]
use crate::turn::Turn;

/// Rows and columns of a tile, and the width of its block.
pub const TILE: u32 = 32;

/// The height of the block that moves a tile, unless the host chooses another.
pub const BLOCK_ROWS: u32 = 8;

/// The sides of the block of [`transpose_block16`].
pub const BLOCK16: u32 = 16;

/// The grid that covers a `rows` x `cols` matrix with tiles of `tile = [columns, rows]` elements.
///
/// `[TILE, TILE]`, except for [`transpose_block16`], whose tile is its block, and [`transpose_best`], which takes the grid of the
/// transposed matrix in tiles of [`BEST_TILE`]. A grid has at most 65535 blocks in y, so a taller one continues in z.
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

/// Rows and columns of the tile of [`transpose_best`].
pub const BEST_TILE: u32 = 64;

/// Threads of a block of [`transpose_best`].
pub const BEST_THREADS: u32 = BEST_TILE * BEST_TILE / 8;

/// Bytes of shared memory that [`transpose_best`] and [`transpose_best_unaligned`] need: more than the 16 KB that a block has before compute
/// capability 2.0.
pub const BEST_SHARED_BYTES: u32 = BEST_TILE * (BEST_TILE + 1) * 4;

/// Threads of a block of [`transpose_best_small`], whose tile is [`TILE`].
pub const BEST_SMALL_THREADS: u32 = TILE * TILE / 8;

/// The padded tile again, but outside of it each thread moves two words of 16 bytes: a quarter of the instructions for as many bytes, and a
/// tile of 64 x 64.
///
/// Now DRAM is the limit, and prefers long pieces: in tiles 32 floats wide, 16384 x 16384 floats take 544 us, in these 519 (with half the
/// threads and four words each, 521). Inside the tile each float is accessed by itself, because rows of 65 floats do not start on 16 bytes. That
/// costs nothing here: a tile without padding, with its words in another order (a *swizzle*) so that they can be accessed whole, takes as long.
///
/// A transpose has to read or to write down the columns, and DRAM is slower at that: a copy that turns nothing, but reads in this order, takes
/// 518 us; one in the order of addresses 503 (`docs/compare/order.cu`). So the next step is for DRAM: loads and stores ask L2 to keep their
/// lines longest, although nobody needs them soon (`mem::load_l2_evict_last`). DRAM then moves the same bytes in 512 us, and those of 8192 x
/// 8192 floats in 129 instead of 132. The next kernels pay for it, because they find L2 full of these lines: a copy of 12 MB takes up to 6 %
/// longer (H200, 2026-11-24).
///
/// A small matrix takes little longer than its launch, so the last two steps are for these. The kernel itself waits for the one before it
/// (`cuda_std::dependent_launch`): back to back, 1024 x 1000 floats take 2.1 us instead of 3.3. And it is short, because instructions
/// have to be fetched, too: matrices that are not aligned have a kernel of their own, and loads need no guards (H200, 2026-11-23).
///
/// # Safety
/// As for [`transpose_naive_reads`], with a block of [`BEST_THREADS`] threads in x for each tile of [`BEST_TILE`] x [`BEST_TILE`], down the
/// columns of tiles: the grid is that of the transposed matrix. Both matrices start on 16 bytes, and both pitches are multiples of 4; the
/// input's rows may be read up to its pitch.
#[kernel(launch_bounds(512, 4))]
pub unsafe fn transpose_best(
    input: *const f32,
    output: *mut f32,
    rows: u32,
    cols: u32,
    input_pitch: u32,
    output_pitch: u32,
) {
    #[address_space(shared)]
    static STAGE: SharedCell<[[f32; 65]; 64]> = SharedCell::uninit();
    dependent_launch::wait();
    let (tile, pitches) = ([thread::block_idx_x(), block_row()], [input_pitch, output_pitch]);
    let turn = Turn::<64>::of_tile(tile, input, output, [rows, cols], pitches, STAGE.as_mut_ptr().cast());
    turn.load_words(|word| mem::load_l2_evict_last(word));
    thread::sync_threads();
    turn.store_words();
}

/// The same for a matrix of few tiles: in the tile of the lecture again, by blocks of 128 threads, of which a multiprocessor holds 16. While
/// some of them load, others store. Large matrices take 11 % longer this way, because DRAM prefers longer pieces; with 1024 x 1000 floats it is
/// 4 % less.
///
/// Blocks go along the rows of the input here, not of the output, and each load asks L2 for the 256 bytes around it: where rows start in the
/// middle of a line, neighbouring tiles share lines. The order is worth 3 %, the request 1 % (H200, 2026-11-24).
///
/// # Safety
/// As for [`transpose_best`], but with a block of [`BEST_SMALL_THREADS`] threads for each tile of [`TILE`] x [`TILE`], in
/// the grid of [`grid`], which has one layer.
#[kernel(launch_bounds(128, 16))]
pub unsafe fn transpose_best_small(
    input: *const f32,
    output: *mut f32,
    rows: u32,
    cols: u32,
    input_pitch: u32,
    output_pitch: u32,
) {
    #[address_space(shared)]
    static STAGE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    dependent_launch::wait();
    let (tile, pitches) = ([block_row(), thread::block_idx_x()], [input_pitch, output_pitch]);
    let turn = Turn::<32>::of_tile(tile, input, output, [rows, cols], pitches, STAGE.as_mut_ptr().cast());
    turn.load_words(|word| mem::load_l2_evict_last_prefetch(word));
    thread::sync_threads();
    turn.store_words();
}

/// The same where the rows of a matrix are not aligned to 16 bytes: that matrix is accessed float by float. Each access then takes
/// neighbouring floats, and loads ask L2 for the 256 bytes around them, as those of the small tiles. Rows of the output that start within a
/// sector cost most, because two tiles write to it: 8191 x 8189 floats take 154 us, 8192 x 8189 only 132 (H200, 2026-11-24).
///
/// # Safety
/// As for [`transpose_best`], with any pitches.
#[kernel(launch_bounds(512, 4))]
pub unsafe fn transpose_best_unaligned(
    input: *const f32,
    output: *mut f32,
    rows: u32,
    cols: u32,
    input_pitch: u32,
    output_pitch: u32,
) {
    #[address_space(shared)]
    static STAGE: SharedCell<[[f32; 65]; 64]> = SharedCell::uninit();
    dependent_launch::wait();
    let (tile, pitches) = ([thread::block_idx_x(), block_row()], [input_pitch, output_pitch]);
    let turn = Turn::<64>::of_tile(tile, input, output, [rows, cols], pitches, STAGE.as_mut_ptr().cast());
    if input_pitch.is_multiple_of(4) {
        turn.load_words(|word| mem::load_l2_evict_last(word));
    } else {
        turn.load_floats(|float| mem::load_l2_evict_last_prefetch(float));
    }
    thread::sync_threads();
    if output_pitch.is_multiple_of(4) {
        turn.store_words();
    } else {
        turn.store_floats();
    }
}

/// The part of the input that one block moves.
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
