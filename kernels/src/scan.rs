//! Prefix sums of a block, inclusive: each result is the sum of all values up to its own.
//!
//! Each sum depends on the one before, and still all can be computed in parallel. The kernels of
//! this file scan 256 values in a block. Then [`scan_shuffle`] scans the blocks' totals, and
//! [`scan_add`] adds to each block the total of those before it. So every sum is written, read and
//! written again; [`crate::scan_tiles`] avoids that.
//!
//! | kernel | how a block scans | what it wastes |
//! | --- | --- | --- |
//! | [`scan_hillis_steele`] | each value adds the one 1, 2, 4, ... before | 7 additions a value |
//! | [`scan_blelloch`] | a tree, up and down: 2 additions a value | bank conflicts, idle lanes |
//! | [`scan_padded`] | the same in padded memory | barriers: 17 |
//! | [`scan_shuffle`] | warps by shuffles, then the warps' totals | |
//!
//! What to look for: warp instructions and barriers; the bank conflicts of the tree, whose lanes
//! access words 2, 4, 8, ... apart, and none with a word of padding after every 32
//! (`l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum`, `_op_st`).
//!
//! # Where `unsafe` begins
//!
//! In the tree a thread reads and writes what others wrote in the step before. The programmer
//! promises that no two threads have the same pair of nodes in one step, and that a barrier
//! separates the steps. The other kernels are safe functions in phases.
//!
//! Sources: W. D. Hillis, G. L. Steele, "Data Parallel Algorithms" (1986); G. E. Blelloch, "Prefix
//! Sums and Their Applications" (1990); M. Harris, S. Sengupta, J. D. Owens, "Parallel Prefix Sum
//! (Scan) with CUDA" (GPU Gems 3, chapter 39), whose padding is for 16 banks.

use cuda_std::phases::{Block, BlockSlice, Shared};
use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread, unroll, warp};

/// Values of a block, and threads of all blocks but the tree's, which has half as many.
pub const BLOCK: u32 = 256;

/// Threads of a block of the tree: one for each pair of values.
pub const TREE_BLOCK: u32 = BLOCK / 2;

/// Hillis and Steele: in eight steps each value adds the one 1, 2, 4, ..., 128 places before it.
///
/// A step reads one array and writes the other, so it needs one barrier.
#[kernel(block(256), linear)]
pub fn scan_hillis_steele(
    mut block: Block<256>,
    mut even: Shared<[u32; 256]>,
    mut odd: Shared<[u32; 256]>,
    values: &[u32],
    mut sums: DisjointSlice<u32>,
    mut totals: BlockSlice<u32>,
) {
    block
        .fill(&mut even, |thread, _| values.get(thread.linear_index().get()).copied().unwrap_or(0));
    let mut distance = 1;
    while distance < BLOCK {
        block.fill(&mut odd, |thread, i| with_earlier(even.read(thread), i, distance));
        block.fill(&mut even, |thread, i| with_earlier(odd.read(thread), i, 2 * distance));
        distance *= 4;
    }
    block.finish(|thread| {
        let even = even.read(thread);
        if let Some(sum) = sums.get_mut(thread.linear_index()) {
            *sum = even[thread.number() as usize];
        }
        if let Some(total) = totals.get_mut(thread) {
            *total = even[255];
        }
    });
}

/// The sum of a value and the one `distance` places before it, if there is one.
#[gpu_only]
#[inline(always)]
fn with_earlier(values: &[u32; 256], i: u32, distance: u32) -> u32 {
    let i = i as usize;
    let earlier = i.checked_sub(distance as usize).map_or(0, |earlier| values[earlier]);
    values[i] + earlier
}

/// Blelloch: a tree of sums upwards; downwards each node passes on the sum of all before it.
///
/// # Safety
/// `totals` has an element for each block.
#[kernel(block(128), linear)]
pub unsafe fn scan_blelloch(values: &[u32], sums: DisjointSlice<u32>, totals: DisjointSlice<u32>) {
    tree(values, sums, totals, |i| i as usize);
}

/// The same with a word of padding after every `2^log_banks` words: 5 where there are 32 banks.
///
/// # Safety
/// As for [`scan_blelloch`]. `log_banks` is below 32.
#[kernel(block(128), linear)]
pub unsafe fn scan_padded(
    values: &[u32],
    sums: DisjointSlice<u32>,
    totals: DisjointSlice<u32>,
    log_banks: u32,
) {
    tree(values, sums, totals, |i| (i + (i >> log_banks)) as usize);
}

/// The tree of a block, in which value `i` is at `place(i)`.
///
/// # Safety
/// Blocks have 128 threads. Places differ, and are at most `2 * i`.
#[gpu_only]
#[inline(always)]
unsafe fn tree(
    values: &[u32],
    mut sums: DisjointSlice<u32>,
    mut totals: DisjointSlice<u32>,
    place: impl Fn(u32) -> usize,
) {
    #[address_space(shared)]
    static STAGE: SharedCell<[u32; 2 * BLOCK as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<u32>();
    // SAFETY: the stage has every place. In one step each pair of nodes has one thread.
    unsafe {
        let at = |i: u32| stage.add(place(i));
        let (block, t) = (thread::block_idx_x() as usize, thread::thread_idx_x());
        let index = |i: u32| block * BLOCK as usize + i as usize;
        let value = |i: u32| values.get(index(i)).copied().unwrap_or(0);
        let (first, second) = (value(t), value(t + TREE_BLOCK));
        *at(t) = first;
        *at(t + TREE_BLOCK) = second;

        let (mut pairs, mut distance) = (TREE_BLOCK, 1);
        while pairs > 0 {
            thread::sync_threads();
            if t < pairs {
                let left = 2 * distance * t + distance - 1;
                *at(left + distance) += *at(left);
            }
            (pairs, distance) = (pairs / 2, 2 * distance);
        }
        if t == 0 {
            // The root: all values, before which there are none.
            if let Some(total) = totals.element_mut(block) {
                *total = *at(BLOCK - 1);
            }
            *at(BLOCK - 1) = 0;
        }
        (pairs, distance) = (1, TREE_BLOCK);
        while pairs < BLOCK {
            thread::sync_threads();
            if t < pairs {
                let left = 2 * distance * t + distance - 1;
                let before = *at(left + distance);
                *at(left + distance) = before + *at(left);
                *at(left) = before;
            }
            (pairs, distance) = (2 * pairs, distance / 2);
        }

        thread::sync_threads();
        let mut write = |i: u32, value: u32| {
            if let Some(sum) = sums.element_mut(index(i)) {
                *sum = *at(i) + value;
            }
        };
        write(t, first);
        write(t + TREE_BLOCK, second);
    }
}

/// Shuffles: a warp scans its values in registers, and each thread adds the totals of the warps
/// before its own.
#[kernel(block(256), linear)]
pub fn scan_shuffle(
    mut block: Block<256>,
    mut warp_totals: Shared<[u32; 8]>,
    values: &[u32],
    mut sums: DisjointSlice<u32>,
    mut totals: BlockSlice<u32>,
) {
    let value = values.get(thread::linear_index().get()).copied().unwrap_or(0);
    // SAFETY: all lanes of each warp are here.
    let (sum, warp_total) = unsafe { scan_warp(value) };
    block.fill_by_warp(&mut warp_totals, |_| warp_total);
    block.finish(|thread| {
        let (before, total) = earlier_warps(warp_totals.read(thread), thread.number() / 32);
        if let Some(to) = sums.get_mut(thread.linear_index()) {
            *to = before + sum;
        }
        if let Some(to) = totals.get_mut(thread) {
            *to = total;
        }
    });
}

/// Adds to the sums of each block the total of all blocks before it.
#[kernel(block(256), linear)]
pub fn scan_add(totals: &[u32], mut sums: DisjointSlice<u32>) {
    let block = thread::block_idx_x() as usize;
    if let Some(before) = block.checked_sub(1).and_then(|before| totals.get(before))
        && let Some(sum) = sums.get_mut(thread::linear_index())
    {
        *sum += before;
    }
}

/// A lane's sum of all values up to its own, and the sum of all 32.
///
/// # Safety
/// All lanes of the warp are here.
#[gpu_only]
#[inline(always)]
pub(crate) unsafe fn scan_warp(value: u32) -> (u32, u32) {
    let mut sum = value;
    unroll::<5>(|step| {
        // SAFETY: all lanes are here. The second result says whether there is such a lane.
        let (earlier, is_lane) = unsafe { warp::warp_shuffle_up(warp::FULL, sum, 1 << step, 32) };
        sum += if is_lane { earlier } else { 0 };
    });
    // SAFETY: as above.
    (sum, unsafe { warp::warp_shuffle_idx(warp::FULL, sum, 31, 32).0 })
}

/// The total of the warps before this one, and of all.
#[gpu_only]
#[inline(always)]
pub(crate) fn earlier_warps(totals: &[u32; 8], warp: u32) -> (u32, u32) {
    let (mut before, mut all) = (0, 0);
    unroll::<8>(|other| {
        before += if (other as u32) < warp { totals[other] } else { 0 };
        all += totals[other];
    });
    (before, all)
}
