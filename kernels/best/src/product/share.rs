//! Which steps of which tiles a block computes, and how it meets the blocks that compute the others.
//!
//! A GPU computes as many tiles at once as it holds blocks, and the last of them rarely come out even: of 576 tiles on a GPU that holds 264
//! blocks, 48 are left for the third round, in which most places stay empty. So the last tiles are *split*: each of
//! as many blocks as the GPU holds takes a share of their slabs, whatever tile they belong to ("stream-k": Osama and others, 2023). On an
//! H200, in tiles of 128 x 128, a product of 3072 x 3072 takes 1.12 ms instead of 1.28, one of 1536 x 1536 153 us instead of 263 (2026-11-23).
//!
//! A tile is then the sum of two or more *pieces*. A block leaves its sums in a room of its own; the next block adds them to its own sums and
//! leaves those, or, if its piece is the tile's last, stores them in the product. A block takes its pieces last tile first: so it has
//! left long ago what the next block waits for. It waits only for a block with a lower number, which GPUs start before it (see `combine.rs`).
//!
//! The shares are not all equal. Of two blocks on a multiprocessor the older one gets nearly two thirds of it. If both have the same to
//! do, it ends first, and the other goes on alone, with nobody to work while it waits. So the blocks that begin earlier take more
//! ([`Shares::more`]), and both end together: another 1.0 % for 3072 x 3072 (H200, 2026-11-23).

use cuda_std::{thread, unroll, vector::f32x4};

use super::numbers::Sums;
use super::{DEPTH, Operand, ROOM, SIDE, Shares, THREADS, Tile};
use crate::matrix::Matrix;

/// Words of 16 bytes in a row of a thread's sums.
pub(super) const WORDS: usize = SIDE / 4;

/// Words of all its sums.
const ALL_WORDS: usize = SIDE * WORDS;

/// A product: `scale` times `left` times `right`.
#[derive(Clone, Copy)]
pub(crate) struct Product {
    pub left: Matrix,
    pub right: Matrix,
    /// Columns of the left operand.
    pub k: u32,
    pub scale: f32,
}

/// How a block finds its share, and meets the blocks that have others.
#[derive(Clone, Copy)]
pub(crate) struct Sharing {
    /// Which block takes what.
    pub shares: Shares,
    /// For each block that shares, whether it has left sums: 0 before the launch, and after it.
    pub ready: *mut u32,
    /// For each block that shares, [`ROOM`] numbers.
    pub room: *mut f32,
}

/// The sums of a tile's slabs before a piece, if there are any.
#[derive(Clone, Copy)]
pub(crate) struct Before {
    words: *const f32x4,
    any: bool,
}

/// Slabs of a tile that a block computes: from `first` up to `end`, not included. The first slab of a tile may have fewer than [`DEPTH`]
/// steps, so that all others are whole.
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
    pub fn whole(k: u32) -> Self {
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
    /// Computes the pieces of this block: What is complete goes to `store`, with the number of
    /// its tile. `tile` says where a tile lies; it is not computed if it lies nowhere.
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
        let (block, Shares { whole, more }) = (thread::block_idx_x(), self.shares);
        // Slabs are counted tile by tile: from the block's own tile on, or from the first split one.
        let (first_tile, first, mut end) = if block < whole {
            (block, 0, slabs)
        } else {
            let (share, shares) = (block - whole, thread::grid_dim_x() - whole);
            let all = (tiles - whole) * slabs;
            let up_to = |share: u32| all / shares * share + share.min(all % shares) + more * share.min(shares - share);
            (whole, up_to(share), up_to(share + 1))
        };
        let share = block.wrapping_sub(whole);
        while first < end {
            let number = (end - 1) / slabs;
            let start = number * slabs;
            let piece = Piece::new(first.max(start) - start, end - start, k);
            end = start.max(first);
            let Some(tile) = tile(first_tile + number) else { continue };
            // SAFETY: as the caller says. Nobody else uses this block's room before it says that it has left its sums there.
            unsafe {
                let sums = tile.sums(product, piece);
                let before = Before { words: self.words(share.wrapping_sub(1)), any: piece.first > 0 };
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
                // The sums are there for all to see before somebody says so; and nobody fetches slabs while somebody reads some.
                thread::sync_threads();
                if piece.end < slabs && thread::thread_idx_x() == 0 {
                    thread::device_fence();
                    self.ready.add(share as usize).write_volatile(1);
                }
            }
        }
    }

    /// Waits until a block has left its sums.
    ///
    /// # Safety
    /// Nobody else waits for them.
    #[inline(always)]
    unsafe fn wait_for(self, share: u32) {
        if thread::thread_idx_x() == 0 {
            // SAFETY: the share has its word.
            unsafe {
                let ready = self.ready.add(share as usize);
                while ready.read_volatile() == 0 {}
                thread::device_fence();
                ready.write_volatile(0);
            }
        }
        thread::sync_threads();
    }

    /// This thread's first word in a share's room. Words of a thread are [`THREADS`] words apart.
    #[inline(always)]
    fn words(self, share: u32) -> *mut f32x4 {
        self.room
            .wrapping_add(share as usize * ROOM as usize)
            .cast::<f32x4>()
            .wrapping_add(thread::thread_idx_x() as usize)
    }
}

impl Before {
    /// Adds the sums before to `scale` times a thread's words, and hands them on: half of them at a time, so that one load does not wait
    /// for the other.
    ///
    /// `scale` is BLAS's `alpha`. What is stored in words of 16 bytes stands in four registers in a row. The sums may stand anywhere,
    /// as long as they are multiplied with something on the way: so the assembler can choose banks that suit the
    /// multiplications.
    #[inline(always)]
    pub fn add_to(
        self,
        scale: f32,
        own: impl Fn(usize) -> f32x4,
        before: impl Fn(Self, usize) -> f32x4,
        store: impl Fn(usize, f32x4),
    ) {
        const TOGETHER: usize = ALL_WORDS / 2;
        unroll::<2>(|half| {
            let mut words = [f32x4::splat(0.0); TOGETHER];
            if self.any {
                unroll::<TOGETHER>(|n| words[n] = before(self, half * TOGETHER + n));
            }
            unroll::<TOGETHER>(|n| {
                let own = own(half * TOGETHER + n) * f32x4::splat(scale);
                store(half * TOGETHER + n, words[n] + own);
            });
        });
    }

    /// Four neighbours of a row, as [`word`] numbers them.
    ///
    /// # Safety
    /// They are there.
    #[inline(always)]
    pub unsafe fn word(self, n: usize) -> f32x4 {
        // SAFETY: as the caller says.
        unsafe { *self.words.add(n * THREADS as usize) }
    }

    /// Four neighbours of a column, as [`turned_word`] numbers them.
    ///
    /// # Safety
    /// They are there.
    #[inline(always)]
    pub unsafe fn turned_word(self, n: usize) -> f32x4 {
        let (rows, column) = turned(n);
        // SAFETY: as the caller says.
        let [x, y, z, w] = rows.map(|row| unsafe {
            let word = self.words.add((row * WORDS + column / 4) * THREADS as usize);
            *word.cast::<f32>().add(column % 4)
        });
        f32x4::new(x, y, z, w)
    }
}

/// A thread's word `n`: four neighbours of a row of its sums.
#[inline(always)]
pub(super) fn word(sums: &Sums, n: usize) -> f32x4 {
    let row = &sums[n / WORDS][n % WORDS * 4..];
    f32x4::new(row[0], row[1], row[2], row[3])
}

/// Its word `n` of the mirrored tile: four neighbours of a column.
#[inline(always)]
pub(super) fn turned_word(sums: &Sums, n: usize) -> f32x4 {
    let (rows, column) = turned(n);
    let [x, y, z, w] = rows.map(|row| sums[row][column]);
    f32x4::new(x, y, z, w)
}

/// The rows and the column of a word of the mirrored tile.
#[inline(always)]
fn turned(n: usize) -> ([usize; 4], usize) {
    let (column, half) = (n / WORDS, n % WORDS);
    ([0, 1, 2, 3].map(|row| 4 * half + row), column)
}
