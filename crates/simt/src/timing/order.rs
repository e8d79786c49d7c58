//! The order in which a compiler puts the instructions of a straight run: a list schedule by the
//! longest path to the end of the run, which moves loads up and their uses down, as far as there
//! are registers for what is loaded. Results and counters do not depend on it; only the replay
//! follows it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

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
    let mut ready = Ready::new(steps.len());
    let mut from = vec![0u32; steps.len()];
    (0..steps.len()).filter(|&index| before[index] == 0).for_each(|index| ready.put(index, 0, pressure.needs(index)));
    let mut order: Vec<Place> = Vec::with_capacity(steps.len());
    let mut now = 0;
    while let Some(index) = ready.take(pressure.room(), &mut now, &path) {
        let more = match order.last() {
            Some(before) if keeps(steps[before.from], steps[index]) => 0,
            _ => steps[index].third_register as u8,
        };
        order.push(Place { from: index, more });
        pressure.issue(index, |other, needs| ready.change(other, from[other], needs));
        now += steps[index].cost.slots;
        for &next in &after[index] {
            before[next] -= 1;
            from[next] = from[next].max(now + steps[index].scheduled.lasts.min(COVER));
            if before[next] == 0 {
                ready.put(next, from[next], pressure.needs(next));
            }
        }
    }
    order
}

/// The instructions that may come next, by the words of registers that they need. There are few
/// such numbers, so a long run takes little more time for each instruction than a short one.
struct Ready {
    groups: BTreeMap<i64, Group>,
    /// The group of each instruction that is ready; an entry in another group is out of date.
    needs: Vec<Option<i64>>,
}

/// Instructions that need as many words.
#[derive(Default)]
struct Group {
    /// Those that wait for no operand, by their paths, the longest first.
    possible: BinaryHeap<(u32, Reverse<usize>)>,
    /// The others, by the cycle from which they wait for none, the soonest first.
    later: BinaryHeap<Reverse<(u32, usize)>>,
}

impl Ready {
    fn new(steps: usize) -> Self {
        Self { groups: BTreeMap::new(), needs: vec![None; steps] }
    }

    /// An instruction is ready, and its operands are there from this cycle on.
    fn put(&mut self, index: usize, from: u32, needs: i64) {
        self.needs[index] = Some(needs);
        self.groups.entry(needs).or_default().later.push(Reverse((from, index)));
    }

    /// An instruction needs another number of words now.
    fn change(&mut self, index: usize, from: u32, needs: i64) {
        if self.needs[index].is_some_and(|before| before != needs) {
            self.put(index, from, needs);
        }
    }

    /// Takes the instruction with the longest path, of those for which there is room, or of all if
    /// there is room for none. If all wait for their operands, `now` becomes the cycle in which one
    /// has them.
    fn take(&mut self, room: i64, now: &mut u32, path: &[u32]) -> Option<usize> {
        let Self { groups, needs } = self;
        groups.retain(|&group, Group { possible, later }| {
            while possible.peek().is_some_and(|&(_, Reverse(index))| needs[index] != Some(group)) {
                possible.pop();
            }
            while later.peek().is_some_and(|&Reverse((_, index))| needs[index] != Some(group)) {
                later.pop();
            }
            !possible.is_empty() || !later.is_empty()
        });
        let least = *groups.keys().next()?;
        let most = if least <= room { room } else { i64::MAX };
        if groups.range(..=most).all(|(_, group)| group.possible.is_empty()) {
            let soonest = groups.range(..=most).filter_map(|(_, group)| group.later.peek()).map(|next| next.0.0).min();
            *now = (*now).max(soonest?);
        }
        for (&group, Group { possible, later }) in groups.range_mut(..=most) {
            while let Some(&Reverse((from, index))) = later.peek()
                && from <= *now
            {
                later.pop();
                if needs[index] == Some(group) {
                    possible.push((path[index], Reverse(index)));
                }
            }
        }
        let fitting = groups.range_mut(..=most).map(|(_, group)| &mut group.possible);
        let (_, Reverse(index)) = fitting.max_by_key(|possible| possible.peek().copied())?.pop()?;
        needs[index] = None;
        Some(index)
    }
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

#[cfg(test)]
mod tests {
    use super::super::step::{Copies, Cost, Meeting, Scheduled, Unit};
    use super::*;
    use crate::order::Dice;

    /// The same order by the definition: each time, all that are ready are looked at.
    fn plain(steps: &[&Step], registers: &[Register], room: u32) -> Vec<usize> {
        let mut pressure = Pressure::new(steps, registers, room);
        let after = dependents(steps);
        let mut before = vec![0u32; steps.len()];
        after.iter().flatten().for_each(|&next| before[next] += 1);
        let mut path = vec![0u32; steps.len()];
        for index in (0..steps.len()).rev() {
            path[index] = steps[index].scheduled.lasts + after[index].iter().map(|&next| path[next]).max().unwrap_or(0);
        }
        let mut ready: Vec<usize> = (0..steps.len()).filter(|&index| before[index] == 0).collect();
        let (mut from, mut now, mut order) = (vec![0u32; steps.len()], 0, Vec::new());
        while !ready.is_empty() {
            let fits = |index: usize| pressure.needs(index) <= pressure.room();
            let none_fits = !ready.iter().any(|&index| fits(index));
            let fitting: Vec<usize> = ready.iter().copied().filter(|&index| none_fits || fits(index)).collect();
            now = now.max(fitting.iter().map(|&index| from[index]).min().unwrap());
            let possible = fitting.into_iter().filter(|&index| from[index] <= now);
            let index = possible.max_by_key(|&index| (path[index], Reverse(index))).unwrap();
            ready.retain(|&other| other != index);
            order.push(index);
            pressure.issue(index, |_, _| {});
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

    #[test]
    fn the_order_is_that_of_the_definition() {
        let mut dice = Dice::new(1);
        for case in 0..400u64 {
            let count = 4 + dice.below(24) as u32;
            let registers: Vec<Register> = (0..count)
                .map(|_| Register { words: dice.below(4) as u32, local: dice.one_in(2), uniform: false })
                .collect();
            let steps: Vec<Step> = (0..2 + 4 * case % 150)
                .map(|number| {
                    let is_load = dice.one_in(2);
                    let lasts = if is_load { 40 } else { 4 };
                    let motion = match dice.below(6) {
                        0 => Motion::Write,
                        1 | 2 => Motion::Read,
                        _ => Motion::Free,
                    };
                    Step {
                        copies: Copies::Nothing,
                        meeting: Meeting::Nothing,
                        cost: Cost::new(if is_load { Unit::Memory } else { Unit::Integer }, 1, 1, lasts),
                        reads: (0..dice.below(3)).map(|_| dice.below(count.into()) as u32).collect(),
                        writes: (0..dice.below(2) + u64::from(is_load))
                            .map(|_| dice.below(count.into()) as u32)
                            .collect(),
                        block: (0, 0),
                        scheduled: Scheduled { lasts, motion, memories: 1 << dice.below(3), leaves: dice.one_in(20) },
                        third_register: 0,
                        goes_on: false,
                        vanishes: false,
                        is_barrier: false,
                        origin: number as u32,
                    }
                })
                .collect();
            let steps: Vec<&Step> = steps.iter().collect();
            for room in [1, 6, 20, 1000] {
                let order: Vec<usize> = of_run(&steps, &registers, room).iter().map(|place| place.from).collect();
                assert_eq!(order, plain(&steps, &registers, room), "{case}, {room}");
            }
        }
    }
}
