//! Blocks and tiles of wrong types. `tests/compile_fail.rs` expects these messages.

//~ expected fn pointer `fn(Block<16, 16>)`
//~ a tile cannot hold a `bool`
//~ a tile cannot hold a `&'static f32`
//~ `*mut [f32; 64]` cannot be shared between threads safely
//~ a kernel cannot take a `Shared<[f32; 64]>` by value
//~ call to unsafe function `Shared::<T>::new` is unsafe
//~ call to unsafe function `Block::<X, Y>::new` is unsafe

use cuda_std::kernel;
use cuda_std::phases::{Block, Shared};

/// A block of another shape than the kernel declares.
#[kernel(block(32, 8))]
pub fn another_shape(block: Block<16, 16>) {
    let _ = block;
}

/// Not all bits are a `bool`.
#[kernel(block(64))]
pub fn flags(block: Block<64>, tile: Shared<[bool; 64]>) {
    let _ = (block, tile);
}

/// No address is in shared memory to begin with.
#[kernel(block(64))]
pub fn references(block: Block<64>, tile: Shared<[&'static f32; 64]>) {
    let _ = (block, tile);
}

/// A tile that two kernels would share.
pub static TILE: Option<Shared<[f32; 64]>> = None;

type Hidden = Shared<[f32; 64]>;

/// A tile by another name, which the launch would have to pass.
#[kernel(block(64))]
pub fn passed(block: Block<64>, tile: Hidden) {
    let _ = (block, tile);
}

/// Another kernel's tile, by its address.
pub fn forged(address: *mut [f32; 64]) -> Shared<[f32; 64]> {
    Shared::new(address)
}

/// A second block.
pub fn second_block() -> Block<64> {
    Block::new()
}

fn main() {}
