//! Conversions between types, and between addresses of state spaces.

use super::Context;
use super::memory::SPACES;
use super::mode::{GivenModes, Modes};
use super::operands::Width;
use crate::Type::*;
use crate::errors::{InstructionError, Parsed, fault};
use crate::{Kind, Op, Type};

/// What `cvt` converts between.
const CONVERTED: [Type; 12] = [U8, U16, U32, U64, S8, S16, S32, S64, F16, Bf16, F32, F64];

/// `cvt{.rnd}{.ftz}{.sat}.to.from d, a;`, `cvt.rn.f16x2.f32 d, a, b;`
pub(super) fn cvt(c: &mut Context<'_, '_>) -> Parsed<Op> {
    let given = c.modes()?;
    let to = c.ty()?;
    if matches!(to, F16x2 | Bf16x2) {
        let from = c.ty_of(&[F32])?;
        let allowed = Modes::RN.and(Modes::ROUND).and(Modes::RELU).and(Modes::NEEDED);
        let mode = c.allow(given, allowed, to)?;
        c.operands(3)?;
        return Ok(Op::ConvertPair { to, from, mode, dst: c.dst(0, B32)?, a: c.src(1, from)?, b: c.src(2, from)? });
    }
    if !CONVERTED.contains(&to) {
        return c.wrong_type(to);
    }
    let from = c.ty_of(&CONVERTED)?;
    let mode = c.allow(given, allowed(to, from), to)?;
    check_rounding(c, given, to, from)?;
    c.operands(2)?;
    let (d, a) = (c.raw(0), c.raw(1));
    let width = |ty| if ty == Bf16 { Width::Exact } else { Width::AtLeast };
    let dst = c.destination(d, to, width(to))?;
    Ok(Op::Convert { to, from, mode, dst, src: c.source(a, from, width(from))? })
}

/// The modifiers of a conversion.
fn allowed(to: Type, from: Type) -> Modes {
    let single = to == F32 || from == F32;
    let mut modes = Modes::SAT;
    if single {
        modes = modes.and(Modes::FTZ);
    }
    match (to.kind(), from.kind()) {
        (Kind::Float, Kind::Float) if to == from => modes.and(Modes::INTEGER_ROUND),
        (Kind::Float, Kind::Float) if to.bits() <= from.bits() => {
            let half = matches!(to, F16 | Bf16);
            modes.and(Modes::ROUND).and(if half { Modes::RELU } else { Modes::NONE })
        }
        (Kind::Float, Kind::Float) => modes,
        (Kind::Float, _) => modes.and(Modes::ROUND),
        (_, Kind::Float) => modes.and(Modes::INTEGER_ROUND),
        _ => Modes::SAT,
    }
}

/// Conversions that lose digits must say how to round.
fn check_rounding(c: &Context<'_, '_>, given: GivenModes, to: Type, from: Type) -> Parsed<()> {
    let what = match (to.kind(), from.kind()) {
        (Kind::Float, Kind::Float) if to != from && to.bits() <= from.bits() => "a rounding such as `.rn`",
        (Kind::Float, Kind::Float) => return Ok(()),
        (Kind::Float, _) => "a rounding such as `.rn`",
        (_, Kind::Float) => "an integer rounding such as `.rzi`",
        _ => return Ok(()),
    };
    if given.rounds() == Modes::NONE {
        return fault(c.name_span(), InstructionError::MissingModifier { opcode: "cvt".into(), what });
    }
    Ok(())
}

/// `cvta{.to}.global.u64 d, a;`
pub(super) fn cvta(c: &mut Context<'_, '_>) -> Parsed<Op> {
    let to_generic = !c.accept("to");
    let space = c.require(&SPACES, "a state space")?;
    let ty = c.ty_of(&[U32, U64])?;
    c.operands(2)?;
    let dst = c.dst(0, ty)?;
    Ok(Op::ConvertAddress { space, to_generic, ty, dst, src: super::movement::value_or_address(c, 1, ty)? })
}

/// `isspacep.global p, a;`
pub(super) fn isspacep(c: &mut Context<'_, '_>) -> Parsed<Op> {
    let space = c.require(&SPACES, "a state space")?;
    c.operands(2)?;
    let dst = c.dst(0, Pred)?;
    let operand = c.raw(1);
    let ty = match c.register_type(operand)? {
        Some(ty) if ty.bits() == 32 => B32,
        _ => B64,
    };
    Ok(Op::IsSpace { space, dst, src: c.src(1, ty)? })
}
