//! Phases in a branch on the thread, in a loop on it, and after some threads have returned.

use cuda_std::phases::{Block, Shared};
use cuda_std::prelude::*;

#[kernel(block(256), linear)]
pub fn phase_in_a_branch(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    if thread::thread_idx_x() < 128 {
        block.fill(&mut tile, |_, index| index); //~ not all threads of a block may go through: the branch in line 8
    }
}

#[kernel(block(256), linear)]
pub fn phase_in_a_loop(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    for step in 0..thread::thread_idx_x() / 32 {
        block.update(&mut tile, |_, own| *own.one() += step); //~ the branch in line 15
    }
}

#[kernel(block(256), linear)]
pub fn phase_after_return(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    let mut mine = 0;
    block.each(|thread| mine = thread.number());
    if mine == 7 {
        return;
    }
    block.update(&mut tile, |_, own| *own.one() += 1); //~ the branch in line 24
}

#[kernel(block(256), linear)]
pub fn phase_after_exit(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    block.each(|thread| { //~ not all threads of a block may reach: the branch in line 33
        if thread.number() == 7 {
            special::exit();
        }
    });
    block.update(&mut tile, |_, own| *own.one() += 1); //~ the branch in line 33
}

/// # Safety
/// None: nobody can allow it.
#[kernel(block(256), linear, allow(divergent_barrier))]
pub unsafe fn not_to_be_allowed(mut block: Block<256>, mut tile: Shared<[u32; 256]>) {
    if thread::thread_idx_x() < 128 {
        thread::sync_threads(); //~ not all threads of a block may reach: the branch in line 44
        block.fill(&mut tile, |_, index| index); //~ not all threads of a block may go through: the branch in line 44
    }
}

fn wait(block: &mut Block<256>, times: u32) -> u32 {
    block.each(|_| ());
    if times > 1 { wait(block, times - 1) * wait(block, times / 2) } else { times }
}

/// # Safety
/// None: nobody can allow it.
#[kernel(block(256), linear, allow(divergent_barrier))]
pub unsafe fn recursion_of_phases(mut block: Block<256>, n: u32, mut output: DisjointSlice<u32>) {
    let waited = wait(&mut block, n); //~ which may reach a barrier, a phase
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = waited;
    }
}
