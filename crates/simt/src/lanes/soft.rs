//! Floating point in software: any binary format, any rounding, exact. Slow and simple.
//!
//! The other files of this folder and `tensor_core.rs` use it for roundings that the host lacks,
//! for the 16-bit and 8-bit formats, and for conversions. Common operations run on the host's
//! arithmetic, and tests compare the two.

use ptx::Rounding;

/// How a result that has no exact representation is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    Nearest,
    NearestAway,
    Zero,
    Down,
    Up,
}

impl Round {
    /// The direction of a rounding modifier, whether to an integer or not.
    pub fn of(rounding: Rounding) -> Self {
        match rounding {
            Rounding::Default | Rounding::Nearest | Rounding::IntegerNearest => Round::Nearest,
            Rounding::NearestAway => Round::NearestAway,
            Rounding::Zero | Rounding::IntegerZero => Round::Zero,
            Rounding::Down | Rounding::IntegerDown => Round::Down,
            Rounding::Up | Rounding::IntegerUp => Round::Up,
        }
    }

    /// Whether `kept` plus a remainder goes up; the remainder is compared with half a unit.
    fn up(self, negative: bool, odd: bool, remainder: bool, half: std::cmp::Ordering) -> bool {
        use std::cmp::Ordering::{Equal, Greater};
        match self {
            Round::Nearest => half == Greater || half == Equal && odd,
            Round::NearestAway => half != std::cmp::Ordering::Less,
            Round::Zero => false,
            Round::Down => negative && remainder,
            Round::Up => !negative && remainder,
        }
    }
}

/// A binary interchange format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    fraction: u32,
    exponent: u32,
    nan: u64,
    /// The first encoding that is not a finite number: infinity, if the format has one.
    beyond: u64,
}

pub(crate) const F16: Format = Format { fraction: 10, exponent: 5, nan: 0x7fff, beyond: 0x7c00 };
pub(crate) const BF16: Format = Format { fraction: 7, exponent: 8, nan: 0x7fff, beyond: 0x7f80 };
pub(crate) const F32: Format = Format { fraction: 23, exponent: 8, nan: 0x7fff_ffff, beyond: 0x7f80_0000 };
pub(crate) const F64: Format =
    Format { fraction: 52, exponent: 11, nan: 0xfff8_0000_0000_0000, beyond: 0x7ff0_0000_0000_0000 };
/// The upper 19 bits of an f32.
pub(crate) const TF32: Format = Format { fraction: 10, exponent: 8, nan: 0x3_ffff, beyond: 0x3_fc00 };
/// No infinity: its encodings are numbers.
pub(crate) const E4M3: Format = Format { fraction: 3, exponent: 4, nan: 0x7f, beyond: 0x7f };
pub(crate) const E5M2: Format = Format { fraction: 2, exponent: 5, nan: 0x7f, beyond: 0x7c };

/// An exact number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Nan,
    Infinite {
        negative: bool,
    },
    Zero {
        negative: bool,
    },
    /// `significand * 2^exponent`. After an operation, the lowest bit may be sticky: set if
    /// anything was lost below it.
    Finite {
        negative: bool,
        significand: u128,
        exponent: i32,
    },
}
use Number::{Finite, Infinite, Nan, Zero};

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn sign_bit(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }

    /// The exponent with all bits set.
    fn exponents(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// The largest finite number.
    pub fn largest(self) -> u64 {
        self.beyond - 1
    }

    /// The number that the bits encode.
    #[inline(never)]
    pub fn decode(self, bits: u64) -> Number {
        let negative = bits & self.sign_bit() != 0;
        let fraction = bits & ((1 << self.fraction) - 1);
        let biased = (bits >> self.fraction) as i32 & ((1 << self.exponent) - 1);
        let magnitude = bits & (self.sign_bit() - 1);
        if magnitude >= self.beyond {
            return if magnitude == self.exponents() { Infinite { negative } } else { Nan };
        }
        let (significand, biased) = if biased == 0 { (fraction, 1) } else { (fraction | 1 << self.fraction, biased) };
        if significand == 0 {
            return Zero { negative };
        }
        Finite { negative, significand: significand.into(), exponent: biased - self.bias() - self.fraction as i32 }
    }

    /// The encoding of the rounded number.
    #[inline(never)]
    pub fn encode(self, number: Number, round: Round) -> u64 {
        let sign = |negative: bool| if negative { self.sign_bit() } else { 0 };
        match number {
            Nan => self.nan,
            Infinite { negative } => sign(negative) | self.beyond,
            Zero { negative } => sign(negative),
            Finite { negative, significand, exponent } => {
                let top = significand.ilog2() as i32;
                let fraction = self.fraction as i32;
                let smallest = 1 - self.bias() - fraction;
                let unit = (exponent + top - fraction).max(smallest);
                let kept = round_at(significand, unit - exponent, negative, round);
                // The hidden bit adds one to the exponent, and so does a carry out of the rounding.
                let bits = (((unit + fraction + self.bias() - 1) as u64) << self.fraction).wrapping_add(kept as u64);
                if bits < self.beyond {
                    return sign(negative) | bits;
                }
                let finite = match round {
                    Round::Nearest | Round::NearestAway => false,
                    Round::Zero => true,
                    Round::Down => !negative,
                    Round::Up => negative,
                };
                sign(negative) | (self.beyond - u64::from(finite))
            }
        }
    }

    /// [`Format::encode`], with subnormal results as zeros. As on an H200, a result is subnormal if
    /// it is below the least normal number before it is rounded to the format's range.
    pub fn encode_flushed(self, number: Number, round: Round) -> u64 {
        let bits = self.encode(number, round);
        if bits & (self.sign_bit() - 1) == 1 << self.fraction
            && let Finite { negative, significand, exponent } = number
        {
            let top = significand.ilog2() as i32;
            let unit = top - self.fraction as i32;
            let carries = round_at(significand, unit, negative, round) >> (self.fraction + 1) != 0;
            if exponent + top + i32::from(carries) < 1 - self.bias() {
                return bits & self.sign_bit();
            }
        }
        self.flush(bits)
    }

    /// Subnormal numbers become zeros of the same sign.
    pub fn flush(self, bits: u64) -> u64 {
        if bits & self.exponents() == 0 { bits & self.sign_bit() } else { bits }
    }
}

/// `significand / 2^shift`, rounded to an integer.
fn round_at(significand: u128, shift: i32, negative: bool, round: Round) -> u128 {
    if shift <= 0 {
        return significand << -shift;
    }
    if shift > 127 {
        let up = round.up(negative, false, true, std::cmp::Ordering::Less);
        return u128::from(up);
    }
    let kept = significand >> shift;
    let rest = significand & ((1 << shift) - 1);
    let half = rest.cmp(&(1 << (shift - 1)));
    kept + u128::from(round.up(negative, kept & 1 == 1, rest != 0, half))
}

/// `value / 2^shift`; the lowest bit of the result is set if anything was lost.
fn shift_right(value: u128, shift: i32) -> u128 {
    if shift > 127 { u128::from(value != 0) } else { value >> shift | u128::from(value & ((1 << shift) - 1) != 0) }
}

impl Number {
    /// The number that an integer is.
    pub fn from_integer(value: i128) -> Self {
        let (negative, significand) = (value < 0, value.unsigned_abs());
        if significand == 0 { Zero { negative: false } } else { Finite { negative, significand, exponent: 0 } }
    }

    /// Rounded to an integer and clamped to the bounds; `nan` for NaN.
    pub fn to_integer(self, round: Round, low: i128, high: i128, nan: i128) -> i128 {
        match self {
            Nan => nan,
            Infinite { negative } => {
                if negative {
                    low
                } else {
                    high
                }
            }
            Zero { .. } => 0,
            Finite { negative, significand, exponent } => {
                if exponent + significand.ilog2() as i32 > 120 {
                    return if negative { low } else { high };
                }
                let magnitude = round_at(significand, -exponent, negative, round) as i128;
                (if negative { -magnitude } else { magnitude }).clamp(low, high)
            }
        }
    }

    /// Rounded to an integer that is still a float.
    pub fn integral(self, round: Round) -> Self {
        match self {
            Finite { negative, significand, exponent } if exponent < 0 => {
                match round_at(significand, -exponent, negative, round) {
                    0 => Zero { negative },
                    significand => Finite { negative, significand, exponent: 0 },
                }
            }
            other => other,
        }
    }

    fn is_negative(self) -> bool {
        match self {
            Nan => false,
            Infinite { negative } | Zero { negative } | Finite { negative, .. } => negative,
        }
    }

    /// With the other sign.
    pub fn negated(self) -> Self {
        match self {
            Nan => Nan,
            Infinite { negative } => Infinite { negative: !negative },
            Zero { negative } => Zero { negative: !negative },
            Finite { negative, significand, exponent } => Finite { negative: !negative, significand, exponent },
        }
    }

    /// The sum; `round` decides the sign of a zero.
    #[inline(never)]
    pub fn add(self, other: Self, round: Round) -> Self {
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinite { negative: a }, Infinite { negative: b }) => {
                if a == b {
                    self
                } else {
                    Nan
                }
            }
            (Infinite { .. }, _) => self,
            (_, Infinite { .. }) => other,
            (Zero { negative: a }, Zero { negative: b }) => {
                Zero { negative: if a == b { a } else { round == Round::Down } }
            }
            (Zero { .. }, _) => other,
            (_, Zero { .. }) => self,
            (Finite { significand: s, exponent: e, .. }, Finite { significand: t, exponent: f, .. }) => {
                // The larger one's highest bit moves to bit 124: this leaves room for a carry, and
                // more bits below than a product has.
                let (top, other_top) = (e + s.ilog2() as i32, f + t.ilog2() as i32);
                let unit = top.max(other_top) - 124;
                let align = |significand: u128, exponent: i32| {
                    let shift = unit - exponent;
                    if shift > 0 { shift_right(significand, shift) } else { significand << -shift }
                };
                let signed =
                    |magnitude: u128, negative| if negative { -(magnitude as i128) } else { magnitude as i128 };
                let sum = signed(align(s, e), self.is_negative()) + signed(align(t, f), other.is_negative());
                match sum {
                    0 => Zero { negative: round == Round::Down },
                    _ => Finite { negative: sum < 0, significand: sum.unsigned_abs(), exponent: unit },
                }
            }
        }
    }

    /// The product, exact for numbers of at most 64 bits.
    #[inline(never)]
    pub fn multiply(self, other: Self) -> Self {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinite { .. }, Zero { .. }) | (Zero { .. }, Infinite { .. }) => Nan,
            (Infinite { .. }, _) | (_, Infinite { .. }) => Infinite { negative },
            (Zero { .. }, _) | (_, Zero { .. }) => Zero { negative },
            (Finite { significand: s, exponent: e, .. }, Finite { significand: t, exponent: f, .. }) => {
                Finite { negative, significand: s * t, exponent: e + f }
            }
        }
    }

    /// The quotient.
    #[inline(never)]
    pub fn divide(self, other: Self) -> Self {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinite { .. }, Infinite { .. }) | (Zero { .. }, Zero { .. }) => Nan,
            (Infinite { .. }, _) | (_, Zero { .. }) => Infinite { negative },
            (Zero { .. }, _) | (_, Infinite { .. }) => Zero { negative },
            (Finite { significand: s, exponent: e, .. }, Finite { significand: t, exponent: f, .. }) => {
                let shift = s.leading_zeros();
                let s = s << shift;
                let significand = (s / t) | u128::from(!s.is_multiple_of(t));
                Finite { negative, significand, exponent: e - shift as i32 - f }
            }
        }
    }

    /// The square root.
    #[inline(never)]
    pub fn square_root(self) -> Self {
        match self {
            Nan | Zero { .. } | Infinite { negative: false } => self,
            Infinite { negative: true } | Finite { negative: true, .. } => Nan,
            Finite { significand, exponent, .. } => {
                let shift = significand.leading_zeros() as i32 - 1;
                let shift = if (exponent - shift) % 2 == 0 { shift } else { shift - 1 };
                let square = significand << shift;
                let root = square.isqrt();
                let significand = root | u128::from(root * root != square);
                Finite { negative: false, significand, exponent: (exponent - shift) / 2 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(value: f32) -> Number {
        F32.decode(value.to_bits().into())
    }

    fn single(number: Number, round: Round) -> f32 {
        f32::from_bits(F32.encode(number, round) as u32)
    }

    fn double(number: Number) -> f64 {
        f64::from_bits(F64.encode(number, Round::Nearest))
    }

    fn same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
    }

    #[test]
    fn directed_roundings_of_a_third() {
        let third = number(1.0).divide(number(3.0));
        let minus = third.negated();
        assert_eq!(single(third, Round::Nearest).to_bits(), 0x3eaaaaab);
        assert_eq!(single(third, Round::Zero).to_bits(), 0x3eaaaaaa);
        assert_eq!(single(third, Round::Up).to_bits(), 0x3eaaaaab);
        assert_eq!(single(third, Round::Down).to_bits(), 0x3eaaaaaa);
        assert_eq!(single(minus, Round::Down).to_bits(), 0xbeaaaaab);
        assert_eq!(single(minus, Round::Up).to_bits(), 0xbeaaaaaa);
    }

    #[test]
    fn overflow_stops_at_the_largest_number_where_rounding_says_so() {
        let square = number(f32::MAX).multiply(number(f32::MAX));
        assert_eq!(single(square, Round::Nearest), f32::INFINITY);
        assert_eq!(single(square, Round::Zero), f32::MAX);
        assert_eq!(single(square, Round::Down), f32::MAX);
        assert_eq!(single(square.negated(), Round::Down), f32::NEG_INFINITY);
        assert_eq!(single(square.negated(), Round::Up), f32::MIN);
    }

    #[test]
    fn half_precision_constants() {
        let half = |value: f32| F16.encode(number(value), Round::Nearest);
        assert_eq!(half(1.0), 0x3c00);
        assert_eq!(half(65504.0), 0x7bff);
        assert_eq!(half(65520.0), 0x7c00);
        assert_eq!(half(5.960_464_5e-8), 1);
        assert_eq!(half(2.980_232_2e-8), 0);
        assert_eq!(BF16.encode(number(1.0), Round::Nearest), 0x3f80);
    }

    proptest! {
        #[test]
        fn agrees_with_the_host(a in any::<u64>(), b in any::<u64>(), c in any::<u64>()) {
            let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
            let (p, q, r) = (F64.decode(a), F64.decode(b), F64.decode(c));
            let nearest = Round::Nearest;
            prop_assert!(same(double(p.add(q, nearest)), x + y));
            prop_assert!(same(double(p.multiply(q)), x * y));
            prop_assert!(same(double(p.divide(q)), x / y));
            prop_assert!(same(double(p.square_root()), x.sqrt()));
            prop_assert!(same(double(p.multiply(q).add(r, nearest)), x.mul_add(y, z)));
            prop_assert!(same(single(p, nearest).into(), (x as f32).into()));
        }

        #[test]
        fn agrees_with_the_host_where_numbers_cancel(a in any::<u32>(), b in -40i32..40, c in any::<u32>()) {
            let x = f64::from(a);
            let y = f64::from(c) * f64::from(b).exp2();
            let z = -x * y;
            let numbers = [x, y, z].map(|value| F64.decode(value.to_bits()));
            let fused = numbers[0].multiply(numbers[1]).add(numbers[2], Round::Nearest);
            prop_assert!(same(double(fused), x.mul_add(y, z)));
            prop_assert!(same(double(numbers[0].add(numbers[2], Round::Nearest)), x + z));
        }

        #[test]
        fn agrees_with_the_host_on_integers(bits in any::<u32>(), wide in any::<i64>()) {
            let x = f32::from_bits(bits);
            let zero = number(x).to_integer(Round::Zero, i32::MIN.into(), i32::MAX.into(), 0);
            prop_assert_eq!(zero as i32, x as i32);
            prop_assert!(same(single(number(x).integral(Round::Nearest), Round::Nearest).into(), x.round_ties_even().into()));
            prop_assert!(same(single(number(x).integral(Round::Down), Round::Nearest).into(), x.floor().into()));
            prop_assert_eq!(single(Number::from_integer(wide.into()), Round::Nearest), wide as f32);
        }
    }
}
