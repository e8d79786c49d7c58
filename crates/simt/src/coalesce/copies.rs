//! The cost of `cp.async`: the sectors that it reads, and the wavefronts of writing them to shared
//! memory.
//!
//! Measured on an H200 with 16 patterns (2026-11-21; all are tests below). A copy through L1
//! (`.ca`) reads like a load and writes like a store, but data from different 128-byte lines never
//! shares a wavefront. A copy past L1 (`.cg`) moves runs: lanes of one line (for sectors: of one
//! sector) whose source and destination are equally far apart. Zeros for bytes that are not read
//! take separate passes.

use super::sectors::{SECTOR_BYTES, Sectors, sectors};
use super::wavefronts::{Served, Wavefronts, for_each_word, groups, list_words_by_bank};
use crate::address::Access;
use crate::lanes::lanes;

/// A copy of a warp: where each lane reads and writes.
pub(crate) struct CopyAccesses<'a> {
    /// The reads; inactive lanes read nothing.
    pub from: Access<'a>,
    /// The writes.
    pub to: Access<'a>,
    /// Whether any lane reads less than it writes.
    pub fills: bool,
    /// Whether it goes past L1.
    pub at_l2_only: bool,
}

impl CopyAccesses<'_> {
    /// The sectors of global memory that the copy reads.
    pub fn sectors(&self) -> Sectors {
        let found = sectors(&self.from);
        let past_l1 = || self.runs(SECTOR_BYTES.into()).0.len() as u32;
        if self.at_l2_only { Sectors { sectors: past_l1(), ..found } } else { found }
    }

    /// Lists the sectors that a copy past L1 reads, by their addresses.
    pub fn list_sectors(&self, mut each: impl FnMut(u64)) {
        let (runs, _) = self.runs(SECTOR_BYTES.into());
        runs.iter().for_each(|&(sector, _)| each(sector * u64::from(SECTOR_BYTES)));
    }

    /// The wavefronts of shared memory that the copy needs.
    pub fn wavefronts(&self) -> Wavefronts {
        self.list_wavefronts(|_| {})
    }

    /// Lists the words that the copy writes and when each is served. Returns its wavefronts.
    pub fn list_wavefronts(&self, mut each: impl FnMut(Served)) -> Wavefronts {
        let groups = groups(self.to.mask, 128 / self.to.width.max(4) as usize);
        if self.at_l2_only {
            let (runs, run_of_lane) = self.runs(128);
            let mut passes = runs.len() as u32;
            for group in groups {
                for_each_word(&self.to, group, |lane, word| {
                    let pass = run_of_lane[lane].map_or(passes, |run| run as u32);
                    each(Served { lane, word, pass, turn: 0 });
                });
                passes += u32::from(self.fills);
            }
            return Wavefronts { wavefronts: passes, conflicts: 0 };
        }
        let mut total = Wavefronts::default();
        for group in groups {
            let (mut rest, mut passes) = (group, 0);
            while rest != 0 {
                let line = self.line(rest.trailing_zeros() as usize);
                let same_line = lanes(rest).filter(|&lane| self.line(lane) == line);
                let same_line = same_line.fold(0, |mask, lane| mask | 1 << lane);
                passes += list_words_by_bank(&self.to, same_line, |lane, word, turn| {
                    let turn = passes + turn;
                    each(Served { lane, word, turn, pass: total.wavefronts + turn });
                });
                rest &= !same_line;
            }
            total = total + Wavefronts::of_group(passes);
        }
        total
    }

    /// The line that a lane reads from, if it reads.
    fn line(&self, lane: usize) -> Option<u64> {
        (self.from.mask >> (lane & 31) & 1 == 1).then(|| self.from.addresses[lane & 31] / 128)
    }

    /// Runs of lanes that read from one aligned piece of `bytes` bytes, and whose source and
    /// destination are equally far apart. Of each run the piece and the distance; of each lane that
    /// reads, the number of its run.
    fn runs(&self, bytes: u64) -> (Vec<(u64, u64)>, [Option<usize>; 32]) {
        let (mut runs, mut run_of_lane) = (Vec::new(), [None; 32]);
        for lane in lanes(self.from.mask) {
            let (from, to) = (self.from.addresses[lane], self.to.addresses[lane]);
            let run = (from / bytes, to.wrapping_sub(from));
            run_of_lane[lane] = runs.iter().position(|&other| other == run).or_else(|| {
                runs.push(run);
                Some(runs.len() - 1)
            });
        }
        (runs, run_of_lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_cost_what_an_h200_counts() {
        // Bytes, past L1, bytes from lane to lane at source and destination, lanes, bytes read by
        // the lanes of the first half and of the second; sectors, wavefronts, bank conflicts.
        type Case = ((u32, bool, u64, u64, u32, [u32; 2]), [u32; 3]);
        let all = u32::MAX;
        let cases: [Case; 16] = [
            ((4, false, 4, 4, all, [4, 4]), [4, 1, 0]),
            ((8, false, 8, 8, all, [8, 8]), [8, 2, 0]),
            ((16, false, 16, 16, all, [16, 16]), [16, 4, 0]),
            ((16, true, 16, 16, all, [16, 16]), [16, 4, 0]),
            ((4, false, 128, 4, all, [4, 4]), [32, 32, 31]),
            ((16, true, 128, 16, all, [16, 16]), [32, 32, 0]),
            ((4, false, 4, 128, all, [4, 4]), [4, 32, 31]),
            ((4, false, 4, 8, all, [4, 4]), [4, 2, 1]),
            ((8, false, 8, 16, all, [8, 8]), [8, 4, 2]),
            ((16, true, 16, 128, all, [16, 16]), [32, 32, 0]),
            ((16, true, 16, 32, all, [16, 16]), [32, 32, 0]),
            ((16, false, 16, 128, all, [16, 16]), [16, 32, 28]),
            ((16, true, 16, 16, 0xffff, [16, 16]), [8, 2, 0]),
            ((4, false, 4, 4, 0xffff, [4, 4]), [2, 1, 0]),
            ((16, true, 16, 16, all, [0, 0]), [0, 4, 0]),
            ((16, true, 16, 16, all, [16, 4]), [16, 8, 0]),
        ];
        for (case, expected) in cases {
            let (bytes, at_l2_only, source, destination, mask, read) = case;
            let from: [u64; 32] = std::array::from_fn(|lane| 0x7000_0000 + lane as u64 * source);
            let to: [u64; 32] = std::array::from_fn(|lane| lane as u64 * destination);
            let reading = (0..32).filter(|lane| read[lane / 16] > 0).fold(0, |mask, lane| mask | 1u32 << lane);
            let copy = CopyAccesses {
                from: Access::new(mask & reading, &from, bytes),
                to: Access::new(mask, &to, bytes),
                fills: read.iter().any(|&read| read < bytes),
                at_l2_only,
            };
            let Wavefronts { wavefronts, conflicts } = copy.wavefronts();
            assert_eq!([copy.sectors().sectors, wavefronts, conflicts], expected, "{case:?}");
        }
    }
}
