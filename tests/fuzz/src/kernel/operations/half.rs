//! Arithmetic on f16 and bf16, rounded to nearest: PTX and expected results. Part of the table in
//! [`super`].

use std::cmp::Ordering;

use super::operation::{Operation, operation};

/// The value of a half-precision number.
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

/// The nearest half-precision number, ties to even.
fn narrow(value: f32) -> u16 {
    if value.is_nan() {
        return 0x7fff;
    }
    let sign = (value.to_bits() >> 16) as u16 & 0x8000;
    if value.is_infinite() {
        return sign | 0x7c00;
    }
    // Halves and what lies between them, in units of the smallest of those around the value: exact
    // in 64 bits.
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

/// The value of a bf16.
fn widen_brain(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The bits of a number that a bf16 can represent.
fn brain(value: f32) -> u16 {
    if value.is_nan() { 0x7fff } else { (value.to_bits() >> 16) as u16 }
}

/// a * b + c for numbers of so few bits that their product is exact. The sum is exact or rounded to
/// odd, so that rounding it again to fewer bits is the same as rounding the sum itself (Boldo and
/// Melquiond, 2008).
fn fused(a: f32, b: f32, c: f32) -> f64 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    let back = sum - product;
    let error = (product - (sum - back)) + (c - back);
    if !sum.is_finite() || error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    if error > 0.0 { sum.next_up() } else { sum.next_down() }
}

/// The nearest number with this many bits of fraction and this least exponent, ties to even; beyond
/// the largest, infinity.
fn rounded(value: f64, fraction: i32, (least, most): (i32, i32)) -> f32 {
    if !value.is_finite() || value == 0.0 {
        return value as f32;
    }
    let exponent = ((value.abs().to_bits() >> 52) as i32 - 1023).max(least);
    let unit = 2_f64.powi(exponent - fraction);
    match (value / unit).round_ties_even() * unit {
        rounded if rounded.abs() >= 2_f64.powi(most + 1) => f32::INFINITY.copysign(value as f32),
        0.0 => 0_f32.copysign(value as f32),
        rounded => rounded as f32,
    }
}

fn fused_half(a: u16, b: u16, c: u16) -> u16 {
    narrow(rounded(fused(widen(a), widen(b), widen(c)), 10, (-14, 15)))
}

fn fused_brain(a: u16, b: u16, c: u16) -> u16 {
    brain(rounded(fused(widen_brain(a), widen_brain(b), widen_brain(c)), 7, (-126, 127)))
}

/// Replaces negative numbers by zero; a NaN remains.
fn rectified(bits: u16) -> u16 {
    if bits & 0x8000 != 0 && bits & 0x7fff <= 0x7f80 { 0 } else { bits }
}

/// The same for both halves of a word.
fn each(words: [u32; 3], evaluate: impl Fn(u16, u16, u16) -> u16) -> u32 {
    let of = |shift: u32| {
        let [a, b, c] = words.map(|word| (word >> shift) as u16);
        u32::from(evaluate(a, b, c)) << shift
    };
    of(0) | of(16)
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
    operation!("fma.rn.f16 $d, $a, $b, $c;", |a: u16, b: u16, c: u16| u16: fused_half(a, b, c)),
    operation!("fma.rn.sat.f16 $d, $a, $b, $c;", |a: u16, b: u16, c: u16| u16: {
        match widen(fused_half(a, b, c)) {
            sum if sum.is_nan() || sum <= 0.0 => 0,
            sum => narrow(sum.min(1.0)),
        }
    }),
    operation!("fma.rn.f16x2 $d, $a, $b, $c;", |a: u32, b: u32, c: u32| u32: each([a, b, c], fused_half)),
    operation!("add.rn.f16x2 $d, $a, $b;", |a: u32, b: u32| u32: each([a, b, 0], |a, b, _| narrow(widen(a) + widen(b)))),
    operation!("mul.rn.f16x2 $d, $a, $b;", |a: u32, b: u32| u32: each([a, b, 0], |a, b, _| narrow(widen(a) * widen(b)))),
];

const BRAINS: &[Operation] = &[
    operation!("fma.rn.bf16 $d, $a, $b, $c;", |a: u16, b: u16, c: u16| u16: fused_brain(a, b, c)),
    operation!("fma.rn.relu.bf16 $d, $a, $b, $c;", |a: u16, b: u16, c: u16| u16: rectified(fused_brain(a, b, c))),
    operation!("fma.rn.bf16x2 $d, $a, $b, $c;", |a: u32, b: u32, c: u32| u32: each([a, b, c], fused_brain)),
    operation!("cvt.rn.bf16.f32 $d, $a;", |a: f32| u16: brain(rounded(f64::from(a), 7, (-126, 127)))),
    operation!("cvt.rn.bf16x2.f32 $d, $a, $b;", |a: f32, b: f32| u32: {
        let [a, b] = [a, b].map(|value| u32::from(brain(rounded(f64::from(value), 7, (-126, 127)))));
        a << 16 | b
    }),
];

/// All of them.
pub const OPERATIONS: &[&[Operation]] = &[HALVES, BRAINS];

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

    #[test]
    fn a_sum_is_rounded_once() {
        // 1 + 2^-11 lies between two halves, and 2^-24 * 2^-24 beyond decides.
        assert_eq!(fused_half(0x3c01, 0x3c00, 0x1000), 0x3c02, "the even one");
        assert_eq!((fused_half(0x0001, 0x0001, 0x3c00), fused_half(0x8001, 0x0001, 0x3c00)), (0x3c00, 0x3c00));
        assert_eq!((fused_half(0x7bff, 0x3c00, 0x4c00), fused_half(0x7bff, 0x7bff, 0xfc00)), (0x7c00, 0xfc00));
        assert_eq!((fused_half(0x8000, 0x3c00, 0x8000), fused_half(0x3c00, 0x3c00, 0xbc00)), (0x8000, 0));
        assert_eq!((fused_half(0x7c00, 0, 0), fused_half(0x0001, 0x3800, 0)), (0x7fff, 0));
        // 256 * 1 + 1 is half way between two; and a little more is more.
        assert_eq!(fused_brain(0x4380, 0x3f80, 0x3f80), 0x4380);
        assert_eq!(fused_brain(0x4380, 0x3f80, 0x3f81), 0x4381);
        assert_eq!(fused_brain(0x7f7f, 0x4000, 0), 0x7f80);
        assert_eq!(fused_brain(0x0001, 0x3f00, 0x0001), 0x0002, "a tie of two subnormal numbers");
    }
}
