//! Two stages: the next tile is on its way while the block works on one

use cuda_std::prelude::*;
use cuda_std::{pipeline, shared::SharedAddress, unroll};

/// Floats of a tile.
const TILE: usize = 1024;

/// Adds up what `work` makes of each tile, a sum for each thread.
#[kernel(block(256), linear)]
pub fn smooth(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGES: SharedCell<[[f32; TILE]; 2]> = SharedCell::uninit();
    let stages = STAGES.as_mut_ptr();
    let (mut tile, step) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    let (mut sum, mut now) = (0.0, 0);
    // SAFETY: no thread uses the stage yet.
    unsafe { start_copies(&raw mut (*stages)[now], input, tile) };
    while tile * TILE < input.len() {
        // The only group on its way is this tile's.
        pipeline::wait_prior::<0>();
        thread::sync_threads();
        // SAFETY: before the barrier, all threads have read the other stage.
        unsafe { start_copies(&raw mut (*stages)[1 - now], input, tile + step) };
        // SAFETY: all copies of this tile have arrived.
        sum += work(unsafe { &(*stages)[now] });
        (now, tile) = (1 - now, tile + step);
    }
    if let Some(to) = output.get_mut(thread::linear_index()) {
        *to = sum;
    }
}

/// Starts this thread's copies of a tile, as a group; past the end of `input` it copies zeros.
///
/// # Safety
/// The stage is in shared memory. No thread uses it until the copies are waited for.
#[inline(always)]
unsafe fn start_copies(stage: *mut [f32; TILE], input: &[f32], tile: usize) {
    let t = thread::thread_idx_x();
    let to = SharedAddress::of(stage).cast::<f32>();
    unroll::<4>(|part| {
        let i = t + 256 * part as u32;
        // SAFETY: these floats are this thread's.
        unsafe { pipeline::fetch(to.add(i), input.get(tile * TILE + i as usize)) };
    });
    pipeline::commit();
}

/// Adds up the 24 floats after each of this thread's four. After the tile's last float comes its
/// first.
#[inline(always)]
fn work(tile: &[f32; TILE]) -> f32 {
    let t = thread::thread_idx_x() as usize;
    let mut sum = 0.0;
    unroll::<4>(|part| {
        unroll::<24>(|k| sum += tile[(t + 256 * part + k + 1) % TILE]);
    });
    sum
}
