//! Function pointers, trait objects, recursion and `Drop`: phases that are called by detours.

use cuda_std::phases::{Block, Shared};
use cuda_std::prelude::*;

fn first(block: &mut Block<256>, tile: &mut Shared<[u32; 256]>) {
    block.fill(tile, |_, index| index);
}

fn second(block: &mut Block<256>, tile: &mut Shared<[u32; 256]>) {
    block.update(tile, |_, own| *own.one() += 1); //~ kernel `guards` has a phase that not all threads
}

#[kernel(block(256), linear)]
pub fn pointers(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    let run: fn(&mut Block<256>, &mut Shared<[u32; 256]>) = if thread::thread_idx_x() == 0 { first } else { second };
    run(&mut block, &mut tile); //~ which may reach a barrier
}

trait Run {
    fn run(&self, block: &mut Block<256>, tile: &mut Shared<[u32; 256]>);
}

impl Run for u8 {
    fn run(&self, block: &mut Block<256>, tile: &mut Shared<[u32; 256]>) {
        first(block, tile);
    }
}

impl Run for u16 {
    fn run(&self, block: &mut Block<256>, tile: &mut Shared<[u32; 256]>) {
        second(block, tile);
    }
}

#[kernel(block(256), linear)]
pub fn objects(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    let run: &dyn Run = if thread::thread_idx_x() == 0 { &0_u8 } else { &0_u16 };
    run.run(&mut block, &mut tile); //~ which may reach a barrier
}

struct Guard<'a>(&'a mut Block<256>, &'a mut Shared<[u32; 256]>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        second(self.0, self.1);
    }
}

#[kernel(block(256), linear)]
pub fn guards(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    let mut guard = Some(Guard(&mut block, &mut tile));
    if thread::thread_idx_x() == 9 {
        guard = None;
    }
    drop(guard);
}
