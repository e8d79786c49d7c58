//! Types arithmetic on the words of a longer number (PTX ISA, "Extended-Precision Integer
//! Arithmetic Instructions").

use super::context::Context;
use crate::Type::*;
use crate::errors::Parsed;
use crate::{CarryOp, ComputeOp};

/// `add.cc`, `addc{.cc}`, `sub.cc`, `subc{.cc}`, `mad.lo.cc`, `madc.hi{.cc}`, ...
pub(super) fn carry(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let carry_in = c.opcode().ends_with('c');
    let op = match c.opcode() {
        "add" | "addc" => CarryOp::Add,
        "sub" | "subc" => CarryOp::Subtract,
        _ => c.require(&[("lo", CarryOp::MultiplyAddLow), ("hi", CarryOp::MultiplyAddHigh)], "`.lo` or `.hi`")?,
    };
    let carry_out = c.accept("cc");
    let ty = c.ty_of(&[U32, S32, U64, S64])?;
    let multiplies = matches!(op, CarryOp::MultiplyAddLow | CarryOp::MultiplyAddHigh);
    c.operands(if multiplies { 4 } else { 3 })?;
    let (dst, a, b) = (c.dst(0, ty)?, c.src(1, ty)?, c.src(2, ty)?);
    let third = if multiplies { Some(c.src(3, ty)?) } else { None };
    Ok(ComputeOp::Carry { op, ty, carry_in, carry_out, dst, a, b, c: third })
}
