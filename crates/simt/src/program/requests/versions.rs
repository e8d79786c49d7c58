//! Between which accesses a memory cannot have changed. A memory has a version at each position:
//! accesses at the same version see the same contents, as far as `ptxas` can tell.

use ptx::{ControlOp, MatrixOp, Op, Space};

use super::body::{Body, Class};
use super::flow::Flow;
use crate::program::blocks::BasicBlocks;

/// The version of each memory at each position, before it is executed.
pub(super) struct Versions {
    shared: Vec<u32>,
    local: Vec<u32>,
    global: Vec<u32>,
}

/// A version: that at the beginning, or behind this position, or where this block begins.
const BEGINNING: u32 = 0;

impl Versions {
    pub fn new(body: &Body<'_>, blocks: &BasicBlocks, flow: &Flow) -> Self {
        let of = |class: Class| {
            let changes: Vec<bool> = body.instructions.iter().map(|one| changes(&one.op, class)).collect();
            // Another thread may be waited for in a loop.
            let at_heads = class == Class::Global;
            versions(&changes, at_heads, blocks, flow)
        };
        Self { shared: of(Class::Shared), local: of(Class::Local), global: of(Class::Global) }
    }

    /// The version of a memory before a position.
    pub fn at(&self, class: Class, position: usize) -> u32 {
        match class {
            Class::Shared => self.shared[position],
            Class::Local => self.local[position],
            Class::Global => self.global[position],
            Class::ReadOnly | Class::Constant => BEGINNING,
        }
    }

    /// The position of the instruction that made a version, if it was one.
    pub fn maker(&self, version: u32) -> Option<usize> {
        (version as usize).checked_sub(1).filter(|&position| position < self.shared.len())
    }
}

fn versions(changes: &[bool], at_heads: bool, blocks: &BasicBlocks, flow: &Flow) -> Vec<u32> {
    let behind = |position: usize| position as u32 + 1;
    let begins = |block: usize| (changes.len() + 1 + block) as u32;
    let last = |block: usize| blocks.positions(block).rev().find(|&position| changes[position]).map(behind);
    let lasts: Vec<Option<u32>> = (0..blocks.count()).map(last).collect();
    // `None`: not known yet.
    let mut entry: Vec<Option<u32>> = vec![None; blocks.count()];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &flow.order {
            let mut found = if block == 0 { Some(BEGINNING) } else { None };
            for &before in &blocks.before[block] {
                found = match (found, lasts[before].or(entry[before])) {
                    (found, None) => found,
                    (None, other) => other,
                    (Some(one), Some(other)) if one == other => Some(one),
                    _ => Some(begins(block)),
                };
            }
            if at_heads && flow.is_head(blocks, block) {
                found = Some(begins(block));
            }
            // If its predecessors disagree, a block begins a new version, and keeps it.
            if entry[block] != found && entry[block] != Some(begins(block)) {
                entry[block] = found;
                changed = true;
            }
        }
    }
    let mut all = vec![BEGINNING; changes.len()];
    for (block, begins_with) in entry.into_iter().enumerate() {
        let mut now = begins_with.unwrap_or(BEGINNING);
        for position in blocks.positions(block) {
            all[position] = now;
            if changes[position] {
                now = behind(position);
            }
        }
    }
    all
}

/// Whether an instruction may access a memory, or changes it.
pub(super) fn reaches(op: &Op, class: Class) -> bool {
    match op {
        Op::Load { space, .. } => is_in(*space, class),
        Op::Matrix(MatrixOp::Load { space, .. }) => is_in(*space, class),
        Op::Matrix(MatrixOp::LoadFragment { .. }) => true,
        _ => changes(op, class),
    }
}

/// Whether an access to a state space may be to a memory.
fn is_in(space: Space, class: Class) -> bool {
    match space {
        Space::Generic => true,
        Space::Shared | Space::ClusterShared => class == Class::Shared,
        Space::Local => class == Class::Local,
        Space::Global => matches!(class, Class::Global | Class::ReadOnly),
        Space::Constant | Space::Parameter => false,
    }
}

/// Whether an instruction may change a memory, or lets others change it.
fn changes(op: &Op, class: Class) -> bool {
    match op {
        Op::Store { space, .. }
        | Op::Atomic { space, .. }
        | Op::AtomicVector { space, .. }
        | Op::Matrix(MatrixOp::Store { space, .. }) => is_in(*space, class),
        Op::Control(ControlOp::Call { .. }) => true,
        _ => class != Class::Local && op.effect().changes_memory(),
    }
}
