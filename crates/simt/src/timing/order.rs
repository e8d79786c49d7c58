//! The order in which a compiler puts the instructions of a straight run: a list schedule by the
//! longest path to the end of the run, which moves loads up and their uses down, as far as there
//! are registers for what is loaded. Results and counters do not depend on it; only the replay
//! follows it.

use std::collections::HashMap;

use super::pressure::{Pressure, Register};
use super::step::{MEMORIES, Step};
use crate::program::Motion;

/// For how many cycles it looks for other instructions to put behind a load: of a row of 16 loads
/// whose addresses are a chain, `ptxas` puts 14 ahead of the first use; of four chains, all.
const COVER: u32 = 80;

/// An instruction of a straight run, in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its position in the run.
    pub from: usize,
    /// Cycles more for its operands.
    pub more: u8,
}

/// The instructions of a straight run in the compiler's order. Values take `room` words of
/// registers at most, where that can be.
pub(super) fn of_run(steps: &[&Step], registers: &[Register], room: u32) -> Vec<Place> {
    let mut pressure = Pressure::new(steps, registers, room);
    let after = dependents(steps);
    let mut before = vec![0u32; steps.len()];
    after.iter().flatten().for_each(|&next| before[next] += 1);
    let mut path = vec![0u32; steps.len()];
    for index in (0..steps.len()).rev() {
        let rest = after[index].iter().map(|&next| path[next]).max().unwrap_or(0);
        path[index] = steps[index].scheduled.lasts.saturating_add(rest);
    }
    let mut ready: Vec<usize> = (0..steps.len()).filter(|&index| before[index] == 0).collect();
    let mut from = vec![0u32; steps.len()];
    let mut order: Vec<Place> = Vec::with_capacity(steps.len());
    let mut now = 0;
    while !ready.is_empty() {
        let none_fits = !ready.iter().any(|&index| pressure.fits(index));
        let fitting = ready.iter().enumerate().filter(|&(_, &index)| none_fits || pressure.fits(index));
        let soonest = fitting.clone().map(|(_, &index)| from[index]).min().unwrap_or(now);
        now = now.max(soonest);
        let possible = fitting.filter(|&(_, &index)| from[index] <= now);
        let Some((at, &index)) = possible.max_by_key(|&(_, &index)| (path[index], std::cmp::Reverse(index))) else {
            break;
        };
        ready.swap_remove(at);
        let more = match order.last() {
            Some(before) if keeps(steps[before.from], steps[index]) => 0,
            _ => steps[index].third_register as u8,
        };
        order.push(Place { from: index, more });
        pressure.issue(index);
        now += steps[index].cost.slots;
        for &next in &after[index] {
            before[next] -= 1;
            from[next] = from[next].max(now + steps[index].scheduled.lasts.min(COVER));
            if before[next] == 0 {
                ready.push(next);
            }
        }
    }
    order
}

/// Whether an operand of one instruction is kept for the next (`.reuse` in machine code), which
/// must not have to wait for a result: meanwhile other warps issue.
fn keeps(before: &Step, after: &Step) -> bool {
    let waits = after.reads.iter().any(|register| before.writes.contains(register));
    !waits && after.reads.iter().any(|register| before.reads.contains(register))
}

/// For each instruction, those that must stay behind it.
fn dependents(steps: &[&Step]) -> Vec<Vec<usize>> {
    let mut after = vec![Vec::new(); steps.len()];
    // All edges to an instruction are made before those to the next.
    let mut edge = |from: usize, to: usize| {
        if from != to && after[from].last() != Some(&to) {
            after[from].push(to);
        }
    };
    let mut written: HashMap<u32, usize> = HashMap::new();
    let mut read: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut last_write = [None; MEMORIES];
    let mut reads: [Vec<usize>; MEMORIES] = Default::default();
    // What leaves last: all before it stays before it, and so before what leaves next.
    let mut left = 0;
    for (index, step) in steps.iter().enumerate() {
        step.reads.iter().filter_map(|register| written.get(register)).for_each(|&writer| edge(writer, index));
        for register in &step.writes {
            written.get(register).into_iter().for_each(|&writer| edge(writer, index));
            read.remove(register).into_iter().flatten().for_each(|reader| edge(reader, index));
        }
        step.reads.iter().for_each(|&register| read.entry(register).or_default().push(index));
        step.writes.iter().for_each(|&register| {
            written.insert(register, index);
        });
        let motion = step.scheduled.motion;
        for memory in (0..MEMORIES).filter(|memory| step.scheduled.memories >> memory & 1 == 1) {
            if motion != Motion::Free {
                last_write[memory].into_iter().for_each(|writer| edge(writer, index));
            }
            match motion {
                Motion::Read => reads[memory].push(index),
                Motion::Write => {
                    std::mem::take(&mut reads[memory]).into_iter().for_each(|reader| edge(reader, index));
                    last_write[memory] = Some(index);
                }
                Motion::Free => {}
            }
        }
        if step.scheduled.leaves {
            (left..index).for_each(|earlier| edge(earlier, index));
            left = index;
        }
    }
    after
}
