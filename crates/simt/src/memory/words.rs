//! Loads, stores and atomic operations of a warp on a run of 4-byte words, for `global`, `heap` and
//! `shared`. Callers have checked bounds and alignment.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::coalesce::{Layout, Shape};

/// A word that can be read and written through a shared reference.
pub(super) trait Word {
    fn get(&self) -> u32;
    fn set(&self, value: u32);
    /// Replaces the value in one step and returns the old one.
    fn modify(&self, change: impl Fn(u32) -> u32) -> u32;
}

/// Global memory, which blocks on other threads use at the same time.
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

/// Shared memory, which only one thread uses.
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

/// How many bytes there are before the first whole word, and how many in whole words.
fn parts(offset: usize, bytes: usize) -> (usize, usize) {
    let head = (offset.next_multiple_of(4) - offset).min(bytes);
    (head, (bytes - head) / 4 * 4)
}

/// Copies bytes out of words, from an offset in bytes on: whole words at the speed of memory.
pub(super) fn read(words: &[AtomicU32], offset: usize, bytes: &mut [u8]) {
    let (head, middle) = parts(offset, bytes.len());
    let (first, rest) = bytes.split_at_mut(head);
    let (whole, last) = rest.split_at_mut(middle);
    let part = |at: usize, to: &mut [u8]| {
        if !to.is_empty() {
            let word = words[at / 4].load(Relaxed).to_le_bytes();
            to.copy_from_slice(&word[at % 4..at % 4 + to.len()]);
        }
    };
    part(offset, first);
    let start = (offset + head) / 4;
    // Arrays, whose length is known: slices would be copied byte by byte. Two words at once.
    let (pairs, odd) = whole.as_chunks_mut::<8>();
    let words_of_pairs = words[start..].as_chunks::<2>().0;
    for (to, [low, high]) in pairs.iter_mut().zip(words_of_pairs) {
        *to = (u64::from(low.load(Relaxed)) | u64::from(high.load(Relaxed)) << 32).to_le_bytes();
    }
    part(offset + head + middle - odd.len(), odd);
    part(offset + head + middle, last);
}

/// Copies bytes into words, from an offset in bytes on.
pub(super) fn write(words: &mut [AtomicU32], offset: usize, bytes: &[u8]) {
    let (head, middle) = parts(offset, bytes.len());
    let (first, rest) = bytes.split_at(head);
    let (whole, last) = rest.split_at(middle);
    let part = |words: &mut [AtomicU32], at: usize, from: &[u8]| {
        if !from.is_empty() {
            let word = words[at / 4].get_mut();
            let mut value = word.to_le_bytes();
            value[at % 4..at % 4 + from.len()].copy_from_slice(from);
            *word = u32::from_le_bytes(value);
        }
    };
    part(words, offset, first);
    let start = (offset + head) / 4;
    for (word, from) in words[start..].iter_mut().zip(whole.as_chunks::<4>().0) {
        *word.get_mut() = u32::from_le_bytes(*from);
    }
    part(words, offset + head + middle, last);
}

/// Sets bytes of words, from an offset in bytes on.
pub(super) fn fill(words: &mut [AtomicU32], offset: usize, bytes: usize, value: u8) {
    let (head, middle) = parts(offset, bytes);
    let end = offset + head + middle;
    let pattern = [value; 4];
    write(words, offset, &pattern[..head]);
    for word in &mut words[(offset + head) / 4..end / 4] {
        *word.get_mut() = u32::from_le_bytes(pattern);
    }
    write(words, end, &pattern[..bytes - head - middle]);
}

/// Copies bytes into words that others may write at the same time: bytes beside these keep their
/// values.
pub(super) fn write_shared(words: &[AtomicU32], offset: usize, bytes: &[u8]) {
    let (head, middle) = parts(offset, bytes.len());
    let (first, rest) = bytes.split_at(head);
    let (whole, last) = rest.split_at(middle);
    let each = |at: usize, bytes: &[u8]| (at..).zip(bytes).for_each(|(at, &byte)| set(words, at, byte));
    each(offset, first);
    for (word, from) in words[(offset + head) / 4..].iter().zip(whole.as_chunks::<4>().0) {
        word.store(u32::from_le_bytes(*from), Relaxed);
    }
    each(offset + head + middle, last);
}

/// Sets bytes of such words.
pub(super) fn fill_shared(words: &[AtomicU32], offset: usize, bytes: usize, value: u8) {
    let (head, middle) = parts(offset, bytes);
    let end = offset + head + middle;
    (offset..offset + head).chain(end..offset + bytes).for_each(|at| set(words, at, value));
    words[(offset + head) / 4..end / 4].iter().for_each(|word| word.store(u32::from_le_bytes([value; 4]), Relaxed));
}

fn set(words: &[AtomicU32], at: usize, value: u8) {
    let shift = 8 * (at % 4);
    words[at / 4].modify(|word| word & !(0xff << shift) | u32::from(value) << shift);
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

/// Reads each active lane's bytes; the access starts at byte `start` of the words. Widths 1 and 2
/// are zero-extended into row 0; widths 8 and 16 take one row for each word, the lowest first, and
/// `rows` must have that many. Inactive lanes keep their values.
#[inline(always)]
pub(super) fn load<W: Word>(words: &[W], start: u64, shape: &Shape, rows: &mut [[u32; 32]]) {
    let (words, within) = (&words[(start / 4) as usize..], (start % 4) as u32);
    let offsets = shape.offsets();
    match (shape.width(), shape.layout()) {
        (width @ (1 | 2), _) => {
            let keep = if width == 1 { 0xff } else { 0xffff };
            for_lanes(shape.mask(), |lane| {
                let offset = within + offsets[lane];
                rows[0][lane] = words[offset as usize / 4].get() >> (offset % 4 * 8) & keep;
            });
        }
        (4, Layout::Consecutive) => {
            for (value, word) in rows[0].iter_mut().zip(&words[..32]) {
                *value = word.get();
            }
        }
        (4, Layout::Uniform) => rows[0] = [words[0].get(); 32],
        (4, _) => for_lanes(shape.mask(), |lane| rows[0][lane] = words[offsets[lane] as usize / 4].get()),
        (width, _) => {
            let count = width as usize / 4;
            for_lanes(shape.mask(), |lane| {
                let first = offsets[lane] as usize / 4;
                for (row, word) in rows.iter_mut().zip(&words[first..first + count]) {
                    row[lane] = word.get();
                }
            });
        }
    }
}

/// Writes each active lane's bytes, as [`load`] reads them; if lanes share an address, the highest
/// lane wins.
#[inline(always)]
pub(super) fn store<W: Word>(words: &[W], start: u64, shape: &Shape, rows: &[[u32; 32]]) {
    let (words, within) = (&words[(start / 4) as usize..], (start % 4) as u32);
    let offsets = shape.offsets();
    match (shape.width(), shape.layout()) {
        (width @ (1 | 2), _) => {
            let keep = if width == 1 { 0xff } else { 0xffff };
            for_lanes(shape.mask(), |lane| {
                let (offset, value) = (within + offsets[lane], rows[0][lane] & keep);
                let shift = offset % 4 * 8;
                words[offset as usize / 4].modify(|old| old & !(keep << shift) | value << shift);
            });
        }
        (4, Layout::Consecutive) => {
            for (value, word) in rows[0].iter().zip(&words[..32]) {
                word.set(*value);
            }
        }
        (4, _) => for_lanes(shape.mask(), |lane| words[offsets[lane] as usize / 4].set(rows[0][lane])),
        (width, _) => {
            let count = width as usize / 4;
            for_lanes(shape.mask(), |lane| {
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
