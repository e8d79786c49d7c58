//! Types video instructions: `vadd`, `vmad`, `vset`, ... with their selectors, and the same on
//! halves and bytes.

use super::context::Context;
use crate::Type::*;
use crate::errors::{OperandError, Parsed, fault};
use crate::syntax::operands::{Name, Raw, RawOperand};
use crate::{
    Comparison, ComputeOp, Part, ScalarVideo, SecondaryOp, SimdVideo, SimdVideoOp, VideoMultiply, VideoOp, VideoSource,
};

const COMPARISON: &str = "a comparison such as `.lt`";

/// `.u32` or `.s32`: whether it is signed.
fn signed(c: &mut Context<'_, '_>) -> Parsed<bool> {
    Ok(c.ty_of(&[U32, S32])? == S32)
}

/// Splits an operand into the operand itself, its selector and its sign.
fn selected<'t>(operand: &RawOperand<'t>) -> (RawOperand<'t>, Option<Name<'t>>, bool) {
    let (name, negated) = match operand.raw {
        Raw::Name(name) => (name, false),
        Raw::Minus(name) => (name, true),
        _ => return (operand.clone(), None, false),
    };
    let plain = RawOperand { raw: Raw::Name(Name { part: None, ..name }), span: operand.span };
    (plain, Some(name), negated)
}

/// The part that a selector names; without a selector, the whole word.
fn part(name: Option<Name<'_>>) -> Parsed<Part> {
    let Some((name, selector)) = name.and_then(|name| Some((name, name.part?))) else { return Ok(Part::WORD) };
    let known = [("b0", 0, 8), ("b1", 8, 8), ("b2", 16, 8), ("b3", 24, 8), ("h0", 0, 16), ("h1", 16, 16)];
    match known.iter().find(|&&(known, ..)| known == selector) {
        Some(&(_, first, bits)) => Ok(Part { first, bits }),
        None => fault(name.span, OperandError::Selector { selector: selector.into(), known: "b0 to b3, h0 or h1" }),
    }
}

/// Operand `index`: a source with its selector, and whether it is negated.
fn source(c: &mut Context<'_, '_>, index: usize, signed: bool) -> Parsed<(VideoSource, bool)> {
    let (plain, name, negated) = selected(c.raw(index));
    let ty = if signed { S32 } else { U32 };
    let operand = c.source(&plain, ty, super::names::Width::Exact)?;
    Ok((VideoSource { operand, part: part(name)?, signed }, negated))
}

/// `vop.dtype.atype.btype{.sat}{.op2} d{.dsel}, {-}a{.asel}, {-}b{.bsel}{, {-}c};`
pub(super) fn scalar(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    const WRAP: [(&str, bool); 2] = [("clamp", false), ("wrap", true)];
    let opcode = c.opcode();
    let mut multiply = VideoMultiply::default();
    let mut op = match opcode {
        "vadd" => VideoOp::Add,
        "vsub" => VideoOp::Subtract,
        "vabsdiff" => VideoOp::AbsoluteDifference,
        "vmin" => VideoOp::Minimum,
        "vmax" => VideoOp::Maximum,
        "vshl" => VideoOp::ShiftLeft { wrap: c.require(&WRAP, "`.clamp` or `.wrap`")? },
        "vshr" => VideoOp::ShiftRight { wrap: c.require(&WRAP, "`.clamp` or `.wrap`")? },
        "vset" => VideoOp::Compare(c.require_of(Comparison::ORDERED, COMPARISON)?),
        _ => {
            multiply.plus_one = c.accept("po");
            multiply.shift = c.choose(&[("shr7", 7), ("shr15", 15)]).unwrap_or(0);
            VideoOp::MultiplyAdd(multiply)
        }
    };
    let (multiplies, compares) = (opcode == "vmad", opcode == "vset");
    let saturate = !compares && c.accept("sat");
    let seconds = [("add", SecondaryOp::Add), ("min", SecondaryOp::Minimum), ("max", SecondaryOp::Maximum)];
    let second = if multiplies { None } else { c.choose(&seconds) };
    let result_signed = !compares && signed(c)?;
    let a_signed = signed(c)?;
    let b_signed = if matches!(op, VideoOp::ShiftLeft { .. } | VideoOp::ShiftRight { .. }) {
        c.ty_of(&[U32])?;
        false
    } else {
        signed(c)?
    };
    c.operands_between(3..=4)?;
    let (plain, name, negated) = selected(c.raw(0));
    let to = part(name)?;
    let merges = to != Part::WORD;
    if merges && (multiplies || second.is_some()) {
        return fault(c.raw(0).span, OperandError::Kind { expected: "a whole register", found: "a part of one" });
    }
    // Without a second operation, a third operand is the word to merge into, and has no effect
    // unless there is a merge.
    let needs_c = multiplies || merges || second.is_some();
    c.operands_between(if needs_c { 4 } else { 3 }..=4)?;
    if negated {
        return fault(
            c.raw(0).span,
            OperandError::Kind { expected: "a register to write", found: "a negated operand" },
        );
    }
    let ty = if result_signed { S32 } else { U32 };
    let dst = c.destination(&plain, ty, super::names::Width::Exact)?;
    let (a, minus_a) = source(c, 1, a_signed)?;
    let (b, minus_b) = source(c, 2, b_signed)?;
    let mut addend = None;
    let mut minus_c = false;
    if c.count() == 4 {
        let (plain, name, negated) = selected(c.raw(3));
        if name.is_some_and(|name| name.part.is_some()) {
            return fault(c.raw(3).span, OperandError::Kind { expected: "a whole register", found: "a part of one" });
        }
        minus_c = negated;
        addend = Some(c.source(&plain, ty, super::names::Width::Exact)?);
    }
    let minus = [minus_a, minus_b, minus_c];
    let plain_only = !multiplies || multiply.plus_one || (minus_a != minus_b && minus_c);
    if let Some(index) = minus.iter().position(|&minus| minus).filter(|_| plain_only) {
        let (expected, found) = ("an operand without a sign", "a negated one");
        return fault(c.raw(index + 1).span, OperandError::Kind { expected, found });
    }
    if let VideoOp::MultiplyAdd(rest) = &mut op {
        (rest.negate_product, rest.negate_addend) = (minus_a != minus_b, minus_c);
    }
    let then = if merges { SecondaryOp::Merge(to) } else { second.unwrap_or(SecondaryOp::Keep) };
    let c = addend;
    Ok(ComputeOp::ScalarVideo(Box::new(ScalarVideo { op, signed: result_signed, saturate, then, dst, a, b, c })))
}

/// The lanes that a selector such as `.h31` or `.b7640` names, the lowest first: at most `most`
/// digits below `limit`.
fn lanes(name: Option<Name<'_>>, letter: char, most: usize, limit: u8) -> Parsed<Option<Vec<u8>>> {
    let Some((name, selector)) = name.and_then(|name| Some((name, name.part?))) else { return Ok(None) };
    let digits = selector.strip_prefix(letter).unwrap_or_default();
    let lanes: Option<Vec<u8>> =
        digits.chars().rev().map(|digit| Some(digit.to_digit(10)? as u8).filter(|&lane| lane < limit)).collect();
    match lanes {
        Some(lanes) if !lanes.is_empty() && lanes.len() <= most => Ok(Some(lanes)),
        _ => {
            let known = if letter == 'h' { "h and the numbers of halves" } else { "b and the numbers of bytes" };
            fault(name.span, OperandError::Selector { selector: selector.into(), known })
        }
    }
}

/// `vop2.dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c;`, and `vop4` for bytes
pub(super) fn simd(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    let (name, count) = c.opcode().split_at(c.opcode().len() - 1);
    let count = if count == "2" { 2usize } else { 4 };
    let letter = if count == 2 { 'h' } else { 'b' };
    let op = match name {
        "vadd" => SimdVideoOp::Add,
        "vsub" => SimdVideoOp::Subtract,
        "vavrg" => SimdVideoOp::Average,
        "vabsdiff" => SimdVideoOp::AbsoluteDifference,
        "vmin" => SimdVideoOp::Minimum,
        "vmax" => SimdVideoOp::Maximum,
        _ => SimdVideoOp::Compare(c.require_of(Comparison::ORDERED, COMPARISON)?),
    };
    let compares = matches!(op, SimdVideoOp::Compare(_));
    let accumulate = c.accept("add");
    let saturate = !compares && !accumulate && c.accept("sat");
    let result_signed = !compares && signed(c)?;
    let signed = [result_signed, signed(c)?, signed(c)?];
    c.operands(4)?;
    let types = signed.map(|signed| if signed { S32 } else { U32 });
    let exact = super::names::Width::Exact;
    let operands = [0, 1, 2].map(|index| selected(c.raw(index)));
    if let Some(index) = operands.iter().position(|operand| operand.2) {
        let (expected, found) = ("an operand without a sign", "a negated one");
        return fault(c.raw(index).span, OperandError::Kind { expected, found });
    }
    let [(d, mask, _), (a, a_lanes, _), (b, b_lanes, _)] = operands;
    let mask = lanes(mask, letter, count, count as u8)?;
    let mask = mask.map_or((1 << count) - 1, |lanes| lanes.iter().fold(0, |mask, lane| mask | 1 << lane));
    let mut sources = [[0, 1, 2, 3], [0, 1, 2, 3].map(|lane| lane + count as u8)];
    for (source, name) in sources.iter_mut().zip([a_lanes, b_lanes]) {
        let Some(chosen) = lanes(name, letter, count, 2 * count as u8)? else { continue };
        if chosen.len() != count {
            let selector = name.and_then(|name| name.part).unwrap_or_default().into();
            let known = if count == 2 { "h and two numbers of halves" } else { "b and four numbers of bytes" };
            return fault(c.name_span(), OperandError::Selector { selector, known });
        }
        source[..count].copy_from_slice(&chosen);
    }
    let dst = c.destination(&d, types[0], exact)?;
    let (a, b) = (c.source(&a, types[1], exact)?, c.source(&b, types[2], exact)?);
    let third = c.src(3, types[0])?;
    let lanes = count as u8;
    Ok(ComputeOp::SimdVideo(Box::new(SimdVideo {
        op,
        lanes,
        signed,
        sources,
        mask,
        saturate,
        accumulate,
        dst,
        a,
        b,
        c: third,
    })))
}
