//! Types `mov`: values, addresses, packing vectors into words and unpacking words into vectors.

use super::context::Context;
use super::names::{Resolved, Width};
use crate::Type::*;
use crate::errors::{OperandError, Parsed, fault};
use crate::syntax::operands::{Raw, RawOperand};
use crate::{ComputeOp, Kind, Operand, Symbol, Type};

/// `mov.b32 d, a;`, `mov.b64 d, {a, b};`, `mov.b64 {a, b}, s;`
pub(super) fn mov(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    if let Some(lanes) = c.choose(&[("v2", 2), ("v4", 4)]) {
        return vector(c, lanes);
    }
    let ty = c.ty_of(&[Pred, B16, B32, B64, B128, U16, U32, U64, S16, S32, S64, F32, F64])?;
    c.operands(2)?;
    let (to, from) = (&c.spelled_out(0)?, &c.spelled_out(1)?);
    if ty.kind() != Kind::Bits && [to, from].iter().any(|operand| matches!(operand.raw, Raw::Vector(_))) {
        return c.wrong_type(ty);
    }
    // A vector of one register: compilers write braces for any number of parts.
    if let Raw::Vector(parts) = &to.raw
        && let [part] = parts.as_slice()
    {
        return Ok(ComputeOp::Move { ty, dst: c.destination(part, ty, Width::Exact)?, src: c.src(1, ty)? });
    }
    if let Raw::Vector(parts) = &from.raw
        && let [part] = parts.as_slice()
    {
        return Ok(ComputeOp::Move { ty, dst: c.dst(0, ty)?, src: c.source(part, ty, Width::Exact)? });
    }
    if let Raw::Vector(parts) = &to.raw {
        let part = part_type(c, parts, ty, to)?;
        let dsts = parts.iter().map(|raw| c.destination(raw, part, Width::Exact)).collect::<Parsed<_>>()?;
        return Ok(ComputeOp::Unpack { ty, dsts, src: c.src(1, ty)? });
    }
    if let Raw::Vector(parts) = &from.raw {
        let part = part_type(c, parts, ty, from)?;
        let dst = c.dst(0, ty)?;
        let parts = parts.iter().map(|raw| c.source(raw, part, Width::Exact)).collect::<Parsed<_>>()?;
        return Ok(ComputeOp::Pack { ty, dst, parts });
    }
    let dst = c.dst(0, ty)?;
    Ok(ComputeOp::Move { ty, dst, src: value_or_address(c, 1, ty)? })
}

/// `mov.v4.u32 d, %tid;`, `mov.v2.f32 {d, e}, {a, b};`: part by part.
fn vector(c: &mut Context<'_, '_>, lanes: usize) -> Parsed<ComputeOp> {
    let ty = c.ty_of(&[B16, U16, S16, B32, U32, S32, F32, B64, U64, S64, F64])?;
    if lanes * ty.bits() as usize > 128 {
        return c.wrong_type(ty);
    }
    c.operands(2)?;
    let dsts = c.parts(0, lanes)?.iter().map(|part| c.destination(part, ty, Width::Exact)).collect::<Parsed<_>>()?;
    let srcs = c.parts(1, lanes)?.iter().map(|part| c.source(part, ty, Width::Exact)).collect::<Parsed<_>>()?;
    Ok(ComputeOp::MoveVector { ty, dsts, srcs })
}

/// Operand `index`: a value of type `ty`, or the address of a symbol.
pub(super) fn value_or_address(c: &mut Context<'_, '_>, index: usize, ty: Type) -> Parsed<Operand> {
    let from = c.raw(index);
    let named = match &from.raw {
        Raw::Name(name) if !name.negated => Some((name, name.offset)),
        Raw::Indexed(name, index) => Some((name, Some(c.element_offset(name, *index)?))),
        _ => None,
    };
    if let Some((name, offset)) = named
        && let Resolved::Symbol(symbol) = c.resolve(name)?
    {
        if !matches!(ty, B32 | U32 | S32 | B64 | U64 | S64) {
            return fault(from.span, OperandError::AddressAs(ty));
        }
        let offset = offset.unwrap_or(0);
        if let Symbol::Function(_) = symbol
            && offset != 0
        {
            return fault(from.span, OperandError::Kind { expected: "a function", found: "a function with an offset" });
        }
        return Ok(Operand::Address(symbol, offset));
    }
    c.src(index, ty)
}

/// The type of each part of a vector that is packed into one `ty`.
fn part_type<'t>(c: &mut Context<'_, 't>, parts: &[RawOperand<'t>], ty: Type, vector: &RawOperand<'t>) -> Parsed<Type> {
    let part = match (ty.bits(), parts.len()) {
        (16, 2) => B8,
        (32, 2) => B16,
        (32, 4) => B8,
        (64, 2) => B32,
        (64, 4) => B16,
        (128, 2) => B64,
        (128, 4) => B32,
        _ => {
            let mut found = 0;
            for part in parts {
                found += c.register_type(part)?.map_or(0, Type::bits);
            }
            return fault(vector.span, OperandError::PackedWidth { expected: ty.bits(), found });
        }
    };
    Ok(part)
}
