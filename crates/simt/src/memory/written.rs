//! Which bytes of an allocation have been written, for the sanitizer's check of uninitialised
//! reads. Stores of the host and the sanitizer's hooks mark bytes; the hooks ask. Several threads
//! may do so at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use crate::address::Lanes;

/// A bit for each byte, created only when needed: most memory is written as a whole or not at all.
#[derive(Default)]
pub(crate) struct Written {
    bytes: u64,
    whole: AtomicBool,
    bits: OnceLock<Box<[AtomicU32]>>,
}

impl Written {
    /// Tracks `bytes` bytes, none written.
    pub fn new(bytes: u64) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// Marks all bytes as not written.
    pub fn clear(&mut self) {
        *self.whole.get_mut() = false;
        if let Some(bits) = self.bits.get_mut() {
            bits.iter_mut().for_each(|word| *word.get_mut() = 0);
        }
    }

    /// Marks all bytes as written.
    pub fn mark_all(&self) {
        self.whole.store(true, Relaxed);
    }

    /// Marks bytes as written.
    #[inline]
    pub fn mark(&self, offset: u64, length: u64) {
        if self.whole.load(Relaxed) {
            return;
        }
        if offset == 0 && length >= self.bytes {
            return self.mark_all();
        }
        let bits = self.bits();
        each_word(offset, length, |index, ones| {
            if let Some(word) = bits.get(index) {
                set(word, ones);
            }
            true
        });
    }

    /// Marks bytes as not written: they belong to another allocation now.
    pub fn forget(&self, offset: u64, length: u64) {
        let all = if self.whole.swap(false, Relaxed) { u32::MAX } else { 0 };
        let bits = self.bits();
        if all != 0 {
            bits.iter().for_each(|word| word.store(all, Relaxed));
        }
        each_word(offset, length, |index, ones| {
            if let Some(word) = bits.get(index) {
                word.fetch_and(!ones, Relaxed);
            }
            true
        });
    }

    /// Marks the bytes of all active lanes as written.
    #[inline(always)]
    pub fn mark_lanes(&self, lanes: &Lanes) {
        if self.whole.load(Relaxed) {
            return;
        }
        if lanes.is_consecutive() {
            return self.mark(lanes.start, u64::from(lanes.width) * 32);
        }
        let bits = self.bits();
        let mut rest = lanes.mask & !lanes.runs.repeats;
        while rest != 0 {
            let (index, ones) = in_word(lanes, rest);
            rest &= rest - 1;
            if let Some(word) = bits.get(index) {
                set(word, ones);
            }
        }
    }

    /// The bits, which are created on first use, and committed where they are used.
    fn bits(&self) -> &[AtomicU32] {
        self.bits.get_or_init(|| bytemuck::zeroed_slice_box(self.bytes.div_ceil(32) as usize))
    }

    /// Whether all bytes of a range were written.
    #[inline]
    pub fn has(&self, offset: u64, length: u64) -> bool {
        if self.whole.load(Relaxed) {
            return true;
        }
        let Some(bits) = self.bits.get() else { return length == 0 };
        each_word(offset, length, |index, ones| bits.get(index).is_some_and(|word| word.load(Relaxed) & ones == ones))
    }

    /// Whether the bytes of all active lanes were written.
    #[inline(always)]
    pub fn has_lanes(&self, lanes: &Lanes) -> bool {
        if self.whole.load(Relaxed) {
            return true;
        }
        if lanes.is_consecutive() {
            return self.has(lanes.start, u64::from(lanes.width) * 32);
        }
        let Some(bits) = self.bits.get() else { return false };
        let mut rest = lanes.mask & !lanes.runs.repeats;
        while rest != 0 {
            let (index, ones) = in_word(lanes, rest);
            rest &= rest - 1;
            if !bits.get(index).map_or(0, |word| word.load(Relaxed)) & ones != 0 {
                return false;
            }
        }
        true
    }

    /// Which of the elements of this size, one after the other from `offset` on, have a byte that
    /// was not written; nothing if none has.
    pub fn missing(&self, offset: u64, element: u64, count: usize) -> Vec<bool> {
        if self.has(offset, element * count as u64) {
            return Vec::new();
        }
        (0..count as u64).map(|index| !self.has(offset + index * element, element)).collect()
    }

    /// Whether any byte of a range was written.
    pub fn has_any(&self, offset: u64, length: u64) -> bool {
        (offset..offset + length).any(|at| self.has(at, 1))
    }
}

/// The bits for the lowest lane's bytes, which are aligned, and the index of their word.
#[inline(always)]
fn in_word(lanes: &Lanes, mask: u32) -> (usize, u32) {
    let offset = lanes.offset((mask.trailing_zeros() & 31) as usize);
    (offset as usize / 32, ((1u32 << (lanes.width & 31)) - 1) << (offset % 32))
}

/// Sets bits of a word, unless they are set.
#[inline(always)]
fn set(word: &AtomicU32, ones: u32) {
    if ones == u32::MAX {
        // No other bits can be lost: all become ones.
        word.store(ones, Relaxed);
    } else if word.load(Relaxed) & ones != ones {
        word.fetch_or(ones, Relaxed);
    }
}

/// Calls `each` with each word of bits of a range until it returns false. Returns whether all
/// returned true.
#[inline(always)]
fn each_word(offset: u64, length: u64, mut each: impl FnMut(usize, u32) -> bool) -> bool {
    let end = offset + length;
    let mut at = offset;
    while at < end {
        let count = (32 - at % 32).min(end - at);
        let ones = u32::MAX >> (32 - count) << (at % 32);
        if !each((at / 32) as usize, ones) {
            return false;
        }
        at += count;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coalesce::Shape;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_byte_is_kept(bytes in 1u64..200, marks in prop::collection::vec((0u64..200, 0u64..80, any::<bool>()), 0..8)) {
            let written = Written::new(bytes);
            let mut model = vec![false; bytes as usize];
            for (offset, length, writes) in marks {
                let (offset, length) = (offset.min(bytes), length.min(bytes - offset.min(bytes)));
                match writes {
                    true => written.mark(offset, length),
                    false => written.forget(offset, length),
                }
                model[offset as usize..(offset + length) as usize].fill(writes);
            }
            for start in 0..bytes {
                for length in [1, 2, 4, 16, 40].into_iter().filter(|length| start + length <= bytes) {
                    let part = &model[start as usize..(start + length) as usize];
                    prop_assert_eq!(written.has(start, length), part.iter().all(|&byte| byte));
                    prop_assert_eq!(written.has_any(start, length), part.contains(&true));
                }
            }
        }

        #[test]
        fn lanes_are_as_many_ranges(
            accesses in prop::collection::vec((1..=u32::MAX, 0u64..40, 0u64..5, 0u32..5, any::<bool>()), 1..8),
        ) {
            let bytes = 4096;
            let written = Written::new(bytes);
            let mut model = vec![false; bytes as usize];
            for (mask, start, stride, width, all) in accesses {
                let (mask, width) = (if all { u32::MAX } else { mask }, 1u32 << width);
                let addresses = std::array::from_fn(|lane| (start + stride * lane as u64) * u64::from(width));
                let mut shape = Shape::new();
                let lowest = shape.follow(mask, &addresses, width);
                let lanes = shape.lanes(lowest);
                let ranges = || {
                    let active = (0..32).filter(|lane| mask >> lane & 1 == 1);
                    active.map(|lane| addresses[lane] as usize..addresses[lane] as usize + width as usize)
                };
                prop_assert_eq!(written.has_lanes(&lanes), ranges().all(|range| model[range].iter().all(|&byte| byte)));
                written.mark_lanes(&lanes);
                ranges().for_each(|range| model[range].fill(true));
                prop_assert!(written.has_lanes(&lanes));
                let has: Vec<bool> = (0..bytes).map(|at| written.has(at, 1)).collect();
                prop_assert_eq!(&has, &model);
            }
        }
    }
}
