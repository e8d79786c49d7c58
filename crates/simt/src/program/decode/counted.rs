//! Marks the decoded accesses that the hardware makes otherwise than PTX has them, as
//! [`requests`] finds them.

use ptx::{Handle, Instruction, Space, Variable};

use super::function::{FunctionDecoder, Storage};
use crate::instruction::AccessKind;
use crate::program::access::{AddressOperand, CountedAs, Requests};
use crate::program::code::Action;
use crate::program::requests::{self, Body, Found, Part, Place};

/// The successors of each position of a body, and where the paths from it first meet again.
#[derive(Clone, Copy)]
pub(super) struct Paths<'p> {
    pub successors: &'p [Vec<u32>],
    pub joins: &'p [Option<u32>],
}

/// Marks the accesses of a function. `starts` are the first steps of each position of the body.
pub(super) fn mark(decoder: &mut FunctionDecoder<'_, '_>, body: &[Instruction], paths: Paths<'_>, starts: &[u32]) {
    let found = find(decoder, body, paths);
    let first = decoder.builder.positions.len() - body.len();
    let place = |position: usize| (first + position) as u32;
    for (&position, &by) in &found.served {
        decoder.builder.served.insert(place(position), place(by));
    }
    decoder.builder.differs.extend(found.divergent.iter().map(|&(position, how)| (place(position), how)));
    let steps = |position: usize, all: usize| {
        let end = starts.get(position + 1).map_or(all, |&end| end as usize);
        starts[position] as usize..end
    };
    for (&position, parts) in &found.requests {
        for step in steps(position, decoder.builder.instructions.len()) {
            let mut accesses = decoder.builder.accesses;
            match &mut decoder.builder.instructions[step].action {
                Action::Load(load) => load.operation.requests = requests_of(&load.reach, parts, &mut accesses),
                Action::Store(store) => store.operation.requests = requests_of(&store.reach, parts, &mut accesses),
                _ => {}
            }
            decoder.builder.accesses = accesses;
        }
    }
    for (&position, &combined) in &found.atomics {
        let kind = if combined.is_reduction { AccessKind::Reduction } else { AccessKind::Atomic };
        decoder.builder.kinds.insert(place(position), kind);
        for step in steps(position, decoder.builder.instructions.len()) {
            if let Action::Atomic(atomic) = &mut decoder.builder.instructions[step].action {
                atomic.operation.kind = kind;
                if combined.one_lane {
                    atomic.operation.requests = Requests::OneLane;
                }
            }
        }
    }
}

fn find(decoder: &FunctionDecoder<'_, '_>, body: &[Instruction], Paths { successors, joins }: Paths<'_>) -> Found {
    let module = decoder.builder.module;
    let place_of = |handle: Handle<Variable>| {
        let variable = &module.variables[handle];
        match (decoder.storage.get(&handle), variable.space) {
            (Some(&Storage::Local(offset)), _) => Place::At(offset),
            (_, Space::Shared) => match decoder.builder.shared.get(&handle) {
                Some(&address) => Place::Shared(address),
                None => Place::MultipleOf(variable.align),
            },
            (_, Space::Constant) => Place::MultipleOf(variable.align),
            _ => Place::MultipleOf(1),
        }
    };
    let guard = |position: usize| body[position].guard.map(|guard| guard.register);
    let reads = |position| guard(position).into_iter().chain(decoder.uses.reads(position).iter().copied()).collect();
    let registers = &decoder.function.registers;
    requests::find(&Body {
        instructions: body,
        successors,
        joins,
        reads: (0..body.len()).map(reads).collect(),
        writes: (0..body.len()).map(|position| decoder.uses.writes(position)).collect(),
        registers: registers.len(),
        wide: registers.iter().map(|(_, register)| register.ty.bits() == 64).collect(),
        place: &place_of,
    })
}

/// An access's requests, each with a separate slot for its shape.
fn requests_of(reach: &AddressOperand, parts: &[Part], accesses: &mut u32) -> Requests {
    let request = |&Part { offset, width }: &Part| {
        let slot = *accesses;
        *accesses += 1;
        CountedAs { reach: AddressOperand { offset: reach.offset.wrapping_add_signed(offset), slot, ..*reach }, width }
    };
    Requests::Others(parts.iter().map(request).collect())
}
