//! Global and constant memory: allocations that all blocks share.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::words::{self, Word};
use super::{Access, AccessFault, AccessFaultKind, AllocationSpan, GLOBAL_BASE};

/// Allocations start at multiples of this and leave at least as much room behind them.
const SPACING: u64 = 1 << 20;
/// An allocation is smaller than this, so that offsets into it fit 32 bits.
const LARGEST_ALLOCATION: u64 = (1 << 32) - 256;

/// What can go wrong with device memory between launches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The simulated device has no room left.
    #[error("out of device memory: {requested} bytes asked for, {free} of {limit} bytes free")]
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes not in use.
        free: u64,
        /// Bytes that the device has.
        limit: u64,
    },
    /// One allocation larger than the simulator manages.
    #[error("{requested} bytes asked for at once: the simulator's allocations are smaller than 4 GiB")]
    TooLarge {
        /// Bytes asked for.
        requested: u64,
    },
    /// A copy, fill or free that no live allocation holds.
    #[error("{bytes} bytes at {address:#x} are not within one allocation")]
    NotAllocated {
        /// First address.
        address: u64,
        /// How many bytes.
        bytes: u64,
    },
}

/// The memory of a simulated device.
pub struct Memory {
    limit: u64,
    used: u64,
    next: u64,
    /// In rising order of address; freed ones stay, without their words.
    allocations: Vec<Allocation>,
    /// Serialises atomic operations of more than 32 bits: they take several words.
    wide_atomics: Mutex<()>,
}

/// Does its work on the words of an allocation, at each lane's byte offset.
type Serve<'a> = dyn FnMut(&[AtomicU32], &Access, &[u32; 32]) + 'a;

struct Allocation {
    span: AllocationSpan,
    /// `None` once freed.
    words: Option<Box<[AtomicU32]>>,
    read_only: bool,
}

impl Memory {
    /// A device with `limit` bytes of memory, none in use.
    pub fn new(limit: u64) -> Self {
        Self { limit, used: 0, next: GLOBAL_BASE, allocations: Vec::new(), wide_atomics: Mutex::new(()) }
    }

    /// Bytes that the device has.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The live allocations, in rising order of address.
    pub fn allocations(&self) -> impl Iterator<Item = AllocationSpan> {
        self.allocations.iter().filter(|allocation| allocation.words.is_some()).map(|allocation| allocation.span)
    }

    /// Allocates `bytes`, zeroed, at a multiple of 256 (0 bytes take a place of their own, too).
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, MemoryError> {
        self.allocate_as(bytes, false)
    }

    /// Allocates memory that kernels may only read.
    pub(crate) fn allocate_constant(&mut self, bytes: u64) -> Result<u64, MemoryError> {
        self.allocate_as(bytes, true)
    }

    fn allocate_as(&mut self, bytes: u64, read_only: bool) -> Result<u64, MemoryError> {
        let free = self.limit - self.used;
        if bytes > free {
            return Err(MemoryError::OutOfMemory { requested: bytes, free, limit: self.limit });
        }
        if bytes > LARGEST_ALLOCATION {
            return Err(MemoryError::TooLarge { requested: bytes });
        }
        let address = self.next;
        self.next += (bytes + SPACING).next_multiple_of(SPACING);
        self.used += bytes;
        let words = (0..bytes.div_ceil(4)).map(|_| AtomicU32::new(0)).collect();
        self.allocations.push(Allocation { span: AllocationSpan { address, bytes }, words: Some(words), read_only });
        Ok(address)
    }

    /// Frees the allocation that starts at `address`.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let missing = MemoryError::NotAllocated { address, bytes: 0 };
        let allocation = self
            .allocations
            .binary_search_by_key(&address, |allocation| allocation.span.address)
            .map(|index| &mut self.allocations[index])
            .map_err(|_| missing.clone())?;
        allocation.words.take().ok_or(missing)?;
        self.used -= allocation.span.bytes;
        Ok(())
    }

    /// Copies `bytes` to the device.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        let (words, offset) = self.host_range(address, bytes.len() as u64)?;
        let mut offset = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let start = offset % 4;
            let (now, later) = rest.split_at(rest.len().min(4 - start));
            let word = words[offset / 4].get_mut();
            let mut value = word.to_le_bytes();
            value[start..start + now.len()].copy_from_slice(now);
            *word = u32::from_le_bytes(value);
            offset += now.len();
            rest = later;
        }
        Ok(())
    }

    /// Copies bytes from the device.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        let missing = MemoryError::NotAllocated { address, bytes: bytes.len() as u64 };
        let allocation = self.find(address, bytes.len() as u64).ok_or(missing.clone())?;
        let words = allocation.words.as_deref().ok_or(missing)?;
        let mut offset = (address - allocation.span.address) as usize;
        let mut rest = bytes;
        while !rest.is_empty() {
            let start = offset % 4;
            let length = rest.len().min(4 - start);
            let (now, later) = rest.split_at_mut(length);
            now.copy_from_slice(&words[offset / 4].load(Relaxed).to_le_bytes()[start..start + length]);
            offset += length;
            rest = later;
        }
        Ok(())
    }

    /// Sets `bytes` bytes to `value`.
    pub fn fill(&mut self, address: u64, bytes: u64, value: u8) -> Result<(), MemoryError> {
        let (words, offset) = self.host_range(address, bytes)?;
        let end = offset + bytes as usize;
        let pattern = [value; 4];
        for (index, word) in words[offset / 4..end.div_ceil(4)].iter_mut().enumerate() {
            let at = (offset / 4 + index) * 4;
            let (first, last) = (offset.saturating_sub(at), (end - at).min(4));
            let mut current = word.get_mut().to_le_bytes();
            current[first..last].copy_from_slice(&pattern[first..last]);
            *word.get_mut() = u32::from_le_bytes(current);
        }
        Ok(())
    }

    /// The words of the allocation that holds all of a range, and the range's offset in it, in bytes.
    fn host_range(&mut self, address: u64, bytes: u64) -> Result<(&mut [AtomicU32], usize), MemoryError> {
        let missing = MemoryError::NotAllocated { address, bytes };
        let index = self.find_index(address).ok_or(missing.clone())?;
        let allocation = &mut self.allocations[index];
        let offset = address - allocation.span.address;
        if offset.checked_add(bytes).is_none_or(|end| end > allocation.span.bytes) {
            return Err(missing);
        }
        let words = allocation.words.as_deref_mut().ok_or(missing)?;
        Ok((words, offset as usize))
    }

    /// The last allocation that starts at or below `address`.
    #[inline(always)]
    fn find_index(&self, address: u64) -> Option<usize> {
        self.allocations.partition_point(|allocation| allocation.span.address <= address).checked_sub(1)
    }

    /// The allocation, live or freed, that holds all of a range.
    fn find(&self, address: u64, bytes: u64) -> Option<&Allocation> {
        let allocation = &self.allocations[self.find_index(address)?];
        let end = (address - allocation.span.address).checked_add(bytes)?;
        (end <= allocation.span.bytes).then_some(allocation)
    }

    /// Loads for a warp. Rows: see [`Access`]; widths 1 and 2 are zero-extended into row 0, 8 and 16 take a row for
    /// each word, the lowest first. Inactive lanes keep what is in them.
    #[inline(always)]
    pub(crate) fn load(&self, access: &Access, rows: &mut [[u32; 32]; 4]) -> Result<(), AccessFault> {
        if let Some((words, offsets)) = self.words_of_one(access, false) {
            words::load(words, access, &offsets, rows);
            return Ok(());
        }
        self.with_words_of_several(access, false, &mut |words, access, offsets| {
            words::load(words, access, offsets, rows);
        })
    }

    /// Stores for a warp; rows as in [`Memory::load`].
    #[inline(always)]
    pub(crate) fn store(&self, access: &Access, rows: &[[u32; 32]; 4]) -> Result<(), AccessFault> {
        if let Some((words, offsets)) = self.words_of_one(access, true) {
            words::store(words, access, &offsets, rows);
            return Ok(());
        }
        self.with_words_of_several(access, true, &mut |words, access, offsets| {
            words::store(words, access, offsets, rows);
        })
    }

    /// The words of the one allocation that all active lanes access, as is usual, and their offsets in it. `None` if
    /// they access several, or if anything is wrong.
    #[inline(always)]
    fn words_of_one(&self, access: &Access, write: bool) -> Option<(&[AtomicU32], [u32; 32])> {
        let first = access.addresses[(access.mask.trailing_zeros() & 31) as usize];
        let allocation = &self.allocations[self.find_index(first)?];
        let words = allocation.words.as_deref()?;
        if write && allocation.read_only {
            return None;
        }
        let offsets = words::offsets(access, allocation.span.address, allocation.span.bytes).ok()?;
        Some((words, offsets))
    }

    /// Calls `then` with the words that each active lane accesses, once all are known to be good.
    #[cold]
    fn with_words_of_several(&self, access: &Access, write: bool, then: &mut Serve<'_>) -> Result<(), AccessFault> {
        let active = || (0..32u32).filter(|lane| access.mask >> lane & 1 == 1);
        for lane in active() {
            let address = access.addresses[lane as usize];
            self.check(address, access.width, write).map_err(|kind| AccessFault { lane, address, kind })?;
        }
        for lane in active() {
            let one = Access::new(1 << lane, access.addresses, access.width);
            let Some(index) = self.find_index(access.addresses[lane as usize]) else { continue };
            let allocation = &self.allocations[index];
            if let Some(words) = &allocation.words
                && let Ok(offsets) = words::offsets(&one, allocation.span.address, allocation.span.bytes)
            {
                then(words, &one, &offsets);
            }
        }
        Ok(())
    }

    /// The live allocation that an address is in, and its number; `None` if it may not be written and is to be.
    pub(crate) fn locate(&self, address: u64, write: bool) -> Option<(usize, AllocationSpan)> {
        let index = self.find_index(address)?;
        let Allocation { span, words, read_only } = &self.allocations[index];
        (words.is_some() && !(write && *read_only)).then_some((index, *span))
    }

    /// Whether a thread may access `width` bytes at `address`.
    pub(crate) fn check(&self, address: u64, width: u32, write: bool) -> Result<(), AccessFaultKind> {
        let Some(allocation) = self.find(address, u64::from(width)) else {
            return Err(AccessFaultKind::OutOfBounds { nearest: self.nearest(address) });
        };
        if allocation.words.is_none() {
            return Err(AccessFaultKind::Freed { allocation: allocation.span });
        }
        if write && allocation.read_only {
            return Err(AccessFaultKind::ReadOnly { allocation: allocation.span });
        }
        if !address.is_multiple_of(u64::from(width)) {
            return Err(AccessFaultKind::Misaligned { width });
        }
        Ok(())
    }

    /// The live allocation whose first or last byte is nearest to `address`.
    fn nearest(&self, address: u64) -> Option<AllocationSpan> {
        self.allocations().min_by_key(|span| {
            let last = span.address + span.bytes.saturating_sub(1);
            if address < span.address { span.address - address } else { address.saturating_sub(last) }
        })
    }

    /// The words of an allocation and the index of the first of `width` bytes, for an atomic operation.
    fn atomic_words(&self, address: u64, width: u32) -> Result<(&[AtomicU32], usize), AccessFaultKind> {
        self.check(address, width, true)?;
        let allocation = self.find(address, u64::from(width));
        let found = allocation.and_then(|found| Some((found.words.as_deref()?, found.span.address)));
        let (words, base) = found.ok_or(AccessFaultKind::OutOfBounds { nearest: None })?;
        Ok((words, (address - base) as usize / 4))
    }

    /// Replaces a 16-bit value in one step and returns the old one.
    pub(crate) fn atomic16(&self, address: u64, update: impl Fn(u16) -> u16) -> Result<u16, AccessFaultKind> {
        let (words, index) = self.atomic_words(address, 2)?;
        Ok(words::modify_half(&words[index], address, update))
    }

    /// Replaces a 32-bit value in one step and returns the old one.
    pub(crate) fn atomic32(&self, address: u64, update: impl Fn(u32) -> u32) -> Result<u32, AccessFaultKind> {
        let (words, index) = self.atomic_words(address, 4)?;
        Ok(words[index].modify(update))
    }

    /// Replaces a 64-bit value in one step (with regard to other 64-bit atomic operations) and returns the old one.
    pub(crate) fn atomic64(&self, address: u64, update: impl Fn(u64) -> u64) -> Result<u64, AccessFaultKind> {
        let (words, index) = self.atomic_words(address, 8)?;
        let guard = self.wide_atomics.lock().unwrap_or_else(PoisonError::into_inner);
        let old = words::modify_pair(&words[index..], update);
        drop(guard);
        Ok(old)
    }

    /// Replaces a 128-bit value in one step (with regard to other atomic operations of 64 and 128 bits) and returns the
    /// old one.
    pub(crate) fn atomic128(&self, address: u64, update: impl Fn(u128) -> u128) -> Result<u128, AccessFaultKind> {
        let (words, index) = self.atomic_words(address, 16)?;
        let guard = self.wide_atomics.lock().unwrap_or_else(PoisonError::into_inner);
        let old = words::modify_four(&words[index..], update);
        drop(guard);
        Ok(old)
    }
}
