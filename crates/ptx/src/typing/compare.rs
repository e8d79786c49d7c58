//! Types comparisons and selections: `setp`, `set`, `selp`, `slct`, `testp`.

use super::context::Context;
use crate::Type::*;
use crate::errors::Parsed;
use crate::{BooleanOp, Combine, Comparison, ComputeOp, FloatProperty, Kind, Type};

/// Comparisons that have another name for unsigned types.
const UNSIGNED: [(&str, Comparison); 4] = [
    ("lo", Comparison::Less),
    ("ls", Comparison::LessEqual),
    ("hi", Comparison::Greater),
    ("hs", Comparison::GreaterEqual),
];

/// The comparison, and its name.
fn comparison<'t>(c: &mut Context<'_, 't>) -> Parsed<(Comparison, &'t str)> {
    let comparison = match c.choose(&UNSIGNED) {
        Some(comparison) => comparison,
        None => c.require_of(Comparison::ALL, "a comparison such as `.lt`")?,
    };
    Ok((comparison, c.last_name()))
}

/// Whether PTX has the comparison of this name for this type.
fn compares(name: &str, ty: Type) -> bool {
    match ty.kind() {
        Kind::Predicate | Kind::Opaque => false,
        Kind::Bits => matches!(name, "eq" | "ne"),
        Kind::Signed => matches!(name, "eq" | "ne" | "lt" | "le" | "gt" | "ge"),
        Kind::Unsigned => matches!(name, "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "lo" | "ls" | "hi" | "hs"),
        Kind::Float => !matches!(name, "lo" | "ls" | "hi" | "hs"),
    }
}

/// The types that `setp` and `set` compare.
const COMPARED: [Type; 15] = [B16, B32, B64, U16, U32, U64, S16, S32, S64, F16, F16x2, Bf16, Bf16x2, F32, F64];

/// `setp.lt{.and}{.ftz}.u32 p{|q}, a, b{, c};`
pub(super) fn setp(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let (comparison, name) = comparison(c)?;
    let boolean = c.choose_of(BooleanOp::ALL);
    let flush_subnormals = c.accept("ftz");
    let ty = c.ty_of(&COMPARED)?;
    if !compares(name, ty) || flush_subnormals && !matches!(ty, F32 | F16 | F16x2) {
        return c.wrong_type(ty);
    }
    c.operands(if boolean.is_some() { 4 } else { 3 })?;
    let half = matches!(ty, F16 | Bf16);
    let (dst, dst_not) = if half { (c.dst(0, Pred)?, None) } else { c.dst_and_predicate(0, Pred)? };
    let (a, b) = (c.src(1, ty)?, c.src(2, ty)?);
    let combine = match boolean {
        Some(op) => Some(Combine { op, predicate: c.predicate(3)? }),
        None => None,
    };
    Ok(ComputeOp::SetPredicate { comparison, ty, flush_subnormals, combine, dst, dst_not, a, b })
}

/// `set.lt{.and}{.ftz}.u32.f32 d, a, b{, c};`
pub(super) fn set(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let (comparison, name) = comparison(c)?;
    let boolean = c.choose_of(BooleanOp::ALL);
    let flush_subnormals = c.accept("ftz");
    let to = c.ty_of(&[U32, S32, F32, U16, S16, F16, Bf16, F16x2, Bf16x2])?;
    let ty = c.ty_of(&COMPARED)?;
    let packed = matches!(ty, F16x2 | Bf16x2);
    let fits = if packed { matches!(to, U32 | S32) || to == ty } else { !matches!(to, F16x2 | Bf16x2) };
    if !fits || !compares(name, ty) || flush_subnormals && !matches!(ty, F32 | F16 | F16x2) {
        return c.wrong_type(ty);
    }
    c.operands(if boolean.is_some() { 4 } else { 3 })?;
    let (dst, a, b) = (c.dst(0, to)?, c.src(1, ty)?, c.src(2, ty)?);
    let combine = match boolean {
        Some(op) => Some(Combine { op, predicate: c.predicate(3)? }),
        None => None,
    };
    Ok(ComputeOp::Set { comparison, to, ty, flush_subnormals, combine, dst, a, b })
}

/// `selp.b32 d, a, b, p;`
pub(super) fn selp(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let ty = c.ty_of(&[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64])?;
    c.operands(4)?;
    Ok(ComputeOp::Select { ty, dst: c.dst(0, ty)?, a: c.src(1, ty)?, b: c.src(2, ty)?, predicate: c.predicate(3)? })
}

/// `slct{.ftz}.u32.s32 d, a, b, c;`
pub(super) fn slct(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let flush_subnormals = c.accept("ftz");
    let ty = c.ty_of(&[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64])?;
    let selector = c.ty_of(if flush_subnormals { &[F32] } else { &[S32, F32] })?;
    c.operands(4)?;
    let (dst, a, b) = (c.dst(0, ty)?, c.src(1, ty)?, c.src(2, ty)?);
    Ok(ComputeOp::SelectBySign { ty, selector, flush_subnormals, dst, a, b, c: c.src(3, selector)? })
}

/// `testp.finite.f32 p, a;`
pub(super) fn testp(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let property = c.require_of(FloatProperty::ALL, "a property such as `.finite`")?;
    let ty = c.ty_of(&[F32, F64])?;
    c.operands(2)?;
    Ok(ComputeOp::TestProperty { property, ty, dst: c.dst(0, Pred)?, a: c.src(1, ty)? })
}
