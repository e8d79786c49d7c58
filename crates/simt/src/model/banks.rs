//! Counts passes over the banks of shared memory, by architecture.
//!
//! Sources: CUDA C programming guide, sections "Shared Memory" of compute capabilities 1.x (4.2
//! edition), 2.x and 3.x (6.5 edition). The rule of 5.x and later is that of [`crate::coalesce`],
//! measured on an H200.

use super::gpu::BankRule;
use crate::address::Access;
use crate::coalesce::{self, Served, Wavefronts};
use crate::lanes::lanes;

/// The passes that a load, or a store, needs.
pub(crate) fn wavefronts(rule: BankRule, access: &Access, is_load: bool) -> Wavefronts {
    match rule {
        BankRule::Words if is_load => coalesce::load_wavefronts(access),
        BankRule::Words => coalesce::store_wavefronts(access),
        _ => list(rule, access, is_load, |_| {}),
    }
}

/// Lists the words of an access and when each is served. Returns the passes.
pub(crate) fn list(rule: BankRule, access: &Access, is_load: bool, each: impl FnMut(Served)) -> Wavefronts {
    match rule {
        BankRule::Words => coalesce::list_wavefronts(access, is_load, each),
        BankRule::HalfWarps => half_warps(access, is_load, each),
        BankRule::Fermi => {
            let extra = u32::from(access.width == 16);
            grouped(access, &[(8, 16), (16, 8)], extra, |word| (word % 32, word), each)
        }
        BankRule::Kepler4 => grouped(access, &[(16, 16)], 0, |word| (word % 32, word / 64), each),
        BankRule::Kepler8 => grouped(access, &[(16, 16)], 0, |word| (word / 2 % 32, word / 2), each),
    }
}

/// Groups of lanes, one after the other: each needs as many passes as the bank with the most
/// distinct rows has, plus `extra`. `groups` has the lanes of a group for the widths that are not
/// served a whole warp at a time; `bank_of` gives the bank and the row of a 4-byte word.
fn grouped(
    access: &Access,
    groups: &[(u32, usize)],
    extra: u32,
    bank_of: fn(u64) -> (u64, u64),
    mut each: impl FnMut(Served),
) -> Wavefronts {
    let size = groups.iter().find(|(width, _)| *width == access.width).map_or(32, |&(_, lanes)| lanes);
    coalesce::groups(access.mask, size).fold(Wavefronts::default(), |sum, group| {
        let passes = most_rows_in_a_bank(access, group, bank_of, |served| each(served.after(sum.wavefronts)));
        sum + Wavefronts::of_group(passes + extra)
    })
}

fn most_rows_in_a_bank(
    access: &Access,
    group: u32,
    bank_of: fn(u64) -> (u64, u64),
    mut each: impl FnMut(Served),
) -> u32 {
    let mut rows = Distinct::default();
    for lane in lanes(group) {
        let first = access.addresses[lane] / 4;
        for word in first..first + u64::from(access.width.div_ceil(4)) {
            let (bank, row) = bank_of(word);
            let turn = rows.turn_of(bank, row);
            each(Served { lane, word, pass: turn, turn });
        }
    }
    rows.most
}

const BANKS: usize = 32;

/// The most values of all banks: 32 lanes have two words each, or 16 lanes four.
const VALUES: usize = 64;

/// The distinct values of each bank, as a list in the order in which they came. No access to shared
/// memory allocates anything for it.
struct Distinct {
    values: [u64; VALUES],
    /// Of each bank, and then of each value, one more than the place of the next value; or 0.
    next: [u8; BANKS + VALUES],
    used: u8,
    /// The most values of a bank.
    most: u32,
}

impl Default for Distinct {
    fn default() -> Self {
        Self { values: [0; VALUES], next: [0; BANKS + VALUES], used: 0, most: 0 }
    }
}

impl Distinct {
    /// Which of the bank's values this is; a new one is added to them.
    #[inline]
    fn turn_of(&mut self, bank: u64, value: u64) -> u32 {
        let (mut at, mut turn) = (bank as usize % BANKS, 0);
        while let Some(place) = usize::from(self.next[at]).checked_sub(1) {
            if self.values[place] == value {
                return turn;
            }
            (at, turn) = (BANKS + place, turn + 1);
        }
        self.values[usize::from(self.used)] = value;
        self.used += 1;
        self.next[at] = self.used;
        self.most = self.most.max(turn + 1);
        turn
    }
}

/// Compute capability 1.x: 16 banks serve a half warp. Each pass broadcasts one word, that of the
/// lowest remaining thread, to all that request it, and serves one thread of each other bank. Words
/// of 8 and 16 bytes are several requests of 4 bytes. A store broadcasts nothing, but threads that
/// write the same word count as one.
fn half_warps(access: &Access, is_load: bool, mut each: impl FnMut(Served)) -> Wavefronts {
    let mut total = Wavefronts::default();
    for half in coalesce::groups(access.mask, 16) {
        for part in 0..u64::from(access.width.div_ceil(4)) {
            let serve = |served: Served| each(served.after(total.wavefronts));
            let passes = match is_load {
                true => broadcasting(access, half, part, serve),
                false => distinct(access, half, part, serve),
            };
            total = total + Wavefronts::of_group(passes);
        }
    }
    total
}

fn broadcasting(access: &Access, half: u32, part: u64, mut each: impl FnMut(Served)) -> u32 {
    let word = |lane: usize| access.addresses[lane] / 4 + part;
    let mut left = half;
    let mut passes = 0;
    while left != 0 {
        let broadcast = word(left.trailing_zeros() as usize & 31);
        let mut busy = 1u32 << (broadcast % 16);
        for lane in lanes(left) {
            let bank = 1u32 << (word(lane) % 16);
            if word(lane) == broadcast || busy & bank == 0 {
                busy |= bank;
                left &= !(1 << lane);
                each(Served { lane, word: word(lane), pass: passes, turn: passes });
            }
        }
        passes += 1;
    }
    passes
}

fn distinct(access: &Access, half: u32, part: u64, mut each: impl FnMut(Served)) -> u32 {
    let mut words = Distinct::default();
    for lane in lanes(half) {
        let word = access.addresses[lane] / 4 + part;
        let turn = words.turn_of(word % 16, word);
        each(Served { lane, word, pass: turn, turn });
    }
    words.most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(rule: BankRule, width: u32, address: impl Fn(u64) -> u64) -> u32 {
        let addresses = std::array::from_fn(|lane| address(lane as u64));
        wavefronts(rule, &Access::new(u32::MAX, &addresses, width), true).wavefronts
    }

    #[test]
    fn sixteen_banks_and_half_warps() {
        let of = |stride: u64| load(BankRule::HalfWarps, 4, |lane| 4 * stride * lane);
        // Two half warps: an odd stride needs a pass each; 2, 8 and 16 conflict 2, 8 and 16 ways in
        // each.
        assert_eq!([1, 2, 3, 8, 16, 32, 33].map(of), [2, 4, 2, 16, 32, 32, 2]);
        // One word for all is broadcast; a permutation is free.
        assert_eq!(of(0), 2);
        assert_eq!(load(BankRule::HalfWarps, 4, |lane| 4 * (lane ^ 7)), 2);
        // Bytes: four threads a word, one word broadcast a pass.
        assert_eq!(load(BankRule::HalfWarps, 1, |lane| lane), 8);
        // 8 bytes: two requests of stride 2.
        assert_eq!(load(BankRule::HalfWarps, 8, |lane| 8 * lane), 8);
        // A column of 16 x 16 floats (the lab sheet's), without and with padding.
        assert_eq!(load(BankRule::HalfWarps, 4, |lane| 4 * 16 * (lane % 16)), 32);
        assert_eq!(load(BankRule::HalfWarps, 4, |lane| 4 * 17 * (lane % 16)), 2);
    }

    #[test]
    fn fermi_serves_wide_words_by_parts() {
        assert_eq!(load(BankRule::Fermi, 4, |lane| 4 * lane), 1);
        assert_eq!(load(BankRule::Fermi, 4, |lane| 128 * lane), 32);
        assert_eq!(load(BankRule::Fermi, 8, |lane| 8 * lane), 2);
        // A 16-byte access conflicts two ways at best.
        assert_eq!(load(BankRule::Fermi, 16, |lane| 16 * lane), 8);
        assert_eq!(load(BankRule::Fermi, 1, |lane| lane), 1);
    }

    #[test]
    fn kepler_has_banks_of_eight_bytes() {
        // 8-byte words need one pass in either mode, since the banks are as wide.
        assert_eq!(load(BankRule::Kepler4, 8, |lane| 8 * lane), 1);
        assert_eq!(load(BankRule::Kepler8, 8, |lane| 8 * lane), 1);
        // Stride 2 conflicts in neither: words i and i + 32 of a row, or two words of a bank.
        assert_eq!(load(BankRule::Kepler4, 4, |lane| 8 * lane), 1);
        assert_eq!(load(BankRule::Kepler8, 4, |lane| 8 * lane), 1);
        assert_eq!(load(BankRule::Kepler4, 4, |lane| 128 * lane), 16);
        assert_eq!(load(BankRule::Kepler8, 4, |lane| 128 * lane), 16);
        assert_eq!(load(BankRule::Kepler4, 16, |lane| 16 * lane), 2);
    }
}
