//! Planted bugs: races between the lanes of a warp. From Volta on, lanes need not run in lockstep: to exchange data through
//! memory, they need a barrier of the warp.

#[gpu_only]
use cuda_std::{address_space, atomic, shared, shared::SharedCell, thread, warp};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::in_block;

/// The last steps of a reduction, as they were written for Fermi: volatile, and no barrier between the lanes.
// run: --grid 1 --block 32 f32[64]=ramp f32[1]
#[kernel]
pub unsafe fn race_warp_reduction(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static SUMS: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, sums) = (in_block(), SUMS.as_mut_ptr().cast::<f32>());
    *sums.add(t) = *input.add(t) + *input.add(t + 32);
    *sums.add(t + 32) = 0.0;
    warp::sync_warp(warp::FULL);
    let mut half = 16;
    while half > 0 {
        shared::store(sums.add(t), shared::load(sums.add(t)) + shared::load(sums.add(t + half))); //~ race: shared
        half /= 2;
    }
    if t == 0 {
        *output = shared::load(sums);
    }
}

/// A barrier of the warp between reading and writing, and between the steps.
// run: --grid 1 --block 32 f32[64]=ramp f32[1]
#[kernel]
pub unsafe fn race_warp_reduction_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static SUMS: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, sums) = (in_block(), SUMS.as_mut_ptr().cast::<f32>());
    *sums.add(t) = *input.add(t) + *input.add(t + 32);
    *sums.add(t + 32) = 0.0;
    warp::sync_warp(warp::FULL);
    let mut half = 16;
    while half > 0 {
        let sum = shared::load(sums.add(t)) + shared::load(sums.add(t + half));
        warp::sync_warp(warp::FULL);
        shared::store(sums.add(t), sum);
        warp::sync_warp(warp::FULL);
        half /= 2;
    }
    if t == 0 {
        *output = shared::load(sums);
    }
}

/// Each lane reads what the next one wrote.
// run: --grid 1 --block 32 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn race_warp_neighbour(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 32]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    shared::store(tile.add(t), *input.add(t)); //~ race: shared
    *output.add(t) = shared::load(tile.add((t + 1) % 32)); //~ race: shared
}

/// A barrier of the warp is between the two.
// run: --grid 1 --block 32 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn race_warp_neighbour_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 32]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    shared::store(tile.add(t), *input.add(t));
    warp::sync_warp(warp::FULL);
    *output.add(t) = shared::load(tile.add((t + 1) % 32));
}

/// Each half of the warp waits for itself, and then reads what the other half wrote.
// run: --grid 1 --block 32 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn race_half_warps(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 32]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    shared::store(tile.add(t), *input.add(t)); //~ race: shared
    if t < 16 {
        warp::sync_warp(0x0000_ffff);
    } else {
        warp::sync_warp(0xffff_0000);
    }
    *output.add(t) = shared::load(tile.add(t ^ 16)); //~ race: shared
}

/// The halves wait for each other, too.
// run: --grid 1 --block 32 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn race_half_warps_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 32]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    shared::store(tile.add(t), *input.add(t));
    if t < 16 {
        warp::sync_warp(warp::FULL);
    } else {
        warp::sync_warp(warp::FULL);
    }
    *output.add(t) = shared::load(tile.add(t ^ 16));
}

/// Each lane sets its bit in a shared word.
// run: --grid 1 --block 32 u32[32]=ramp u32[1]
#[kernel]
pub unsafe fn race_warp_bits(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static BITS: SharedCell<u32> = SharedCell::uninit();
    let (t, bits) = (in_block(), BITS.as_mut_ptr());
    if t == 0 {
        *bits = 0;
    }
    thread::sync_threads();
    if *input.add(t) % 3 == 0 {
        shared::store(bits, shared::load(bits) | 1 << t); //~ race: shared
    }
    thread::sync_threads();
    if t == 0 {
        *output = *bits;
    }
}

/// An atomic operation sets the bit.
// run: --grid 1 --block 32 u32[32]=ramp u32[1]
#[kernel]
pub unsafe fn race_warp_bits_fixed(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static BITS: SharedCell<u32> = SharedCell::uninit();
    let (t, bits) = (in_block(), BITS.as_mut_ptr());
    if t == 0 {
        *bits = 0;
    }
    thread::sync_threads();
    if *input.add(t) % 3 == 0 {
        atomic::or(bits, 1 << t);
    }
    thread::sync_threads();
    if t == 0 {
        *output = *bits;
    }
}

/// The lanes of one branch write, those of the other read: the hardware chooses which branch runs first.
// run: --grid 1 --block 32 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn race_branches(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 32]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    shared::store(tile.add(t), 0.0);
    warp::sync_warp(warp::FULL);
    if t % 2 == 0 {
        shared::store(tile.add(t), *input.add(t)); //~ race: shared
    } else {
        *output.add(t) = shared::load(tile.add(t - 1)); //~ race: shared
    }
}

/// All writes come before all reads.
// run: --grid 1 --block 32 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn race_branches_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 32]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    shared::store(tile.add(t), 0.0);
    warp::sync_warp(warp::FULL);
    if t % 2 == 0 {
        shared::store(tile.add(t), *input.add(t));
    }
    warp::sync_warp(warp::FULL);
    if t % 2 == 1 {
        *output.add(t) = shared::load(tile.add(t - 1));
    }
}

/// All lanes write their value to one address: which value remains is undefined.
// run: --grid 1 --block 32 u32[32]=ramp u32[1]
#[kernel]
pub unsafe fn race_last_value(input: *const u32, output: *mut u32) {
    let t = in_block();
    if *input.add(t) % 2 == 1 {
        *output = *input.add(t); //~ race: global
    }
}

/// The greatest value remains.
// run: --grid 1 --block 32 u32[32]=ramp u32[1]
#[kernel]
pub unsafe fn race_last_value_fixed(input: *const u32, output: *mut u32) {
    let t = in_block();
    if *input.add(t) % 2 == 1 {
        atomic::max(output, *input.add(t));
    }
}
