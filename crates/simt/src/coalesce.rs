//! How the hardware splits one warp's access to memory: sectors of global memory, wavefronts of
//! shared memory.
//!
//! Global memory moves in sectors, the 32-byte segments of the address space; a request costs as
//! many as its active lanes touch in total. Shared memory has 32 banks of 4-byte words; a wavefront
//! serves one word of each bank, to as many lanes as request it. Both rules were measured on an
//! H200 (`tests/data/h200.json` and, for the banks, `tests/data/h200_banks.txt`), and tests compare
//! them with its counters.

mod copies;

pub(crate) use copies::CopyAccesses;

use std::ops::Add;

use crate::memory::Access;

/// Bytes of a sector.
pub const SECTOR_BYTES: u32 = 32;
/// Banks of shared memory, each a 4-byte word wide.
pub const BANKS: u32 = 32;

/// What a request to global or local memory moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sectors {
    /// Distinct 32-byte sectors touched.
    pub sectors: u32,
    /// Distinct bytes requested.
    pub bytes: u32,
}

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
    pub(crate) fn after(self, passes: u32) -> Self {
        Self { pass: self.pass + passes, ..self }
    }
}

/// The sectors that an access touches. Its addresses must be aligned to its width.
#[inline(always)]
pub(crate) fn sectors(access: &Access) -> Sectors {
    let width = access.width;
    let active = access.mask.count_ones();
    if active == 0 {
        return Sectors::default();
    }
    if access.is_consecutive() {
        let first = access.addresses[0];
        let bytes = 32 * width;
        let sectors = (first + u64::from(bytes) - 1) / 32 - first / 32 + 1;
        return Sectors { sectors: sectors as u32, bytes };
    }
    let mut elements = access.filled();
    let shift = width.trailing_zeros();
    for element in &mut elements {
        *element >>= shift;
    }
    let bytes = distinct(&elements) * width;
    let shift = SECTOR_BYTES.trailing_zeros() - shift;
    for element in &mut elements {
        *element >>= shift;
    }
    Sectors { sectors: distinct(&elements), bytes }
}

/// The number of different addresses in an access.
pub(crate) fn addresses(access: &Access) -> u32 {
    sectors(access).bytes / access.width
}

/// The sectors that an atomic operation moves: lanes that share a word take turns, and each turn
/// counts a sector.
pub(crate) fn atomic_sectors(access: &Access) -> Sectors {
    let turns = turns_of_sectors(access).map(|(_, turns)| turns).sum();
    Sectors { sectors: turns, ..sectors(access) }
}

/// The sectors that an atomic operation touches, as addresses divided by the sector size, and the
/// turns of each: the number of lanes on its most shared word.
pub(crate) fn turns_of_sectors(access: &Access) -> impl Iterator<Item = (u64, u32)> {
    let mut found = [(0u64, 0u32); 32];
    let mut count = 0;
    for lane in (0..32).filter(|lane| access.mask >> lane & 1 == 1) {
        let address = access.addresses[lane];
        let same = |other: &usize| access.mask >> other & 1 == 1 && access.addresses[*other] == address;
        let turns = (0..32).filter(same).count() as u32;
        let sector = address / u64::from(SECTOR_BYTES);
        match found[..count].iter_mut().find(|(other, _)| *other == sector) {
            Some((_, most)) => *most = turns.max(*most),
            None => {
                found[count] = (sector, turns);
                count += 1;
            }
        }
    }
    found.into_iter().take(count)
}

/// Number of distinct values.
#[inline(always)]
fn distinct(values: &[u64; 32]) -> u32 {
    let mut changes = 0u32;
    let mut rising = true;
    for index in 1..32 {
        changes += u32::from(values[index] != values[index - 1]);
        rising &= values[index] >= values[index - 1];
    }
    if rising {
        return changes + 1;
    }
    // Values close together: a bit for each, without branches.
    let (mut low, mut high) = (u64::MAX, 0);
    for &value in values {
        low = low.min(value);
        high = high.max(value);
    }
    if high - low < 64 {
        let mut seen = 0u64;
        for &value in values {
            seen |= 1 << ((value - low) & 63);
        }
        return seen.count_ones();
    }
    distinct_unordered(values)
}

/// [`distinct`] for values in any order.
fn distinct_unordered(values: &[u64; 32]) -> u32 {
    const BITS: u64 = 1024;
    let low = values.iter().copied().min().unwrap_or(0);
    let high = values.iter().copied().max().unwrap_or(0);
    if high - low < BITS {
        let mut seen = [0u64; (BITS / 64) as usize];
        for value in values {
            let bit = value - low;
            seen[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        return seen.iter().map(|word| word.count_ones()).sum();
    }
    let mut sorted = *values;
    sorted.sort_unstable();
    1 + sorted.windows(2).filter(|pair| pair[0] != pair[1]).count() as u32
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
    let together = lanes_together(access.width, is_load && groups_of_load_merge(access));
    groups(access.mask, together).fold(Wavefronts::default(), |sum, group| {
        let served = |lane, word, turn| each(Served { lane, word, turn, pass: sum.wavefronts + turn });
        sum + Wavefronts::of_group(list_words_by_bank(access, group, served))
    })
}

fn groups_of_load_merge(access: &Access) -> bool {
    shares_in_pairs(access, 1) || shares_in_pairs(access, 2)
}

/// How many lanes are served together.
fn lanes_together(width: u32, groups_merge: bool) -> usize {
    let lanes = match width {
        ..=4 => 32,
        8 => 16,
        _ => 8,
    };
    if groups_merge { 32.min(lanes * 2) } else { lanes }
}

/// The lanes of a mask in groups of this many neighbours, without empty groups.
pub(crate) fn groups(mask: u32, together: usize) -> impl Iterator<Item = u32> {
    let groups = (0..32).step_by(together).map(move |first| mask & lane_mask(together) << first);
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
    let groups = groups(access.mask, lanes_together(access.width, groups_merge));
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
fn for_each_word(access: &Access, group: u32, mut each: impl FnMut(usize, u64)) {
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
    fn most(&self) -> u32 {
        self.counts.into_iter().max().unwrap_or(0).into()
    }
}

/// Calls `each` with every lane of a group, its word, and which of its bank's words that is.
/// Returns [`most_words_in_a_bank`].
fn list_words_by_bank(access: &Access, group: u32, mut each: impl FnMut(usize, u64, u32)) -> u32 {
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
    fn sectors_of_the_lectures_patterns() {
        // (address of a lane, width, sectors, distinct bytes): aligned, misaligned, same word,
        // stride 2, one sector a lane.
        type Case = (fn(u64) -> u64, u32, u32, u32);
        let cases: [Case; 8] = [
            (|lane| 4 * lane, 4, 4, 128),
            (|lane| 4 * lane + 4, 4, 5, 128),
            (|_| 64, 4, 1, 4),
            (|lane| 8 * lane, 4, 8, 128),
            (|lane| 128 * lane, 4, 32, 128),
            (|lane| 4 * (lane ^ 5), 4, 4, 128),
            (|lane| 16 * lane, 16, 16, 512),
            (|lane| 1 << (5 + lane), 1, 32, 32),
        ];
        for (address, width, sectors_expected, bytes) in cases {
            let addresses = lanes(address);
            let access = Access::new(u32::MAX, &addresses, width);
            assert_eq!(sectors(&access), Sectors { sectors: sectors_expected, bytes }, "{addresses:?}");
        }
    }

    #[test]
    fn lanes_of_an_atomic_operation_on_one_word_take_turns() {
        // An H200's counts (`l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum`, and the same for
        // atom), 2026-11-21: as many neighbouring lanes share a word, and the words are 4 or 32
        // bytes apart.
        for (together, close, apart) in [(1, 4, 32), (2, 4, 32), (4, 4, 32), (8, 8, 32), (16, 16, 32), (32, 32, 32)] {
            for (step, expected) in [(4, close), (32, apart)] {
                let addresses = lanes(|lane| 4096 + lane / together * step);
                let access = Access::new(u32::MAX, &addresses, 4);
                assert_eq!(atomic_sectors(&access).sectors, expected, "{together} lanes a word, {step} bytes");
            }
        }
        assert_eq!(atomic_sectors(&Access::new(0, &[0; 32], 4)), Sectors::default());
    }

    #[test]
    fn only_active_lanes_count() {
        let addresses = lanes(|lane| 1000 * 4 * lane);
        assert_eq!(sectors(&Access::new(0, &addresses, 4)), Sectors::default());
        assert_eq!(sectors(&Access::new(0b1011, &addresses, 4)), Sectors { sectors: 3, bytes: 12 });
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
        let rows = include_str!("../tests/data/h200_banks.txt").lines().filter(|line| !line.starts_with('#'));
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

    #[test]
    fn counting_agrees_with_a_set_in_any_order() {
        let mut state = 1u64;
        for round in 0..2000 {
            let spread = 1 << (round % 40);
            let width = 1 << (round % 5);
            let addresses = lanes(|_| 0).map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 20) % spread * u64::from(width)
            });
            let mask = if round % 3 == 0 { u32::MAX } else { (state >> 13) as u32 };
            let active: Vec<u64> = (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| addresses[lane]).collect();
            let sector_set: std::collections::BTreeSet<u64> = active.iter().map(|address| address / 32).collect();
            let element_set: std::collections::BTreeSet<u64> = active.iter().copied().collect();
            let counted = sectors(&Access::new(mask, &addresses, width));
            assert_eq!(counted.sectors as usize, sector_set.len());
            assert_eq!(counted.bytes as usize, element_set.len() * width as usize);
        }
    }
}
