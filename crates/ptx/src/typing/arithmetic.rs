//! Types arithmetic, logic and bit operations: tables of opcodes, types and modifiers.

use super::context::Context;
use super::mode::{GivenModes, Modes};
use crate::Type::*;
use crate::errors::{OperandError, Parsed, fault};
use crate::{BinaryOp, BooleanOp, Combine, ComputeOp, FromName as _, PermuteMode, TernaryOp, Type, UnaryOp};

const NONE: Modes = Modes::NONE;
const ROUND: Modes = Modes::ROUND;
const FTZ: Modes = Modes::FTZ;
const SAT: Modes = Modes::SAT;
const APPROXIMATE: Modes = Modes::APPROXIMATE.and(Modes::NEEDED);
/// The modifiers of `min` and `max` of floats.
const EXTREME: Modes = FTZ.and(Modes::NAN).and(Modes::XOR_SIGN);

/// The modifiers that `abs`, `rcp` and the like allow for a type; `None` if they do not take the
/// type.
fn unary_modes(op: UnaryOp, ty: Type) -> Option<Modes> {
    use UnaryOp::*;
    Some(match (op, ty) {
        (Absolute | Negate, S16 | S32 | S64 | F64 | Bf16 | Bf16x2) => NONE,
        (Absolute | Negate, F32 | F16 | F16x2) => FTZ,
        (Not, Pred | B16 | B32 | B64) | (LogicalNot, B16 | B32 | B64) => NONE,
        (PopulationCount | CountLeadingZeros | BitReverse, B32 | B64) => NONE,
        (FindLeadingBit { .. }, U32 | U64 | S32 | S64) => NONE,
        (Reciprocal | SquareRoot, F32) => ROUND.and(APPROXIMATE).and(FTZ),
        (Reciprocal, F64) => ROUND.and(APPROXIMATE).and(FTZ),
        (SquareRoot, F64) => ROUND.and(Modes::NEEDED),
        (ReciprocalSquareRoot, F32 | F64) | (Sine | Cosine | Log2 | Exp2, F32) => APPROXIMATE.and(FTZ),
        (Exp2, F16 | F16x2) => APPROXIMATE,
        (Exp2, Bf16 | Bf16x2) => APPROXIMATE.and(FTZ),
        (Tanh, F32 | F16 | F16x2 | Bf16 | Bf16x2) => APPROXIMATE,
        _ => return None,
    })
}

/// `op d, a;`
pub(super) fn unary(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    use UnaryOp::*;
    let Some(mut op) = UnaryOp::from_name(c.opcode()) else { return c.unknown_opcode() };
    if let FindLeadingBit { shift_amount } = &mut op {
        *shift_amount = c.accept("shiftamt");
    }
    let given = c.modes()?;
    let ty = c.ty()?;
    let Some(allowed) = unary_modes(op, ty) else { return c.wrong_type(ty) };
    let mode = c.allow(given, allowed, ty)?;
    c.operands(2)?;
    let counts = matches!(op, PopulationCount | CountLeadingZeros | FindLeadingBit { .. });
    let dst = c.dst(0, if counts { U32 } else { ty })?;
    Ok(ComputeOp::Unary { op, ty, mode, dst, a: c.src(1, ty)? })
}

/// The modifiers that `add`, `min` and the like allow for a type; `None` if they do not take the
/// type.
fn binary_modes(op: BinaryOp, ty: Type) -> Option<Modes> {
    use BinaryOp::*;
    Some(match (op, ty) {
        (Add | Subtract, S32) => SAT,
        (Add | Subtract | Divide | Remainder | Minimum | Maximum, U16 | U32 | U64 | S16 | S64) => NONE,
        (Divide | Remainder, S32) => NONE,
        (Minimum | Maximum, S32 | S16x2) => Modes::RELU,
        (Add | Minimum | Maximum, U16x2) | (Add, S16x2) => NONE,
        (Add | Subtract | Multiply, F32) => ROUND.and(FTZ).and(SAT),
        (Add | Subtract | Multiply, F32x2) => ROUND.and(FTZ),
        (Add | Subtract | Multiply, F64) => ROUND,
        (Add | Subtract | Multiply, F16 | F16x2) => Modes::RN.and(FTZ).and(SAT),
        (Add | Subtract | Multiply, Bf16 | Bf16x2) => Modes::RN,
        (Divide, F32) => ROUND.and(APPROXIMATE).and(Modes::FULL).and(FTZ),
        (Divide, F64) => ROUND.and(Modes::NEEDED),
        (Minimum | Maximum, F32 | F16 | F16x2) => EXTREME,
        (Minimum | Maximum, Bf16 | Bf16x2) => Modes::NAN.and(Modes::XOR_SIGN),
        (Minimum | Maximum, F64) => NONE,
        (And | Or | Xor, Pred | B16 | B32 | B64) => NONE,
        (ShiftLeft, B16 | B32 | B64) => NONE,
        (ShiftRight, B16 | B32 | B64 | U16 | U32 | U64 | S16 | S32 | S64) => NONE,
        (CopySign, F32 | F64) => NONE,
        (Multiply24Low | Multiply24High, U32 | S32) => NONE,
        (BitMask { .. }, B32) => NONE,
        (SignZeroExtend { .. }, U32 | S32) => NONE,
        _ => return None,
    })
}

/// `op d, a, b;`
pub(super) fn binary(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    use BinaryOp::*;
    const WRAP: [(&str, bool); 2] = [("clamp", false), ("wrap", true)];
    let op = match (c.opcode(), BinaryOp::from_name(c.opcode())) {
        (_, Some(op)) => op,
        ("mul24", _) => c.require(&[("lo", Multiply24Low), ("hi", Multiply24High)], "`.lo` or `.hi`")?,
        ("bmsk", _) => BitMask { wrap: c.require(&WRAP, "`.clamp` or `.wrap`")? },
        ("szext", _) => SignZeroExtend { wrap: c.require(&WRAP, "`.clamp` or `.wrap`")? },
        _ => return c.unknown_opcode(),
    };
    let given = c.modes()?;
    let ty = c.ty()?;
    let of_three = matches!(op, Minimum | Maximum) && ty == F32;
    if of_three && c.count() == 4 {
        return extremum_of_three(c, op == Minimum, given);
    }
    let Some(allowed) = binary_modes(op, ty) else { return c.wrong_type(ty) };
    let mode = c.allow(given, allowed, ty)?;
    c.operands_between(3..=if of_three { 4 } else { 3 })?;
    let second = if matches!(op, ShiftLeft | ShiftRight | SignZeroExtend { .. }) { U32 } else { ty };
    Ok(ComputeOp::Binary { op, ty, mode, dst: c.dst(0, ty)?, a: c.src(1, ty)?, b: c.src(2, second)? })
}

/// `max{.ftz}{.NaN}{.abs}.f32 d, a, b, c;`
fn extremum_of_three(c: &mut Context<'_, '_>, minimum: bool, given: GivenModes) -> Parsed<ComputeOp> {
    let mode = c.allow(given, FTZ.and(Modes::NAN), F32)?;
    let absolute = c.accept("abs");
    c.operands(4)?;
    let op = if minimum { TernaryOp::Minimum3 { absolute } } else { TernaryOp::Maximum3 { absolute } };
    Ok(ComputeOp::Ternary {
        op,
        ty: F32,
        mode,
        dst: c.dst(0, F32)?,
        a: c.src(1, F32)?,
        b: c.src(2, F32)?,
        c: c.src(3, F32)?,
    })
}

/// The type of twice the width.
fn widened(ty: Type) -> Type {
    match ty {
        U16 => U32,
        S16 => S32,
        U32 => U64,
        _ => S64,
    }
}

/// `mul` and `mad`, whose integer forms select a half of the product.
pub(super) fn multiply(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let is_mad = c.opcode() == "mad";
    let half = c.choose(&[
        ("lo", (BinaryOp::Multiply, TernaryOp::MultiplyAdd)),
        ("hi", (BinaryOp::MultiplyHigh, TernaryOp::MultiplyAddHigh)),
        ("wide", (BinaryOp::MultiplyWide, TernaryOp::MultiplyAddWide)),
    ]);
    let given = c.modes()?;
    let Some((product, sum)) = half else {
        let ty = c.ty()?;
        if !is_mad {
            if matches!(ty, U16 | U32 | U64 | S16 | S32 | S64) {
                return c.missing("`.lo`, `.hi` or `.wide` before its type");
            }
            let Some(allowed) = binary_modes(BinaryOp::Multiply, ty) else { return c.wrong_type(ty) };
            let mode = c.allow(given, allowed, ty)?;
            c.operands(3)?;
            let (dst, a, b) = (c.dst(0, ty)?, c.src(1, ty)?, c.src(2, ty)?);
            return Ok(ComputeOp::Binary { op: BinaryOp::Multiply, ty, mode, dst, a, b });
        }
        let allowed = match ty {
            F32 => ROUND.and(FTZ).and(SAT).and(Modes::NEEDED),
            F64 => ROUND.and(Modes::NEEDED),
            U16 | U32 | U64 | S16 | S32 | S64 => return c.missing("`.lo`, `.hi` or `.wide` before its type"),
            _ => return c.wrong_type(ty),
        };
        let mode = c.allow(given, allowed, ty)?;
        c.operands(4)?;
        let (dst, a, b) = (c.dst(0, ty)?, c.src(1, ty)?, c.src(2, ty)?);
        return Ok(ComputeOp::Ternary { op: TernaryOp::FusedMultiplyAdd, ty, mode, dst, a, b, c: c.src(3, ty)? });
    };
    let wide = product == BinaryOp::MultiplyWide;
    let ty = if wide { c.ty_of(&[U16, U32, S16, S32])? } else { c.ty_of(&[U16, U32, U64, S16, S32, S64])? };
    let saturates = is_mad && sum == TernaryOp::MultiplyAddHigh && ty == S32;
    let mode = c.allow(given, if saturates { SAT } else { NONE }, ty)?;
    c.operands(if is_mad { 4 } else { 3 })?;
    let result = if wide { widened(ty) } else { ty };
    let (dst, a, b) = (c.dst(0, result)?, c.src(1, ty)?, c.src(2, ty)?);
    if is_mad {
        Ok(ComputeOp::Ternary { op: sum, ty, mode, dst, a, b, c: c.src(3, result)? })
    } else {
        Ok(ComputeOp::Binary { op: product, ty, mode, dst, a, b })
    }
}

/// `op d, a, b, c;`
pub(super) fn ternary(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    match c.opcode() {
        "fma" => fused(c),
        "lop3" => logic(c),
        "prmt" => permute(c),
        "dp4a" | "dp2a" => dot_product(c),
        _ => plain_ternary(c),
    }
}

/// `fma`
fn fused(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let given = c.modes()?;
    let ty = c.ty()?;
    let allowed = match ty {
        F32 => ROUND.and(FTZ).and(SAT),
        F32x2 => ROUND.and(FTZ),
        F64 => ROUND,
        F16 | F16x2 if given.mode.out_of_bounds_zero => Modes::RN.and(SAT).and(Modes::RELU).and(Modes::OUT_OF_BOUNDS),
        F16 | F16x2 => Modes::RN.and(FTZ).and(SAT).and(Modes::RELU),
        Bf16 | Bf16x2 => Modes::RN.and(Modes::RELU).and(Modes::OUT_OF_BOUNDS),
        _ => return c.wrong_type(ty),
    };
    let mode = c.allow(given, allowed.and(Modes::NEEDED), ty)?;
    c.operands(4)?;
    let (dst, a, b) = (c.dst(0, ty)?, c.src(1, ty)?, c.src(2, ty)?);
    Ok(ComputeOp::Ternary { op: TernaryOp::FusedMultiplyAdd, ty, mode, dst, a, b, c: c.src(3, ty)? })
}

/// `mad24`, `sad`, `bfe`, `shf`, `fns`
fn plain_ternary(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    use TernaryOp::*;
    const WRAP: [(&str, bool); 2] = [("clamp", false), ("wrap", true)];
    let op = match c.opcode() {
        "mad24" => c.require(&[("lo", MultiplyAdd24Low), ("hi", MultiplyAdd24High)], "`.lo` or `.hi`")?,
        "sad" => SumOfAbsoluteDifferences,
        "bfe" => BitFieldExtract,
        "fns" => FindNthSet,
        _ => {
            let left = c.require(&[("l", true), ("r", false)], "`.l` or `.r`")?;
            let wrap = c.require(&WRAP, "`.clamp` or `.wrap`")?;
            if left { FunnelShiftLeft { wrap } } else { FunnelShiftRight { wrap } }
        }
    };
    let given = c.modes()?;
    let ty = match op {
        MultiplyAdd24Low | MultiplyAdd24High => c.ty_of(&[U32, S32])?,
        SumOfAbsoluteDifferences => c.ty_of(&[U16, U32, U64, S16, S32, S64])?,
        BitFieldExtract => c.ty_of(&[U32, U64, S32, S64])?,
        _ => c.ty_of(&[B32])?,
    };
    let saturates = op == MultiplyAdd24High && ty == S32;
    let mode = c.allow(given, if saturates { SAT } else { NONE }, ty)?;
    c.operands(4)?;
    let (second, third) = match op {
        BitFieldExtract => (U32, U32),
        FindNthSet => (B32, S32),
        FunnelShiftLeft { .. } | FunnelShiftRight { .. } => (ty, U32),
        _ => (ty, ty),
    };
    Ok(ComputeOp::Ternary {
        op,
        ty,
        mode,
        dst: c.dst(0, ty)?,
        a: c.src(1, ty)?,
        b: c.src(2, second)?,
        c: c.src(3, third)?,
    })
}

/// `lop3.b32 d, a, b, c, table;`, `lop3.or.b32 d|p, a, b, c, table, q;`
fn logic(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let boolean = c.choose_of(&[BooleanOp::And, BooleanOp::Or]);
    let ty = c.ty_of(&[B32])?;
    if let Some(op) = boolean {
        c.operands(6)?;
        let (dst, dst_is_set) = c.dst_and_predicate(0, ty)?;
        if dst_is_set.is_none() {
            let found = "a register without one";
            return fault(c.raw(0).span, OperandError::Kind { expected: "a register and a predicate, `d|p`", found });
        }
        let (a, b, third) = (c.src(1, ty)?, c.src(2, ty)?, c.src(3, ty)?);
        let table = c.immediate(4, 255)? as u8;
        let combine = Combine { op, predicate: c.predicate(5)? };
        return Ok(ComputeOp::LogicAndTest { table, combine, dst, dst_is_set, a, b, c: third });
    }
    c.operands(5)?;
    let (dst, a, b, third) = (c.dst(0, ty)?, c.src(1, ty)?, c.src(2, ty)?, c.src(3, ty)?);
    let table = c.immediate(4, 255)? as u8;
    Ok(ComputeOp::Ternary { op: TernaryOp::Logic(table), ty, mode: Default::default(), dst, a, b, c: third })
}

/// `prmt.b32.mode d, a, b, c;`
fn permute(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let ty = c.ty_of(&[B32])?;
    let mode = c.choose_of(PermuteMode::ALL);
    c.operands(4)?;
    let op = TernaryOp::Permute(mode.unwrap_or(PermuteMode::Index));
    let (dst, a, b) = (c.dst(0, ty)?, c.src(1, ty)?, c.src(2, ty)?);
    Ok(ComputeOp::Ternary { op, ty, mode: Default::default(), dst, a, b, c: c.src(3, ty)? })
}

/// `dp4a.atype.btype`, `dp2a.lo.atype.btype`
fn dot_product(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let high = match c.opcode() {
        "dp2a" => Some(c.require(&[("lo", false), ("hi", true)], "`.lo` or `.hi`")?),
        _ => None,
    };
    let a_signed = c.ty_of(&[U32, S32])? == S32;
    let b_signed = c.ty_of(&[U32, S32])? == S32;
    let op = match high {
        Some(high) => TernaryOp::DotProduct2 { a_signed, b_signed, high },
        None => TernaryOp::DotProduct4 { a_signed, b_signed },
    };
    let ty = if a_signed || b_signed { S32 } else { U32 };
    c.operands(4)?;
    let (dst, a, b) = (c.dst(0, ty)?, c.src32(1)?, c.src32(2)?);
    Ok(ComputeOp::Ternary { op, ty, mode: Default::default(), dst, a, b, c: c.src(3, ty)? })
}

/// `bfi d, a, b, position, length;`
pub(super) fn bit_field_insert(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let ty = c.ty_of(&[B32, B64])?;
    c.operands(5)?;
    let (dst, a, b) = (c.dst(0, ty)?, c.src(1, ty)?, c.src(2, ty)?);
    Ok(ComputeOp::BitFieldInsert { ty, dst, a, b, position: c.src(3, U32)?, length: c.src(4, U32)? })
}
