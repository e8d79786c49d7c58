//! The best transposes. The lab's first steps, up to the padded tile, are in
//! `kernels/src/transpose.rs`; here are the last ones.
//!
//! | kernel | what it shows | sectors per request, load and store | wavefronts per shared load |
//! | --- | --- | --- | --- |
//! | [`transpose_best_small`] | words of 16 bytes outside the tile | 16, 16 | 1 |
//! | [`transpose_best`] | the same, with larger tiles | 16, 16 | 2 |
//!
//! Matrices are row-major; element (row, column) is at `row * pitch + column`, with the pitch in
//! elements. [`best`] chooses among the kernels.

#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::launch::{Kernel, Pointer, PointerMut};
#[gpu_only]
use cuda_std::{address_space, dependent_launch, mem, shared::SharedCell, thread};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::matrix::block_row;
#[gpu_only]
use crate::transpose_tile::TransposeTile;
#[cfg(not(target_arch = "nvptx64"))]
use crate::{Gpu, Launch};

/// Rows and columns of the tile of [`transpose_best`].
pub const TILE: u32 = 64;

/// Threads of a block of [`transpose_best`].
pub const THREADS: u32 = TILE * TILE / 8;

/// Bytes of shared memory that [`transpose_best`] and [`transpose_best_unaligned`] need: more than
/// the 16 KB that a block has before compute capability 2.0.
pub const SHARED_BYTES: u32 = TILE * (TILE + 1) * 4;

/// Rows and columns of the tile of [`transpose_best_small`].
pub const SMALL_TILE: u32 = 32;

/// Threads of a block of [`transpose_best_small`].
pub const SMALL_THREADS: u32 = SMALL_TILE * SMALL_TILE / 8;

/// The padded tile again, but outside of it each thread moves two words of 16 bytes: a quarter of
/// the instructions for as many bytes, and a tile of 64 x 64.
///
/// Now DRAM is the limit. It is faster at long contiguous pieces, hence the larger tile: 519 us for
/// 16384 x 16384 floats, where tiles 32 floats wide take 544. And it is slower at rows that are
/// read or written down the columns, so loads and stores ask L2 to keep their lines longest
/// (`mem::load_l2_evict_last`): 512 us. The next kernels pay for that, because they find L2 full of
/// these lines (H200, 2026-11-24). Inside the tile each float is accessed by itself, because rows
/// of 65 floats do not start on 16 bytes; that costs nothing here. What else was tried is in
/// `measurements/tried.md`.
///
/// A small matrix takes little longer than its launch, so the last two steps are for these. The
/// kernel itself waits for the one before it (`cuda_std::dependent_launch`): back to back, 1024 x
/// 1000 floats take 2.1 us instead of 3.3. And it is short, because instructions have to be
/// fetched, too: matrices that are not aligned have a separate kernel, and loads need no guards
/// (H200, 2026-11-23).
///
/// # Safety
/// `input` holds `rows` rows of `input_pitch >= cols` elements, `output` has room for `cols` rows
/// of `output_pitch >= rows`, and nothing else uses `output` during the launch, which has a block
/// of [`THREADS`] threads in x for each tile of [`TILE`] x [`TILE`], down the columns of tiles: the
/// grid is that of the transposed matrix. Both matrices start on 16 bytes, and both pitches are
/// multiples of 4; the input's rows may be read up to its pitch.
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
    let moved = TransposeTile::<64>::new(
        tile,
        input,
        output,
        [rows, cols],
        pitches,
        STAGE.as_mut_ptr().cast(),
    );
    moved.load_words(|word| mem::load_l2_evict_last(word));
    thread::sync_threads();
    moved.store_words();
}

/// The same for a matrix of few tiles: in the tile of the lecture again, by blocks of 128 threads,
/// of which a multiprocessor holds 16. While some of them load, others store. Large matrices take
/// 11 % longer this way, because DRAM is faster at longer pieces; with 1024 x 1000 floats it is 4 %
/// less.
///
/// Blocks go along the rows of the input here, not of the output, and each load asks L2 for the 256
/// bytes around it: where rows start in the middle of a line, neighbouring tiles share lines. The
/// order is worth 3 %, the request 1 % (H200, 2026-11-24).
///
/// # Safety
/// As for [`transpose_best`], but with a block of [`SMALL_THREADS`] threads for each tile of
/// [`SMALL_TILE`] x [`SMALL_TILE`]; the grid is that of the matrix itself, in one layer.
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
    let moved = TransposeTile::<32>::new(
        tile,
        input,
        output,
        [rows, cols],
        pitches,
        STAGE.as_mut_ptr().cast(),
    );
    moved.load_words(|word| mem::load_l2_evict_last_prefetch(word));
    thread::sync_threads();
    moved.store_words();
}

/// The same where the rows of a matrix are not aligned to 16 bytes: that matrix is accessed float
/// by float. Each access then takes neighbouring floats, and loads ask L2 for the 256 bytes around
/// them, as those of the small tiles. Rows of the output that start within a sector cost most,
/// because two tiles write to it: 8191 x 8189 floats take 154 us, 8192 x 8189 only 132 (H200,
/// 2026-11-24).
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
    let moved = TransposeTile::<64>::new(
        tile,
        input,
        output,
        [rows, cols],
        pitches,
        STAGE.as_mut_ptr().cast(),
    );
    if input_pitch.is_multiple_of(4) {
        moved.load_words(|word| mem::load_l2_evict_last(word));
    } else {
        moved.load_floats(|float| mem::load_l2_evict_last_prefetch(float));
    }
    thread::sync_threads();
    if output_pitch.is_multiple_of(4) {
        moved.store_words();
    } else {
        moved.store_floats();
    }
}

/// The kernels' parameters: input and output, rows and columns, and both pitches.
#[cfg(not(target_arch = "nvptx64"))]
pub type Transpose = Kernel<(Pointer<f32>, PointerMut<f32>, u32, u32, u32, u32)>;

/// The best kernel for a matrix of this shape, and its launch; `pitches` are those of the input and
/// the output, in elements. It has small tiles if the GPU could hold all large ones at once: on an
/// H200 up to 1470 x 1470 floats, where small tiles are faster up to 1536 x 1536 (2026-11-24).
#[cfg(not(target_arch = "nvptx64"))]
pub fn best(
    gpu: Gpu,
    [rows, columns]: [u32; 2],
    pitches: [u32; 2],
) -> (&'static Transpose, Launch) {
    // Blocks go down the columns of tiles: the grid is that of the transposed matrix.
    let large = Launch::new(grid([columns, rows], TILE), [THREADS, 1, 1]);
    let blocks: u64 = large.grid.map(u64::from).into_iter().product();
    if !pitches.iter().all(|pitch| pitch.is_multiple_of(4)) {
        (&transpose_best_unaligned, large)
    } else if blocks * u64::from(THREADS) <= gpu.resident_threads {
        (
            &transpose_best_small,
            Launch::new(grid([rows, columns], SMALL_TILE), [SMALL_THREADS, 1, 1]),
        )
    } else {
        (&transpose_best, large)
    }
}

/// The grid that covers a matrix of `rows` x `columns` with square tiles. It has at most 65535
/// blocks in y, so a taller one continues in z.
#[cfg(not(target_arch = "nvptx64"))]
fn grid([rows, columns]: [u32; 2], tile: u32) -> [u32; 3] {
    let tiles = rows.div_ceil(tile);
    let layers = tiles.div_ceil(65_535);
    [
        columns.div_ceil(tile),
        tiles.checked_div(layers).map_or(0, |_| tiles.div_ceil(layers)),
        layers,
    ]
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn small_matrices_have_small_tiles() {
        let on_h200 = |rows, columns, pitch| best(Gpu::H200, [rows, columns], [pitch, pitch]);
        let (kernel, launch) = on_h200(1000, 777, 1000);
        assert_eq!(
            (kernel.name(), launch.grid, launch.block),
            ("transpose_best_small", [25, 32, 1], [128, 1, 1])
        );
        let (kernel, launch) = on_h200(16384, 8192, 16384);
        assert_eq!(
            (kernel.name(), launch.grid, launch.block),
            ("transpose_best", [256, 128, 1], [512, 1, 1])
        );
        assert_eq!(on_h200(8191, 8189, 8189).0.name(), "transpose_best_unaligned");
    }

    #[test]
    fn the_grid_covers_wide_matrices_in_layers() {
        for columns in [65_535 * TILE + 1, 8_000_000, u32::MAX] {
            let [x, y, z] = best(Gpu::H200, [100, columns], [4, 4]).1.grid;
            assert!(x == 2 && y <= 65_535 && z <= 65_535);
            assert!(u64::from(y) * u64::from(z) * u64::from(TILE) >= u64::from(columns));
        }
    }
}
