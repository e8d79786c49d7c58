//! Phases in loops over parameters, in branches on the block, and with tiles that take turns.

use cuda_std::phases::{Block, Shared};
use cuda_std::prelude::*;


#[kernel(block(256), linear)]
pub fn phases_in_uniform_flow(
    mut block: Block<256>,
    mut a: Shared<[u32; 256]>,
    mut b: Shared<[u32; 256]>,
    counts: &[u32],
    mut output: DisjointSlice<u32>,
) {
    block.fill(&mut a, |_, index| index);
    for _ in 0..counts[thread::block_idx_x() as usize] {
        block.update(&mut b, |thread, own| *own.one() = a.read(thread)[255 - thread.number() as usize]);
        a.swap(&mut b);
    }
    if thread::block_idx_x() == 0 {
        block.update(&mut a, |_, own| *own.one() += 1);
    }
    let mut distance = 128;
    while distance > 0 {
        block.pairs(&mut a, distance, |to, from| *to += *from);
        distance /= 2;
    }
    block.finish(|thread| {
        if let Some(output) = output.get_mut(thread.linear_index()) {
            *output = a.read(thread)[0];
        }
    });
}
