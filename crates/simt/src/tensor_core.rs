//! What a tensor core computes: sums of products, and how they round.
//!
//! The PTX manual leaves rounding open. This is what an H200 does, to the bit:
//! `tests/data/h200_mma.txt` holds sums of random numbers of each type as an H200 computed them.
//!
//! - **f16, bf16, tf32.** Products are exact. All products of an instruction and the accumulator
//!   are added at once: each is truncated (towards zero) 25 bits below the leading bit of the
//!   greatest, where a product's exponent counts as the sum of its factors' exponents. The sum of
//!   these is exact, and is truncated to an f32 or rounded to the nearest f16.
//! - **fp8.** An H200 has no such instruction for `mma.sync`. Its compiler converts the elements to
//!   f16, adds the products of the first two of each four in k, then those of the last two, and
//!   finally the accumulator; each sum is an f32, or an f16 if the result is. `wgmma` has one:
//!   products are exact, and they and the accumulator are truncated 13 bits below the leading bit
//!   of the greatest; the sum is truncated to 13 bits of fraction, too. (Published by MMA-Sim,
//!   arXiv:2511.10909; an H200 gave the same bits in `tests/tests/warpgroup.rs`, driver 580.159.04,
//!   2026-11-21.)
//! - **f16 in `m8n8k4`.** No such instruction either: fused multiply-adds in the order of k, whose
//!   sum is added to the accumulator.
//! - **f64.** Fused multiply-adds in the order of k.
//! - **Integers, bits.** Exact, modulo 2^32 or saturated to s32.
//!
//! Not measured: sums of f64, sums of `m8n8k4` in f16, and where the metadata of sparse products
//! are, other than of `m16n8k32` in f16. The same rule is assumed for all of these, and for
//! `wgmma`.

use ptx::{MatrixType, Rounding};

use crate::lanes::soft::{self, Format, Number, Round};

/// A factor: `significand * 2^(exponent - fraction)`, where the fraction's bits are the type's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Factor {
    significand: i32,
    exponent: i32,
}

/// The exponent that marks infinities (significand 1 or -1) and NaN (0).
const SPECIAL: i32 = i32::MAX;

/// The bits that a sum keeps below the leading bit of its greatest term.
const KEPT: i32 = 25;
/// [`KEPT`] for factors of 8 bits.
const KEPT_OF_NARROW: i32 = 13;

/// Exponent and fraction bits of a type.
fn format(ty: MatrixType) -> (u32, u32) {
    match ty {
        MatrixType::F16 => (5, 10),
        MatrixType::Bf16 => (8, 7),
        MatrixType::Tf32 => (8, 10),
        MatrixType::E4m3 => (4, 3),
        MatrixType::E5m2 => (5, 2),
        _ => (8, 23),
    }
}

impl Factor {
    /// Decodes an element.
    pub fn new(bits: u32, ty: MatrixType) -> Self {
        match ty {
            // The same exponent as an f16; the missing bits of fraction are zeros.
            MatrixType::E5m2 => Self::new(bits << 8, MatrixType::F16),
            MatrixType::E4m3 => Self::new(half_of_e4m3(bits), MatrixType::F16),
            // The low bits of a tf32 are ignored.
            MatrixType::Tf32 => Self::of(bits >> 13, format(ty)),
            _ => Self::of(bits, format(ty)),
        }
    }

    /// Decodes an 8-bit element that is multiplied without conversion to f16. Both types get the
    /// fraction of an e4m3.
    pub fn narrow(bits: u32, ty: MatrixType) -> Self {
        if ty == MatrixType::E5m2 {
            let factor = Self::of(bits, format(ty));
            return if factor.is_special() { factor } else { Self { significand: factor.significand << 1, ..factor } };
        }
        let sign = if bits & 0x80 != 0 { -1 } else { 1 };
        match bits & 0x7f {
            0x7f => Self { significand: 0, exponent: SPECIAL },
            // No infinities: these are numbers.
            magnitude @ 0x78.. => Self { significand: sign * (magnitude as i32 & 7 | 8), exponent: 8 },
            _ => Self::of(bits, format(MatrixType::E4m3)),
        }
    }

    fn of(bits: u32, (exponent_bits, fraction_bits): (u32, u32)) -> Self {
        let fraction = (bits & ((1 << fraction_bits) - 1)) as i32;
        let top = (1 << exponent_bits) - 1;
        let biased = (bits >> fraction_bits & top) as i32;
        let sign = if bits >> (exponent_bits + fraction_bits) & 1 == 1 { -1 } else { 1 };
        let bias = (1 << (exponent_bits - 1)) - 1;
        if biased == top as i32 {
            return Self { significand: if fraction == 0 { sign } else { 0 }, exponent: SPECIAL };
        }
        if biased == 0 {
            return Self { significand: sign * fraction, exponent: 1 - bias };
        }
        Self { significand: sign * (fraction | 1 << fraction_bits), exponent: biased - bias }
    }

    /// Whether it is an infinity or NaN.
    pub fn is_special(self) -> bool {
        self.exponent == SPECIAL
    }
}

/// The f16 that equals an e4m3, which has no infinities.
fn half_of_e4m3(bits: u32) -> u32 {
    let (sign, exponent, fraction) = (bits << 8 & 0x8000, bits >> 3 & 15, bits & 7);
    match (exponent, fraction) {
        (15, 7) => 0x7fff,
        (0, 0) => sign,
        // Subnormal here, normal there.
        (0, _) => {
            let top = fraction.ilog2();
            sign | (top + 15 - 9) << 10 | (fraction << (10 - top) & 0x3ff)
        }
        _ => sign | (exponent + 8) << 10 | fraction << 7,
    }
}

/// How the sums of a product are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    /// The type of the factors. 8-bit factors: f16 where they are converted first, otherwise e4m3
    /// for both types.
    pub factors: MatrixType,
    /// The type of the accumulator.
    pub c: MatrixType,
    /// The type of the result.
    pub d: MatrixType,
}

impl Sum {
    /// The accumulator plus the products of the factors, as bits.
    pub fn of(self, a: impl Iterator<Item = Factor> + Clone, b: impl Iterator<Item = Factor> + Clone, c: u32) -> u32 {
        let fraction = 2 * format(self.factors).1 as i32;
        let accumulator = Factor::new(c, self.c);
        let c_fraction = format(self.c).1 as i32;
        let mut greatest = if accumulator.significand == 0 { i32::MIN } else { accumulator.exponent };
        let mut special = accumulator.is_special();
        for (a, b) in a.clone().zip(b.clone()) {
            if a.significand != 0 && b.significand != 0 {
                greatest = greatest.max(a.exponent.saturating_add(b.exponent));
            }
            special |= a.is_special() || b.is_special();
        }
        if special {
            return self.special(a.zip(b), accumulator);
        }
        if greatest == i32::MIN {
            return 0;
        }
        let lowest = greatest - if self.is_narrow() { KEPT_OF_NARROW } else { KEPT };
        let term = |significand: i64, exponent: i32| {
            let shift = exponent - lowest;
            if shift >= 0 {
                significand << shift.min(40)
            } else {
                // Towards zero, whatever the sign.
                let kept = significand.unsigned_abs() >> (-shift).min(63);
                if significand < 0 { -(kept as i64) } else { kept as i64 }
            }
        };
        let mut sum = term(accumulator.significand.into(), accumulator.exponent - c_fraction);
        for (a, b) in a.zip(b) {
            let significand = i64::from(a.significand) * i64::from(b.significand);
            sum += if significand == 0 { 0 } else { term(significand, a.exponent + b.exponent - fraction) };
        }
        self.encode(sum, lowest)
    }

    /// A sum with infinities or NaN among its terms.
    fn special(self, products: impl Iterator<Item = (Factor, Factor)>, c: Factor) -> u32 {
        let (mut positive, mut negative, mut nan) = (false, false, false);
        let mut add = |sign: i32| {
            positive |= sign > 0;
            negative |= sign < 0;
            nan |= sign == 0;
        };
        if c.is_special() {
            add(c.significand);
        }
        for (a, b) in products {
            // Zero times infinity, and NaN times anything, have a zero here.
            if a.is_special() || b.is_special() {
                add(a.significand.signum() * b.significand.signum());
            }
        }
        let number = if nan || positive && negative { Number::Nan } else { Number::Infinite { negative } };
        self.result_format().encode(number, Round::Zero) as u32
    }

    fn is_narrow(self) -> bool {
        self.factors == MatrixType::E4m3
    }

    fn result_format(self) -> Format {
        if self.d == MatrixType::F16 { soft::F16 } else { soft::F32 }
    }

    fn encode(self, sum: i64, exponent: i32) -> u32 {
        if sum == 0 {
            return 0;
        }
        let number = Number::Finite { negative: sum < 0, significand: sum.unsigned_abs().into(), exponent };
        let round = if self.d == MatrixType::F16 { Round::Nearest } else { Round::Zero };
        let bits = self.result_format().encode(number, round) as u32;
        if self.is_narrow() && self.d == MatrixType::F32 { bits & !((1 << (23 - KEPT_OF_NARROW)) - 1) } else { bits }
    }
}

/// The value of an f16 or f32.
pub(crate) fn single(bits: u32, ty: MatrixType) -> f32 {
    match ty {
        MatrixType::F16 => f32::from_bits(soft::F32.encode(soft::F16.decode(bits.into()), Round::Nearest) as u32),
        _ => f32::from_bits(bits),
    }
}

/// The bits of an f32, or of the nearest f16. NaN has the hardware's form.
pub(crate) fn from_single(value: f32, ty: MatrixType) -> u32 {
    match ty {
        MatrixType::F16 => soft::F16.encode(soft::F32.decode(value.to_bits().into()), Round::Nearest) as u32,
        _ if value.is_nan() => 0x7fff_ffff,
        _ => value.to_bits(),
    }
}

/// `a * b + c` of f64.
pub(crate) fn fused_double(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    if matches!(rounding, Rounding::Default | Rounding::Nearest) {
        return a.mul_add(b, c);
    }
    let number = |value: f64| soft::F64.decode(value.to_bits());
    let round = Round::of(rounding);
    f64::from_bits(soft::F64.encode(number(a).multiply(number(b)).add(number(c), round), round))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Sum = Sum { factors: MatrixType::F16, c: MatrixType::F32, d: MatrixType::F32 };

    fn sum(pairs: &[(u32, u32)], c: f32) -> f32 {
        let factors =
            |side: fn(&(u32, u32)) -> u32| pairs.iter().map(move |pair| Factor::new(side(pair), MatrixType::F16));
        f32::from_bits(PLAIN.of(factors(|pair| pair.0), factors(|pair| pair.1), c.to_bits()))
    }

    #[test]
    fn terms_are_cut_off_25_bits_below_the_greatest() {
        const ONE: u32 = 0x3c00;
        // 2^-12 * 2^-13 = 2^-25 is the last bit that counts; four of them make the last bit but one
        // of an f32.
        let (twelve, thirteen) = (0x0c00, 0x0800);
        assert_eq!(sum(&[(twelve, thirteen); 4], 1.0), 1.0 + 2.0f32.powi(-23));
        assert_eq!(sum(&[(thirteen, thirteen); 16], 1.0), 1.0);
        // Towards zero: of a product of 1.5 units, one is left.
        assert_eq!(sum(&[(twelve, 0x0a00); 4], 1.0), 1.0 + 2.0f32.powi(-23));
        assert_eq!(sum(&[(ONE, ONE), (ONE, 0xbc00)], 2.0f32.powi(-100)), 0.0);
    }

    #[test]
    fn sums_of_8_bits_keep_13() {
        let sum = |c: f32, pairs: &[(u32, u32)]| {
            let sum = Sum { factors: MatrixType::E4m3, c: MatrixType::F32, d: MatrixType::F32 };
            let (a, b) = (pairs.iter().map(|pair| pair.0), pairs.iter().map(|pair| pair.1));
            let factor = |bits| Factor::narrow(bits, MatrixType::E4m3);
            f32::from_bits(sum.of(a.map(factor), b.map(factor), c.to_bits()))
        };
        const ONE: u32 = 0x38;
        // 2^-6 * 2^-7 (a subnormal) = 2^-13 is the last bit that counts.
        let (six, seven, nine) = (0x08, 0x04, 0x01);
        assert_eq!(sum(1.0, &[(six, seven); 3]), 1.0 + 3.0 * 2.0f32.powi(-13));
        assert_eq!(sum(1.0, &[(six, nine); 32]), 1.0);
        // So with the accumulator.
        assert_eq!(sum(2.0f32.powi(-14), &[(ONE, ONE)]), 1.0);
        assert_eq!(sum(-2.0f32.powi(-14), &[(ONE, ONE)]), 1.0);
        // 1 + (1 + 2^-13) is cut off to 13 bits of fraction.
        assert_eq!(sum(1.0 + 2.0f32.powi(-13), &[(ONE, ONE)]), 2.0);
        assert_eq!(sum(448.0, &[(0x7e, ONE)]), 896.0);
    }

    #[test]
    fn factors_of_8_bits_are_what_they_stand_for() {
        let value = |factor: Factor| factor.significand as f32 * 2.0f32.powi(factor.exponent - 3);
        for bits in (0..256).filter(|bits| bits & 0x7f != 0x7f) {
            assert_eq!(value(Factor::narrow(bits, MatrixType::E4m3)), single(half_of_e4m3(bits), MatrixType::F16));
        }
        for bits in (0..256).filter(|bits| bits & 0x7c != 0x7c) {
            assert_eq!(value(Factor::narrow(bits, MatrixType::E5m2)), single(bits << 8, MatrixType::F16));
        }
        for (bits, ty) in [(0x7f, MatrixType::E4m3), (0x7c, MatrixType::E5m2), (0xfe, MatrixType::E5m2)] {
            assert!(Factor::narrow(bits, ty).is_special());
        }
    }

    #[test]
    fn infinities_and_nan() {
        let (infinity, minus, nan, zero, one) = (0x7c00, 0xfc00, 0x7e00, 0, 0x3c00);
        assert_eq!(sum(&[(infinity, one)], 1.0), f32::INFINITY);
        assert_eq!(sum(&[(infinity, minus)], 1.0), f32::NEG_INFINITY);
        for pair in [(infinity, zero), (nan, one), (nan, zero)] {
            assert_eq!(sum(&[pair], 1.0).to_bits(), 0x7fff_ffff);
        }
        assert!(sum(&[(infinity, one), (minus, one)], 0.0).is_nan());
        assert!(sum(&[(infinity, one)], f32::NEG_INFINITY).is_nan());
    }

    #[test]
    fn an_e4m3_is_an_f16() {
        // PTX ISA, "Alternate floating point data formats": 1 sign, 4 exponent and 3 fraction bits,
        // bias 7.
        for bits in 0..256u32 {
            let (exponent, fraction) = (bits >> 3 & 15, bits & 7);
            let magnitude = match exponent {
                0 => fraction as f32 / 512.0,
                _ => (8 + fraction) as f32 * 2.0f32.powi(exponent as i32 - 10),
            };
            let expected = if bits & 0x7f == 0x7f { f32::NAN } else { magnitude };
            let found = single(half_of_e4m3(bits), MatrixType::F16);
            let expected = if bits & 0x80 != 0 { -expected } else { expected };
            assert!(found == expected || found.is_nan() && expected.is_nan(), "{bits:#x}: {found}, not {expected}");
        }
    }
}
