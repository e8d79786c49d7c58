//! Atomic operations on global memory.

use std::sync::PoisonError;
use std::sync::atomic::AtomicU32;

use super::Memory;
use crate::address::AccessFaultKind;
use crate::memory::snapshot::PAGE;
use crate::memory::words::{self, Word};

impl Memory {
    /// The words of an allocation and the index of the first of `width` bytes, for an atomic
    /// operation.
    fn atomic_words(&self, address: u64, width: u32) -> Result<(&[AtomicU32], usize), AccessFaultKind> {
        self.check(address, width, true)?;
        if self.undo.is_active()
            && let Some(index) = self.find_index(address)
        {
            self.keep(index, (address - self.allocations[index].span.address) as usize / (4 * PAGE));
        }
        let (words, offset) = self.words(address).ok_or(AccessFaultKind::OutOfBounds { nearest: None })?;
        Ok((words, offset / 4))
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

    /// Replaces a 64-bit value in one step (relative to other 64-bit atomic operations) and returns
    /// the old one.
    pub(crate) fn atomic64(&self, address: u64, update: impl Fn(u64) -> u64) -> Result<u64, AccessFaultKind> {
        let (words, index) = self.atomic_words(address, 8)?;
        let guard = self.wide_atomics.lock().unwrap_or_else(PoisonError::into_inner);
        let old = words::modify_pair(&words[index..], update);
        drop(guard);
        Ok(old)
    }

    /// Replaces a 128-bit value in one step (relative to other atomic operations of 64 and 128
    /// bits) and returns the old one.
    pub(crate) fn atomic128(&self, address: u64, update: impl Fn(u128) -> u128) -> Result<u128, AccessFaultKind> {
        let (words, index) = self.atomic_words(address, 16)?;
        let guard = self.wide_atomics.lock().unwrap_or_else(PoisonError::into_inner);
        let old = words::modify_four(&words[index..], update);
        drop(guard);
        Ok(old)
    }
}
