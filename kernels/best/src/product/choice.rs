//! Which of the kernels made of these tiles is the fastest for a product, and how its last tiles
//! are shared out. The host calls it by [`matmul::best`](crate::matmul::best) and
//! [`gram::best`](crate::gram::best). Pure.

use super::{DEPTH, Shares, THREADS, TileSize};
use crate::{Gpu, Launch};

/// How much longer a small tile takes per element: on an H200, 52 us for 64 x 128 x 1024 against 88
/// us for 128 x 128 x 1024.
pub(crate) const SMALL_TILE_COST: f64 = 1.18;

/// How much longer a tile takes if both operands are transposed on the way: on an H200, 10.92 ms
/// against 10.29 for the Gram matrix of 8192 rows (2026-11-24).
pub(crate) const TRANSPOSING_COST: f64 = 1.06;

/// What a transpose of this many elements costs before a product, in the time of a slab of a tile
/// of 128 x 128 (1.28 us on an H200): its launch, and what DRAM moves in that time (2026-11-24).
pub(crate) fn cost_of_transpose(elements: u64) -> f64 {
    2.0 + elements as f64 / 650e3
}

/// What sharing costs each block, in slabs of its tile: it begins twice, leaves sums and adds
/// others. On an H200 2 to 5: products of 1024 to 2560 rows took so much longer than their slabs
/// (2026-11-23).
const SHARING_COST: f64 = 5.0;

/// The share of a multiprocessor that the older of its two blocks gets. On an H200, 0.63 lets both
/// end together, at five sizes (2026-11-23).
const OLDER: f64 = 0.63;

/// What the last tile of a multiprocessor costs in addition, in tiles: nothing hides the latency of
/// its block. On an H200, the lab `gram` with 4096 rows took 14 slabs of 256 longer in two full
/// rounds of tiles than with the second round split, and sharing has its own cost (2026-11-23).
const LAST_TILE_COST: f64 = 0.08;

/// The fewest slabs that a block shares: fewer do not pay.
const FEWEST_SLABS: u64 = 16;

/// The most blocks that share a tile: each adds to the sums of the one before.
const MOST_SHARES: u64 = 4;

/// A launch of a best kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TileLaunch<K> {
    /// The kernel.
    pub kernel: K,
    /// Its tile.
    pub tile: TileSize,
    /// How its last tiles are split.
    pub shares: Shares,
    /// Blocks that share tiles.
    pub sharing: u32,
}

impl<K> TileLaunch<K> {
    /// How to launch it.
    pub fn launch(&self) -> Launch {
        let grid = [self.shares.unsplit_tiles + self.sharing, 1, 1];
        Launch { grid, block: [THREADS, 1, 1], dynamic_shared: self.tile.shared_bytes }
    }
}

/// A kernel that [`fastest`] chooses from.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<K> {
    pub kernel: K,
    pub tile: TileSize,
    /// Whether its blocks can split tiles among them.
    pub splits: bool,
    /// How long an element takes for each step, compared with the fastest kernel.
    pub cost: f64,
    /// What has to be done before the launch, in the time of a slab of a tile of 128 x 128.
    pub cost_before: f64,
}

/// The fastest way to a product of `rows` x `columns` over `k` steps, by one of these kernels (of
/// equal ones the first), whose number of tiles `tiles` says. `None` if no tile fits the product,
/// its shared memory the GPU, or the blocks a grid.
pub(crate) fn fastest<K: Copy>(
    gpu: Gpu,
    kernels: &[Candidate<K>],
    [rows, columns]: [u32; 2],
    k: u32,
    tiles: impl Fn(TileSize) -> u64,
) -> Option<TileLaunch<K>> {
    let multiprocessors = u64::from(gpu.multiprocessors);
    let slabs = u64::from(k.div_ceil(DEPTH));
    let fits = |tile: TileSize| {
        rows >= tile.rows
            && columns >= tile.columns
            && u64::from(tile.shared_bytes) <= gpu.shared_per_block
    };
    let fitting = kernels.iter().copied().filter(|candidate| fits(candidate.tile));
    let ways = fitting.flat_map(|Candidate { kernel, tile, splits, cost, cost_before }| {
        let slab = f64::from(tile.rows * tile.columns) / f64::from(128 * 128) * cost;
        let places = Places { multiprocessors, resident: tile.resident.into() };
        let split = splits.then(|| places.split(tiles(tile), slabs)).flatten();
        [Some(alone(tiles(tile))), split].into_iter().flatten().filter_map(move |way| {
            let time = cost_before + places.slabs_of_a_multiprocessor(way, slabs) * slab;
            let shares = Shares {
                unsplit_tiles: way.unsplit_tiles.try_into().ok()?,
                head_start: way.head_start.try_into().ok()?,
            };
            let sharing: u32 = way.sharing.try_into().ok()?;
            shares.unsplit_tiles.checked_add(sharing)?;
            Some((time, TileLaunch { kernel, tile, shares, sharing }))
        })
    });
    ways.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, launch)| launch)
}

/// A way to share out tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    /// Tiles that are not split: each has a block.
    unsplit_tiles: u64,
    /// Blocks that share the others.
    sharing: u64,
    /// The slabs that they share.
    slabs: u64,
    /// Slabs that those of them that begin earlier take more than the average.
    head_start: u64,
}

/// Each tile to a block of its own.
fn alone(tiles: u64) -> Way {
    Way { unsplit_tiles: tiles, sharing: 0, slabs: 0, head_start: 0 }
}

/// What a GPU holds at a time.
#[derive(Clone, Copy)]
struct Places {
    multiprocessors: u64,
    /// Blocks on each.
    resident: u64,
}

impl Places {
    /// Full rounds of tiles to blocks of their own, the rest split: half a round at least. Where
    /// two or more rounds come out even, the last one is split if that lets both blocks of a
    /// multiprocessor end together. `None` if there is nothing to gain, or if the split slabs are
    /// more than the kernels count.
    fn split(self, tiles: u64, slabs: u64) -> Option<Way> {
        let round = self.multiprocessors * self.resident;
        let (full, rest) = (tiles / round * round, tiles % round);
        let unsplit_tiles = if 2 * rest < round { full.saturating_sub(round) } else { full };
        let split = (tiles - unsplit_tiles)
            .checked_mul(slabs)
            .filter(|&split| u32::try_from(split).is_ok())?;
        let fewest = slabs.div_ceil(MOST_SHARES).max(FEWEST_SLABS);
        let sharing = (split / fewest).min(round);
        // Whether the blocks that share begin one after the other, on a multiprocessor that holds
        // two.
        let staggered = unsplit_tiles > 0 && self.resident > 1;
        (sharing > 1 && (rest > 0 || staggered)).then(|| {
            let head_start = if staggered { head_start(split / sharing, slabs) } else { 0 };
            Way { unsplit_tiles, sharing, slabs: split, head_start }
        })
    }

    /// What the multiprocessor with the most blocks takes, in the time of a slab.
    fn slabs_of_a_multiprocessor(self, way: Way, slabs: u64) -> f64 {
        let unsplit = (way.unsplit_tiles.div_ceil(self.multiprocessors) * slabs) as f64;
        if way.sharing == 0 {
            let last = if way.unsplit_tiles > self.multiprocessors && self.resident > 1 {
                LAST_TILE_COST
            } else {
                0.0
            };
            return unsplit + last * slabs as f64;
        }
        let each = way.slabs as f64 / way.sharing as f64 + SHARING_COST;
        unsplit + way.sharing.div_ceil(self.multiprocessors) as f64 * each
    }
}

/// How many slabs more than `each` a share takes that begins before the other one on its
/// multiprocessor, so that both end together.
///
/// In the time of a slab, the older block computes [`OLDER`] slabs and the younger one the rest.
/// While unsplit tiles are computed, a block becomes the older one when it has `1 - OLDER` of its
/// tile; then the next one begins.
fn head_start(each: u64, slabs: u64) -> u64 {
    let ahead = (1.0 - OLDER) * slabs as f64;
    let both = 2.0 * each as f64 - ahead;
    (ahead + OLDER * both - each as f64).max(0.0) as u64
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
