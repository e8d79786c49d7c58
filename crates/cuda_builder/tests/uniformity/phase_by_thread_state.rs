//! The thread's position, carried out of a phase in a local, a cell, an array, an enum or a function's result.

use core::cell::Cell;

use cuda_std::phases::{Block, Shared};
use cuda_std::prelude::*;

#[kernel(block(256), linear)]
pub fn by_local(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    let mut mine = 0;
    block.each(|thread| mine = thread.x());
    if mine > 5 {
        block.fill(&mut tile, |_, index| index); //~ the branch in line 12
    }
}

#[kernel(block(256), linear)]
pub fn by_cell(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    let mine = Cell::new(0);
    block.each(|thread| mine.set(thread.x()));
    while mine.get() > 5 {
        block.fill(&mut tile, |_, index| index); //~ the branch in line 21
        mine.set(mine.get() - 1);
    }
}

#[kernel(block(256), linear)]
pub fn by_array(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    let mut all = [0_u32; 16];
    block.each(|thread| all[thread.x() as usize % 16] = 1);
    if all[3] == 1 {
        block.fill(&mut tile, |_, index| index); //~ the branch in line 31
    }
}

#[kernel(block(256), linear)]
pub fn by_tile(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    block.fill(&mut tile, |_, index| index);
    let mut first = 0;
    block.each(|thread| first = tile.read(thread)[0]);
    if first == 0 {
        block.fill(&mut tile, |_, index| index + 1); //~ the branch in line 41
    }
}

#[kernel(block(256), linear)]
pub fn by_result(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    let sum = block.warp_reduce(1_u32, |a, b| a + b);
    if sum == 32 {
        block.fill(&mut tile, |_, index| index); //~ the branch in line 49
    }
}

#[kernel(block(256), linear)]
pub fn by_barrier_in_a_phase(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    block.update(&mut tile, |thread, own| {
        if thread.x() % 2 == 0 {
            thread::sync_threads(); //~ the branch in line 57
        }
        *own.one() = 1;
    });
}

#[kernel(block(256), linear)]
pub fn by_choice(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    let steps = match thread::thread_idx_x() {
        0 => Some(3),
        1..100 => None,
        _ => Some(4),
    };
    if let Some(steps) = steps { 
        for _ in 0..steps {
            block.update(&mut tile, |_, own| *own.one() += 1); //~ the branch in line
        }
    }
}

#[kernel(block(256), linear)]
pub fn by_different_trips(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    let mut trips = 0;
    loop {
        trips += 1;
        if trips > thread::thread_idx_x() {
            break;
        }
    }
    for _ in 0..trips {
        block.update(&mut tile, |_, own| *own.one() += 1); //~ the branch in line
    }
}
