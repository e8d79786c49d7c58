//! Tiles that do not fit their block. `tests/compile_fail.rs` expects these messages.

//~ the array has one element for each thread of the block
//~ the tile has a column for each x of the block
//~ the tile has a row for each y of the block

use cuda_std::phases::{Block, Shared};

fn fewer_elements(mut block: Block<64>, mut tile: Shared<[f32; 63]>) {
    block.update(&mut tile, |_, own| *own.one() = 0.0);
}

fn fewer_columns(mut block: Block<32, 8>, mut tile: Shared<[[f32; 31]; 32]>) {
    block.update(&mut tile, |_, mut own| own.each(|_, element| *element = 0.0));
}

fn fewer_rows(mut block: Block<32, 8>, mut tile: Shared<[[f32; 32]; 7]>) {
    block.update(&mut tile, |_, own| *own.one() = 0.0);
}

fn main() {
    let all: (fn(Block<64>, Shared<_>), fn(Block<32, 8>, Shared<_>), fn(Block<32, 8>, Shared<_>)) =
        (fewer_elements, fewer_columns, fewer_rows);
    std::hint::black_box(all);
}
