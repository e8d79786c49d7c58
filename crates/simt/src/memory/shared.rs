//! The shared memory of one block. A block of the machine owns it; loads, stores and atomic
//! operations access it, also from other blocks of its cluster.
//!
//! Addresses start at 0 in the first block of a cluster, and at multiples of [`BLOCK_WINDOW_BYTES`]
//! in the others, as on the hardware: an address means the same in all of them.
//!
//! From sm_80 on, the system reserves [`RESERVED_SHARED`] bytes of each block, in which cooperative
//! groups of more than 32 threads meet. The block's own memory begins behind them on the hardware.
//! Here they are far behind it, in blocks whose kernel asks where they are
//! (`%reserved_smem_offset_1` and others): accesses beyond the own memory remain faults. They begin
//! as zeros, because who uses them leaves zeros; an H100 does not clear them for each block.

use crate::address::BLOCK_WINDOW_BYTES;
use std::cell::Cell;

use super::words::{self, Word};
use crate::address::{Access, AccessFault, AccessFaultKind, AllocationSpan};
use crate::coalesce::Shape;

/// Bytes of a block's shared memory that the system reserves.
pub(crate) const RESERVED_SHARED: u32 = 1 << 10;

/// At least so many bytes are between a block's own shared memory and that of the system.
const GAP: u32 = 1 << 14;

/// The parts of a block's shared memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SharedParts {
    /// Bytes of the block's own memory, which begins at 0.
    pub bytes: u32,
    /// Where the system's memory begins, if the kernel can reach it.
    pub reserved: Option<u32>,
}

impl SharedParts {
    pub fn new(bytes: u32, has_reserved: bool) -> Self {
        let behind = bytes.next_multiple_of(RESERVED_SHARED) + GAP;
        Self { bytes, reserved: has_reserved.then_some(behind) }
    }

    /// The part that an offset belongs to, or is nearest to: its start, and its bytes.
    #[inline(always)]
    pub fn at(self, offset: u64) -> (u64, u64) {
        match self.reserved {
            Some(start) if offset >= start.into() => (start.into(), RESERVED_SHARED.into()),
            _ => (0, self.bytes.into()),
        }
    }

    /// The end of the last part.
    fn end(self) -> u32 {
        self.reserved.map_or(self.bytes, |start| start + RESERVED_SHARED)
    }
}

/// The shared memory of one block.
#[derive(Default)]
pub(crate) struct SharedMemory {
    words: Vec<Cell<u32>>,
    /// Its first address.
    start: u64,
    /// Bytes of the block's own part.
    bytes: u64,
    parts: SharedParts,
}

impl SharedMemory {
    /// Shared memory with these parts, zeroed, of the block of that rank in its cluster.
    pub fn new(parts: SharedParts, rank: u32) -> Self {
        let mut memory = Self { start: u64::from(rank) * BLOCK_WINDOW_BYTES, ..Self::default() };
        memory.reset(parts);
        memory
    }

    /// Its first address.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Resets it for the next block.
    pub fn reset(&mut self, parts: SharedParts) {
        (self.parts, self.bytes) = (parts, parts.bytes.into());
        self.words.clear();
        self.words.resize(parts.end().div_ceil(4) as usize, Cell::new(0));
    }

    /// Where an access starts, from the first address on, if it is possible in all lanes.
    #[inline(always)]
    fn start_of(&self, shape: &Shape, lowest: u64) -> Option<u64> {
        shape.start_within(lowest, self.start, self.bytes).or_else(|| self.start_in_reserved(shape, lowest))
    }

    #[cold]
    #[inline(never)]
    fn start_in_reserved(&self, shape: &Shape, lowest: u64) -> Option<u64> {
        let reserved = u64::from(self.parts.reserved?);
        let start = shape.start_within(lowest, self.start + reserved, RESERVED_SHARED.into())?;
        Some(reserved + start)
    }

    /// Gives each word of the block's own part a value.
    pub fn fill(&mut self, mut value: impl FnMut() -> u32) {
        self.words.iter().take(self.bytes.div_ceil(4) as usize).for_each(|word| word.set(value()));
    }

    /// Loads for a warp from addresses of which `lowest` is the lowest; rows as in [`words::load`].
    /// Returns whether it did: it does nothing if any lane is at fault.
    #[inline(always)]
    pub fn load(&self, shape: &Shape, lowest: u64, rows: &mut [[u32; 32]]) -> bool {
        let Some(start) = self.start_of(shape, lowest) else { return false };
        words::load(&self.words, start, shape, rows);
        true
    }

    /// Stores for a warp, under the same conditions as [`SharedMemory::load`](Self::load).
    #[inline(always)]
    pub fn store(&self, shape: &Shape, lowest: u64, rows: &[[u32; 32]]) -> bool {
        let Some(start) = self.start_of(shape, lowest) else { return false };
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
        let is_within = |offset: u64| {
            let (start, bytes) = self.parts.at(offset);
            (offset - start).checked_add(width.into()).is_some_and(|end| end <= bytes)
        };
        if !address.checked_sub(self.start).is_some_and(is_within) {
            return Err(AccessFaultKind::OutOfBounds { nearest: Some(self.span()) });
        }
        if !address.is_multiple_of(u64::from(width)) {
            return Err(AccessFaultKind::Misaligned { width });
        }
        Ok(())
    }

    /// The address range of the block's own part.
    pub fn span(&self) -> AllocationSpan {
        AllocationSpan { address: self.start, bytes: self.bytes }
    }

    /// The index of the word that an address is in.
    fn word(&self, address: u64) -> usize {
        (address.wrapping_sub(self.start) / 4) as usize
    }
}
