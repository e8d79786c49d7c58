//! Finds what happens to loaded values, for the sanitizer: which are only copied, and where to.
//! Marks the decoded loads of a function.
//!
//! A value that is only copied may be padding, or an unused field. Unoptimised code copies structs
//! field by field. It also fills bit fields one by one: it reads their word, replaces some bits,
//! and stores it back. Neither is a use of uninitialised memory.

use ptx::{Address, AddressBase, ComputeOp, ControlOp, Instruction, Op, Operand, TernaryOp};

use super::function::FunctionDecoder;
use crate::program::blocks::BasicBlocks;
use crate::program::code::Action;

/// The most instructions between a load and the store of its value.
const NEAR: usize = 64;

/// Marks the loads of a function with what happens to their values, beyond what
/// [`Uses`](super::uses::Uses) has found. `successors` are the successors of each position of the
/// body, `starts` their first steps.
pub(super) fn mark(
    decoder: &mut FunctionDecoder<'_, '_>,
    body: &[Instruction],
    successors: &[Vec<u32>],
    starts: &[u32],
) {
    let mut readers = vec![0; decoder.function.registers.len()];
    for (position, instruction) in body.iter().enumerate() {
        let guard = instruction.guard.map(|guard| guard.register);
        let reads = guard.iter().chain(decoder.uses.reads(position));
        reads.for_each(|register| readers[register.index()] += 1);
    }
    let blocks = BasicBlocks::new(body.len(), successors);
    for block in 0..blocks.count() {
        let positions = blocks.positions(block);
        for position in positions.clone() {
            let Op::Load { .. } = body[position].op else { continue };
            let end = starts.get(position + 1).map_or(decoder.builder.instructions.len(), |&end| end as usize);
            let steps = &decoder.builder.instructions[starts[position] as usize..end];
            let Some(at) = steps.iter().position(|step| matches!(step.action, Action::Load(_))) else { continue };
            let step = starts[position] as usize + at;
            let behind = position + 1..positions.end.min(position + NEAR);
            let walk = Walk { decoder, body, readers: &readers };
            let stored = walk.store_of(position, behind.clone());
            let stored_at = stored.and_then(|store| decoder.builder.origins.get(starts[store] as usize).copied());
            let in_place = walk.is_in_place(position, behind);
            if let Some(Action::Load(load)) = decoder.builder.instructions.get_mut(step).map(|step| &mut step.action) {
                load.operation.copied.mark(in_place, stored_at);
            }
        }
    }
}

struct Walk<'w, 'b, 'm> {
    decoder: &'w FunctionDecoder<'b, 'm>,
    body: &'w [Instruction],
    /// How often each register is read.
    readers: &'w [u32],
}

impl Walk<'_, '_, '_> {
    fn reads(&self, position: usize, register: usize) -> bool {
        self.decoder.uses.reads(position).iter().any(|read| read.index() == register)
    }

    fn writes(&self, position: usize, register: usize) -> bool {
        self.decoder.uses.writes(position).iter().any(|written| written.index() == register)
    }

    /// The store of a loaded value, if it is unchanged and nothing else uses it.
    fn store_of(&self, position: usize, behind: std::ops::Range<usize>) -> Option<usize> {
        let Instruction { op: Op::Load { ty, dsts, .. }, guard: None, .. } = &self.body[position] else { return None };
        let loaded: Vec<usize> = dsts.iter().map(|dst| Some(dst.as_ref()?.index())).collect::<Option<_>>()?;
        let first = *loaded.first()?;
        if loaded.iter().any(|&register| self.readers[register] != 1) {
            return None;
        }
        for position in behind {
            let Instruction { op, guard, .. } = &self.body[position];
            if let Op::Control(ControlOp::Call { .. }) = op {
                return None;
            }
            if self.reads(position, first) {
                let Op::Store { space, ty: stored, srcs, .. } = op else { return None };
                let registers = srcs.iter().map(register).collect::<Option<Vec<_>>>()?;
                let is_whole = registers == loaded && stored.bytes() == ty.bytes();
                return (guard.is_none() && is_whole && *space != ptx::Space::Parameter).then_some(position);
            }
            if loaded.iter().any(|&register| self.writes(position, register)) {
                return None;
            }
        }
        None
    }

    /// Whether a loaded value is only stored back to where it came from, with some bits replaced.
    fn is_in_place(&self, position: usize, behind: std::ops::Range<usize>) -> bool {
        let Instruction { op: Op::Load { ty, dsts, address, .. }, guard: None, .. } = &self.body[position] else {
            return false;
        };
        let [Some(loaded)] = dsts[..] else { return false };
        // The registers with the value, or what was computed from it, and how often they are still
        // read.
        let mut values = vec![(loaded.index(), self.readers[loaded.index()])];
        let mut replaces = false;
        for position in behind {
            let Instruction { op, guard, .. } = &self.body[position];
            let is_read = values.iter_mut().fold(false, |any, (value, left)| {
                let reads = self.decoder.uses.reads(position).iter().filter(|read| read.index() == *value).count();
                *left = left.saturating_sub(reads as u32);
                any || reads > 0
            });
            match op {
                Op::Store { ty: stored, srcs, address: to, .. } if is_read => {
                    let is_there = is_same(address, to) && stored.bytes() == ty.bytes() && srcs.len() == 1;
                    return is_there && replaces && guard.is_none() && values.iter().all(|&(_, left)| left == 0);
                }
                _ if is_read => {
                    let Op::Compute(op) = op else { return false };
                    replaces |= match op {
                        ComputeOp::Binary { op: ptx::BinaryOp::And, .. } | ComputeOp::BitFieldInsert { .. } => true,
                        ComputeOp::Binary { op: ptx::BinaryOp::Or | ptx::BinaryOp::Xor, .. } => false,
                        ComputeOp::Ternary { op: TernaryOp::Logic(_), .. } => true,
                        ComputeOp::Convert { .. } | ComputeOp::Move { .. } => false,
                        _ => return false,
                    };
                    let written = self.decoder.uses.writes(position).iter().map(|written| written.index());
                    values.extend(written.map(|written| (written, self.readers[written])));
                }
                _ => {}
            }
            let base = base(address);
            if base.is_some_and(|base| self.writes(position, base)) {
                return false;
            }
        }
        false
    }
}

fn register(operand: &Operand) -> Option<usize> {
    match operand {
        Operand::Register(register) => Some(register.index()),
        _ => None,
    }
}

fn base(address: &Address) -> Option<usize> {
    match address.base {
        AddressBase::Register(register) => Some(register.index()),
        AddressBase::Variable(_) | AddressBase::Absolute => None,
    }
}

fn is_same(a: &Address, b: &Address) -> bool {
    a == b
}
