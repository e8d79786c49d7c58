//! Which registers matter: those that something with an effect is computed from.

use ptx::{CacheOperator, Handle, Op, Ordering, Register};

use super::body::Body;
use crate::program::facts::{Motion, Next, facts};

/// The registers that matter.
pub(super) struct Live {
    needed: Vec<bool>,
}

impl Live {
    pub fn new(body: &Body<'_>) -> Self {
        let mut writers: Vec<Vec<usize>> = vec![Vec::new(); body.registers];
        for (position, writes) in body.writes.iter().enumerate() {
            writes.iter().for_each(|register| writers[register.index()].push(position));
        }
        let mut needed = vec![false; body.registers];
        let mut is_made: Vec<bool> = body.instructions.iter().map(|instruction| has_effect(&instruction.op)).collect();
        let mut waiting: Vec<usize> = (0..is_made.len()).filter(|&position| is_made[position]).collect();
        while let Some(position) = waiting.pop() {
            for register in &body.reads[position] {
                if std::mem::replace(&mut needed[register.index()], true) {
                    continue;
                }
                for &writer in &writers[register.index()] {
                    if !std::mem::replace(&mut is_made[writer], true) {
                        waiting.push(writer);
                    }
                }
            }
        }
        Self { needed }
    }

    pub fn is_needed(&self, register: Handle<Register>) -> bool {
        self.needed[register.index()]
    }
}

/// Whether an instruction does more than write registers.
fn has_effect(op: &Op) -> bool {
    match op {
        Op::Load { ordering, cache, .. } => {
            !matches!(ordering, Ordering::Weak | Ordering::Relaxed) || *cache == CacheOperator::Volatile
        }
        Op::Shuffle { .. }
        | Op::Vote { .. }
        | Op::Match { .. }
        | Op::ActiveMask { .. }
        | Op::WarpReduce { .. }
        | Op::TextureFetch(_) => false,
        // Stores to `.param` variables pass arguments, and `mov` may end in a call.
        _ => {
            let facts = facts(op);
            facts.motion == Motion::Write || !matches!(facts.next, Next::Following) || !writes_only(op)
        }
    }
}

/// Whether an instruction that neither accesses memory nor jumps has only results.
fn writes_only(op: &Op) -> bool {
    !matches!(
        op,
        Op::Prefetch { .. }
            | Op::NanoSleep { .. }
            | Op::WaitForEarlierGrids
            | Op::StackAllocate { .. }
            | Op::StackSave { .. }
            | Op::StackRestore { .. }
            | Op::BulkCopy(_)
            | Op::TensorCopy(_)
            | Op::StoreAsync(_)
            | Op::CommitBulkCopies
            | Op::ReplaceTensorField { .. }
            | Op::CopyTensorMap { .. }
            | Op::MatrixMultiply(_)
            | Op::WarpgroupMultiply(_)
            | Op::WarpgroupFence
            | Op::CommitProducts
            | Op::WaitForProducts { .. }
            | Op::Breakpoint
    )
}
