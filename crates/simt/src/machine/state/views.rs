//! Reads that find older values, in drawn orders that ask for them: a GPU may make a read before
//! what comes first in its thread, back to the last acquire, fence or barrier.
//!
//! Memory holds the newest value of each byte. Beside it is what the last writes replaced, and what
//! each warp knows: a time up to which it must see the writes of its block, and its block a time up
//! to which it must see those of other blocks, as if it had one L1 cache. A read may go back past
//! newer writes, but never past one that its block has seen, nor past one of its own warp.
//!
//! *Invariant:* what is forgotten, or never noted, makes reads newer, never older.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::program::SyncScope;

/// The number of a block, and of the warp in it.
type WarpId = (u64, u32);

/// 16 aligned bytes, of a block's shared memory or of global memory, by their number.
pub(crate) type Chunk = (Option<u64>, u64);

/// Bytes of a chunk: an access has at most so many, and is aligned.
const CHUNK: u64 = 16;
/// Writes that are kept, at most, and of a chunk.
const MOST: usize = 1 << 13;
const MOST_OF_CHUNK: usize = 8;
/// Reads of a warp in a row that go back, at most: who polls finds the newest value soon. Reads of
/// what has no older value do not count, so it does not matter what else a loop reads.
const MOST_IN_A_ROW: u32 = 16;

/// A write to a chunk.
struct Written {
    time: u64,
    by: WarpId,
    /// Its bytes, all ones, and what they held before.
    mask: u128,
    before: u128,
    /// Blocks that must not go back past it any more.
    seen: Vec<u64>,
}

/// What a warp must see.
#[derive(Clone, Copy, Default)]
struct Known {
    /// All writes of its block up to this time.
    own: u64,
    /// What it waits for may make it know more.
    waits: Option<SyncScope>,
    /// Its last reads that went back, in a row.
    back: u32,
}

/// What a block must see of others, and what its warps must see.
#[derive(Default)]
struct View {
    others: u64,
    warps: Vec<Known>,
}

/// The last writes of a launch, and who must see which.
#[derive(Default)]
pub(crate) struct Views {
    /// The time of the last write.
    now: u64,
    chunks: FxHashMap<Chunk, VecDeque<Written>>,
    /// The chunk of each write that is kept, the oldest first.
    kept: VecDeque<Chunk>,
    blocks: FxHashMap<u64, View>,
}

/// The chunk of an access, and its bytes there.
pub(crate) fn chunk(shared_of: Option<u64>, address: u64, width: u32) -> (Chunk, u32, u128) {
    let shift = (address % CHUNK) as u32 * 8;
    let mask = (u128::MAX >> (128 - 8 * width.clamp(1, CHUNK as u32))) << shift;
    ((shared_of, address / CHUNK), shift, mask)
}

impl Views {
    /// Warps write: what follows is later.
    pub fn tick(&mut self) {
        self.now += 1;
    }

    /// A warp writes bytes that hold `before`. `to_block`: its block must see it from now on.
    pub fn write(
        &mut self,
        by: WarpId,
        shared_of: Option<u64>,
        (address, width): (u64, u32),
        before: u128,
        to_block: bool,
    ) {
        let (chunk, shift, mask) = chunk(shared_of, address, width);
        let seen = if to_block { vec![by.0] } else { Vec::new() };
        let list = self.chunks.entry(chunk).or_default();
        list.push_back(Written { time: self.now, by, mask, before: before << shift, seen });
        if list.len() > MOST_OF_CHUNK {
            // Its entry in `kept` now stands for the chunk's next write, which is not older.
            list.pop_front();
            return;
        }
        self.kept.push_back(chunk);
        if self.kept.len() > MOST
            && let Some(oldest) = self.kept.pop_front()
            && let Some(list) = self.chunks.get_mut(&oldest)
        {
            list.pop_front();
            if list.is_empty() {
                self.chunks.remove(&oldest);
            }
        }
    }

    /// A warp synchronises with others of this scope: it must see what they have written.
    pub fn acquire(&mut self, by: WarpId, scope: SyncScope) {
        let now = self.now;
        let known = self.warp(by);
        known.own = now;
        if scope != SyncScope::Block {
            self.blocks.entry(by.0).or_default().others = now;
        }
    }

    /// A warp begins to wait for others of this scope. When it goes on, it acquires what they wrote.
    pub fn wait(&mut self, by: WarpId, scope: SyncScope) {
        let known = self.warp(by);
        known.waits = known.waits.max(Some(scope));
    }

    /// A warp is about to access memory. `together`: none of its lanes waits.
    pub fn go_on(&mut self, by: WarpId, together: bool) {
        let known = self.warp(by);
        let Some(scope) = known.waits else { return };
        if together {
            known.waits = None;
        }
        self.acquire(by, scope);
    }

    fn warp(&mut self, (block, warp): WarpId) -> &mut Known {
        let warps = &mut self.blocks.entry(block).or_default().warps;
        if warps.len() <= warp as usize {
            warps.resize(warp as usize + 1, Known::default());
        }
        &mut warps[warp as usize]
    }

    /// Whether a warp's read may go back.
    pub fn may_go_back(&mut self, by: WarpId) -> bool {
        self.warp(by).back < MOST_IN_A_ROW
    }

    /// A warp's load, which could go back, did or did not.
    pub fn went_back(&mut self, by: WarpId, did: bool) {
        let known = self.warp(by);
        known.back = if did { known.back + 1 } else { 0 };
    }

    /// A warp reads bytes that hold `value`. With `roll`, a drawn number, it goes back past some of
    /// the writes that it need not see. Returns whether there are such writes, and what it finds
    /// before them, if it is another value.
    pub fn read(
        &mut self,
        by: WarpId,
        shared_of: Option<u64>,
        (address, width): (u64, u32),
        value: impl FnOnce() -> u128,
        roll: Option<u64>,
    ) -> (bool, Option<u128>) {
        let (chunk, shift, mask) = chunk(shared_of, address, width);
        let Some(list) = self.chunks.get_mut(&chunk) else { return (false, None) };
        let (block, warp) = by;
        let view = self.blocks.get(&block);
        let others = view.map_or(0, |view| view.others);
        let own = view.and_then(|view| view.warps.get(warp as usize)).map_or(0, |known| known.own);
        let must_see = |written: &Written| {
            let known = if written.by.0 == block { own } else { others };
            written.by == by || written.time <= known || written.seen.contains(&block)
        };
        let overlaps = |written: &&mut Written| written.mask & mask != 0;
        let newest = list.iter().rev().filter(|written| written.mask & mask != 0);
        let free = newest.take_while(|written| !must_see(written)).count() as u64;
        let back = roll.filter(|_| free > 0).map_or(0, |roll| 1 + roll % free) as usize;
        let value = value();
        let mut found = value << shift;
        for (number, written) in list.iter_mut().rev().filter(overlaps).enumerate() {
            if number < back {
                found = found & !written.mask | written.before & written.mask;
            } else if !written.seen.contains(&block) {
                // Those before it may be unseen even if it is not: they may write other bytes.
                written.seen.push(block);
            }
        }
        let found = (found & mask) >> shift;
        (free > 0, (back > 0 && found != value).then_some(found))
    }

    /// A block has ended.
    pub fn end(&mut self, block: u64) {
        self.blocks.remove(&block);
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_IN_A_ROW, Views};

    #[test]
    fn each_byte_that_a_block_has_read_is_never_older_again() {
        let mut views = Views::default();
        let (writer, reader) = ((0, 0), (1, 0));
        let mut write = |address| {
            views.tick();
            views.write(writer, None, (address, 4), 0, false);
        };
        write(4);
        write(0);
        let mut read = |bytes, value: u128, roll| views.read(reader, None, bytes, || value, roll);
        assert_eq!(read((4, 4), 1, Some(0)), (true, Some(0)));
        // The newer write first, then both.
        assert_eq!(read((0, 4), 1, None), (true, None));
        assert_eq!(read((0, 8), 1 | 1 << 32, Some(0)), (false, None));
        assert_eq!(read((4, 4), 1, Some(0)), (false, None));
    }

    #[test]
    fn a_warp_goes_back_so_often_only() {
        let (mut views, warp) = (Views::default(), (3, 1));
        for _ in 0..MOST_IN_A_ROW {
            assert!(views.may_go_back(warp));
            views.went_back(warp, true);
        }
        assert!(!views.may_go_back(warp) && views.may_go_back((3, 0)));
        views.went_back(warp, false);
        assert!(views.may_go_back(warp));
    }
}
