//! What the reductions share: operations, words of several numbers, and how values are combined in
//! a thread, a block and a grid.
//!
//! The values of a warp are combined by shuffles ([`reduce_lanes`]), those of a block in shared
//! memory ([`reduce_block`]), and those of all blocks in global memory ([`reduce_blocks`]).
//!
//! # One launch for all blocks
//!
//! Blocks have no common barrier, so a second launch would have to combine their results.
//! [`reduce_blocks`] avoids it: the last block waits for the others. The usual way is a counter,
//! but it is slow: each block stores its result, waits until that is visible (a fence), and adds to
//! the counter; whoever is last then reads the results. That is four trips to L2, one after the
//! other. Here each block stores its result together with a mark in one word of 8 bytes, which
//! becomes visible at once: there is nothing to order, so no fence and no counter are needed. That
//! is two trips, and no block waits for the first.
//!
//! The word that the last block waits for holds the value, so its loads and stores are atomic, but
//! need no order (`relaxed`).
//!
//! # When a block may wait for another
//!
//! `cuda_std::thread` and the exercise `reduce_once` say that blocks cannot wait for each other: a
//! waiting block keeps its place on a multiprocessor, and the block that it waits for may need just
//! that place. Here it is correct, under one condition: a block waits only for blocks with lower
//! numbers, and **the GPU starts blocks in the order of their numbers**. Then those run, or have
//! ended, and none of them waits for a higher one. CUDA does not promise this order; GPUs keep to
//! it, and NVIDIA's own libraries rely on it (CUB's scan). A kernel that must not rely on it lets
//! each block draw its number from an atomic counter when it starts, at the price of one more trip
//! to L2, or is launched so that all blocks are resident (`cuLaunchCooperativeKernel`).

mod operation;

use cuda_std::mem;
use cuda_std::{address_space, atomic, shared::SharedCell, thread, unroll, warp};

pub(crate) use operation::{Maximum, Minimum, Number, Operation, Product, Sum, Word};

/// The indices of a thread: `first`, `first + step`, ... below `end`.
#[derive(Clone, Copy)]
pub(crate) struct Indices {
    pub first: usize,
    pub step: usize,
    pub end: usize,
}

impl Indices {
    /// For indices of numbers: those of the words of four numbers.
    #[inline(always)]
    pub fn quads(self) -> Self {
        Self { end: self.end / 4, ..self }
    }

    /// Those of the numbers after the last word.
    #[inline(always)]
    pub fn after_quads(self) -> Self {
        Self { first: self.end / 4 * 4 + self.first, ..self }
    }
}

/// Loads something for each of a thread's indices, and combines what `number` makes of it. Each
/// round issues `TOGETHER` loads before it uses the first. Full rounds check no bounds, so that no
/// load waits for a condition; the last round checks each index, and takes `nothing` for those
/// beyond the end.
#[inline(always)]
pub(crate) fn reduce_indices<T: Copy, O: Operation<T>, Loaded: Copy, const TOGETHER: usize>(
    indices: Indices,
    nothing: Loaded,
    load: impl Fn(usize) -> Loaded,
    number: impl Fn(Loaded) -> T,
) -> T {
    let Indices { first, step, end } = indices;
    let mut value = O::IDENTITY;
    let mut loaded = [nothing; TOGETHER];
    let mut i = first;
    while i + (TOGETHER - 1) * step < end {
        unroll::<TOGETHER>(|k| loaded[k] = load(i + k * step));
        unroll::<TOGETHER>(|k| value = O::combine(value, number(loaded[k])));
        i += TOGETHER * step;
    }
    if i < end {
        unroll::<TOGETHER>(|k| {
            loaded[k] = if i + k * step < end { load(i + k * step) } else { nothing }
        });
        unroll::<TOGETHER>(|k| value = O::combine(value, number(loaded[k])));
    }
    value
}

/// Combines a thread's numbers of an array, in words of 16 bytes if it is aligned to them,
/// otherwise one by one.
///
/// # Safety
/// `input` holds numbers below the end of the indices, which nothing writes during the launch.
#[inline(always)]
pub(crate) unsafe fn reduce_array<T: Number, O: Operation<T>, const TOGETHER: usize>(
    input: *const T,
    numbers: Indices,
) -> T {
    // SAFETY: the input holds the numbers; words of four start on 16 bytes, and end before the
    // numbers do.
    unsafe {
        if !input.addr().is_multiple_of(16) {
            return reduce_words::<T, O, T, TOGETHER>(input, numbers);
        }
        let value = reduce_words::<T, O, T::Quad, TOGETHER>(input.cast(), numbers.quads());
        O::combine(value, reduce_words::<T, O, T, 1>(input, numbers.after_quads()))
    }
}

/// Combines a thread's words of an array.
///
/// # Safety
/// As for [`reduce_array`].
#[inline(always)]
unsafe fn reduce_words<T: Number, O: Operation<T>, W: Word<T>, const TOGETHER: usize>(
    input: *const W,
    words: Indices,
) -> T {
    // SAFETY: `reduce_indices` asks for words below the end, which the array has.
    let load = |i| unsafe { mem::load_ca(input.add(i)) };
    reduce_indices::<T, O, W, TOGETHER>(words, W::all(O::IDENTITY), load, |word| {
        word.combined::<O>()
    })
}

/// Combines the values of each `LANES` neighbouring lanes of a warp; the first one has the result.
///
/// # Safety
/// All lanes of the warp are here.
#[inline(always)]
pub(crate) unsafe fn reduce_lanes<T: Number, O: Operation<T>, const LANES: u32>(mut value: T) -> T {
    unroll::<5>(|round| {
        let distance = LANES >> (round + 1);
        if distance > 0 {
            // SAFETY: all lanes are here.
            value = O::combine(value, unsafe {
                warp::warp_shuffle_down(warp::FULL, value, distance, LANES).0
            });
        }
    });
    value
}

/// Combines the values of a block's threads; the first one has the result: each warp by shuffles,
/// then one warp from the `4 * QUADS` values of the warps. These are a few words of shared memory,
/// and combining them takes less time than more shuffles, each of which waits for the one before.
/// Stages 0 and 1 are separate, so that no barrier is needed between two calls.
///
/// # Safety
/// All threads of the block are here, `4 * QUADS` warps in x.
#[inline(always)]
pub(crate) unsafe fn reduce_block<T: Number, O: Operation<T>, const QUADS: usize>(
    value: T,
    stage: usize,
) -> T {
    #[address_space(shared)]
    static STAGES: SharedCell<[[u32; 16]; 2]> = SharedCell::uninit();
    const { assert!(size_of::<T>() == 4 && align_of::<T>() == 4 && QUADS <= 4) }
    let warp_values = STAGES.as_mut_ptr().cast::<[u32; 16]>().wrapping_add(stage).cast::<T>();
    let t = thread::thread_idx_x() as usize;
    // SAFETY: a stage is aligned to 16 bytes, and has a place for each warp.
    unsafe {
        let mut value = reduce_lanes::<T, O, 32>(value);
        if t % 32 == 0 {
            *warp_values.add(t / 32) = value;
        }
        thread::sync_threads();
        // The other warps have nothing to do.
        if t < 32 {
            value = O::IDENTITY;
            let quads = warp_values.cast::<T::Quad>();
            unroll::<QUADS>(|k| value = O::combine(value, (*quads.add(k)).combined::<O>()));
        }
        value
    }
}

/// The threads of a block that [`reduce_blocks`] is for.
pub(crate) const BLOCK: u32 = 512;

/// Combines the values of `blocks` blocks, of which this is number `block`: `Some` in the first
/// thread of the last one only. `value` is in the block's first thread.
///
/// # Safety
/// All threads of the block are here, [`BLOCK`] of them in x. `slots` has a place for each block,
/// zero on entry, and left zero. Blocks with lower numbers have lower indices in the grid.
#[inline(always)]
pub(crate) unsafe fn reduce_blocks<T: Number, O: Operation<T>>(
    value: T,
    block: usize,
    blocks: usize,
    slots: *mut u64,
) -> Option<T> {
    let t = thread::thread_idx_x() as usize;
    if blocks == 1 {
        return (t == 0).then_some(value);
    }
    // SAFETY: each block has its slot; the last one empties it.
    unsafe {
        if block + 1 < blocks {
            if t == 0 {
                publish(slots.add(block), value);
            }
            return None;
        }
        let mut value = if t == 0 { value } else { O::IDENTITY };
        let mut i = t;
        while i + 1 < blocks {
            value = O::combine(value, wait_for(slots.add(i)));
            i += BLOCK as usize;
        }
        let value = reduce_block::<T, O, 4>(value, 1);
        (t == 0).then_some(value)
    }
}

/// What a slot holds besides a value.
const MARK: u64 = 1 << 32;

/// Publishes a block's value.
///
/// # Safety
/// The slot is this thread's to write, and empty.
#[inline(always)]
pub(crate) unsafe fn publish<T: Number>(slot: *mut u64, value: T) {
    // SAFETY: the slot is this thread's to write.
    unsafe { atomic::store_relaxed(slot, MARK | u64::from(value.bits())) }
}

/// Waits for a block's value, and empties its slot for the next launch.
///
/// # Safety
/// A running block will write the slot, or has; no other thread reads it.
#[inline(always)]
pub(crate) unsafe fn wait_for<T: Number>(slot: *mut u64) -> T {
    // SAFETY: the slot is there, and no other thread reads it, so none misses what it held.
    unsafe {
        loop {
            let word = atomic::load_relaxed(slot);
            if word & MARK != 0 {
                atomic::store_relaxed(slot, 0);
                return T::of_bits(word as u32);
            }
        }
    }
}
