//! A decoupled look-back, by which a scan reads its data once: a block publishes its value, adds
//! what the blocks before it have published, and publishes the sum. [`crate::scan_tiles`] scans so.
//! The kernels of this file show what the flag has to be: blocks of one thread, at most 64, add the
//! numbers of the blocks before them. [`crate::consistency`] has the rest of that lab, its shapes
//! and its sources.
//!
//! # When may a block wait?
//!
//! Only for blocks that have started, and that wait for such blocks only. Here a block waits for
//! those with lower numbers. Blocks start in any order, so either all are resident at once, as
//! in this file (a cooperative launch), or a block takes its number when it starts, as in the scan.

#[cfg(target_arch = "nvptx64")]
use cuda_std::atomic::{load_acquire, load_relaxed, store_relaxed, store_release};
use cuda_std::{gpu_only, kernel};
#[gpu_only]
use cuda_std::{thread, warp};

#[gpu_only]
use crate::consistency::packed;

/// Words from a block's entry in the table to the next.
pub const ENTRY: usize = 4;

/// The sum of a block's own value and those of the blocks before it. The block first publishes its
/// own value (even status), then the sum (odd status). It adds values until it finds a sum.
#[gpu_only]
#[inline(always)]
pub(crate) fn look_back(
    block: u32,
    value: u32,
    number: u32,
    publish: impl Fn(u32, u32, u32),
    find: impl Fn(u32) -> (u32, u32),
) -> u32 {
    let mut sum = value;
    publish(block, 2 * number, sum);
    let mut at = block;
    while at > 0 {
        at -= 1;
        let (status, value) = find(at);
        sum += value;
        if status % 2 == 1 {
            break;
        }
    }
    publish(block, 2 * number + 1, sum);
    sum
}

/// The same by a warp, whose lanes look at 32 blocks at a time. Status and value are one word.
///
/// # Safety
/// All lanes of the warp are here. `table` points to an entry for each block up to this one, which
/// earlier launches left or 0.
#[gpu_only]
#[inline(always)]
pub(crate) unsafe fn look_back_by_warp(
    table: *mut u64,
    block: u32,
    value: u32,
    number: u32,
) -> u32 {
    let lane = thread::lane_id();
    // SAFETY: the table has the entries of this block and of those before it, and all lanes are
    // here.
    unsafe {
        if lane == 0 {
            publish_packed(table.add(block as usize), 2 * number, value);
        }
        let (mut sum, mut end) = (value, block);
        while end > 0 {
            // Lane 0 looks at the nearest block. Before the first one the sum is 0.
            let (status, value) = match end.checked_sub(lane + 1) {
                Some(at) => find_packed(table.add(at as usize), number),
                None => (1, 0),
            };
            let sums = warp::warp_vote_ballot(warp::FULL, status % 2 == 1);
            let counts = lane <= sums.trailing_zeros();
            sum += warp::warp_reduce_all(if counts { value } else { 0 }, |a, b| a + b);
            end = if sums == 0 { end - 32 } else { 0 };
        }
        if lane == 0 {
            publish_packed(table.add(block as usize), 2 * number + 1, sum);
        }
        sum
    }
}

/// Publishes a status and a value in one relaxed word.
///
/// # Safety
/// `entry` points to a word of global memory.
#[gpu_only]
#[inline(always)]
pub(crate) unsafe fn publish_packed(entry: *mut u64, status: u32, value: u32) {
    // SAFETY: the caller promises the word.
    unsafe { store_relaxed(entry, packed(status, value)) };
}

/// Waits for the status and value of this launch.
///
/// # Safety
/// As for [`publish_packed`].
#[gpu_only]
#[inline(always)]
pub(crate) unsafe fn find_packed(entry: *mut u64, number: u32) -> (u32, u32) {
    loop {
        // SAFETY: the caller promises the word.
        let word = unsafe { load_relaxed(entry) };
        let status = (word >> 32) as u32;
        if status / 2 == number {
            break (status, word as u32);
        }
    }
}

/// Each block's sum of its own number and those of the blocks before it.
#[gpu_only]
#[inline(always)]
unsafe fn add_numbers(
    table: *mut u32,
    sums: *mut u32,
    number: u32,
    publish: impl Fn(*mut u32, u32, u32),
    find: impl Fn(*mut u32) -> (u32, u32),
) {
    let block = thread::block_idx().x;
    // SAFETY: the kernel's caller promises an entry and a sum for each block.
    let entry = |block: u32| unsafe { table.add(ENTRY * block as usize) };
    let publish = |block, status, value| publish(entry(block), status, value);
    let sum = look_back(block, (block + 1) * number, number, publish, |block| find(entry(block)));
    // SAFETY: as above.
    unsafe { *sums.add(block as usize) = sum };
}

/// A look-back whose status is relaxed.
///
/// # Safety
/// `table` points to [`ENTRY`] words for each block, which earlier launches left or 0; `sums` to a
/// word for each. Nothing else uses them. All are resident. No earlier launch had this number.
#[kernel(block(1), linear)]
pub unsafe fn consistency_lookback_relaxed(table: *mut u32, sums: *mut u32, number: u32) {
    let publish = |entry: *mut u32, status: u32, value| {
        *entry.add(1 + status as usize % 2) = value;
        store_relaxed(entry, status);
    };
    let find = |entry: *mut u32| loop {
        let status = load_relaxed(entry);
        if status / 2 == number {
            break (status, *entry.add(1 + status as usize % 2));
        }
    };
    add_numbers(table, sums, number, publish, find);
}

/// A look-back whose status is released and acquired.
///
/// # Safety
/// As for [`consistency_lookback_relaxed`].
#[kernel(block(1), linear)]
pub unsafe fn consistency_lookback_release(table: *mut u32, sums: *mut u32, number: u32) {
    let publish = |entry: *mut u32, status: u32, value| {
        *entry.add(1 + status as usize % 2) = value;
        store_release(entry, status);
    };
    let find = |entry: *mut u32| loop {
        let status = load_acquire(entry);
        if status / 2 == number {
            break (status, *entry.add(1 + status as usize % 2));
        }
    };
    add_numbers(table, sums, number, publish, find);
}

/// A look-back whose status and value are one word.
///
/// # Safety
/// As for [`consistency_lookback_relaxed`].
#[kernel(block(1), linear)]
pub unsafe fn consistency_lookback_packed(table: *mut u32, sums: *mut u32, number: u32) {
    let publish =
        |entry: *mut u32, status, value| publish_packed(entry.cast::<u64>(), status, value);
    let find = |entry: *mut u32| find_packed(entry.cast::<u64>(), number);
    add_numbers(table, sums, number, publish, find);
}
