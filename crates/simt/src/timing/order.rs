//! The order in which a compiler puts the instructions of a basic block: a list schedule by the
//! longest path to the end of the block, which moves loads up and their uses down. Results and
//! counters do not depend on it; only the replay follows it.

use std::collections::HashMap;

use ptx::{CacheOperator, Instruction, Op, Ordering, Space};

use super::plan::Step;

/// How long the compiler takes a load from memory to last, when it decides what to put first.
const LOAD: u32 = 500;
/// For how long it looks for other instructions to put behind a load.
const COVER: u32 = 60;

/// How an instruction is ordered among accesses to memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// No access, or a read of memory that nothing writes.
    Free,
    /// Stays behind the last write.
    Read,
    /// Stays behind all earlier accesses.
    Write,
}

fn access(op: &Op) -> Access {
    match op {
        Op::Load { ordering, cache, .. } if *ordering != Ordering::Weak || *cache == CacheOperator::Volatile => {
            Access::Write
        }
        Op::Load { space: Space::Parameter | Space::Constant, .. } => Access::Free,
        Op::Load { non_coherent, .. } => {
            if *non_coherent {
                Access::Free
            } else {
                Access::Read
            }
        }
        Op::LoadMatrix { .. } | Op::LoadFragment { .. } => Access::Read,
        Op::TextureFetch(_) => Access::Free,
        Op::Store { .. }
        | Op::Atomic { .. }
        | Op::AtomicVector { .. }
        | Op::Fence { .. }
        | Op::Barrier { .. }
        | Op::ClusterBarrier { .. }
        | Op::WarpBarrier { .. }
        | Op::Shuffle { .. }
        | Op::Vote { .. }
        | Op::Match { .. }
        | Op::ActiveMask { .. }
        | Op::Elect { .. }
        | Op::WarpReduce { .. }
        | Op::CopyAsync(_)
        | Op::CommitCopies
        | Op::WaitForCopies { .. }
        | Op::ArriveAfterCopies { .. }
        | Op::SurfaceLoad { .. }
        | Op::SurfaceStore { .. }
        | Op::SurfaceReduce { .. }
        | Op::StoreMatrix { .. }
        | Op::StoreFragment { .. }
        | Op::Mbarrier { .. }
        | Op::Call { .. } => Access::Write,
        _ => Access::Free,
    }
}

/// What the compiler takes an instruction to last.
fn expected(op: &Op, step: &Step) -> u32 {
    match op {
        Op::Load { space: Space::Shared, .. } => 25,
        Op::Load { space: Space::Parameter | Space::Constant, .. } => 10,
        Op::Load { .. } | Op::TextureFetch(_) | Op::SurfaceLoad { .. } | Op::Atomic { .. } => LOAD,
        _ => step.cost.latency,
    }
}

/// For each position of a basic block, the position of the instruction that goes there.
pub(super) fn of_block(body: &[Instruction], steps: &[Step]) -> Vec<u32> {
    let after = dependents(body, steps);
    let mut before = vec![0u32; body.len()];
    after.iter().flatten().for_each(|&next| before[next] += 1);
    let lasts: Vec<u32> = body.iter().zip(steps).map(|(instruction, step)| expected(&instruction.op, step)).collect();
    let mut path = vec![0u32; body.len()];
    for index in (0..body.len()).rev() {
        let rest = after[index].iter().map(|&next| path[next]).max().unwrap_or(0);
        path[index] = lasts[index].saturating_add(rest);
    }
    let mut ready: Vec<usize> = (0..body.len()).filter(|&index| before[index] == 0).collect();
    let mut from = vec![0u32; body.len()];
    let mut order = Vec::with_capacity(body.len());
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
            from[next] = from[next].max(now + lasts[index].min(COVER));
            if before[next] == 0 {
                ready.push(next);
            }
        }
    }
    order
}

/// For each instruction, those that must stay behind it.
fn dependents(body: &[Instruction], steps: &[Step]) -> Vec<Vec<usize>> {
    let mut after = vec![Vec::new(); body.len()];
    let mut edge = |from: usize, to: usize| {
        if from != to && !after[from].contains(&to) {
            after[from].push(to);
        }
    };
    let mut written: HashMap<u32, usize> = HashMap::new();
    let mut read: HashMap<u32, Vec<usize>> = HashMap::new();
    let (mut last_write, mut reads) = (None, Vec::new());
    for (index, (instruction, step)) in body.iter().zip(steps).enumerate() {
        step.reads.iter().filter_map(|register| written.get(register)).for_each(|&writer| edge(writer, index));
        for register in &step.writes {
            written.get(register).into_iter().for_each(|&writer| edge(writer, index));
            read.remove(register).into_iter().flatten().for_each(|reader| edge(reader, index));
        }
        step.reads.iter().for_each(|&register| read.entry(register).or_default().push(index));
        step.writes.iter().for_each(|&register| {
            written.insert(register, index);
        });
        let access = access(&instruction.op);
        if access != Access::Free {
            last_write.into_iter().for_each(|writer| edge(writer, index));
        }
        match access {
            Access::Read => reads.push(index),
            Access::Write => {
                std::mem::take(&mut reads).into_iter().for_each(|reader| edge(reader, index));
                last_write = Some(index);
            }
            Access::Free => {}
        }
        let leaves = matches!(
            instruction.op,
            Op::Branch { .. } | Op::BranchIndexed { .. } | Op::Return | Op::Exit | Op::Trap | Op::Call { .. }
        );
        if leaves {
            (0..index).for_each(|earlier| edge(earlier, index));
        }
    }
    after
}
