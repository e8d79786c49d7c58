//! Tiles that are chosen, or exchanged, by the thread.

use cuda_std::phases::{Block, Shared};
use cuda_std::prelude::*;

#[kernel(block(256), linear)]
pub fn chosen(mut block: Block<256>, mut a: Shared<[u32; 256]>, mut b: Shared<[u32; 256]>) {
    let tile = if thread::thread_idx_x() == 3 { &mut a } else { &mut b };
    block.fill(tile, |_, index| index); //~ they depend on
}

#[kernel(block(256), linear)]
pub fn exchanged(mut block: Block<256>, mut a: Shared<[u32; 256]>, mut b: Shared<[u32; 256]>) {
    block.each(|thread| {
        if thread.number() > 100 {
            a.swap(&mut b);
        }
    });
    block.update(&mut a, |thread, own| *own.one() = b.read(thread)[0]); //~ they depend on
}

#[kernel(block(256), linear)]
pub fn replaced(mut block: Block<256>, a: Shared<[u32; 256]>, b: Shared<[u32; 256]>) {
    let mut tiles = [a, b];
    let which = thread::thread_idx_x() as usize % 2;
    block.fill(&mut tiles[which], |_, index| index); //~ they depend on
}

#[kernel(block(256), linear)]
pub fn distance(mut block: Block<256>, mut a: Shared<[u32; 256]>) {
    block.pairs(&mut a, 128 - thread::thread_idx_x() % 2, |to, from| *to += *from); //~ they depend on `thread_idx_x()` in line 31
}
