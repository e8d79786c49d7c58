//! A decoupled look-back, by which a scan reads its data once: blocks of one thread, at most 64,
//! add the sums of the blocks before them. [`crate::consistency`] has the rest of the lab, its
//! shapes and its sources.

#[cfg(target_arch = "nvptx64")]
use cuda_std::atomic::{load_acquire, load_relaxed, store_relaxed, store_release};
#[gpu_only]
use cuda_std::thread;
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::consistency::packed;

/// Words from a block's entry in the table to the next.
pub const ENTRY: usize = 4;

/// Each block's sum of its own value and those of the blocks before it. A block first publishes its
/// own value (even status), then its sum (odd status). A later block adds values until it finds a
/// sum.
#[gpu_only]
#[inline(always)]
unsafe fn look_back(
    table: *mut u32,
    sums: *mut u32,
    number: u32,
    publish: impl Fn(*mut u32, u32, u32),
    find: impl Fn(*mut u32) -> (u32, u32),
) {
    let block = thread::block_idx().x;
    // SAFETY: the kernel's caller promises an entry and a sum for each block.
    let entry = |block: u32| unsafe { table.add(ENTRY * block as usize) };
    let mut sum = (block + 1) * number;
    publish(entry(block), 2 * number, sum);
    let mut at = block;
    while at > 0 {
        at -= 1;
        let (status, value) = find(entry(at));
        sum += value;
        if status % 2 == 1 {
            break;
        }
    }
    publish(entry(block), 2 * number + 1, sum);
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
    look_back(table, sums, number, publish, find);
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
    look_back(table, sums, number, publish, find);
}

/// A look-back whose status and value are one word.
///
/// # Safety
/// As for [`consistency_lookback_relaxed`].
#[kernel(block(1), linear)]
pub unsafe fn consistency_lookback_packed(table: *mut u32, sums: *mut u32, number: u32) {
    let publish =
        |entry: *mut u32, status, value| store_relaxed(entry.cast::<u64>(), packed(status, value));
    let find = |entry: *mut u32| loop {
        let word = load_relaxed(entry.cast::<u64>());
        let status = (word >> 32) as u32;
        if status / 2 == number {
            break (status, word as u32);
        }
    };
    look_back(table, sums, number, publish, find);
}
