//! Planted bugs: barriers of the block that not all of its threads reach.

#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::{in_block, named_barrier};

/// A barrier in a branch that every second lane takes.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn sync_in_branch(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    *tile.add(t) = *input.add(t);
    if t % 2 == 0 {
        thread::sync_threads(); //~ sync: barrier
        *output.add(t) = *tile.add(t);
    }
}

/// The barrier is before the branch.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn sync_in_branch_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    *tile.add(t) = *input.add(t);
    thread::sync_threads();
    if t % 2 == 0 {
        *output.add(t) = *tile.add(t);
    }
}

/// Threads without an element return, and the others wait for them.
// run: --grid 1 --block 64 f32[50]=ramp f32[50] u32:50
#[kernel]
pub unsafe fn sync_early_return(input: *const f32, output: *mut f32, count: u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, count, tile) = (in_block(), count as usize, TILE.as_mut_ptr().cast::<f32>());
    if t >= count {
        return;
    }
    *tile.add(t) = *input.add(t);
    thread::sync_threads(); //~ sync: barrier
    *output.add(t) = *tile.add(count - 1 - t);
}

/// Threads without an element reach the barrier, too.
// run: --grid 1 --block 64 f32[50]=ramp f32[50] u32:50
#[kernel]
pub unsafe fn sync_early_return_fixed(input: *const f32, output: *mut f32, count: u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, count, tile) = (in_block(), count as usize, TILE.as_mut_ptr().cast::<f32>());
    if t < count {
        *tile.add(t) = *input.add(t);
    }
    thread::sync_threads();
    if t < count {
        *output.add(t) = *tile.add(count - 1 - t);
    }
}

/// A whole warp has nothing to do and returns: the barrier waits for it.
// run: --grid 1 --block 64 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn sync_warp_returns(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    if t >= 32 {
        return;
    }
    *tile.add(t) = *input.add(t);
    thread::sync_threads(); //~ sync: barrier
    *output.add(t) = *tile.add(31 - t);
}

/// The warp reaches the barrier.
// run: --grid 1 --block 64 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn sync_warp_returns_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    if t < 32 {
        *tile.add(t) = *input.add(t);
    }
    thread::sync_threads();
    if t < 32 {
        *output.add(t) = *tile.add(31 - t);
    }
}

/// A barrier in a loop whose count depends on the thread.
// run: --grid 1 --block 64 u32[64]=ramp u32[64]
#[kernel]
pub unsafe fn sync_in_loop(counts: *const u32, output: *mut u32) {
    let t = in_block();
    let mut sum = 0;
    for step in 0..*counts.add(t) % 4 {
        sum += step;
        thread::sync_threads(); //~ sync: barrier
    }
    *output.add(t) = sum;
}

/// All threads run the same number of iterations.
// run: --grid 1 --block 64 u32[64]=ramp u32[64]
#[kernel]
pub unsafe fn sync_in_loop_fixed(counts: *const u32, output: *mut u32) {
    let t = in_block();
    let mut sum = 0;
    for step in 0..4 {
        if step < *counts.add(t) % 4 {
            sum += step;
        }
        thread::sync_threads();
    }
    *output.add(t) = sum;
}

/// A barrier in each branch: the two halves of a warp reach different ones.
// run: --grid 1 --block 32 u32[32]
#[kernel]
pub unsafe fn sync_in_both_branches(output: *mut u32) {
    let t = in_block();
    if t < 16 {
        *output.add(t) = 1;
        thread::sync_threads();
        *output.add(t) += 2;
    } else {
        *output.add(t) = 3;
        thread::sync_threads(); //~ sync: barrier
        *output.add(t) += 5;
    }
}

/// One barrier after the branches.
// run: --grid 1 --block 32 u32[32]
#[kernel]
pub unsafe fn sync_in_both_branches_fixed(output: *mut u32) {
    let t = in_block();
    *output.add(t) = if t < 16 { 1 } else { 3 };
    thread::sync_threads();
    *output.add(t) += if t < 16 { 2 } else { 5 };
}

/// The barrier expects three warps, and two arrive: they wait forever.
// run: --grid 1 --block 96 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn sync_barrier_count(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    if t < 64 {
        *tile.add(t) = *input.add(t);
        named_barrier::sync(1, 96); //~ sync: barrier
        *output.add(t) = *tile.add(63 - t);
    }
}

/// The barrier expects two warps.
// run: --grid 1 --block 96 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn sync_barrier_count_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    if t < 64 {
        *tile.add(t) = *input.add(t);
        named_barrier::sync(1, 64);
        *output.add(t) = *tile.add(63 - t);
    }
}

/// One warp waits at barrier 1, the other at barrier 2, each for both.
// run: --grid 1 --block 64 u32[64]
#[kernel]
pub unsafe fn sync_different_barriers(output: *mut u32) {
    let t = in_block();
    named_barrier::sync(1 + t as u32 / 32, 64); //~ sync: barrier
    *output.add(t) = t as u32;
}

/// Both wait at barrier 1.
// run: --grid 1 --block 64 u32[64]
#[kernel]
pub unsafe fn sync_different_barriers_fixed(output: *mut u32) {
    let t = in_block();
    named_barrier::sync(1, 64);
    *output.add(t) = t as u32;
}

/// The warps of a block meet at the barrier from two places in the program: an H200 goes on, but the programming guide
/// forbids it.
// run: --grid 1 --block 64 u32[64]=ramp u32[64]
#[kernel]
pub unsafe fn sync_barrier_of_two_places(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[u32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<u32>());
    if t < 32 {
        *tile.add(t) = *input.add(t);
        thread::sync_threads(); //~ sync: different instructions
        *output.add(t) = *tile.add(t + 32) + 1;
    } else {
        *tile.add(t) = 2 * *input.add(t);
        thread::sync_threads(); //~ sync: different instructions
        *output.add(t) = *tile.add(t - 32) + 2;
    }
}

/// From one place, behind the branches.
// run: --grid 1 --block 64 u32[64]=ramp u32[64]
#[kernel]
pub unsafe fn sync_barrier_of_two_places_fixed(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[u32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<u32>());
    *tile.add(t) = if t < 32 { *input.add(t) } else { 2 * *input.add(t) };
    thread::sync_threads();
    *output.add(t) = *tile.add(t ^ 32) + if t < 32 { 1 } else { 2 };
}
