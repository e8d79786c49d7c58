//! Two stages
//!
//! Each block walks over tiles of 1024 floats. It copies a tile to shared memory, waits for it, and
//! then works on it. Nothing is copied while it works, and nothing is worked on while it waits.
//!
//! With two stages (two tiles in shared memory), the next tile is on its way while the block works
//! on this one. `pipeline::copy` and `fetch` only start a copy (`cp.async`). `pipeline::commit`
//! makes a group of the copies that the thread has started since its last group, and
//! `pipeline::wait_prior::<N>` waits until at most the thread's last `N` groups are still on their
//! way. It does not wait for other threads' copies: after its wait, a thread needs a barrier before
//! it reads what others have copied.
//!
//! # Task
//!
//! Give `smooth` two stages: start the copies of the next tile before the block works on this one.
//! Two questions decide whether it is right. How many groups may still be on their way when the
//! block begins to work? Have all threads read a stage before it is overwritten? One barrier for
//! each tile is enough. In the launch whose time is predicted, shared memory has room for two
//! tiles.

use cuda_std::prelude::*;
use cuda_std::{pipeline, shared::SharedAddress, unroll};

/// Floats of a tile.
const TILE: usize = 1024;

/// Adds up what `work` makes of each tile, a sum for each thread.
#[kernel(block(256), linear)]
pub fn smooth(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; TILE]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (mut tile, step) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    let mut sum = 0.0;
    while tile * TILE < input.len() {
        // TODO: the next tile could be on its way while the block works on this one.
        // SAFETY: all threads have read the stage.
        unsafe { start_copies(stage, input, tile) };
        pipeline::wait_prior::<0>();
        thread::sync_threads();
        // SAFETY: all copies have arrived, and the next ones start after the next barrier.
        sum += work(unsafe { &*stage });
        thread::sync_threads();
        tile += step;
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
