//! What the threads of a warp do together: votes, shuffles and products.

use super::{Thread, read};
use crate::kernel::{Bank, Guard, REDUX, ShuffleMode, Together, Vote};

/// A vote of these threads. Each gets the result.
pub(super) fn cast(vote: Vote, guard: Guard, result: u8, threads: &mut [Thread]) {
    let votes: Vec<bool> = threads.iter().map(|thread| thread.frame.holds(guard)).collect();
    let (all, any) = (votes.iter().all(|&vote| vote), votes.iter().any(|&vote| vote));
    let (bank, value) = match vote {
        Vote::All | Vote::BlockAnd => (Bank::Predicate, all.into()),
        Vote::Any | Vote::BlockOr => (Bank::Predicate, any.into()),
        Vote::Uniform => (Bank::Predicate, (all || !any).into()),
        Vote::Ballot => (Bank::Word, lanes(&votes, |&vote| vote)),
        Vote::BlockCount => (Bank::Word, votes.iter().filter(|&&vote| vote).count() as u64),
    };
    threads.iter_mut().for_each(|thread| thread.frame.set(bank, result, value));
}

/// The mask of the lanes for which it is true.
fn lanes<T>(of: &[T], is: impl Fn(&T) -> bool) -> u64 {
    of.iter().enumerate().fold(0, |mask, (lane, value)| mask | u64::from(is(value)) << lane)
}

/// The word this many registers after another.
fn circle(first: u8, index: u8) -> u8 {
    (first + index) % Bank::Word.registers()
}

/// What the threads of a warp do together.
#[expect(clippy::too_many_lines, reason = "one arm for each case")]
pub(super) fn in_warp(together: &Together, warp: &mut [Thread]) {
    let words =
        |warp: &[Thread], index: u8| -> Vec<u32> { warp.iter().map(|thread| thread.frame.word(index)).collect() };
    match together {
        Together::Shuffle { mode, value, lane, segment, result, predicate } => {
            let (values, others) = (words(warp, *value), words(warp, *lane));
            let segment = u32::from(*segment);
            for lane in 0..warp.len() as u32 {
                let other = others[lane as usize] & 31;
                let first = lane / segment * segment;
                let last = first + segment - 1;
                let (source, inside) = match mode {
                    ShuffleMode::Up => (lane.wrapping_sub(other), lane >= first + other),
                    ShuffleMode::Down => (lane + other, lane + other <= last),
                    ShuffleMode::Butterfly => (lane ^ other, lane ^ other <= last),
                    ShuffleMode::Index => (first | other & (segment - 1), true),
                };
                let frame = &mut warp[lane as usize].frame;
                frame.set(Bank::Word, *result, values[if inside { source } else { lane } as usize].into());
                frame.set(Bank::Predicate, *predicate, inside.into());
            }
        }
        Together::Vote { vote, guard, result } => cast(*vote, *guard, *result, warp),
        Together::Match { value, result } => {
            let values: Vec<u32> = words(warp, *value).iter().map(|value| value & 3).collect();
            for (lane, thread) in warp.iter_mut().enumerate() {
                thread.frame.set(Bank::Word, *result, lanes(&values, |value| *value == values[lane]));
            }
        }
        Together::MatchAll { value, result, predicate } => {
            let values: Vec<u32> = words(warp, *value).iter().map(|value| value & 1).collect();
            let same = values.iter().all(|value| *value == values[0]);
            for thread in warp.iter_mut() {
                thread.frame.set(Bank::Word, *result, if same { lanes(&values, |_| true) } else { 0 });
                thread.frame.set(Bank::Predicate, *predicate, same.into());
            }
        }
        Together::Redux { operation, value, result } => {
            let values = words(warp, *value);
            let signed = values.iter().map(|&value| value as i32);
            let unsigned = values.iter().copied();
            let found = match REDUX[usize::from(*operation)] {
                "add.u32" | "add.s32" => unsigned.fold(0, u32::wrapping_add),
                "min.u32" => unsigned.fold(u32::MAX, u32::min),
                "max.u32" => unsigned.fold(0, u32::max),
                "min.s32" => signed.fold(i32::MAX, i32::min) as u32,
                "max.s32" => signed.fold(i32::MIN, i32::max) as u32,
                "and.b32" => unsigned.fold(u32::MAX, |all, value| all & value),
                "or.b32" => unsigned.fold(0, |all, value| all | value),
                "xor.b32" => unsigned.fold(0, |all, value| all ^ value),
                name => unreachable!("there is no operation {name}"),
            };
            warp.iter_mut().for_each(|thread| thread.frame.set(Bank::Word, *result, found.into()));
        }
        Together::Product { signed, saturates, factors, added, result } => {
            let [a, b] = factors.map(|factor| words(warp, factor));
            let added = [0, 1].map(|index| words(warp, circle(*added, index)));
            let byte = |word: u32, index: usize, signed: bool| match (word >> (8 * index)) as u8 {
                byte if signed => i64::from(byte as i8),
                byte => i64::from(byte),
            };
            for lane in 0..32 {
                for (index, added) in added.iter().enumerate() {
                    let (row, column) = (lane / 4, lane % 4 * 2 + index);
                    let products = (0..16).map(|k| {
                        byte(a[row * 4 + k / 4], k % 4, signed[0]) * byte(b[column * 4 + k / 4], k % 4, signed[1])
                    });
                    let sum = i64::from(added[lane] as i32) + products.sum::<i64>();
                    let sum = if *saturates { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
                    warp[lane].frame.set(Bank::Word, circle(*result, index as u8), u64::from(sum as u32));
                }
            }
        }
        Together::Rows { matrices, transposed, result } => {
            for matrix in 0..*matrices {
                let element = |warp: &[Thread], row: usize, column: usize| {
                    read(&warp[usize::from(matrix) * 8 + row].tile, 2 * column as u32, 2)
                };
                for lane in 0..32 {
                    let [low, high] = [0, 1].map(|half| {
                        let (row, column) = (lane / 4, lane % 4 * 2 + half);
                        if *transposed { element(warp, column, row) } else { element(warp, row, column) }
                    });
                    warp[lane].frame.set(Bank::Word, circle(*result, matrix), high << 16 | low);
                }
            }
        }
        Together::FloatProduct { .. } => unreachable!("a loose kernel does not come this way"),
        Together::Exchange { .. } => unreachable!("an exchange is the block's"),
    }
}
