//! The order in which a compiler puts the instructions of a straight run: a list schedule by the
//! longest path to the end of the run, which moves loads up and their uses down. Results and
//! counters do not depend on it; only the replay follows it.

use std::collections::HashMap;

use super::step::{MEMORIES, Step};
use crate::program::Motion;

/// For how long it looks for other instructions to put behind a load.
const COVER: u32 = 60;

/// For each position of a straight run of instructions, the position of the one that goes there.
pub(super) fn of_run(steps: &[&Step]) -> Vec<u32> {
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
    let mut order = Vec::with_capacity(steps.len());
    let mut now = 0;
    while !ready.is_empty() {
        let soonest = ready.iter().map(|&index| from[index]).min().unwrap_or(now);
        now = now.max(soonest);
        let possible = ready.iter().enumerate().filter(|&(_, &index)| from[index] <= now);
        let Some((at, &index)) = possible.max_by_key(|&(_, &index)| (path[index], std::cmp::Reverse(index))) else {
            break;
        };
        ready.swap_remove(at);
        order.push(index as u32);
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

/// For each instruction, those that must stay behind it.
fn dependents(steps: &[&Step]) -> Vec<Vec<usize>> {
    let mut after = vec![Vec::new(); steps.len()];
    let mut edge = |from: usize, to: usize| {
        if from != to && !after[from].contains(&to) {
            after[from].push(to);
        }
    };
    let mut written: HashMap<u32, usize> = HashMap::new();
    let mut read: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut last_write = [None; MEMORIES];
    let mut reads: [Vec<usize>; MEMORIES] = Default::default();
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
            (0..index).for_each(|earlier| edge(earlier, index));
        }
    }
    after
}
