//! Conversions.

use std::cmp::Ordering;

use super::{Operation, operation};

/// From an integer type to others: the low bits, extended with the sign of what they were taken from.
macro_rules! integers {
    ($from:literal $read:ident $register:ident: $($to:literal $write:ident $result:ident),*) => {
        &[$(
            operation!(concat!("cvt.", $to, ".", $from, " $d, $a;"), |a: $register| $result: a as $read as $write as $result),
        )*]
    };
}

macro_rules! from_integer {
    ($from:literal $read:ident $register:ident) => {
        integers!($from $read $register:
            "u8" u8 u16, "s8" i8 i16, "u16" u16 u16, "s16" i16 i16, "u32" u32 u32, "s32" i32 i32, "u64" u64 u64, "s64" i64 i64)
    };
}

/// The same, held within the type: PTX has it only where a value can be beyond it.
macro_rules! saturating {
    ($from:literal $read:ident $register:ident: $($to:literal $write:ident $result:ident),*) => {
        &[$(
            operation!(concat!("cvt.sat.", $to, ".", $from, " $d, $a;"), |a: $register| $result: {
                i128::from(a as $read).clamp($write::MIN.into(), $write::MAX.into()) as $write as $result
            }),
        )*]
    };
}

/// To floats, to the nearest of them.
macro_rules! to_floats {
    ($($from:literal $type:ident),*) => {
        &[$(
            operation!(concat!("cvt.rn.f32.", $from, " $d, $a;"), |a: $type| f32: a as f32),
            operation!(concat!("cvt.rn.f64.", $from, " $d, $a;"), |a: $type| f64: a as f64),
        )*]
    };
}

/// From floats to integers, rounded to an integer first, then held within the type. Rust's `as` holds it there, too, but makes 0
/// of what is not a number; PTX makes that of it unless one of the types has 64 bits: then the highest bit alone.
macro_rules! to_integers {
    ($from:literal $type:ident $long:literal $($to:literal $result:ident $long_result:literal),*) => {
        &[$(
            operation!(concat!("cvt.rni.", $to, ".", $from, " $d, $a;"), |a: $type| $result: {
                if a.is_nan() && ($long || $long_result) { 1 << ($result::BITS - 1) } else { a.round_ties_even() as $result }
            }),
            operation!(concat!("cvt.rzi.", $to, ".", $from, " $d, $a;"), |a: $type| $result: {
                if a.is_nan() && ($long || $long_result) { 1 << ($result::BITS - 1) } else { a.trunc() as $result }
            }),
            operation!(concat!("cvt.rmi.", $to, ".", $from, " $d, $a;"), |a: $type| $result: {
                if a.is_nan() && ($long || $long_result) { 1 << ($result::BITS - 1) } else { a.floor() as $result }
            }),
            operation!(concat!("cvt.rpi.", $to, ".", $from, " $d, $a;"), |a: $type| $result: {
                if a.is_nan() && ($long || $long_result) { 1 << ($result::BITS - 1) } else { a.ceil() as $result }
            }),
        )*]
    };
}

/// What a half-precision number stands for.
fn widen(half: u16) -> f32 {
    let (sign, exponent, fraction) = (half >> 15, half >> 10 & 31, f32::from(half & 1023));
    let magnitude = match exponent {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => (1024.0 + fraction) * 2_f32.powi(i32::from(exponent) - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

/// The nearest half-precision number, of two the even one.
fn narrow(value: f32) -> u16 {
    if value.is_nan() {
        return 0x7fff;
    }
    let sign = (value.to_bits() >> 16) as u16 & 0x8000;
    if value.is_infinite() {
        return sign | 0x7c00;
    }
    // Halves and what lies between them, in units of the smallest of those around the value: exact in 64 bits.
    let magnitude = f64::from(value.abs());
    let exponent = (magnitude.log2().floor() as i32).max(-14);
    let units = (magnitude * 2_f64.powi(10 - exponent)).round_ties_even();
    if units * 2_f64.powi(exponent - 10) >= 65536.0 {
        return sign | 0x7c00;
    }
    // A carry out of the fraction moves the exponent up by itself.
    let bits = if magnitude < 2_f64.powi(-14) { units as u16 } else { ((exponent + 14) << 10) as u16 + units as u16 };
    sign | bits
}

const HALVES: &[Operation] = &[
    operation!(
        "cvt.f32.f16 %tr0, $a; testp.notanumber.f32 %tp0, %tr0; selp.b32 $d, 0x7fffffff, %tr0, %tp0;",
        |a: u16| f32: widen(a)
    ),
    operation!("cvt.rn.f16.f32 $d, $a;", |a: f32| u16: narrow(a)),
    // Sums and products of halves are exact, or rounded harmlessly, in single precision.
    operation!("add.rn.f16 $d, $a, $b;", |a: u16, b: u16| u16: narrow(widen(a) + widen(b))),
    operation!("sub.rn.f16 $d, $a, $b;", |a: u16, b: u16| u16: narrow(widen(a) - widen(b))),
    operation!("mul.rn.f16 $d, $a, $b;", |a: u16, b: u16| u16: narrow(widen(a) * widen(b))),
    operation!("setp.lt.f16 $d, $a, $b;", |a: u16, b: u16| bool: widen(a) < widen(b)),
    operation!("setp.geu.f16 $d, $a, $b;", |a: u16, b: u16| bool: widen(a).partial_cmp(&widen(b)).is_none_or(Ordering::is_ge)),
];

/// All of them.
pub const OPERATIONS: &[&[Operation]] = &[
    from_integer!("u8" u8 u32),
    from_integer!("s8" i8 u16),
    from_integer!("u16" u16 u16),
    from_integer!("s16" i16 u32),
    from_integer!("u32" u32 u32),
    from_integer!("s32" i32 u32),
    from_integer!("u64" u64 u64),
    from_integer!("s64" i64 u64),
    saturating!("u8" u8 u32: "s8" i8 i16),
    saturating!("s8" i8 u16: "u8" u8 u16, "u16" u16 u16, "u32" u32 u32, "u64" u64 u64),
    saturating!("u16" u16 u16: "u8" u8 u16, "s8" i8 i16, "s16" i16 i16),
    saturating!("s16" i16 u32: "u8" u8 u16, "s8" i8 i16, "u16" u16 u16, "u32" u32 u32, "u64" u64 u64),
    saturating!("u32" u32 u32: "u8" u8 u16, "s8" i8 i16, "u16" u16 u16, "s16" i16 i16, "s32" i32 i32),
    saturating!("s32" i32 u32: "u8" u8 u16, "s8" i8 i16, "u16" u16 u16, "s16" i16 i16, "u32" u32 u32, "u64" u64 u64),
    saturating!("u64" u64 u64: "u8" u8 u16, "s16" i16 i16, "u32" u32 u32, "s32" i32 i32, "s64" i64 i64),
    saturating!("s64" i64 u64: "s8" i8 i16, "u16" u16 u16, "u32" u32 u32, "s32" i32 i32, "u64" u64 u64),
    to_floats!("u16" u16, "s16" i16, "u32" u32, "s32" i32, "u64" u64, "s64" i64),
    to_integers!("f32" f32 false "u16" u16 false, "s16" i16 false, "u32" u32 false, "s32" i32 false, "u64" u64 true, "s64" i64 true),
    to_integers!("f64" f64 true "u32" u32 false, "s32" i32 false, "u64" u64 true, "s64" i64 true),
    HALVES,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_being_widened() {
        for half in 0..=u16::MAX {
            let expected = if half & 0x7fff > 0x7c00 { 0x7fff } else { half };
            assert_eq!(narrow(widen(half)), expected, "{half:#x}");
        }
    }

    #[test]
    fn halves_are_the_nearest() {
        for (value, half) in
            [(65519.0, 0x7bff), (65520.0, 0x7c00), (1.0 + 1.0 / 2048.0, 0x3c00), (1.0 + 3.0 / 2048.0, 0x3c02)]
        {
            assert_eq!(narrow(value), half, "{value}");
            assert_eq!(narrow(-value), half | 0x8000, "{value}");
        }
        assert_eq!((narrow(2_f32.powi(-25)), narrow(2_f32.powi(-25) * 1.5), narrow(f32::MIN_POSITIVE)), (0, 1, 0));
    }
}
