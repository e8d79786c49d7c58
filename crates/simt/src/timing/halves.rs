//! 64-bit values whose upper half is known to be zero. `ptxas` keeps a 64-bit value in two
//! registers, and emits no instruction for a half that does not change.

use std::collections::HashMap;

use ptx::{BinaryOp, ComputeOp, Instruction, Kind, Op, Operand};

/// Whether a constant fits into 32 bits.
pub(super) fn is_short(operand: &Operand) -> bool {
    matches!(operand, Operand::Integer(value) if *value <= u64::from(u32::MAX))
}

/// Which registers only have values whose upper half is zero, of those that instructions write.
pub(super) fn short<'c>(body: &[Instruction], writes: impl Fn(usize) -> &'c [u32]) -> HashMap<u32, bool> {
    let mut all = HashMap::new();
    for (index, Instruction { op, guard, .. }) in body.iter().enumerate() {
        let known = guard.is_none() && is_result_short(op);
        for &register in writes(index) {
            all.entry(register).and_modify(|before| *before &= known).or_insert(known);
        }
    }
    all
}

fn is_result_short(op: &Op) -> bool {
    match op {
        Op::Compute(ComputeOp::Binary { op: BinaryOp::ShiftRight, ty, b, .. }) => {
            ty.bits() == 64 && ty.kind() != Kind::Signed && by_half(b)
        }
        Op::Compute(ComputeOp::Binary { op: BinaryOp::And, ty, b, .. }) => ty.bits() == 64 && is_short(b),
        Op::Compute(ComputeOp::Convert { to, from, .. }) => {
            to.bits() == 64 && from.bits() <= 32 && from.kind() == Kind::Unsigned
        }
        _ => false,
    }
}

/// Whether a shift moves one half to the other, or beyond it.
fn by_half(by: &Operand) -> bool {
    matches!(by, Operand::Integer(by) if (32..64).contains(by))
}

/// Whether an operation of 64 bits changes one half only.
pub(super) fn one_half(op: &Op, short: &HashMap<u32, bool>) -> bool {
    let Op::Compute(ComputeOp::Binary { op, ty, a, b, .. }) = op else { return false };
    let known = |operand: &Operand| match operand {
        Operand::Register(register) => short.get(&(register.index() as u32)).copied().unwrap_or(false),
        other => is_short(other),
    };
    ty.bits() == 64
        && match op {
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => by_half(b),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => known(a) || known(b),
            _ => false,
        }
}
