//! Shuffles, votes, matches, reductions: one warp.

#[gpu_only]
use cuda_std::{address_space, shared, shared::SharedCell, thread, warp};
use cuda_std::{gpu_only, kernel};

/// Shuffles a word in all four ways; the second half of each output says whether the source lane
/// was valid.
///
/// # Safety
/// `input` has an element for each thread, `output` eight.
#[kernel]
pub unsafe fn warp_shuffles(input: *const u32, output: *mut u32) {
    let i = thread::index_1d() as usize;
    let value = *input.add(i);
    let results = [
        warp::warp_shuffle_up(warp::FULL, value, 1, 32), // ptx: shfl.sync.up.b32
        warp::warp_shuffle_down(warp::FULL, value, 2, 16), // ptx: shfl.sync.down.b32
        warp::warp_shuffle_idx(warp::FULL, value, 5, 8), // ptx: shfl.sync.idx.b32
        warp::warp_shuffle_xor(warp::FULL, value, 4, 32), // ptx: shfl.sync.bfly.b32
    ];
    for (place, (other, inside)) in results.into_iter().enumerate() {
        *output.add(8 * i + place) = other;
        *output.add(8 * i + 4 + place) = u32::from(inside);
    }
}

/// Shuffles values of every type to the next lane, around the warp.
///
/// # Safety
/// Each output has an element for each thread.
#[kernel]
pub unsafe fn warp_shuffle_types(small: *mut i8, float: *mut f32, wide: *mut u64, double: *mut f64) {
    let i = thread::index_1d() as usize;
    let next = warp::lane_id() + 1;
    *small.add(i) = warp::warp_shuffle_idx(warp::FULL, -(i as i8), next, 32).0;
    *float.add(i) = warp::warp_shuffle_idx(warp::FULL, i as f32 * 0.5, next, 32).0;
    *wide.add(i) = warp::warp_shuffle_idx(warp::FULL, (i as u64) << 32 | 7, next, 32).0;
    *double.add(i) = warp::warp_shuffle_idx(warp::FULL, i as f64 * 0.25, next, 32).0;
}

/// Votes on whether the input is odd.
///
/// # Safety
/// `input` has an element for each thread, `output` four.
#[kernel]
pub unsafe fn warp_votes(input: *const u32, output: *mut u32) {
    let i = thread::index_1d() as usize;
    let odd = *input.add(i) % 2 == 1;
    let results = [
        u32::from(warp::warp_vote_all(warp::FULL, odd)), // ptx: vote.sync.all.pred
        u32::from(warp::warp_vote_any(warp::FULL, odd)), // ptx: vote.sync.any.pred
        u32::from(warp::warp_vote_uniform(warp::FULL, odd)), // ptx: vote.sync.uni.pred
        warp::warp_vote_ballot(warp::FULL, odd),         // ptx: vote.sync.ballot.b32
    ];
    for (place, result) in results.into_iter().enumerate() {
        *output.add(4 * i + place) = result;
    }
}

/// The lanes with the same word, with the same double, and all lanes if all have the same.
///
/// # Safety
/// The inputs have an element for each thread, `output` four.
#[kernel]
pub unsafe fn warp_matches(words: *const i32, doubles: *const f64, output: *mut u32) {
    let i = thread::index_1d() as usize;
    let (word, double) = (*words.add(i), *doubles.add(i));
    let results = [
        warp::warp_match_any(warp::FULL, word),                // ptx: match.any.sync.b32
        warp::warp_match_any(warp::FULL, double),              // ptx: match.any.sync.b64
        warp::warp_match_all(warp::FULL, word).unwrap_or(0),   // ptx: match.all.sync.b32
        warp::warp_match_all(warp::FULL, double).unwrap_or(0), // ptx: match.all.sync.b64
    ];
    for (place, result) in results.into_iter().enumerate() {
        *output.add(4 * i + place) = result;
    }
}

/// The sum of the warp in every lane, and its maximum in lane 0.
///
/// # Safety
/// `input` and `sums` have an element for each thread, `maximum` one for each warp.
#[kernel]
pub unsafe fn warp_reductions(input: *const f32, sums: *mut f32, maximum: *mut f32) {
    let i = thread::index_1d() as usize;
    let value = *input.add(i);
    *sums.add(i) = warp::warp_reduce_all(value, |a, b| a + b); // ptx: shfl.sync.bfly.b32
    let greatest = warp::warp_reduce_first(value, f32::max); // ptx: shfl.sync.down.b32
    if warp::lane_id() == 0 {
        *maximum.add(i / 32) = greatest;
    }
}

/// Reverses the warp's input through shared memory, ordered by the warp's own barrier.
///
/// # Safety
/// One warp a block; `input` and `output` have an element for each thread.
#[kernel(launch_bounds(32))]
pub unsafe fn warp_barrier(input: *const u32, output: *mut u32) {
    let i = thread::index_1d() as usize;
    let lane = warp::lane_id() as usize;
    #[address_space(shared)]
    static STAGE: SharedCell<[u32; 32]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<u32>();
    shared::store(stage.add(lane), *input.add(i)); // ptx: st.volatile.shared.b32
    warp::sync_warp(warp::FULL); // ptx: bar.warp.sync
    *output.add(i) = shared::load(stage.add(31 - lane)); // ptx: ld.volatile.shared.b32
}

/// The sum of a block of 64 in shared memory: one barrier of the block, then the last warp alone,
/// unrolled, in step by its own barriers.
///
/// # Safety
/// Blocks of 64 threads; `input` has an element for each thread, `sums` one for each block.
#[kernel(launch_bounds(64))]
pub unsafe fn warp_unrolled_sum(input: *const i32, sums: *mut i32) {
    let t = thread::thread_idx_x() as usize;
    #[address_space(shared)]
    static STAGE: SharedCell<[i32; 64]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<i32>();
    *stage.add(t) = *input.add(thread::index_1d() as usize);
    thread::sync_threads();
    if t < 32 {
        let mut sum = shared::load(stage.add(t)); // ptx: ld.volatile.shared.b32
        for step in [32, 16, 8, 4, 2, 1] {
            sum += shared::load(stage.add(t + step));
            warp::sync_warp(warp::FULL); // ptx: bar.warp.sync
            shared::store(stage.add(t), sum); // ptx: st.volatile.shared.b32
            warp::sync_warp(warp::FULL);
        }
        if t == 0 {
            *sums.add(thread::block_idx_x() as usize) = sum;
        }
    }
}

/// The lane masks, and the lanes that run together.
///
/// # Safety
/// `output` has six elements for each thread.
#[kernel]
pub unsafe fn warp_masks(output: *mut u32) {
    let masks = [
        warp::lane_mask_eq(), // ptx: %lanemask_eq
        warp::lane_mask_lt(), // ptx: %lanemask_lt
        warp::lane_mask_le(), // ptx: %lanemask_le
        warp::lane_mask_gt(), // ptx: %lanemask_gt
        warp::lane_mask_ge(), // ptx: %lanemask_ge
        warp::activemask(),   // ptx: activemask.b32
    ];
    let start = thread::index_1d() as usize * masks.len();
    for (place, mask) in masks.into_iter().enumerate() {
        *output.add(start + place) = mask;
    }
}

/// Reductions in one instruction, of unsigned and signed words: nine results a thread.
///
/// # Safety
/// `input` has an element for each thread, `output` nine.
#[cfg(any(target_feature = "sm_80", not(target_arch = "nvptx64")))]
#[kernel]
pub unsafe fn warp_redux(input: *const u32, output: *mut u32) {
    use warp::WarpReductionOp::{Add, And, Max, Min, Or, Xor};
    let i = thread::index_1d() as usize;
    let value = *input.add(i);
    let signed = value.cast_signed();
    let results = [
        warp::warp_reduce(warp::FULL, value, Add), // ptx: redux.sync.add.s32
        warp::warp_reduce(warp::FULL, value, Min), // ptx: redux.sync.min.u32
        warp::warp_reduce(warp::FULL, value, Max), // ptx: redux.sync.max.u32
        warp::warp_reduce(warp::FULL, value, And), // ptx: redux.sync.and.b32
        warp::warp_reduce(warp::FULL, value, Or),  // ptx: redux.sync.or.b32
        warp::warp_reduce(warp::FULL, value, Xor), // ptx: redux.sync.xor.b32
        warp::warp_reduce(warp::FULL, signed, Add).cast_unsigned(),
        warp::warp_reduce(warp::FULL, signed, Min).cast_unsigned(), // ptx: redux.sync.min.s32
        warp::warp_reduce(warp::FULL, signed, Max).cast_unsigned(), // ptx: redux.sync.max.s32
    ];
    for (place, result) in results.into_iter().enumerate() {
        *output.add(9 * i + place) = result;
    }
}
