//! How each instruction accesses memory: the kinds that the servers treat differently.

use std::collections::HashSet;

use ptx::{AtomicOp, Module, Op, Operand, Type};

use super::step::is_bulk_store;
use super::trace::Target;
use crate::program::Code;

/// How an instruction accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Load,
    Store,
    Atomic(Arithmetic),
}

/// What an atomic operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// Adds 1 to 32 bits, and nobody reads what was there. Shared memory counts the lanes of a word
    /// and adds their number (`ATOMS.POPC.INC` in machine code for sm_90).
    Increment,
    /// Anything else that shared memory has a unit for, lane after lane.
    Integer,
    /// What `ptxas` makes a loop of in shared memory, for want of a unit: other operations on 64
    /// bits, and sums of floats. L2 takes longer for the latter.
    Wide,
    Float,
}

impl Arithmetic {
    fn of(op: AtomicOp, ty: Type, a: &Operand, result_is_read: bool) -> Self {
        match op {
            _ if ty.kind() == ptx::Kind::Float => Self::Float,
            AtomicOp::CompareAndSwap | AtomicOp::Exchange => Self::Integer,
            _ if ty.bits() > 32 => Self::Wide,
            AtomicOp::Add if *a == Operand::Integer(1) && !result_is_read => Self::Increment,
            _ => Self::Integer,
        }
    }
}

impl Kind {
    /// Those of all places.
    pub fn of_all(code: &Code, module: &Module) -> Vec<Self> {
        let places = 0..code.positions.len();
        let read: HashSet<(_, u32)> = places
            .clone()
            .flat_map(|place| {
                code.registers.reads(place).iter().map(move |&register| (code.positions[place].0, register))
            })
            .collect();
        let kind = |place: usize| {
            let (handle, index) = code.positions[place];
            match module.functions[handle].body.as_deref().map(|body| &body[index as usize].op) {
                Some(Op::Store { .. }) => Self::Store,
                Some(op) if is_bulk_store(op) => Self::Store,
                Some(Op::Atomic { op, ty, a, .. }) => {
                    let is_read = code.registers.writes(place).iter().any(|&result| read.contains(&(handle, result)));
                    Self::Atomic(Arithmetic::of(*op, *ty, a, is_read))
                }
                Some(Op::AtomicVector { .. }) => Self::Atomic(Arithmetic::Float),
                _ => Self::Load,
            }
        };
        places.map(kind).collect()
    }

    /// Whether a warp does an access by a loop, so that it does nothing else until the access is
    /// done.
    pub fn loops(self, target: Target) -> bool {
        target == Target::Shared && matches!(self, Self::Atomic(Arithmetic::Wide | Arithmetic::Float))
    }
}
