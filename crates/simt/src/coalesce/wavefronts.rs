//! The passes over the banks that a warp's access to shared memory takes.

use std::ops::Add;

use crate::address::Access;

/// Banks of shared memory, each a 4-byte word wide.
pub const BANKS: u32 = 32;

/// What a request to shared memory costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wavefronts {
    /// Passes over the banks.
    pub wavefronts: u32,
    /// Passes beyond those that the same request would need without bank conflicts.
    pub conflicts: u32,
}

impl Add for Wavefronts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { wavefronts: self.wavefronts + other.wavefronts, conflicts: self.conflicts + other.conflicts }
    }
}

impl Wavefronts {
    /// Lanes that are served together, and need this many passes.
    pub(crate) fn of_group(passes: u32) -> Self {
        Self { wavefronts: passes, conflicts: passes - 1 }
    }
}

/// A word of a request to shared memory, and when it is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    /// The lane that asks for it.
    pub lane: usize,
    /// Its address, over 4.
    pub word: u64,
    /// The pass over the banks, from 0.
    pub pass: u32,
    /// The pass among those of the lanes that are served together: 0 without conflicts.
    pub turn: u32,
}

impl Served {
    /// The same, after this many passes.
    #[inline]
    pub(crate) fn after(self, passes: u32) -> Self {
        Self { pass: self.pass + passes, ..self }
    }
}

/// The wavefronts that a load from shared memory needs. Its addresses must be aligned to its width.
///
/// Accesses of up to 4 bytes go in one group. Those of 8 bytes go a half warp at a time and those
/// of 16 a quarter warp at a time, but two neighbouring groups of a load are merged if lanes share
/// their data in pairs (each lane `i` with `i ^ 1`, or each with `i ^ 2`), so a broadcast of wide
/// words stays cheap.
#[inline(always)]
pub(crate) fn load_wavefronts(access: &Access) -> Wavefronts {
    wavefronts(access, || groups_of_load_merge(access))
}

/// The wavefronts that a store to shared memory needs: as for a load, but groups are never merged.
#[inline(always)]
pub(crate) fn store_wavefronts(access: &Access) -> Wavefronts {
    wavefronts(access, || false)
}

/// Lists the words of an access and when each is served. Returns what [`load_wavefronts`] or
/// [`store_wavefronts`] do.
pub(crate) fn list_wavefronts(access: &Access, is_load: bool, mut each: impl FnMut(Served)) -> Wavefronts {
    let size = group_size(access.width, is_load && groups_of_load_merge(access));
    groups(access.mask, size).fold(Wavefronts::default(), |sum, group| {
        let served = |lane, word, turn| each(Served { lane, word, turn, pass: sum.wavefronts + turn });
        sum + Wavefronts::of_group(list_words_by_bank(access, group, served))
    })
}

fn groups_of_load_merge(access: &Access) -> bool {
    shares_in_pairs(access, 1) || shares_in_pairs(access, 2)
}

/// How many lanes are served together.
fn group_size(width: u32, groups_merge: bool) -> usize {
    let lanes = match width {
        ..=4 => 32,
        8 => 16,
        _ => 8,
    };
    if groups_merge { 32.min(lanes * 2) } else { lanes }
}

/// The lanes of a mask in groups of this many neighbours, without empty groups.
pub(crate) fn groups(mask: u32, size: usize) -> impl Iterator<Item = u32> {
    let groups = (0..32).step_by(size).map(move |first| mask & lane_mask(size) << first);
    groups.filter(|&group| group != 0)
}

#[inline(always)]
fn wavefronts(access: &Access, groups_merge: impl Fn() -> bool) -> Wavefronts {
    if access.mask == 0 {
        return Wavefronts::default();
    }
    if access.is_consecutive() {
        // 32 lanes of `width` bytes fill 32 banks of 4 bytes evenly, whatever the alignment of the
        // first lane.
        return Wavefronts { wavefronts: access.width.div_ceil(4), conflicts: 0 };
    }
    if access.width <= 4 { narrow_wavefronts(access) } else { wide_wavefronts(access, groups_merge()) }
}

/// Up to 4 bytes a lane: the bank with the most distinct words decides.
#[inline(always)]
fn narrow_wavefronts(access: &Access) -> Wavefronts {
    Wavefronts::of_group(most_words_in_a_bank(access, access.mask))
}

/// 8 or 16 bytes a lane: one group of lanes after another.
fn wide_wavefronts(access: &Access, groups_merge: bool) -> Wavefronts {
    let groups = groups(access.mask, group_size(access.width, groups_merge));
    groups.fold(Wavefronts::default(), |sum, group| sum + Wavefronts::of_group(most_words_in_a_bank(access, group)))
}

/// A mask of the first `lanes` lanes.
fn lane_mask(lanes: usize) -> u32 {
    if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 }
}

/// Whether every active lane `i` has the same address as lane `i ^ distance`, if that is active.
fn shares_in_pairs(access: &Access, distance: usize) -> bool {
    (0..32).all(|lane| {
        let other = lane ^ distance;
        let both = access.mask >> lane & access.mask >> other & 1 != 0;
        !both || access.addresses[lane] == access.addresses[other]
    })
}

/// Calls `each` with every word that the lanes of `group` access, and its lane.
#[inline(always)]
pub(super) fn for_each_word(access: &Access, group: u32, mut each: impl FnMut(usize, u64)) {
    let words_per_lane = u64::from(access.width.div_ceil(4));
    let mut lanes = group;
    while lanes != 0 {
        let lane = (lanes.trailing_zeros() & 31) as usize;
        let first = access.addresses[lane] / 4;
        lanes &= lanes - 1;
        for word in first..first + words_per_lane {
            each(lane, word);
        }
    }
}

/// The bank that holds a word.
#[inline(always)]
fn bank_of(word: u64) -> usize {
    (word % u64::from(BANKS)) as usize
}

/// The most distinct words that the lanes of `group` access in one bank.
#[inline(always)]
fn most_words_in_a_bank(access: &Access, group: u32) -> u32 {
    // `seen[bank]` holds the word that the bank's first wavefront serves. The words need a list
    // only if a bank has more than one.
    let mut seen = [u64::MAX; BANKS as usize];
    let mut spilled = false;
    for_each_word(access, group, |_, word| {
        let slot = &mut seen[bank_of(word)];
        if *slot == u64::MAX {
            *slot = word;
        } else {
            spilled |= *slot != word;
        }
    });
    if spilled { WordsByBank::of(access, group).most() } else { 1 }
}

/// The distinct words that a group of lanes accesses in each bank, in the order of the lanes.
struct WordsByBank {
    // A lane has at most one word in a bank.
    words: [[u64; 32]; BANKS as usize],
    counts: [u8; BANKS as usize],
}

impl WordsByBank {
    #[inline]
    fn of(access: &Access, group: u32) -> Self {
        let mut found = Self { words: [[0; 32]; BANKS as usize], counts: [0; BANKS as usize] };
        for_each_word(access, group, |_, word| {
            let bank = bank_of(word);
            let count = usize::from(found.counts[bank]);
            if !found.words[bank][..count].contains(&word) {
                found.words[bank][count] = word;
                found.counts[bank] += 1;
            }
        });
        found
    }

    /// [`most_words_in_a_bank`].
    #[inline]
    fn most(&self) -> u32 {
        self.counts.into_iter().max().unwrap_or(0).into()
    }
}

/// Calls `each` with every lane of a group, its word, and which of its bank's words that is.
/// Returns [`most_words_in_a_bank`].
pub(super) fn list_words_by_bank(access: &Access, group: u32, mut each: impl FnMut(usize, u64, u32)) -> u32 {
    let found = WordsByBank::of(access, group);
    for_each_word(access, group, |lane, word| {
        let before = found.words[bank_of(word)].iter().take_while(|&&other| other != word);
        each(lane, word, before.count() as u32);
    });
    found.most()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(address: impl Fn(u64) -> u64) -> [u64; 32] {
        std::array::from_fn(|lane| address(lane as u64))
    }

    #[test]
    fn only_active_lanes_take_wavefronts() {
        let addresses = lanes(|lane| 1000 * 4 * lane);
        assert_eq!(load_wavefronts(&Access::new(0, &addresses, 4)), Wavefronts::default());
        assert_eq!(load_wavefronts(&Access::new(1 << 31, &addresses, 4)), Wavefronts { wavefronts: 1, conflicts: 0 });
    }

    #[test]
    fn a_column_conflicts_and_its_padded_twin_does_not() {
        let column = lanes(|lane| 32 * 4 * lane);
        let padded = lanes(|lane| 33 * 4 * lane);
        assert_eq!(load_wavefronts(&Access::new(u32::MAX, &column, 4)), Wavefronts { wavefronts: 32, conflicts: 31 });
        assert_eq!(load_wavefronts(&Access::new(u32::MAX, &padded, 4)), Wavefronts { wavefronts: 1, conflicts: 0 });
    }

    #[test]
    fn wavefronts_are_those_that_an_h200_counts() {
        let rows = include_str!("../../tests/data/h200_banks.txt").lines().filter(|line| !line.starts_with('#'));
        let mut checked = 0;
        for row in rows {
            let mut words = row.split(' ');
            let operation = words.next().unwrap();
            let mut numbers = words.map(|word| word.parse::<i64>().ok());
            let mut number = || numbers.next().flatten();
            let (width, wavefronts, conflicts) = (number().unwrap(), number().unwrap(), number().unwrap());
            let elements: [Option<i64>; 32] = std::array::from_fn(|_| number());
            let addresses = elements.map(|element| element.unwrap_or(0) as u64 * width as u64);
            let mask = (0..32).filter(|&lane| elements[lane].is_some()).fold(0, |mask, lane| mask | 1 << lane);
            let access = Access::new(mask, &addresses, width as u32);
            let counted = if operation == "load" { load_wavefronts(&access) } else { store_wavefronts(&access) };
            let expected = Wavefronts { wavefronts: wavefronts as u32, conflicts: conflicts as u32 };
            assert_eq!(counted, expected, "{row}");
            checked += 1;
        }
        assert_eq!(checked, 1360);
    }
}
