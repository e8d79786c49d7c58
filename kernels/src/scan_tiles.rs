//! Prefix sums of any length: how often the values are read. And their use, stream compaction.
//!
//! A block scans a tile of [`TILE`] values, 16 of each thread, in registers. What it still needs is
//! the total of the tiles before its own:
//!
//! | kernels | the total of the tiles before comes from | bytes a value |
//! | --- | --- | --- |
//! | those of [`crate::scan`] | a second kernel that adds it to all sums | 16 |
//! | [`scan_totals`], [`scan_from`] | a first kernel that reads all values for it | 12 |
//! | [`scan_single`] | the tiles before, while they run: a look-back by one thread | 8 |
//! | [`scan_window`] | the same by a warp, 32 tiles at a time | 8 |
//!
//! A value has 4 bytes and a sum too, so 8 is the least. [`crate::look_back`] says when a block may
//! wait for others.
//!
//! Compaction keeps some values in their order, here those that are not 0. Where a value goes is
//! the number of those kept before it: an exclusive prefix sum of flags, which a warp makes by one
//! vote. [`crate::scan_compact`] has the kernels: two that read the values twice, and one
//! that reads them once.
//!
//! What to look for: the sectors of global loads and stores. Polling adds a few loads.
//!
//! # Where `unsafe` begins
//!
//! A word of the sums, or a place of the compacted values, is written by one thread: which one
//! depends on the tile's number, which only one block has. The compiler does not see that.
//!
//! Sources: Merrill, Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (NVIDIA,
//! 2016); Billeter, Olsson, Assarsson, "Efficient Stream Compaction on Wide SIMD Many-Core
//! Architectures" (2009).

#[cfg(target_arch = "nvptx64")]
use cuda_std::atomic;
use cuda_std::phases::{Block, BlockSlice, Shared};
use cuda_std::vector::u32x4;
use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{thread, unroll};

#[gpu_only]
use crate::look_back::{find_packed, look_back, look_back_by_warp, publish_packed};
#[gpu_only]
use crate::scan::{earlier_warps, scan_warp};

/// Values of a tile.
pub const TILE: u32 = 4096;

/// Words of four values that a thread has of a tile.
#[cfg(target_arch = "nvptx64")]
const WORDS: usize = 4;

/// A thread's part of a tile: the sums of its warp's values up to each of its own, and the total of
/// its warp.
#[cfg(target_arch = "nvptx64")]
struct Part {
    words: usize,
    sums: [u32x4; WORDS],
    total: u32,
}

#[gpu_only]
impl Part {
    /// A warp takes 128 words one after the other, 32 at a time.
    ///
    /// # Safety
    /// All lanes of the warp are here.
    #[inline(always)]
    unsafe fn of(tile: u32, values: &[u32x4]) -> Self {
        let first = tile * (TILE / 4) + thread::thread_idx_x() / 32 * 128 + thread::lane_id();
        let mut part = Self { words: first as usize, sums: [u32x4::splat(0); WORDS], total: 0 };
        unroll::<WORDS>(|k| {
            part.sums[k] = values.get(part.words + 32 * k).copied().unwrap_or(u32x4::splat(0));
        });
        unroll::<WORDS>(|k| {
            let [a, b, c, d] = part.sums[k].to_array();
            let (ab, abc, all) = (a + b, a + b + c, a + b + c + d);
            // SAFETY: all lanes are here.
            let (sum, total) = unsafe { scan_warp(all) };
            let before = part.total + sum - all;
            part.sums[k] = u32x4::from_array([a, ab, abc, all]) + u32x4::splat(before);
            part.total += total;
        });
        part
    }

    /// Writes the sums, of which `before` is missing.
    ///
    /// # Safety
    /// No other thread has this part of this tile.
    #[inline(always)]
    unsafe fn write(&self, before: u32, sums: &mut DisjointSlice<u32x4>) {
        unroll::<WORDS>(|k| {
            // SAFETY: the words are this thread's.
            if let Some(to) = unsafe { sums.element_mut(self.words + 32 * k) } {
                *to = self.sums[k] + u32x4::splat(before);
            }
        });
    }
}

/// The total of each tile.
#[kernel(block(256), linear)]
pub fn scan_totals(
    mut block: Block<256>,
    mut warp_totals: Shared<[u32; 8]>,
    values: &[u32x4],
    mut totals: BlockSlice<u32>,
) {
    let first = thread::block_idx_x() as usize * (TILE as usize / 4);
    let mut sum = u32x4::splat(0);
    unroll::<WORDS>(|k| {
        let word = values.get(first + 256 * k + thread::thread_idx_x() as usize);
        sum = sum + word.copied().unwrap_or(u32x4::splat(0));
    });
    let [a, b, c, d] = sum.to_array();
    let total = block.warp_reduce(a + b + c + d, |a, b| a + b);
    block.fill_by_warp(&mut warp_totals, |_| total);
    block.finish(|thread| {
        if let Some(to) = totals.get_mut(thread) {
            *to = earlier_warps(warp_totals.read(thread), 8).1;
        }
    });
}

/// The sums, from the scanned totals of the tiles.
#[kernel(block(256), linear)]
pub fn scan_from(
    mut block: Block<256>,
    mut warp_totals: Shared<[u32; 8]>,
    values: &[u32x4],
    totals: &[u32],
    mut sums: DisjointSlice<u32x4>,
) {
    let tile = thread::block_idx_x();
    // SAFETY: all lanes of each warp are here.
    let part = unsafe { Part::of(tile, values) };
    block.fill_by_warp(&mut warp_totals, |_| part.total);
    block.finish(|thread| {
        let (warps, _) = earlier_warps(warp_totals.read(thread), thread.number() / 32);
        // SAFETY: blocks have different tiles.
        unsafe { part.write(earlier_tiles(totals, tile) + warps, &mut sums) };
    });
}

/// The total of the tiles before this one.
#[gpu_only]
#[inline(always)]
pub(crate) fn earlier_tiles(totals: &[u32], tile: u32) -> u32 {
    (tile as usize).checked_sub(1).and_then(|last| totals.get(last)).copied().unwrap_or(0)
}

/// In a single pass: one thread looks back for its block.
///
/// # Safety
/// `ticket` points to 0, which each launch leaves; `table` to a word for each block, which earlier
/// launches left or 0. Nothing else uses them. No earlier launch had this number. The launch has a
/// block for each tile.
#[kernel(block(256), linear)]
pub unsafe fn scan_single(
    mut block: Block<256>,
    mut tile: Shared<[u32; 1]>,
    mut warp_totals: Shared<[u32; 8]>,
    mut before: Shared<[u32; 1]>,
    values: &[u32x4],
    mut sums: DisjointSlice<u32x4>,
    ticket: *mut u32,
    table: *mut u64,
    number: u32,
) {
    block.fill(&mut tile, |_, _| atomic::inc(ticket, thread::grid_dim_x() - 1));
    let mut taken = 0;
    block.each(|thread| taken = tile.read(thread)[0]);
    let part = Part::of(taken, values);
    block.fill_by_warp(&mut warp_totals, |_| part.total);
    block.fill(&mut before, |thread, _| {
        let (_, total) = earlier_warps(warp_totals.read(thread), 8);
        let publish = |at: u32, status, sum| publish_packed(table.add(at as usize), status, sum);
        let find = |at: u32| find_packed(table.add(at as usize), number);
        look_back(taken, total, number, publish, find) - total
    });
    block.finish(|thread| {
        let (warps, _) = earlier_warps(warp_totals.read(thread), thread.number() / 32);
        part.write(before.read(thread)[0] + warps, &mut sums);
    });
}

/// In a single pass: a warp looks back for its block.
///
/// # Safety
/// As for [`scan_single`].
#[kernel(block(256), linear)]
pub unsafe fn scan_window(
    mut block: Block<256>,
    mut tile: Shared<[u32; 1]>,
    mut warp_totals: Shared<[u32; 8]>,
    mut before: Shared<[u32; 1]>,
    values: &[u32x4],
    mut sums: DisjointSlice<u32x4>,
    ticket: *mut u32,
    table: *mut u64,
    number: u32,
) {
    block.fill(&mut tile, |_, _| atomic::inc(ticket, thread::grid_dim_x() - 1));
    let mut taken = 0;
    block.each(|thread| taken = tile.read(thread)[0]);
    let part = Part::of(taken, values);
    block.fill_by_warp(&mut warp_totals, |_| part.total);
    block.update(&mut before, |thread, mut own| {
        if thread.number() < 32 {
            let (_, total) = earlier_warps(warp_totals.read(thread), 8);
            let sum = look_back_by_warp(table, taken, total, number);
            own.each(|_, before| *before = sum - total);
        }
    });
    block.finish(|thread| {
        let (warps, _) = earlier_warps(warp_totals.read(thread), thread.number() / 32);
        part.write(before.read(thread)[0] + warps, &mut sums);
    });
}
