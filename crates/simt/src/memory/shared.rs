//! The shared memory of one block. A block of the machine owns it; loads, stores and atomic
//! operations access it, also from other blocks of its cluster.
//!
//! Addresses start at 0 in the first block of a cluster, and at multiples of [`BLOCK_WINDOW_BYTES`]
//! in the others, as on the hardware: an address means the same in all of them.

use crate::address::BLOCK_WINDOW_BYTES;
use std::cell::Cell;

use super::words::{self, Word};
use crate::address::{Access, AccessFault, AccessFaultKind, AllocationSpan};
use crate::coalesce::Shape;

/// The shared memory of one block.
#[derive(Default)]
pub(crate) struct SharedMemory {
    words: Vec<Cell<u32>>,
    /// Its first address.
    start: u64,
    bytes: u64,
}

impl SharedMemory {
    /// Shared memory of `bytes`, zeroed, of the block of that rank in its cluster.
    pub fn new(bytes: u32, rank: u32) -> Self {
        let mut memory = Self { words: Vec::new(), start: u64::from(rank) * BLOCK_WINDOW_BYTES, bytes: 0 };
        memory.reset(bytes);
        memory
    }

    /// Its first address.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Resets it for the next block.
    pub fn reset(&mut self, bytes: u32) {
        self.bytes = u64::from(bytes);
        self.words.clear();
        self.words.resize(bytes.div_ceil(4) as usize, Cell::new(0));
    }

    /// Gives each word a value.
    pub fn fill(&mut self, mut value: impl FnMut() -> u32) {
        self.words.iter().for_each(|word| word.set(value()));
    }

    /// Loads for a warp from addresses of which `lowest` is the lowest; rows as in [`words::load`].
    /// Returns whether it did: it does nothing if any lane is at fault.
    #[inline(always)]
    pub fn load(&self, shape: &Shape, lowest: u64, rows: &mut [[u32; 32]]) -> bool {
        let Some(start) = shape.start_within(lowest, self.start, self.bytes) else { return false };
        words::load(&self.words, start, shape, rows);
        true
    }

    /// Stores for a warp, under the same conditions as [`SharedMemory::load`](Self::load).
    #[inline(always)]
    pub fn store(&self, shape: &Shape, lowest: u64, rows: &[[u32; 32]]) -> bool {
        let Some(start) = shape.start_within(lowest, self.start, self.bytes) else { return false };
        words::store(&self.words, start, shape, rows);
        true
    }

    /// Loads lane by lane, from any addresses; rows as in [`words::load`]. Does nothing if any lane
    /// is at fault.
    pub fn load_each(&self, access: &Access, rows: &mut [[u32; 32]]) -> Result<(), AccessFault> {
        access.check(|address| self.check(address, access.width))?;
        Shape::for_each_lane(access, |shape, address| _ = self.load(shape, address, rows));
        Ok(())
    }

    /// Stores lane by lane, under the same conditions as
    /// [`SharedMemory::load_each`](Self::load_each).
    pub fn store_each(&self, access: &Access, rows: &[[u32; 32]]) -> Result<(), AccessFault> {
        access.check(|address| self.check(address, access.width))?;
        Shape::for_each_lane(access, |shape, address| _ = self.store(shape, address, rows));
        Ok(())
    }

    /// Replaces a 16-bit value and returns the old one.
    pub fn atomic16(&self, address: u64, update: impl Fn(u16) -> u16) -> Result<u16, AccessFaultKind> {
        self.check(address, 2)?;
        Ok(words::modify_half(&self.words[self.word(address)], address, update))
    }

    /// Replaces a 32-bit value and returns the old one.
    pub fn atomic32(&self, address: u64, update: impl Fn(u32) -> u32) -> Result<u32, AccessFaultKind> {
        self.check(address, 4)?;
        Ok(self.words[self.word(address)].modify(update))
    }

    /// Replaces a 64-bit value and returns the old one.
    pub fn atomic64(&self, address: u64, update: impl Fn(u64) -> u64) -> Result<u64, AccessFaultKind> {
        self.check(address, 8)?;
        Ok(words::modify_pair(&self.words[self.word(address)..], update))
    }

    /// Replaces a 128-bit value and returns the old one.
    pub fn atomic128(&self, address: u64, update: impl Fn(u128) -> u128) -> Result<u128, AccessFaultKind> {
        self.check(address, 16)?;
        Ok(words::modify_four(&self.words[self.word(address)..], update))
    }

    /// The value of `width` bytes; 0 outside the block's memory.
    pub fn value(&self, address: u64, width: u32) -> u128 {
        let byte = |at: u64| {
            let word = self.words.get(self.word(address + at)).map_or(0, Cell::get);
            u128::from(word.to_le_bytes()[(address + at) as usize % 4])
        };
        (0..u64::from(width)).rev().fold(0, |value, at| value << 8 | byte(at))
    }

    /// Whether a thread may access `width` bytes at `address`.
    pub fn check(&self, address: u64, width: u32) -> Result<(), AccessFaultKind> {
        let end = address.checked_sub(self.start).and_then(|offset| offset.checked_add(width.into()));
        if end.is_none_or(|end| end > self.bytes) {
            return Err(AccessFaultKind::OutOfBounds { nearest: Some(self.span()) });
        }
        if !address.is_multiple_of(u64::from(width)) {
            return Err(AccessFaultKind::Misaligned { width });
        }
        Ok(())
    }

    /// Its address range.
    pub fn span(&self) -> AllocationSpan {
        AllocationSpan { address: self.start, bytes: self.bytes }
    }

    /// The index of the word that an address is in.
    fn word(&self, address: u64) -> usize {
        (address.wrapping_sub(self.start) / 4) as usize
    }
}
