//! The handlers of video instructions (PTX ISA, "Scalar Video Instructions" and "SIMD Video
//! Instructions"), each as in the manual's pseudo-code. Decoding picks a handler.
//!
//! Where `ptxas` 13.5 and an H200 (driver 580.159) differ from the manual, these do as they do:
//!
//! - sums and differences have 32 bits before `.min` and `.max`, and their `.sat` to `.u32` only
//!   replaces negative numbers;
//! - `.min` and `.max` of a `.u32` result compare 64 bits as unsigned numbers, so a negative result
//!   exceeds any `c`;
//! - saturation of shifts sees the lowest 34 bits; `c` of `vset` has the type of `a`;
//! - `vmad` takes all factors and addends of 32 bits as signed, and only shifts as the manual says.
//!
//! The form of an instruction does not fit operand `e`, so `e` names a constant row of 64 bits that
//! holds it.

use ptx::{Comparison, Part, ScalarVideo, SecondaryOp, SimdVideo, SimdVideoOp, VideoMultiply, VideoOp};

use super::handler::Handler;
use super::registers::Registers;
use super::rows::Operands;

/// A bit stream: fields are written and read one after the other.
struct Fields(u64, u32);

impl Fields {
    fn put(&mut self, value: u32, bits: u32) {
        self.0 |= u64::from(value) << self.1;
        self.1 += bits;
    }

    fn take(&mut self, bits: u32) -> u32 {
        let value = self.0 as u32 & ((1u64 << bits) - 1) as u32;
        self.0 >>= bits;
        value
    }

    fn flag(&mut self) -> bool {
        self.take(1) == 1
    }
}

fn number(comparison: Comparison) -> u32 {
    Comparison::ORDERED.iter().position(|&other| other == comparison).unwrap_or(0) as u32
}

fn compare(number: u32, a: i64, b: i64) -> i64 {
    let holds = match number {
        0 => a == b,
        1 => a != b,
        2 => a < b,
        3 => a <= b,
        4 => a > b,
        _ => a >= b,
    };
    holds.into()
}

/// A part of a word, extended.
fn extract(word: u32, part: Part, signed: bool) -> i64 {
    let up = 64 - u32::from(part.bits) - u32::from(part.first);
    let moved = u64::from(word) << up;
    let down = 64 - u32::from(part.bits);
    if signed { moved as i64 >> down } else { (moved >> down) as i64 }
}

fn clamp(value: i64, bits: u32, signed: bool) -> i64 {
    if signed { value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { value.clamp(0, (1 << bits) - 1) }
}

fn put_part(fields: &mut Fields, part: Part) {
    fields.put((part.first / 8).into(), 2);
    fields.put((part.bits / 8 - 1).into(), 2);
}

fn take_part(fields: &mut Fields) -> Part {
    let (first, bits) = (fields.take(2), fields.take(2));
    Part { first: first as u8 * 8, bits: (bits as u8 + 1) * 8 }
}

/// The handler of a scalar video instruction (operands a, b, c), and what the row that `e` names
/// holds.
pub(crate) fn scalar_video(video: &ScalarVideo) -> (Handler, u64) {
    let mut fields = Fields(0, 0);
    let (kind, rest) = match video.op {
        VideoOp::Add => (0, 0),
        VideoOp::Subtract => (1, 0),
        VideoOp::AbsoluteDifference => (2, 0),
        VideoOp::Minimum => (3, 0),
        VideoOp::Maximum => (4, 0),
        VideoOp::ShiftLeft { wrap } => (5, u32::from(wrap)),
        VideoOp::ShiftRight { wrap } => (6, u32::from(wrap)),
        VideoOp::Compare(comparison) => (7, number(comparison)),
        VideoOp::MultiplyAdd(VideoMultiply { negate_product, negate_addend, plus_one, shift }) => {
            let flags = u32::from(negate_product) | u32::from(negate_addend) << 1 | u32::from(plus_one) << 2;
            (8, flags | u32::from(shift) << 3)
        }
    };
    fields.put(kind, 4);
    fields.put(rest, 7);
    for flag in [video.signed, video.saturate, video.a.signed, video.b.signed] {
        fields.put(flag.into(), 1);
    }
    put_part(&mut fields, video.a.part);
    put_part(&mut fields, video.b.part);
    let (then, merged) = match video.then {
        SecondaryOp::Keep => (0, Part::WORD),
        SecondaryOp::Add => (1, Part::WORD),
        SecondaryOp::Minimum => (2, Part::WORD),
        SecondaryOp::Maximum => (3, Part::WORD),
        SecondaryOp::Merge(part) => (4, part),
    };
    fields.put(then, 3);
    put_part(&mut fields, merged);
    let handler: Handler = |registers: &mut Registers<'_>, operands: &Operands, mask| {
        let form = registers.wide(operands.e)[0];
        registers.map3::<false, _, _, _, _>(operands, mask, |a: u32, b: u32, c: u32| -> u32 { scalar(form, a, b, c) });
    };
    (handler, fields.0)
}

#[inline(never)]
fn scalar(form: u64, a: u32, b: u32, c: u32) -> u32 {
    let mut fields = Fields(form, 0);
    let (kind, rest) = (fields.take(4), fields.take(7));
    let [signed, saturate, a_signed, b_signed] = std::array::from_fn(|_| fields.flag());
    let (a, b) = (extract(a, take_part(&mut fields), a_signed), extract(b, take_part(&mut fields), b_signed));
    let (then, merged) = (fields.take(3), take_part(&mut fields));
    let amount = if rest == 1 { b & 31 } else { b.clamp(0, 32) };
    let value = match kind {
        0 => a + b,
        1 => a - b,
        2 => (a - b).abs(),
        3 => a.min(b),
        4 => a.max(b),
        5 => a << amount,
        6 => a >> amount,
        7 => compare(rest, a, b),
        _ => return multiply_add(rest, a, b, c, saturate, a_signed || b_signed),
    };
    let (sums, shifts, merges) = (kind < 2, matches!(kind, 5 | 6), then == 4);
    let value = match saturate {
        true if merges => clamp(value, merged.bits.into(), signed),
        true if sums && !signed => value.max(0),
        true if shifts => clamp(value << 30 >> 30, 32, signed),
        true => clamp(value, 32, signed),
        false => value,
    };
    let value = if sums || saturate && shifts { i64::from(value as i32) } else { value };
    let signed = signed || kind == 7 && a_signed;
    let third = if signed { i64::from(c as i32) } else { i64::from(c) };
    let less = if signed { value < third } else { (value as u64) < third as u64 };
    match then {
        0 => value as u32,
        1 => value.wrapping_add(third) as u32,
        2 | 3 => (if less == (then == 2) { value } else { third }) as u32,
        _ => {
            let kept = (((1u64 << merged.bits) - 1) << merged.first) as u32;
            c & !kept | (value as u32) << merged.first & kept
        }
    }
}

fn multiply_add(rest: u32, a: i64, b: i64, c: u32, saturate: bool, signed: bool) -> u32 {
    let (negate_product, negate_addend, plus_one) = (rest & 1 == 1, rest & 2 == 2, rest & 4 == 4);
    let signed = signed || negate_product || negate_addend;
    let product = i64::from(a as i32) * i64::from(b as i32);
    let product = if negate_product { -product } else { product };
    let c = i64::from(c as i32);
    let sum = product + if negate_addend { -c } else { c } + i64::from(plus_one);
    let shift = rest >> 3;
    let result = if signed { sum >> shift } else { (sum as u64 >> shift) as i64 };
    (if saturate { clamp(result, 32, signed) } else { result }) as u32
}

/// [`scalar_video`] for a SIMD video instruction.
pub(crate) fn simd_video(video: &SimdVideo) -> (Handler, u64) {
    let mut fields = Fields(0, 0);
    let (kind, rest) = match video.op {
        SimdVideoOp::Add => (0, 0),
        SimdVideoOp::Subtract => (1, 0),
        SimdVideoOp::Average => (2, 0),
        SimdVideoOp::AbsoluteDifference => (3, 0),
        SimdVideoOp::Minimum => (4, 0),
        SimdVideoOp::Maximum => (5, 0),
        SimdVideoOp::Compare(comparison) => (6, number(comparison)),
    };
    fields.put(kind, 3);
    fields.put(rest, 3);
    fields.put((video.lanes == 4).into(), 1);
    for flag in video.signed {
        fields.put(flag.into(), 1);
    }
    fields.put(video.saturate.into(), 1);
    fields.put(video.accumulate.into(), 1);
    fields.put(video.mask.into(), 4);
    for lane in video.sources.iter().flatten() {
        fields.put((*lane).into(), 3);
    }
    let handler: Handler = |registers: &mut Registers<'_>, operands: &Operands, mask| {
        let form = registers.wide(operands.e)[0];
        registers.map3::<false, _, _, _, _>(operands, mask, |a: u32, b: u32, c: u32| -> u32 { simd(form, a, b, c) });
    };
    (handler, fields.0)
}

#[inline(never)]
fn simd(form: u64, a: u32, b: u32, c: u32) -> u32 {
    let mut fields = Fields(form, 0);
    let (kind, rest) = (fields.take(3), fields.take(3));
    let lanes = if fields.flag() { 4 } else { 2 };
    let bits = 32 / lanes;
    let [signed, a_signed, b_signed, saturate, accumulate] = std::array::from_fn(|_| fields.flag());
    let mask = fields.take(4);
    let sources: [[u32; 4]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| fields.take(3)));
    let part = |lane: u32, signed| {
        let word = if lane < lanes { a } else { b };
        extract(word, Part { first: (lane % lanes * bits) as u8, bits: bits as u8 }, signed)
    };
    let mut result = c;
    for lane in (0..lanes).filter(|lane| mask >> lane & 1 == 1) {
        let x = part(sources[0][lane as usize], a_signed);
        let y = part(sources[1][lane as usize], b_signed);
        let value = match kind {
            0 => x + y,
            1 => x - y,
            2 => (x + y + i64::from(x + y >= 0)) >> 1,
            3 => (x - y).abs(),
            4 => x.min(y),
            5 => x.max(y),
            _ => compare(rest, x, y),
        };
        if accumulate {
            result = result.wrapping_add(value as u32);
        } else {
            let value = if saturate { clamp(value, bits, signed) } else { value };
            let kept = ((1u32 << bits) - 1) << (lane * bits);
            result = result & !kept | (value as u32) << (lane * bits) & kept;
        }
    }
    result
}
