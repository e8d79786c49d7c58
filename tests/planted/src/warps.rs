//! Planted bugs: operations of the warp whose mask differs from the lanes that execute them, and shuffles from lanes
//! that do not take part.

#[gpu_only]
use cuda_std::warp;
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::in_block;

/// A shuffle of all 32 lanes in a branch that only 16 take.
// run: --grid 1 --block 32 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn sync_shuffle_in_branch(input: *const f32, output: *mut f32) {
    let t = in_block();
    let mut value = *input.add(t);
    if t < 16 {
        value += warp::warp_shuffle_xor(warp::FULL, value, 1, 32).0; //~ sync: lanes
    }
    *output.add(t) = value;
}

/// The mask names the 16.
// run: --grid 1 --block 32 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn sync_shuffle_in_branch_fixed(input: *const f32, output: *mut f32) {
    let t = in_block();
    let mut value = *input.add(t);
    if t < 16 {
        value += warp::warp_shuffle_xor(0xffff, value, 1, 32).0;
    }
    *output.add(t) = value;
}

/// Lanes of the mask read from lanes that are not in it: what they get is undefined.
// run: --grid 1 --block 32 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn init_shuffle_from_outside(input: *const f32, output: *mut f32) {
    let t = in_block();
    let mut value = *input.add(t);
    if t < 16 {
        value += warp::warp_shuffle_down(0xffff, value, 8, 32).0; //~ init: lane
    }
    *output.add(t) = value;
}

/// The width keeps them within the 16.
// run: --grid 1 --block 32 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn init_shuffle_from_outside_fixed(input: *const f32, output: *mut f32) {
    let t = in_block();
    let mut value = *input.add(t);
    if t < 16 {
        value += warp::warp_shuffle_down(0xffff, value, 8, 16).0;
    }
    *output.add(t) = value;
}

/// The last warp of the block has 16 threads, and the reduction is one of 32.
// run: --grid 1 --block 48 f32[48]=ramp f32[2]
#[kernel]
pub unsafe fn init_partial_warp(input: *const f32, output: *mut f32) {
    let t = in_block();
    let sum = warp::warp_reduce_all(*input.add(t), |a, b| a + b); //~ init: lane
    if t % 32 == 0 {
        *output.add(t / 32) = sum;
    }
}

/// The block has whole warps.
// run: --grid 1 --block 64 f32[64]=ramp f32[2]
#[kernel]
pub unsafe fn init_partial_warp_fixed(input: *const f32, output: *mut f32) {
    let t = in_block();
    let sum = warp::warp_reduce_all(*input.add(t), |a, b| a + b);
    if t % 32 == 0 {
        *output.add(t / 32) = sum;
    }
}

/// The lanes wait with a mask that leaves themselves out.
// run: --grid 1 --block 32 u32[32]
#[kernel]
pub unsafe fn sync_mask_without_self(output: *mut u32) {
    let t = in_block();
    if t < 16 {
        *output.add(t) = 1;
    } else {
        *output.add(t) = 2;
        warp::sync_warp(0xffff); //~ sync: lane
    }
}

/// The mask names the lanes that wait.
// run: --grid 1 --block 32 u32[32]
#[kernel]
pub unsafe fn sync_mask_without_self_fixed(output: *mut u32) {
    let t = in_block();
    if t < 16 {
        *output.add(t) = 1;
    } else {
        *output.add(t) = 2;
        warp::sync_warp(0xffff_0000);
    }
}

/// Some lanes wait for the whole warp, the others for themselves.
// run: --grid 1 --block 32 u32[32]
#[kernel]
pub unsafe fn sync_different_masks(output: *mut u32) {
    let t = in_block();
    *output.add(t) = 1;
    warp::sync_warp(if t < 16 { warp::FULL } else { 0xffff_0000 }); //~ sync: lanes
    *output.add(t) += 1;
}

/// All wait for the whole warp.
// run: --grid 1 --block 32 u32[32]
#[kernel]
pub unsafe fn sync_different_masks_fixed(output: *mut u32) {
    let t = in_block();
    *output.add(t) = 1;
    warp::sync_warp(warp::FULL);
    *output.add(t) += 1;
}

/// A match of the even lanes, by a mask that names the odd ones.
// run: --grid 1 --block 32 u32[32]=ramp u32[32]
#[kernel]
pub unsafe fn sync_match_mask(input: *const u32, output: *mut u32) {
    let t = in_block();
    if t % 2 == 0 {
        *output.add(t) = warp::warp_match_any(0xaaaa_aaaa, *input.add(t) / 8); //~ sync: lane
    }
}

/// The mask names the even ones.
// run: --grid 1 --block 32 u32[32]=ramp u32[32]
#[kernel]
pub unsafe fn sync_match_mask_fixed(input: *const u32, output: *mut u32) {
    let t = in_block();
    if t % 2 == 0 {
        *output.add(t) = warp::warp_match_any(0x5555_5555, *input.add(t) / 8);
    }
}
