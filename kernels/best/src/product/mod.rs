//! A tile of a matrix product, in shared memory and registers: the building block of the best
//! kernels of [`matmul`](crate::matmul) and [`gram`](crate::gram).
//!
//! A block computes a tile of the product. It walks along `k` in *slabs* of [`DEPTH`] steps: a slab
//! of the left operand and one of the right lie in shared memory, and each thread multiplies 8
//! numbers of the left with 8 of the right, in registers. Five things make it fast; the counters
//! and stalls are those of Nsight Compute:
//!
//! - **Slabs are fetched by asynchronous copies**, [`STAGES`] - 1 ahead (`cuda_std::pipeline`). No
//!   thread waits for global memory, and no register holds data in flight (*stall long
//!   scoreboard*).
//! - **Both slabs lie `k` by `k`.** A thread then takes its numbers in words of 16 bytes: 4 loads
//!   for 64 multiplications (`smsp__inst_executed_pipe_lsu`, *stall MIO throttle*). An operand
//!   whose rows run along `k` is transposed on the way, by copies of 4 bytes, and again for each
//!   tile. Where that costs more than one transpose before, the kernel takes the transposed matrix
//!   (`gram_best`).
//! - **Each step's numbers are loaded during the step before** (*stall short scoreboard*).
//! - **The order of the multiplications** (`numbers.rs`). A multiprocessor's quarter can start one
//!   `FFMA` in each cycle, but reads only one register from each of its two banks. Three operands
//!   need three reads, so one must come from the operand before (`.reuse` in the SASS), and the
//!   other two from different banks (*stall dispatch*, *stall math pipe throttle*). `orders.rs` has
//!   them.
//! - **The last tiles are shared out** among all blocks (`share.rs`), so that no multiprocessor
//!   waits for others.
//!
//! `operand` fetches the slabs, `numbers` multiplies them, and `tile` has the loop; `share` says
//! which block takes which slabs, and `before` adds up the sums of several blocks; `store` writes
//! the sums to global memory, through a `window`; and `choice`, on the host, says which kernel to
//! launch.

use bytemuck::{Pod, Zeroable};

#[cfg(target_arch = "nvptx64")]
mod before;
#[cfg(not(target_arch = "nvptx64"))]
mod choice;
#[cfg(target_arch = "nvptx64")]
mod numbers;
#[cfg(target_arch = "nvptx64")]
mod operand;
#[cfg(target_arch = "nvptx64")]
pub(crate) mod orders;
#[cfg(target_arch = "nvptx64")]
mod share;
#[cfg(target_arch = "nvptx64")]
mod store;
#[cfg(target_arch = "nvptx64")]
mod tile;
#[cfg(target_arch = "nvptx64")]
mod window;

#[cfg(not(target_arch = "nvptx64"))]
pub use choice::TileLaunch;
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) use choice::{Candidate, SMALL_TILE_COST, TRANSPOSING_COST, cost_of_transpose, fastest};
#[cfg(target_arch = "nvptx64")]
pub(crate) use operand::{AcrossK, AlongK, Operand};
#[cfg(target_arch = "nvptx64")]
pub(crate) use share::{Piece, Product, Sharing};
#[cfg(target_arch = "nvptx64")]
pub(crate) use tile::Tile;

/// Rows, and columns, of the product that a thread computes.
pub(crate) const SIDE: usize = 8;

/// Steps of `k` in a slab.
pub const DEPTH: u32 = 16;

/// Slabs of each operand in shared memory: one is multiplied, the others are in flight.
pub const STAGES: u32 = 3;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// The sums that a block may leave for the next one: those of its threads.
pub const SUMS_PER_BLOCK: u32 = THREADS * (SIDE * SIDE) as u32;

/// The tile of a product that each block of a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileSize {
    /// Rows of the product.
    pub rows: u32,
    /// Columns of the product.
    pub columns: u32,
    /// Blocks that a multiprocessor holds at once, where it has the shared memory.
    pub resident: u32,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
}

/// How the tiles of a product are shared out among the blocks of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Shares {
    /// Tiles with a block of their own: the first ones. The grid's other blocks share the slabs of
    /// the other tiles, which fit 32 bits.
    pub unsplit_tiles: u32,
    /// Slabs by which the shares of the first half of those blocks are larger than the average, and
    /// those of the second half smaller. A share in the middle is neither.
    pub head_start: u32,
}

/// From one step to the next in a slab, in floats, of an operand whose rows run along `k`: so that
/// words of 16 bytes keep their alignment, and neighbours in `k` are four banks apart.
pub(crate) const fn transposed_pitch(side: u32) -> u32 {
    side + 4
}

/// Dynamic shared memory of a block, in bytes, whose slabs have these pitches.
pub(crate) const fn shared_bytes(left: u32, right: u32) -> u32 {
    STAGES * DEPTH * (left + right) * size_of::<f32>() as u32
}
