//! Branches at which a warp may diverge so that machine code makes more, or fewer, requests than
//! PTX.
//!
//! - The backward branch of an unrolled loop: if lanes leave the loop after different numbers of
//!   iterations, the loads of one iteration are executed by several copies of the loop's body.
//! - The first of two conditions with a common alternative (`if a && b { .. } else { .. }`):
//!   `ptxas` merges the conditions, so lanes that fail either of them execute the alternative
//!   together.

use ptx::{ControlOp, Op, Space};

use super::body::Body;
use super::flow::Flow;
use crate::CountsDiffer;
use crate::program::blocks::BasicBlocks;
use crate::program::loops::Loops;

/// The most instructions of a second condition.
const LONGEST: usize = 16;

/// The branches, and how.
pub(super) fn find(body: &Body<'_>, blocks: &BasicBlocks, flow: &Flow) -> Vec<(usize, CountsDiffer)> {
    let reads = |at: usize| body.reads[at].iter().map(|register| register.index() as u32).collect();
    let writes = |at: usize| body.writes[at].iter().map(|register| register.index() as u32).collect();
    let loops = Loops { body: body.instructions, blocks, successors: body.successors, reads: &reads, writes: &writes };
    let accesses: Vec<bool> = body.instructions.iter().map(|instruction| is_access(&instruction.op)).collect();
    let unrolled = loops.unrolled().filter(|found| found.positions.iter().any(|&at| accesses[at]));
    let unrolled = unrolled.map(|found| (found.branch, CountsDiffer::Unrolled));
    let joined = (0..blocks.count()).filter(|&block| flow.number[block] != usize::MAX).filter_map(|block| {
        let branch = blocks.positions(block).end - 1;
        joins(body, blocks, flow, branch, &accesses).then_some((branch, CountsDiffer::Joined))
    });
    unrolled.chain(joined).collect()
}

/// Whether an instruction is counted as an access.
fn is_access(op: &Op) -> bool {
    match op {
        Op::Load { space, .. } | Op::Store { space, .. } => *space != Space::Parameter,
        Op::Atomic { .. } | Op::AtomicVector { .. } => true,
        _ => false,
    }
}

/// Whether a branch is the first of two conditions with one alternative, which has accesses.
fn joins(body: &Body<'_>, blocks: &BasicBlocks, flow: &Flow, branch: usize, accesses: &[bool]) -> bool {
    let [one, other] = body.successors[branch][..] else { return false };
    let parts = |second: u32, alternative: u32| {
        let (Some(second), Some(alternative)) = (blocks.at(second as usize), behind_jumps(body, blocks, alternative))
        else {
            return false;
        };
        let inside = blocks.positions(second);
        let successors = &body.successors[inside.end - 1];
        blocks.before[second].len() == 1
            && inside.len() <= LONGEST
            && !accesses[inside].contains(&true)
            && successors.len() == 2
            && successors.iter().any(|&way| behind_jumps(body, blocks, way) == Some(alternative))
            // Where all paths meet, lanes wait for each other.
            && body.joins[branch] != Some(blocks.positions(alternative).start as u32)
            && (0..accesses.len()).any(|at| accesses[at] && flow.dominates(alternative, flow.block[at]))
    };
    parts(one, other) || parts(other, one)
}

/// The block that a way leads to, behind blocks that only jump.
fn behind_jumps(body: &Body<'_>, blocks: &BasicBlocks, way: u32) -> Option<usize> {
    let mut block = blocks.at(way as usize)?;
    // No more jumps than blocks: the rest is a circle.
    for _ in 0..blocks.count() {
        let inside = blocks.positions(block);
        match (&body.instructions[inside.start].op, &body.successors[inside.start][..]) {
            (Op::Control(ControlOp::Branch { .. }), &[next]) if inside.len() == 1 => block = blocks.at(next as usize)?,
            _ => return Some(block),
        }
    }
    None
}
