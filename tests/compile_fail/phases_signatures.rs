//! Blocks and tiles that `#[kernel]` rejects. `tests/compile_fail.rs` expects these messages.

//~ a kernel has one `Block`: with two, phases could overlap
//~ a kernel with a `Block<X, Y>` declares its shape
//~ a `Block<X, Y>` has no z
//~ only a `Block` reaches `Shared` tiles
//~ due to 5 previous errors

use cuda_std::kernel;
use cuda_std::phases::{Block, Shared};

#[kernel(block(32, 8))]
pub fn two_blocks(first: Block<32, 8>, second: Block<32, 8>) {
    let _ = (first, second);
}

#[kernel]
pub fn no_shape(block: Block<32, 8>) {
    let _ = block;
}

#[kernel(block(8, 8, 4))]
pub fn deep(block: Block<8, 8>) {
    let _ = block;
}

#[kernel(block(64))]
pub fn no_block(tile: Shared<[f32; 64]>) {
    let _ = tile;
}

/// A block by another name is none.
type Named = u32;

#[kernel(block(64))]
pub fn named_block(block: Named, tile: Shared<[f32; 64]>) {
    let _ = (block, tile);
}

fn main() {}
