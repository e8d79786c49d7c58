//! Types conversions between types, and between addresses of state spaces: `cvt`, `cvta`,
//! `isspacep`, `istypep`.

use super::context::Context;
use super::mode::{GivenModes, Modes};
use super::names::Width;
use crate::Type::*;
use crate::errors::{InstructionError, OperandError, Parsed, fault};
use crate::{ComputeOp, Kind, Space, Type};

/// The types that `cvt` converts between.
const CONVERTED: [Type; 12] = [U8, U16, U32, U64, S8, S16, S32, S64, F16, Bf16, F32, F64];

/// `cvt{.rnd}{.ftz}{.sat}.to.from d, a;`, `cvt.rn.f16x2.f32 d, a, b;`
pub(super) fn cvt(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let given = c.modes()?;
    let to = c.ty()?;
    if matches!(to, F16x2 | Bf16x2 | E4m3x2 | E5m2x2 | Tf32) {
        return packed(c, given, to);
    }
    if !CONVERTED.contains(&to) {
        return c.wrong_type(to);
    }
    let from = c.ty_of(&CONVERTED)?;
    let saturates = to.kind() == Kind::Float || from.kind() == Kind::Float || !holds_all(to, from);
    let fits = if saturates { allowed(to, from, given) } else { Modes::NONE };
    let mode = c.allow(given, fits, to)?;
    check_rounding(c, given, to, from)?;
    c.operands(2)?;
    let (d, a) = (c.raw(0), c.raw(1));
    // As `ptxas` has it: beside a `.bf16`, an integer's register is not wider than its type either.
    let width = |ty: Type, other| match ty == Bf16 || other == Bf16 && ty.kind() != Kind::Float {
        true => Width::Exact,
        false => Width::AtLeast,
    };
    let dst = c.destination(d, to, width(to, from))?;
    Ok(ComputeOp::Convert { to, from, mode, dst, src: c.source(a, from, width(from, to))? })
}

/// Conversions to a pair of values in one word, and to `.tf32`.
fn packed(c: &mut Context<'_, '_>, given: GivenModes, to: Type) -> Parsed<ComputeOp> {
    let from = c.ty_of(match to {
        F16x2 => &[F32, E4m3x2, E5m2x2],
        E4m3x2 | E5m2x2 => &[F32, F16x2],
        _ => &[F32],
    })?;
    let rounds = match (to, from) {
        (Tf32, _) => Modes::RN.and(Modes::RZ).and(Modes::NEAREST_AWAY),
        (F16x2 | Bf16x2, F32) => Modes::RN.and(Modes::RZ),
        _ => Modes::RN,
    };
    let finite = if matches!(from, E4m3x2 | E5m2x2) { Modes::NONE } else { Modes::SAT_FINITE };
    let relu = if given.has_any(Modes::NEAREST_AWAY) { Modes::NONE } else { Modes::RELU };
    let mode = c.allow(given, rounds.and(finite).and(relu).and(Modes::NEEDED), to)?;
    if matches!(to, E4m3x2 | E5m2x2) && !mode.saturate_finite {
        return c.missing("`.satfinite` to a type of 8 bits");
    }
    if from == F32 && to != Tf32 {
        c.operands(3)?;
        return Ok(ComputeOp::ConvertPair {
            to,
            from,
            mode,
            dst: c.dst(0, to)?,
            a: c.src(1, from)?,
            b: c.src(2, from)?,
        });
    }
    c.operands(2)?;
    Ok(ComputeOp::Convert { to, from, mode, dst: c.dst(0, to)?, src: c.src(1, from)? })
}

/// `cvt.pack.sat.u16.s32 d, a, b;`, `cvt.pack.sat.u8.s32.b32 d, a, b, c;`
pub(super) fn pack(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    c.accept("pack");
    c.require(&[("sat", ())], "`.sat`")?;
    let types = [
        ("u2", (2, false)),
        ("s2", (2, true)),
        ("u4", (4, false)),
        ("s4", (4, true)),
        ("u8", (8, false)),
        ("s8", (8, true)),
        ("u16", (16, false)),
        ("s16", (16, true)),
    ];
    let (bits, signed) = c.require(&types, "a type such as `.u8`")?;
    c.ty_of(&[S32])?;
    let narrow = bits < 16;
    if narrow {
        c.ty_of(&[B32])?;
    }
    c.operands(if narrow { 4 } else { 3 })?;
    let (dst, a, b) = (c.dst(0, B32)?, c.src(1, S32)?, c.src(2, S32)?);
    Ok(ComputeOp::ConvertPack { bits, signed, dst, a, b, c: if narrow { Some(c.src32(3)?) } else { None } })
}

/// The modifiers that a conversion allows.
fn allowed(to: Type, from: Type, given: GivenModes) -> Modes {
    let saturates = if to == Bf16 || from == Bf16 { Modes::NONE } else { Modes::SAT };
    let modes = if to == F32 || from == F32 { saturates.and(Modes::FTZ) } else { saturates };
    match (to.kind(), from.kind()) {
        (Kind::Float, Kind::Float) if to == from => modes.and(Modes::INTEGER_ROUND),
        // These exclude the other modifiers.
        _ if from == F32 && matches!(to, F16 | Bf16) && given.has_any(CLAMPS) => Modes::RN.and(Modes::RZ).and(CLAMPS),
        (Kind::Float, Kind::Float) if to.bits() <= from.bits() || from == Bf16 => modes.and(Modes::ROUND),
        (Kind::Float, Kind::Float) => modes,
        (Kind::Float, _) => modes.and(Modes::ROUND),
        (_, Kind::Float) => modes.and(Modes::INTEGER_ROUND),
        _ => Modes::SAT,
    }
}

/// The modifiers that clamp results to a half, besides `.sat`.
const CLAMPS: Modes = Modes::RELU.and(Modes::SAT_FINITE);

/// Whether one integer type can represent all values of another, so that there is nothing to
/// saturate.
fn holds_all(to: Type, from: Type) -> bool {
    match (to.kind(), from.kind()) {
        (Kind::Signed, Kind::Unsigned) => to.bits() > from.bits(),
        (Kind::Unsigned, Kind::Signed) => false,
        _ => to.bits() >= from.bits(),
    }
}

/// Rejects conversions that lose digits without a rounding modifier.
fn check_rounding(c: &Context<'_, '_>, given: GivenModes, to: Type, from: Type) -> Parsed<()> {
    let what = match (to.kind(), from.kind()) {
        // To nearest, unless there is a rounding.
        (Kind::Float, Kind::Float) if to.bits() == from.bits() => return Ok(()),
        (Kind::Float, Kind::Float) if to.bits() < from.bits() => "a rounding such as `.rn`",
        (Kind::Float, Kind::Float) => return Ok(()),
        (Kind::Float, _) => "a rounding such as `.rn`",
        (_, Kind::Float) => "an integer rounding such as `.rzi`",
        _ => return Ok(()),
    };
    if !given.rounds() {
        return fault(c.name_span(), InstructionError::MissingModifier { opcode: "cvt".into(), what });
    }
    Ok(())
}

/// `cvta{.to}.global.u64 d, a;`
pub(super) fn cvta(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let to_generic = !c.accept("to");
    let space = c.require_of(Space::ALL, "a state space")?;
    let ty = c.ty_of(&[U32, U64])?;
    c.operands(2)?;
    let dst = c.dst(0, ty)?;
    Ok(ComputeOp::ConvertAddress { space, to_generic, ty, dst, src: super::movement::value_or_address(c, 1, ty)? })
}

/// `isspacep.global p, a;`
pub(super) fn isspacep(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let space = c.require_of(Space::ALL, "a state space")?;
    c.operands(2)?;
    let dst = c.dst(0, Pred)?;
    let operand = c.raw(1);
    let ty = match c.register_type(operand)? {
        Some(ty) if ty.bits() == 32 => B32,
        _ => B64,
    };
    Ok(ComputeOp::IsSpace { space, dst, src: c.src(1, ty)? })
}

/// `istypep.texref p, a;`
pub(super) fn istypep(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let ty = c.ty_of(&[TextureReference, SamplerReference, SurfaceReference])?;
    c.operands(2)?;
    let operand = c.raw(1);
    if c.register_type(operand)?.is_none() {
        return fault(operand.span, OperandError::Kind { expected: "a register", found: operand.raw.describe() });
    }
    Ok(ComputeOp::IsType { ty, dst: c.dst(0, Pred)?, src: c.src(1, B64)? })
}
