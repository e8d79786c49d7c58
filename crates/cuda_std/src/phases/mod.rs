//! Shared memory in safe Rust: a kernel as a sequence of phases, in which no two threads race.
//!
//! The body of such a kernel is the block's, not a thread's: it declares tiles in shared memory and
//! runs one phase after another. Within a phase there are threads. Each writes only what it owns,
//! or all only read, and a barrier ends the phase:
//!
//! ```
//! use cuda_std::phases::{Block, Shared, TransposedMatrix};
//! use cuda_std::{Matrix, gpu_only, kernel};
//! #[gpu_only]
//! use cuda_std::thread;
//!
//! /// Transposes through a tile.
//! #[kernel(block(32, 8))]
//! pub fn transpose(
//!     mut block: Block<32, 8>,
//!     mut tile: Shared<[[f32; 33]; 32]>,
//!     input: Matrix<f32>,
//!     mut output: TransposedMatrix<f32, 32>,
//! ) {
//!     let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());
//!     block.update(&mut tile, |thread, mut own| {
//!         own.each(|line, element| {
//!             if let Some(from) = input.get(row + line, col + thread.x()) {
//!                 *element = *from;
//!             }
//!         });
//!     });
//!     block.finish(|thread| {
//!         let tile = tile.read(thread);
//!         output.each(thread, |line, to| *to = tile[thread.x() as usize][line as usize]);
//!     });
//! }
//! ```
//!
//! [`Block`] and [`Shared`] are parameters of the kernel that a launch does not pass: `#[kernel]`
//! makes one block, and a static in shared memory for each tile.
//!
//! | type | what it is | what it promises |
//! | --- | --- | --- |
//! | [`Block`] | the block, which runs phases | there is one, and one phase runs at a time |
//! | [`Shared`] | a tile in shared memory | no two are the same memory |
//! | [`Thread`] | a thread, in one phase | it never leaves the phase |
//! | [`Own`] | what a thread owns of a tile | no other thread reaches it in this phase |
//! | [`TransposedMatrix`], [`BlockSlice`] | outputs in global memory | an element has one thread for the launch |
//!
//! | phase | what the threads do | at its end |
//! | --- | --- | --- |
//! | [`Block::fill`] | each gives the value of every element that it owns | barrier |
//! | [`Block::fill_by_warp`] | the first of each warp gives the value of its element | barrier |
//! | [`Block::update`] | each reads and writes what it owns, and reads other tiles | barrier |
//! | [`Block::pairs`] | the first threads own two elements each, a distance apart | barrier |
//! | [`Block::each`] | all read tiles | barrier |
//! | [`Block::finish`] | all read tiles, for the last time | nothing |
//! | `Block::warp_reduce` | each warp combines its lanes' values by shuffles | nothing |
//! | `Block::finish_in_warp` | the first warp combines what its lanes read of tiles | nothing |
//!
//! # Why it is sound
//!
//! Two accesses race if two threads make them with no barrier between, at least one writes, and
//! they overlap. Take two accesses to one tile.
//!
//! 1. *All threads of a block run the same phases, in the same order, on the same tiles.* Each
//!    phase calls a marker with the tiles that it writes. `cuda_builder` refuses a kernel in which
//!    a marker's call, or its operand, depends on the thread. So it makes sense to say "the same
//!    phase" of two threads, although `thread::thread_idx_x()` is a safe function.
//! 2. *A tile is accessed in phases only.* [`Shared::read`] takes a [`Thread`], and [`Own`] comes
//!    with one. A closure is given its thread for every lifetime `'p` that the phase may choose, so
//!    nothing with `'p` in its type outlives the call. A phase borrows the block mutably, so no
//!    phase runs within another.
//! 3. *Two accesses in different phases have a barrier between them*: each phase ends with one,
//!    except the last.
//! 4. *Two accesses in one phase do not conflict.* A phase that writes a tile borrows it mutably,
//!    so its closure cannot read it but through [`Own`]. By 1, no other thread of the phase reads
//!    it, either. Whom an element belongs to depends on the thread's indices and the marked
//!    operands alone, and no element belongs to two.
//!
//! Tiles do not overlap: only `#[kernel]` makes them, one static for each parameter. Blocks do not
//! share them.
//!
//! Shared memory is never initialised. An element that no phase has written holds arbitrary bits,
//! which are a valid value of every [`Element`]. Reading it is not undefined behaviour, but most
//! often a mistake (`--check init` finds it).

mod block;
mod device;
mod marker;
mod outputs;
mod own;
mod shared;
mod thread;
#[cfg(any(target_arch = "nvptx64", doc))]
mod warps;

pub use block::Block;
pub use outputs::{BlockSlice, TransposedMatrix};
pub use own::{Own, Tiles};
pub use shared::{Element, Shared, Tile};
pub use thread::Thread;
