//! Stream compaction by prefix sums: the values that are not 0, in their order. What it shows is in
//! [`crate::scan_tiles`].

#[cfg(target_arch = "nvptx64")]
use cuda_std::atomic;
use cuda_std::phases::{Block, BlockSlice, Shared};
use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{thread, unroll, warp};

#[gpu_only]
use crate::look_back::look_back_by_warp;
#[gpu_only]
use crate::scan::earlier_warps;
#[gpu_only]
use crate::scan_tiles::{TILE, earlier_tiles};

/// Values that a thread has of a tile.
#[cfg(target_arch = "nvptx64")]
const VALUES: usize = 16;

/// A thread's values of a tile, and how many its warp keeps.
#[cfg(target_arch = "nvptx64")]
struct Part {
    values: [u32; VALUES],
    kept: u32,
}

#[gpu_only]
impl Part {
    /// A warp takes 512 values one after the other, 32 at a time.
    ///
    /// # Safety
    /// All lanes of the warp are here.
    #[inline(always)]
    unsafe fn of(tile: u32, values: &[u32]) -> Self {
        let first = tile * TILE + thread::thread_idx_x() / 32 * 512 + thread::lane_id();
        let mut part = Self { values: [0; VALUES], kept: 0 };
        unroll::<VALUES>(|k| {
            part.values[k] = values.get(first as usize + 32 * k).copied().unwrap_or(0);
        });
        // SAFETY: all lanes are here.
        unroll::<VALUES>(|k| part.kept += unsafe { lanes_that_keep(part.values[k]) }.count_ones());
        part
    }

    /// Writes the values that are kept, behind the `before` others.
    ///
    /// # Safety
    /// All lanes of the warp are here, and `before` values are kept of the warps before.
    #[inline(always)]
    unsafe fn write(&self, before: u32, kept: &mut DisjointSlice<u32>) {
        let (mut before, earlier) = (before, (1_u32 << thread::lane_id()) - 1);
        unroll::<VALUES>(|k| {
            // SAFETY: all lanes are here. No two values that are kept have as many before them.
            unsafe {
                let lanes = lanes_that_keep(self.values[k]);
                let place = before + (lanes & earlier).count_ones();
                if self.values[k] != 0
                    && let Some(to) = kept.element_mut(place as usize)
                {
                    *to = self.values[k];
                }
                before += lanes.count_ones();
            }
        });
    }
}

/// Which lanes keep their value: a bit for each.
///
/// # Safety
/// All lanes of the warp are here.
#[gpu_only]
#[inline(always)]
unsafe fn lanes_that_keep(value: u32) -> u32 {
    // SAFETY: as above.
    unsafe { warp::warp_vote_ballot(warp::FULL, value != 0) }
}

/// How many values each tile keeps.
#[kernel(block(256), linear)]
pub fn scan_compact_count(
    mut block: Block<256>,
    mut warp_totals: Shared<[u32; 8]>,
    values: &[u32],
    mut totals: BlockSlice<u32>,
) {
    // SAFETY: all lanes of each warp are here.
    let part = unsafe { Part::of(thread::block_idx_x(), values) };
    block.fill_by_warp(&mut warp_totals, |_| part.kept);
    block.finish(|thread| {
        if let Some(to) = totals.get_mut(thread) {
            *to = earlier_warps(warp_totals.read(thread), 8).1;
        }
    });
}

/// The values that are kept, from the scanned totals of the tiles.
#[kernel(block(256), linear)]
pub fn scan_compact_scatter(
    mut block: Block<256>,
    mut warp_totals: Shared<[u32; 8]>,
    values: &[u32],
    totals: &[u32],
    mut kept: DisjointSlice<u32>,
) {
    let tile = thread::block_idx_x();
    // SAFETY: all lanes of each warp are here.
    let part = unsafe { Part::of(tile, values) };
    block.fill_by_warp(&mut warp_totals, |_| part.kept);
    block.finish(|thread| {
        let (warps, _) = earlier_warps(warp_totals.read(thread), thread.number() / 32);
        // SAFETY: all lanes are here, and the totals are those of the tiles before.
        unsafe { part.write(earlier_tiles(totals, tile) + warps, &mut kept) };
    });
}

/// The values that are kept, in a single pass.
///
/// # Safety
/// As for [`scan_single`](crate::scan_tiles::scan_single).
#[kernel(block(256), linear)]
pub unsafe fn scan_compact_single(
    mut block: Block<256>,
    mut tile: Shared<[u32; 1]>,
    mut warp_totals: Shared<[u32; 8]>,
    mut before: Shared<[u32; 1]>,
    values: &[u32],
    mut kept: DisjointSlice<u32>,
    ticket: *mut u32,
    table: *mut u64,
    number: u32,
) {
    block.fill(&mut tile, |_, _| atomic::inc(ticket, thread::grid_dim_x() - 1));
    let mut taken = 0;
    block.each(|thread| taken = tile.read(thread)[0]);
    let part = Part::of(taken, values);
    block.fill_by_warp(&mut warp_totals, |_| part.kept);
    block.update(&mut before, |thread, mut own| {
        if thread.number() < 32 {
            let (_, total) = earlier_warps(warp_totals.read(thread), 8);
            let sum = look_back_by_warp(table, taken, total, number);
            own.each(|_, before| *before = sum - total);
        }
    });
    block.finish(|thread| {
        let (warps, _) = earlier_warps(warp_totals.read(thread), thread.number() / 32);
        part.write(before.read(thread)[0] + warps, &mut kept);
    });
}
