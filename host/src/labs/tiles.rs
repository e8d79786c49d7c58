//! How the best kernels of the labs `matmul` and `gram` are launched: in tiles of which size, which of them have a block of their own, and
//! the memory where the blocks that share the others meet. The choice is pure; [`Meeting`] allocates.

use kernels::matmul::{BEST_DEPTH, BEST_ROOM, BestTile};

use crate::device::{Buffer, Device};
use crate::error::Result;

/// The multiprocessors to assume for the simulator: an H200's.
const MULTIPROCESSORS: u32 = 132;

/// How much longer a small tile takes per element: on an H200, 52 us for 64 x 128 x 1024 against 88 us for 128 x 128 x 1024.
const SMALL_TILE_COST: f64 = 1.18;

/// What sharing costs each block, in slabs of its tile: it begins twice, leaves sums and adds others. On an H200 2 to 5: products of 1024 to
/// 2560 rows took so much longer than their slabs (2026-11-23).
const SHARING_COST: f64 = 5.0;

/// The fewest slabs that a block shares: fewer would not be worth its beginning.
const FEWEST_SLABS: u64 = 16;

/// The most blocks that share a tile: each adds to what the one before has left.
const MOST_SHARES: u64 = 4;

/// A launch of a best kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TileLaunch<K> {
    /// The kernel.
    pub kernel: K,
    /// Its tile.
    pub tile: BestTile,
    /// How its tiles are shared out.
    pub blocks: Blocks,
}

/// The blocks of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    /// Those with a tile of their own.
    pub whole: u32,
    /// Those that share the other tiles.
    pub sharing: u32,
}

impl Blocks {
    /// All of them.
    pub fn all(self) -> u32 {
        self.whole + self.sharing
    }
}

/// A kernel that [`fastest`] chooses from.
#[derive(Clone, Copy)]
pub(super) struct Candidate<K> {
    pub kernel: K,
    pub tile: BestTile,
    /// Whether its blocks can share tiles.
    pub shares: bool,
}

/// The fastest way to a product of `rows` x `columns` over `k` steps, by one of these kernels (of equal ones the first), whose number of
/// tiles `tiles` says. `None` if no tile fits the product, its shared memory the device, or the blocks a grid.
pub(super) fn fastest<K: Copy>(
    device: &Device,
    kernels: &[Candidate<K>],
    [rows, columns]: [u32; 2],
    k: u32,
    tiles: impl Fn(BestTile) -> u64,
) -> Option<TileLaunch<K>> {
    let properties = device.properties();
    let multiprocessors = u64::from(properties.multiprocessors.unwrap_or(MULTIPROCESSORS));
    let largest = kernels.iter().map(|candidate| candidate.tile.rows * candidate.tile.columns).max();
    let slabs = u64::from(k.div_ceil(BEST_DEPTH));
    let fits = |tile: BestTile| {
        rows >= tile.rows && columns >= tile.columns && u64::from(tile.shared) <= properties.shared_per_block_opt_in
    };
    let fitting = kernels.iter().copied().filter(|candidate| fits(candidate.tile));
    let ways = fitting.flat_map(|Candidate { kernel, tile, shares }| {
        let elements = tile.rows * tile.columns;
        let each = f64::from(elements) * if Some(elements) == largest { 1.0 } else { SMALL_TILE_COST };
        let shared = shares.then(|| shared(tiles(tile), slabs, multiprocessors, tile.resident.into())).flatten();
        [Some(alone(tiles(tile))), shared].into_iter().flatten().filter_map(move |way| {
            let cost = way.slabs_of_a_multiprocessor(slabs, multiprocessors) * each;
            let blocks = Blocks { whole: way.whole.try_into().ok()?, sharing: way.sharing.try_into().ok()? };
            blocks.whole.checked_add(blocks.sharing)?;
            Some((cost, TileLaunch { kernel, tile, blocks }))
        })
    });
    ways.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, launch)| launch)
}

/// A way to share out tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    /// Blocks with a tile of their own.
    whole: u64,
    /// Blocks that share the others.
    sharing: u64,
    /// The slabs that they share.
    shared: u64,
}

impl Way {
    /// What the multiprocessor with the most blocks takes, in the time of a slab.
    fn slabs_of_a_multiprocessor(self, slabs: u64, multiprocessors: u64) -> f64 {
        let whole = (self.whole.div_ceil(multiprocessors) * slabs) as f64;
        if self.sharing == 0 {
            return whole;
        }
        let each = self.shared as f64 / self.sharing as f64 + SHARING_COST;
        whole + self.sharing.div_ceil(multiprocessors) as f64 * each
    }
}

/// Each tile to a block of its own.
fn alone(tiles: u64) -> Way {
    Way { whole: tiles, sharing: 0, shared: 0 }
}

/// Full rounds of tiles to blocks of their own, of which the multiprocessors hold `resident` each at a time; the rest shared, half a round at
/// least. `None` if there is nothing to share, or more than the kernels count.
fn shared(tiles: u64, slabs: u64, multiprocessors: u64, resident: u64) -> Option<Way> {
    let round = multiprocessors * resident;
    let full = tiles / round * round;
    let whole = if 2 * (tiles - full) < round { full.saturating_sub(round) } else { full };
    let shared = (tiles - whole).checked_mul(slabs).filter(|&shared| u32::try_from(shared).is_ok())?;
    let fewest = slabs.div_ceil(MOST_SHARES).max(FEWEST_SLABS);
    let sharing = (shared / fewest).min(round);
    (full < tiles && sharing > 1).then_some(Way { whole, sharing, shared })
}

/// Where the blocks that share tiles meet.
pub(super) struct Meeting {
    /// For each block, whether it has left sums.
    pub left: Buffer<u32>,
    /// The sums.
    pub room: Buffer<f32>,
}

impl Meeting {
    /// For so many blocks that share.
    ///
    /// # Errors
    ///
    /// As [`Device::buffer`].
    pub fn new(device: &Device, sharing: u32) -> Result<Self> {
        // A buffer has something in it.
        let blocks = sharing.max(1) as usize;
        let mut left = device.buffer(blocks)?;
        left.write(&vec![0; blocks])?;
        Ok(Self { left, room: device.buffer(blocks * BEST_ROOM as usize)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_rounds_have_blocks_of_their_own() {
        // 3072 x 3072 in tiles of 128 x 128 on an H200: two rounds of 264, and 48 tiles, which are too few to share.
        let way = shared(576, 192, 132, 2).unwrap();
        assert_eq!(way, Way { whole: 264, sharing: 264, shared: 312 * 192 });
        // 4096 x 4096: three rounds, and 232 tiles.
        assert_eq!(shared(1024, 256, 132, 2).unwrap(), Way { whole: 792, sharing: 264, shared: 232 * 256 });
        // Less than a round.
        assert_eq!(shared(256, 128, 132, 2).unwrap(), Way { whole: 0, sharing: 264, shared: 256 * 128 });
    }

    #[test]
    fn what_comes_out_even_is_not_shared() {
        assert_eq!(shared(528, 256, 132, 2), None);
        assert_eq!(shared(0, 256, 132, 2), None);
    }

    #[test]
    fn a_share_is_not_too_small() {
        // Two tiles of 16 slabs: no block takes fewer.
        assert_eq!(shared(2, 16, 132, 2).unwrap().sharing, 2);
        assert_eq!(shared(1, 16, 132, 2), None);
        // One tile of many slabs: four blocks.
        assert_eq!(shared(1, 1 << 20, 132, 2).unwrap().sharing, 4);
        for (tiles, slabs) in [(1, 1 << 30), (3, 100), (131, 63), (265, 1), (100, 0)] {
            let Some(way) = shared(tiles, slabs, 132, 2) else { continue };
            assert!(way.sharing <= 264 && way.shared / way.sharing >= FEWEST_SLABS, "{tiles} {slabs} {way:?}");
        }
    }

    #[test]
    fn too_many_slabs_for_the_kernels_are_not_shared() {
        assert!(shared(263, 1 << 24, 132, 2).is_none());
        assert!(shared(255, 1 << 24, 132, 2).is_some());
    }

    #[test]
    fn sharing_pays_where_a_round_is_nearly_empty() {
        let cost = |way: Way, slabs| way.slabs_of_a_multiprocessor(slabs, 132);
        assert!(cost(shared(576, 192, 132, 2).unwrap(), 192) < cost(alone(576), 192));
        assert!(cost(shared(144, 96, 132, 2).unwrap(), 96) < cost(alone(144), 96));
        // Half a slab is not worth it.
        assert!(cost(shared(131, 64, 132, 1).unwrap(), 64) > cost(alone(131), 64));
    }
}
