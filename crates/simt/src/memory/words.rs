//! Loads, stores and atomic operations of a warp on a run of 4-byte words, whoever owns them.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Access;

/// A word that can be read and written through a shared reference.
pub(super) trait Word {
    fn get(&self) -> u32;
    fn set(&self, value: u32);
    /// Replaces the value in one step and returns the old one.
    fn modify(&self, change: impl Fn(u32) -> u32) -> u32;
}

/// Global memory: blocks on other threads use it at the same time.
impl Word for AtomicU32 {
    #[inline(always)]
    fn get(&self) -> u32 {
        self.load(Relaxed)
    }
    #[inline(always)]
    fn set(&self, value: u32) {
        self.store(value, Relaxed);
    }
    #[inline(always)]
    fn modify(&self, change: impl Fn(u32) -> u32) -> u32 {
        let mut old = self.load(Relaxed);
        while let Err(actual) = self.compare_exchange_weak(old, change(old), Relaxed, Relaxed) {
            old = actual;
        }
        old
    }
}

/// Shared memory: one block's alone.
impl Word for Cell<u32> {
    #[inline(always)]
    fn get(&self) -> u32 {
        Cell::get(self)
    }
    #[inline(always)]
    fn set(&self, value: u32) {
        Cell::set(self, value);
    }
    #[inline(always)]
    fn modify(&self, change: impl Fn(u32) -> u32) -> u32 {
        let old = Cell::get(self);
        Cell::set(self, change(old));
        old
    }
}

/// Byte offsets of all active lanes from `base`, if each is aligned and its access ends within `bytes` (fewer than
/// 2^32); else the first lane at fault. `base` is aligned for every width.
#[inline(always)]
pub(super) fn offsets(access: &Access, base: u64, bytes: u64) -> Result<[u32; 32], u32> {
    let limit = bytes.checked_sub(u64::from(access.width));
    let mut offsets = [0u32; 32];
    let mut beyond = 0u64;
    let mut largest = 0u32;
    let mut low = 0u32;
    if access.is_consecutive() {
        // The ends tell for all. An address near 2^64 wraps to below the base, which `beyond` sees.
        let first = access.addresses[0].wrapping_sub(base);
        for (lane, offset) in offsets.iter_mut().enumerate() {
            *offset = (first as u32).wrapping_add(lane as u32 * access.width);
        }
        let last = first.saturating_add(31 * u64::from(access.width));
        beyond = last >> 32;
        largest = last as u32;
        low = first as u32;
    } else if access.mask == u32::MAX {
        for (offset, address) in offsets.iter_mut().zip(access.addresses) {
            let wide = address.wrapping_sub(base);
            beyond |= wide >> 32;
            *offset = wide as u32;
            largest = largest.max(*offset);
            low |= *offset;
        }
    } else {
        for (lane, (offset, address)) in offsets.iter_mut().zip(access.addresses).enumerate() {
            let active = 0u64.wrapping_sub(u64::from(access.mask >> lane & 1));
            let wide = address.wrapping_sub(base) & active;
            beyond |= wide >> 32;
            *offset = wide as u32;
            largest = largest.max(*offset);
            low |= *offset;
        }
    }
    let fits = limit.is_some_and(|limit| u64::from(largest) <= limit);
    if beyond == 0 && fits && low & (access.width - 1) == 0 {
        return Ok(offsets);
    }
    Err(first_fault(access, base, bytes))
}

/// The lowest active lane whose access is misaligned or not within `base..base + bytes`.
#[cold]
fn first_fault(access: &Access, base: u64, bytes: u64) -> u32 {
    (0..32)
        .filter(|lane| access.mask >> lane & 1 == 1)
        .find(|&lane| {
            let address = access.addresses[lane as usize];
            let inside = address
                .checked_sub(base)
                .is_some_and(|offset| offset.checked_add(u64::from(access.width)).is_some_and(|end| end <= bytes));
            !inside || !address.is_multiple_of(u64::from(access.width))
        })
        .unwrap_or(0)
}

/// Calls `each` with every active lane.
#[inline(always)]
fn for_lanes(mask: u32, mut each: impl FnMut(usize)) {
    if mask == u32::MAX {
        for lane in 0..32 {
            each(lane);
        }
    } else {
        let mut lanes = mask;
        while lanes != 0 {
            each((lanes.trailing_zeros() & 31) as usize);
            lanes &= lanes - 1;
        }
    }
}

/// Reads each active lane's bytes. `offsets` come from [`offsets`] for the same words.
#[inline(always)]
pub(super) fn load<W: Word>(words: &[W], access: &Access, offsets: &[u32; 32], rows: &mut [[u32; 32]; 4]) {
    match access.width {
        1 | 2 => {
            let keep = if access.width == 1 { 0xff } else { 0xffff };
            for_lanes(access.mask, |lane| {
                let offset = offsets[lane];
                rows[0][lane] = words[offset as usize / 4].get() >> (offset % 4 * 8) & keep;
            });
        }
        4 if access.is_consecutive() => {
            let first = offsets[0] as usize / 4;
            for (value, word) in rows[0].iter_mut().zip(&words[first..first + 32]) {
                *value = word.get();
            }
        }
        4 => for_lanes(access.mask, |lane| rows[0][lane] = words[offsets[lane] as usize / 4].get()),
        _ => {
            let count = access.width as usize / 4;
            for_lanes(access.mask, |lane| {
                let first = offsets[lane] as usize / 4;
                for (row, word) in rows.iter_mut().zip(&words[first..first + count]) {
                    row[lane] = word.get();
                }
            });
        }
    }
}

/// Writes each active lane's bytes; where lanes share an address, the highest lane's stay.
#[inline(always)]
pub(super) fn store<W: Word>(words: &[W], access: &Access, offsets: &[u32; 32], rows: &[[u32; 32]; 4]) {
    match access.width {
        1 | 2 => {
            let keep = if access.width == 1 { 0xff } else { 0xffff };
            for_lanes(access.mask, |lane| {
                let (offset, value) = (offsets[lane], rows[0][lane] & keep);
                let shift = offset % 4 * 8;
                words[offset as usize / 4].modify(|old| old & !(keep << shift) | value << shift);
            });
        }
        4 if access.is_consecutive() => {
            let first = offsets[0] as usize / 4;
            for (value, word) in rows[0].iter().zip(&words[first..first + 32]) {
                word.set(*value);
            }
        }
        4 => for_lanes(access.mask, |lane| words[offsets[lane] as usize / 4].set(rows[0][lane])),
        _ => {
            let count = access.width as usize / 4;
            for_lanes(access.mask, |lane| {
                let first = offsets[lane] as usize / 4;
                for (row, word) in rows.iter().zip(&words[first..first + count]) {
                    word.set(row[lane]);
                }
            });
        }
    }
}

/// Replaces the half of a word that `address` names.
#[inline(always)]
pub(super) fn modify_half<W: Word>(word: &W, address: u64, update: impl Fn(u16) -> u16) -> u16 {
    let shift = (address % 4 * 8) as u32;
    let old = word.modify(|word| word & !(0xffff << shift) | u32::from(update((word >> shift) as u16)) << shift);
    (old >> shift) as u16
}

/// Replaces two words, the lower first.
#[inline(always)]
pub(super) fn modify_pair<W: Word>(words: &[W], update: impl Fn(u64) -> u64) -> u64 {
    let old = u64::from(words[0].get()) | u64::from(words[1].get()) << 32;
    let new = update(old);
    words[0].set(new as u32);
    words[1].set((new >> 32) as u32);
    old
}

/// Replaces four words, the lowest first.
pub(super) fn modify_four<W: Word>(words: &[W], update: impl Fn(u128) -> u128) -> u128 {
    let old = words[..4].iter().rev().fold(0, |value, word| value << 32 | u128::from(word.get()));
    let new = update(old);
    for (index, word) in words[..4].iter().enumerate() {
        word.set((new >> (32 * index)) as u32);
    }
    old
}
