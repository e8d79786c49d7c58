//! Conversions: the handlers of `cvt`, and immediates. Decoding picks a handler.

use ptx::{Kind, Mode, Rounding, Type};

use super::handler::lanes;
use super::handler::{Handler, pack, unpack};
use super::registers::Registers;
use super::rows::Operands;
use super::soft::{BF16, E4M3, E5M2, F16, F32, F64, Format, Number, Round, TF32};

/// All types that convert, by their number in operand `e`.
const TYPES: [Type; 13] = [
    Type::U8,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S8,
    Type::S16,
    Type::S32,
    Type::S64,
    Type::F16,
    Type::Bf16,
    Type::F32,
    Type::F64,
    Type::Tf32,
];

fn format(ty: Type) -> Option<Format> {
    match ty {
        Type::F16 => Some(F16),
        Type::Bf16 => Some(BF16),
        Type::F32 => Some(F32),
        Type::F64 => Some(F64),
        Type::Tf32 => Some(TF32),
        _ => None,
    }
}

/// The handler of `cvt`, and operand `e`. `from_wide` and `to_wide` say whether the registers have
/// 64 bits: sources and destinations may be wider than their types.
pub(crate) fn convert(to: Type, from: Type, mode: Mode, to_wide: bool, from_wide: bool) -> Option<(Handler, u32)> {
    if let Some(handler) = packed(to, from) {
        return Some((handler, pack(mode)));
    }
    let index = |ty| TYPES.iter().position(|&candidate| candidate == ty).map(|index| index as u32);
    let e = pack(mode) | index(to)? << 12 | index(from)? << 16;
    let natural = to_wide == (to.bits() == 64) && from_wide == (from.bits() == 64);
    let handler = natural.then(|| common(to, from, mode)).flatten().unwrap_or(match (from_wide, to_wide) {
        (false, false) => |registers: &mut Registers<'_>, operands: &Operands, mask| {
            registers.map1::<false, _, _>(operands, mask, |a: u32| -> u32 { any(operands.e, a.into()) as u32 });
        },
        (true, false) => |registers: &mut Registers<'_>, operands: &Operands, mask| {
            registers.map1::<false, _, _>(operands, mask, |a: u64| -> u32 { any(operands.e, a) as u32 });
        },
        (false, true) => |registers: &mut Registers<'_>, operands: &Operands, mask| {
            registers.map1::<false, _, _>(operands, mask, |a: u32| -> u64 { any(operands.e, a.into()) });
        },
        (true, true) => |registers: &mut Registers<'_>, operands: &Operands, mask| {
            registers.map1::<false, _, _>(operands, mask, |a: u64| -> u64 { any(operands.e, a) });
        },
    });
    Some((handler, e))
}

/// Common conversions, on the host's arithmetic.
fn common(to: Type, from: Type, mode: Mode) -> Option<Handler> {
    use Type::*;
    if mode.saturate || mode.flush_subnormals || mode.relu || mode.saturate_finite {
        return None;
    }
    let nearest = matches!(mode.rounding, Rounding::Default | Rounding::Nearest);
    Some(match (to, from) {
        (U64 | S64, U8) => lanes!(|a: u8| -> u64 { a.into() }),
        (U64 | S64, U16) => lanes!(|a: u16| -> u64 { a.into() }),
        (U64 | S64, U32) => lanes!(|a: u32| -> u64 { a.into() }),
        (U64 | S64, S8) => lanes!(|a: i8| -> i64 { a.into() }),
        (U64 | S64, S16) => lanes!(|a: i16| -> i64 { a.into() }),
        (U64 | S64, S32) => lanes!(|a: i32| -> i64 { a.into() }),
        (U64 | S64, U64 | S64) => lanes!(|a: u64| -> u64 { a }),
        (U32 | S32, U8) => lanes!(|a: u8| -> u32 { a.into() }),
        (U32 | S32, U16) => lanes!(|a: u16| -> u32 { a.into() }),
        (U32 | S32, S8) => lanes!(|a: i8| -> i32 { a.into() }),
        (U32 | S32, S16) => lanes!(|a: i16| -> i32 { a.into() }),
        (U32 | S32, U32 | S32) => lanes!(|a: u32| -> u32 { a }),
        (U32 | S32, U64 | S64) => lanes!(|a: u64| -> u32 { a as u32 }),
        (U16, U8) | (U8, U8 | U16 | U32 | S8 | S16 | S32) => lanes!(|a: u8| -> u32 { a.into() }),
        (U16, U16 | U32 | S16 | S32) => lanes!(|a: u16| -> u32 { a.into() }),
        (S16, U16 | U32 | S16 | S32) => lanes!(|a: i16| -> i32 { a.into() }),
        (S16, S8) | (S8, U8 | U16 | U32 | S8 | S16 | S32) => lanes!(|a: i8| -> i32 { a.into() }),
        (U16, U64 | S64) => lanes!(|a: u64| -> u16 { a as u16 }),
        (U8, U64 | S64) => lanes!(|a: u64| -> u8 { a as u8 }),
        (F32, U32) if nearest => lanes!(|a: u32| -> f32 { a as f32 }),
        (F32, S32) if nearest => lanes!(|a: i32| -> f32 { a as f32 }),
        (F32, U64) if nearest => lanes!(cold |a: u64| -> f32 { a as f32 }),
        (F32, S64) if nearest => lanes!(cold |a: i64| -> f32 { a as f32 }),
        (F32, U16) => lanes!(|a: u16| -> f32 { a.into() }),
        (F32, U8) => lanes!(|a: u8| -> f32 { a.into() }),
        (F64, U32) => lanes!(|a: u32| -> f64 { a.into() }),
        (F64, S32) => lanes!(|a: i32| -> f64 { a.into() }),
        (F64, U64) if nearest => lanes!(cold |a: u64| -> f64 { a as f64 }),
        (F64, S64) if nearest => lanes!(cold |a: i64| -> f64 { a as f64 }),
        (F64, F32) => lanes!(|a: f32| -> f64 { a.into() }),
        (F32, F64) if nearest => lanes!(|a: f64| -> u32 { narrowed(a) }),
        (S32, F32) if mode.rounding == Rounding::IntegerZero => lanes!(|a: f32| -> i32 { a as i32 }),
        (U32, F32) if mode.rounding == Rounding::IntegerZero => lanes!(|a: f32| -> u32 { a as u32 }),
        (S32, F32) if mode.rounding == Rounding::IntegerNearest => {
            lanes!(|a: f32| -> i32 { a.round_ties_even() as i32 })
        }
        (F32, F32) => match mode.rounding {
            Rounding::IntegerNearest => lanes!(|a: f32| -> u32 { number_or_nan(a.round_ties_even()) }),
            Rounding::IntegerZero => lanes!(|a: f32| -> u32 { number_or_nan(a.trunc()) }),
            Rounding::IntegerDown => lanes!(|a: f32| -> u32 { number_or_nan(a.floor()) }),
            Rounding::IntegerUp => lanes!(|a: f32| -> u32 { number_or_nan(a.ceil()) }),
            _ => return None,
        },
        (F64, F64) => match mode.rounding {
            Rounding::IntegerNearest => lanes!(|a: f64| -> f64 { a.round_ties_even() }),
            Rounding::IntegerZero => lanes!(|a: f64| -> f64 { a.trunc() }),
            Rounding::IntegerDown => lanes!(|a: f64| -> f64 { a.floor() }),
            Rounding::IntegerUp => lanes!(|a: f64| -> f64 { a.ceil() }),
            _ => return None,
        },
        _ => return None,
    })
}

/// The bits of a result: NaN has one form.
#[inline(always)]
fn number_or_nan(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fff_ffff } else { bits }
}

/// The bits of an f64 as an f32. A NaN keeps its sign and the upper bits of its payload, as on an
/// H200.
#[inline(always)]
fn narrowed(value: f64) -> u32 {
    let bits = value.to_bits();
    let nan = (bits >> 32) as u32 & 1 << 31 | 0x7fc0_0000 | (bits >> 29) as u32 & 0x007f_ffff;
    if value.is_nan() { nan } else { (value as f32).to_bits() }
}

/// Any conversion, in software. The result is extended to 64 bits by its type.
fn any(e: u32, raw: u64) -> u64 {
    let ty = |index: u32| TYPES.get((index & 15) as usize).copied().unwrap_or(Type::U32);
    convert_bits(ty(e >> 12), ty(e >> 16), unpack(e & 0xfff), raw)
}

#[inline(never)]
fn convert_bits(to: Type, from: Type, mode: Mode, raw: u64) -> u64 {
    let bits = raw & (u64::MAX >> (64 - from.bits()));
    let round = Round::of(mode.rounding);
    // As on an H200, `.ftz` does not flush what becomes an f16.
    let flushed =
        |bits| if mode.flush_subnormals && from == Type::F32 && to != Type::F16 { F32.flush(bits) } else { bits };
    let (low, high) = bounds(to);
    match (format(from), format(to)) {
        (None, None) => {
            let value = integer(from, bits);
            extend(to, if mode.saturate { value.clamp(low, high) } else { value })
        }
        (Some(source), None) => {
            // PTX ISA, "cvt": NaN is converted to zero, or to the smallest number if either type
            // has 64 bits.
            let narrow = from != Type::F64 && to.bits() < 64;
            let nan = if narrow { 0 } else { 1i128 << (to.bits() - 1) };
            extend(to, source.decode(flushed(bits)).to_integer(round, low, high, nan))
        }
        (source, Some(target)) => {
            let number = match source {
                Some(source) => source.decode(flushed(bits)),
                None => Number::from_integer(integer(from, bits)),
            };
            let integral = matches!(
                mode.rounding,
                Rounding::IntegerNearest | Rounding::IntegerZero | Rounding::IntegerDown | Rounding::IntegerUp
            );
            let number = if integral { number.integral(round) } else { number };
            let result = match mode.flush_subnormals && to == Type::F32 {
                true => target.encode_flushed(number, round),
                false => target.encode(number, round),
            };
            match (to, number) {
                // `.rna` only cuts a NaN, even to infinity, as on an H200.
                (Type::Tf32, Number::Nan) if mode.rounding == Rounding::NearestAway => bits & !0x1fff,
                (Type::Tf32, Number::Nan) => 0x7fff_ffff,
                // A tf32 is the upper part of an f32.
                (Type::Tf32, _) => clamp(result, target, mode) << 13,
                _ => clamp(result, target, mode),
            }
        }
    }
}

/// `.sat` and `.relu`.
fn clamp(bits: u64, format: Format, mode: Mode) -> u64 {
    let one = format.encode(Number::from_integer(1), Round::Nearest);
    let negative = format.encode(Number::Zero { negative: true }, Round::Nearest);
    let nan = format.decode(bits) == Number::Nan;
    let magnitude = bits & (negative - 1);
    let bits = if mode.saturate_finite && !nan && magnitude > format.largest() {
        bits & negative | format.largest()
    } else {
        bits
    };
    if mode.saturate {
        if nan || bits & negative != 0 { 0 } else { bits.min(one) }
    } else if mode.relu && !nan && bits & negative != 0 {
        0
    } else {
        bits
    }
}

/// The least and the greatest value of an integer type.
fn bounds(ty: Type) -> (i128, i128) {
    let bits = ty.bits();
    if ty.kind() == Kind::Signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn integer(ty: Type, bits: u64) -> i128 {
    if ty.kind() == Kind::Signed {
        i128::from((bits << (64 - ty.bits())) as i64 >> (64 - ty.bits()))
    } else {
        bits.into()
    }
}

/// The low bits of a value, extended to 64.
fn extend(ty: Type, value: i128) -> u64 {
    integer(ty, value as u64 & (u64::MAX >> (64 - ty.bits()))) as u64
}

/// The handler of `cvt.f16x2.f32` and the like, and operand `e`: `a` becomes the upper half, `b`
/// the lower.
pub(crate) fn convert_pair(to: Type, from: Type, mode: Mode) -> Option<(Handler, u32)> {
    if from != Type::F32 {
        return None;
    }
    let handler = match to {
        Type::F16x2 => lanes!(mode => |a: u32, b: u32| -> u32 { pair(Type::F16, mode, a, b) }),
        Type::Bf16x2 => lanes!(mode => |a: u32, b: u32| -> u32 { pair(Type::Bf16, mode, a, b) }),
        Type::E4m3x2 => lanes!(mode => |a: u32, b: u32| -> u32 { narrow(F32, [b, a], E4M3, mode) }),
        Type::E5m2x2 => lanes!(mode => |a: u32, b: u32| -> u32 { narrow(F32, [b, a], E5M2, mode) }),
        _ => return None,
    };
    Some((handler, pack(mode)))
}

fn pair(to: Type, mode: Mode, a: u32, b: u32) -> u32 {
    let half = |bits: u32| convert_bits(to, Type::F32, mode, bits.into()) as u32;
    half(a) << 16 | half(b)
}

/// Two values of one format as two of 8 bits each, the first in the lower byte.
#[inline(never)]
fn narrow(from: Format, values: [u32; 2], to: Format, mode: Mode) -> u32 {
    let [low, high] = values.map(|bits| {
        let number = from.decode(bits.into());
        let bits = to.encode(number, Round::Nearest) as u32;
        let (sign, magnitude) = (bits & 0x80, bits & 0x7f);
        match number {
            Number::Nan => bits,
            _ if mode.relu && sign != 0 => 0,
            // Always `.satfinite`: clamps infinity, and what rounds to more than the largest
            // number.
            _ => sign | magnitude.min(to.largest() as u32),
        }
    });
    low | high << 8
}

/// Two values of 8 bits as two f16.
#[inline(never)]
fn widen(from: Format, bits: u32, mode: Mode) -> u32 {
    let [low, high] = [bits & 0xff, bits >> 8 & 0xff]
        .map(|bits| clamp(F16.encode(from.decode(bits.into()), Round::Nearest), F16, mode) as u32);
    low | high << 16
}

/// The conversions of two values in one register. Operand `e` is [`pack`]`(mode)`.
fn packed(to: Type, from: Type) -> Option<Handler> {
    Some(match (to, from) {
        (Type::E4m3x2, Type::F16x2) => {
            lanes!(mode => |a: u32| -> u32 { narrow(F16, [a & 0xffff, a >> 16], E4M3, mode) })
        }
        (Type::E5m2x2, Type::F16x2) => {
            lanes!(mode => |a: u32| -> u32 { narrow(F16, [a & 0xffff, a >> 16], E5M2, mode) })
        }
        (Type::F16x2, Type::E4m3x2) => lanes!(mode => |a: u32| -> u32 { widen(E4M3, a, mode) }),
        (Type::F16x2, Type::E5m2x2) => lanes!(mode => |a: u32| -> u32 { widen(E5M2, a, mode) }),
        _ => return None,
    })
}

/// The handler of `cvt.pack`: `a` above `b`, and above both the low bits of `c`. Operand `e` is
/// what this returns.
pub(crate) fn convert_pack(bits: u32, signed: bool) -> (Handler, u32) {
    let handler: Handler = |registers: &mut Registers<'_>, operands: &Operands, mask| {
        let (bits, signed) = (operands.e & 31, operands.e >> 5 & 1 == 1);
        let (low, high) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        registers.map3::<false, _, _, _, _>(operands, mask, |a: i32, b: i32, c: u32| -> u32 {
            let cut = |value: i32| value.clamp(low, high) as u32 & ((1 << bits) - 1);
            c.checked_shl(2 * bits).unwrap_or(0) | cut(a) << bits | cut(b)
        });
    };
    (handler, bits | u32::from(signed) << 5)
}

/// The bits of a floating-point immediate, given as an f64, in an operand of type `ty`.
pub(crate) fn float_immediate(bits: u64, ty: Type) -> u64 {
    match format(ty) {
        Some(target) if ty != Type::F64 => target.encode(F64.decode(bits), Round::Nearest),
        _ => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(rounding: Rounding) -> Mode {
        Mode { rounding, ..Mode::default() }
    }

    #[test]
    fn nan_becomes_zero_or_the_smallest_number() {
        let nan = u64::from(f32::NAN.to_bits());
        let zero = mode(Rounding::IntegerZero);
        assert_eq!(convert_bits(Type::S32, Type::F32, zero, nan), 0);
        assert_eq!(convert_bits(Type::S64, Type::F32, zero, nan), 1 << 63);
        assert_eq!(convert_bits(Type::U32, Type::F64, zero, f64::NAN.to_bits()), 1 << 31);
        assert_eq!(convert_bits(Type::U64, Type::F64, zero, f64::NAN.to_bits()), 1 << 63);
    }

    #[test]
    fn integers_are_cut_or_clamped_and_extended() {
        let saturate = Mode { saturate: true, ..Mode::default() };
        assert_eq!(convert_bits(Type::U8, Type::S32, Mode::default(), 0xffff_ffff), 0xff);
        assert_eq!(convert_bits(Type::S8, Type::S32, Mode::default(), 0x80) as i64, -128);
        assert_eq!(convert_bits(Type::U8, Type::S32, saturate, 0xffff_ffff), 0);
        assert_eq!(convert_bits(Type::S8, Type::S32, saturate, 300), 127);
        assert_eq!(convert_bits(Type::U64, Type::S8, Mode::default(), 0xff), u64::MAX);
    }

    #[test]
    fn floats_round_as_requested() {
        let bits = |value: f32| u64::from(value.to_bits());
        assert_eq!(convert_bits(Type::S32, Type::F32, mode(Rounding::IntegerNearest), bits(2.5)), 2);
        assert_eq!(convert_bits(Type::S32, Type::F32, mode(Rounding::IntegerUp), bits(2.1)), 3);
        assert_eq!(convert_bits(Type::S32, Type::F32, mode(Rounding::IntegerDown), bits(-2.1)) as i32, -3);
        assert_eq!(convert_bits(Type::F32, Type::F64, mode(Rounding::Up), 0.1f64.to_bits()), 0x3dcc_cccd);
        assert_eq!(convert_bits(Type::F32, Type::F64, mode(Rounding::Zero), 0.1f64.to_bits()), 0x3dcc_cccc);
        let saturate = Mode { saturate: true, ..Mode::default() };
        assert_eq!(convert_bits(Type::F32, Type::F32, saturate, bits(-1.0)), 0);
        assert_eq!(convert_bits(Type::F32, Type::F32, saturate, bits(3.0)), bits(1.0));
    }
}
