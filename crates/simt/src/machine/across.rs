//! Values exchanged between lanes: shuffles, votes, matches, reductions.
//!
//! Lanes on one path may name different members, such as the tiles of a warp. The instruction then
//! runs once for each set of members.

use ptx::{AtomicOp, ShuffleMode, Type, VoteMode};

use crate::lanes::{Registers, Row, Update, lanes};
use crate::program::{Match, Shuffle};

/// `shfl.sync`: PTX ISA, "Data Movement and Conversion Instructions: shfl.sync". An inactive lane
/// provides what its register holds.
pub(super) fn shuffle(registers: &mut Registers<'_>, shuffle: &Shuffle, mask: u32) {
    let source = *registers.word(shuffle.source);
    let mut values: Row = [0; 32];
    let mut in_range = 0;
    for (lane, from) in (0..).zip(shuffle_sources(registers, shuffle)) {
        in_range |= u32::from(from.is_some()) << lane;
        values[lane as usize] = source[from.unwrap_or(lane) as usize & 31];
    }
    registers.set_word(shuffle.d, mask, &values);
    registers.set_predicate(shuffle.in_range, mask, in_range);
}

/// The lane that each lane reads from, if it is in range.
pub(super) fn shuffle_sources(registers: &Registers<'_>, shuffle: &Shuffle) -> [Option<u32>; 32] {
    let (amounts, clamps) = (registers.word(shuffle.lane), registers.word(shuffle.clamp));
    std::array::from_fn(|lane| {
        let lane = lane as u32;
        let (amount, clamp) = (amounts[lane as usize] & 31, clamps[lane as usize] & 31);
        let segment = clamps[lane as usize] >> 8 & 31;
        let first = lane & segment;
        let last = first | clamp & !segment;
        match shuffle.mode {
            ShuffleMode::Up => lane.checked_sub(amount).filter(|&from| from >= last),
            ShuffleMode::Down => Some(lane + amount).filter(|&from| from <= last),
            ShuffleMode::Butterfly => Some(lane ^ amount).filter(|&from| from <= last),
            ShuffleMode::Index => Some(first | amount & !segment).filter(|&from| from <= last),
        }
    })
}

/// `vote.sync`.
pub(super) fn vote(registers: &mut Registers<'_>, mode: VoteMode, d: u32, predicate: u32, mask: u32) {
    let votes = registers.predicate(predicate) & mask;
    let answer = match mode {
        VoteMode::All => votes == mask,
        VoteMode::Any => votes != 0,
        VoteMode::Uniform => votes == 0 || votes == mask,
        VoteMode::Ballot => return registers.set_word(d, mask, &[votes; 32]),
    };
    registers.set_predicate(d, mask, if answer { u32::MAX } else { 0 });
}

/// `match.sync`.
pub(super) fn matching(registers: &mut Registers<'_>, matching: &Match, mask: u32) {
    let values: [u64; 32] =
        if matching.wide { *registers.wide(matching.source) } else { registers.word(matching.source).map(u64::from) };
    let mut same: Row = [0; 32];
    for lane in lanes(mask) {
        for other in lanes(mask) {
            same[lane] |= u32::from(values[lane] == values[other]) << other;
        }
    }
    if matching.all {
        let all = lanes(mask).all(|lane| same[lane] == mask);
        registers.set_word(matching.d, mask, &[if all { mask } else { 0 }; 32]);
        registers.set_predicate(matching.all_equal, mask, if all { u32::MAX } else { 0 });
    } else {
        registers.set_word(matching.d, mask, &same);
    }
}

/// `elect.sync`: the first lane leads.
pub(super) fn elect(registers: &mut Registers<'_>, d: u32, leader: u32, mask: u32) {
    registers.set_word(d, mask, &[mask.trailing_zeros(); 32]);
    registers.set_predicate(leader, mask, mask & mask.wrapping_neg());
}

/// `redux.sync`.
pub(super) fn reduce(registers: &mut Registers<'_>, op: AtomicOp, ty: Type, d: u32, source: u32, mask: u32) {
    let (values, update) = (registers.word(source), Update { op, ty, flush: false });
    let result = lanes(mask).map(|lane| values[lane]).reduce(|a, b| update.apply(a.into(), b.into(), 0) as u32);
    registers.set_word(d, mask, &[result.unwrap_or(0); 32]);
}
