//! Which steps of which tiles a block computes, and how it meets the blocks that compute the
//! others.
//!
//! A GPU computes as many tiles at once as it holds blocks, and the last of them rarely come out
//! even: of 576 tiles on a GPU that holds 264 blocks, 48 are left for the third round, in which
//! most places stay empty. So the last tiles are *split*: each of as many blocks as the GPU holds
//! takes a share of their slabs, whatever tile they belong to ("stream-k": Osama and others, 2023).
//! On an H200, in tiles of 128 x 128, a product of 3072 x 3072 takes 1.12 ms instead of 1.28, one
//! of 1536 x 1536 153 us instead of 263 (2026-11-23).
//!
//! A tile is then the sum of two or more *pieces*. A block leaves its sums in its part of a
//! workspace; the next block adds them to its own and leaves the result there, or, if its piece is
//! the tile's last, stores it in the product. A block takes its pieces last tile first, so that
//! what the next block waits for was finished long ago. A block waits only for one with a lower
//! number, which is correct under the condition of `combine.rs`: GPUs start blocks in the order of
//! their numbers. The sums are many words, so a flag says that they are complete: one thread stores
//! it with release, another loads it with acquire, and barriers order it with the other threads of
//! their blocks.
//!
//! The shares are not all equal. Of two blocks on a multiprocessor the older one gets nearly two
//! thirds of it. With equal shares it ends first, and the other one continues alone, with no other
//! work to hide its latency. So the blocks that begin earlier take more ([`Shares::head_start`]),
//! and both end together: another 1.0 % for 3072 x 3072 (H200, 2026-11-23).

use cuda_std::{atomic, thread, vector::f32x4};

use super::before::{Before, word};
use super::numbers::Sums;
use super::{DEPTH, Operand, SUMS_PER_BLOCK, Shares, THREADS, Tile};
use crate::matrix::Matrix;

/// A product: `scale` times `left` times `right`.
#[derive(Clone, Copy)]
pub(crate) struct Product {
    pub left: Matrix,
    pub right: Matrix,
    /// Columns of the left operand.
    pub k: u32,
    pub scale: f32,
}

/// How a block finds its share, and exchanges sums with other blocks.
#[derive(Clone, Copy)]
pub(crate) struct Sharing {
    /// Which block takes what.
    pub shares: Shares,
    /// For each block that shares, whether it has left sums: zero on entry, and left zero.
    pub ready: *mut u32,
    /// For each block that shares, [`SUMS_PER_BLOCK`] sums.
    pub sums: *mut f32,
}

/// Slabs of a tile that a block computes: from `first` up to `end`, not included. The first slab of
/// a tile may have fewer than [`DEPTH`] steps, so that all others are full.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub first: u32,
    pub end: u32,
    /// The first slab's first step.
    pub first_step: u32,
    /// How many steps that slab has.
    pub first_steps: u32,
}

impl Piece {
    /// All slabs of a tile of `k` steps.
    #[inline(always)]
    pub fn all(k: u32) -> Self {
        let end = k.div_ceil(DEPTH);
        Self { first: 0, end, first_step: 0, first_steps: k - (end - 1) * DEPTH }
    }

    /// Some slabs of such a tile.
    #[inline(always)]
    fn new(first: u32, end: u32, k: u32) -> Self {
        let remaining = (k.div_ceil(DEPTH) - first) * DEPTH;
        let first_step = k.saturating_sub(remaining);
        Self { first, end, first_step, first_steps: k - (remaining - DEPTH) - first_step }
    }
}

impl Sharing {
    /// Computes the pieces of this block, and passes complete sums to `store`, with the number of
    /// their tile. `tile` says where a tile lies; one that lies nowhere is not computed.
    ///
    /// # Safety
    /// As for [`Tile::sums`]; all threads of the block are here, and it shares as the fields say.
    #[inline(always)]
    pub unsafe fn for_each_piece<L: Operand, R: Operand, const O: usize>(
        self,
        product: Product,
        tiles: u32,
        tile: impl Fn(u32) -> Option<Tile<L, R, O>>,
        store: impl Fn(u32, &Sums, Before),
    ) {
        let Product { k, scale, .. } = product;
        let slabs = k.div_ceil(DEPTH);
        let (block, Shares { unsplit_tiles, head_start }) = (thread::block_idx_x(), self.shares);
        // Slabs are counted tile by tile: from the block's own tile on, or from the first split
        // one.
        let (first_tile, first, mut end) = if block < unsplit_tiles {
            (block, 0, slabs)
        } else {
            let (share, shares) = (block - unsplit_tiles, thread::grid_dim_x() - unsplit_tiles);
            let all = (tiles - unsplit_tiles) * slabs;
            let up_to = |share: u32| {
                all / shares * share
                    + share.min(all % shares)
                    + head_start * share.min(shares - share)
            };
            (unsplit_tiles, up_to(share), up_to(share + 1))
        };
        let share = block.wrapping_sub(unsplit_tiles);
        while first < end {
            let number = (end - 1) / slabs;
            let start = number * slabs;
            let piece = Piece::new(first.max(start) - start, end - start, k);
            end = start.max(first);
            let Some(tile) = tile(first_tile + number) else { continue };
            // SAFETY: the operands have full tiles and all threads are here, by the promise of this
            // function. No other block uses this block's sums before it says that they are
            // complete.
            unsafe {
                let sums = tile.sums(product, piece);
                let before =
                    Before { words: self.words(share.wrapping_sub(1)), any: piece.first > 0 };
                if before.any {
                    self.wait_for(share - 1);
                }
                if piece.end == slabs {
                    store(first_tile + number, &sums, before);
                } else if Tile::<L, R, O>::has_sums() {
                    let to = self.words(share);
                    let own = |n| word(&sums, n);
                    before.add_to(
                        scale,
                        own,
                        |before, n| before.word(n),
                        |n, word| *to.add(n * THREADS as usize) = word,
                    );
                }
                // All threads have written their sums before one says so; and none fetches slabs
                // while another one still reads some.
                thread::sync_threads();
                if piece.end < slabs && thread::thread_idx_x() == 0 {
                    atomic::store_release(self.ready.add(share as usize), 1);
                }
            }
        }
    }

    /// Waits until a block has left its sums.
    ///
    /// # Safety
    /// No other block waits for them.
    #[inline(always)]
    unsafe fn wait_for(self, share: u32) {
        if thread::thread_idx_x() == 0 {
            // SAFETY: the share has its word, and no other block waits for it.
            unsafe {
                let ready = self.ready.add(share as usize);
                while atomic::load_acquire(ready) == 0 {}
                atomic::store_relaxed(ready, 0);
            }
        }
        thread::sync_threads();
    }

    /// This thread's first word in a share's sums. Words of a thread are [`THREADS`] words apart.
    #[inline(always)]
    fn words(self, share: u32) -> *mut f32x4 {
        self.sums
            .wrapping_add(share as usize * SUMS_PER_BLOCK as usize)
            .cast::<f32x4>()
            .wrapping_add(thread::thread_idx_x() as usize)
    }
}
