//! Sine and cosine of `f32`, in `f32` arithmetic.
//!
//! `libm` computes them in `f64`, which is 32 or 64 times slower on most GPUs, and reduces large
//! angles through an array on the stack. Here quarter turns are subtracted in three parts with
//! `fma` (Cody and Waite), or for large angles by a product with the relevant bits of 2/pi (Payne
//! and Hanek), in registers. Errors are at most 2 ulp, as CUDA's functions promise.

use super::methods::GpuFloat;

/// pi/2 as the sum of three floats.
const QUARTER_TURN: [f32; 3] = [f32::from_bits(0x3fc9_0fdb), f32::from_bits(0xb33b_bd2e), f32::from_bits(0xa6f7_2ced)];

/// The largest angle for which three floats are enough.
const LARGE: f32 = 105_615.0;

/// `(sin(x) - x) / x^3` in powers of `x^2`, from -pi/4 to pi/4: relative error of the sine 2^-28.
const SINE: [f32; 3] = [f32::from_bits(0xbe2a_aaa3), f32::from_bits(0x3c08_83ab), f32::from_bits(0xb94c_a5a0)];

/// `(cos(x) - 1 + x^2 / 2) / x^4` in powers of `x^2`, there: absolute error of the cosine 2^-33.
const COSINE: [f32; 3] = [f32::from_bits(0x3d2a_aaa5), f32::from_bits(0xbab6_0641), f32::from_bits(0x37cc_ffa0)];

/// The sine of an angle in radians.
pub(super) fn sin(x: f32) -> f32 {
    let (quarters, rest) = reduced(x);
    turned(quarters, rest)
}

/// The cosine: the sine, a quarter turn further.
pub(super) fn cos(x: f32) -> f32 {
    let (quarters, rest) = reduced(x);
    turned(quarters.wrapping_add(1), rest)
}

/// Both, for one reduction.
pub(super) fn sin_cos(x: f32) -> (f32, f32) {
    let (quarters, rest) = reduced(x);
    (turned(quarters, rest), turned(quarters.wrapping_add(1), rest))
}

/// The sine of this many quarter turns plus `rest`.
#[inline(always)]
fn turned(quarters: i32, rest: f32) -> f32 {
    let square = rest * rest;
    let sine = {
        // Adding 0 makes the product of the zeros positive, so that the sine of -0 is -0.
        let tail = GpuFloat::mul_add(polynomial(square, SINE), square, 0.0);
        GpuFloat::mul_add(tail, rest, rest)
    };
    let cosine = {
        let tail = polynomial(square, COSINE);
        GpuFloat::mul_add(tail * square, square, GpuFloat::mul_add(square, -0.5, 1.0))
    };
    let value = if quarters & 1 == 0 { sine } else { cosine };
    if quarters & 2 == 0 { value } else { -value }
}

/// `c0 + c1 x + c2 x^2`.
#[inline(always)]
fn polynomial(x: f32, [c0, c1, c2]: [f32; 3]) -> f32 {
    GpuFloat::mul_add(GpuFloat::mul_add(c2, x, c1), x, c0)
}

/// The nearest number of quarter turns, of which the last two bits matter, and the rest: -pi/4 to
/// pi/4.
#[inline(always)]
fn reduced(x: f32) -> (i32, f32) {
    if x.is_nan() || x.abs() > LARGE {
        return reduced_large(x);
    }
    let quarters = GpuFloat::round_ties_even(x * core::f32::consts::FRAC_2_PI);
    let mut rest = x;
    for part in QUARTER_TURN {
        rest = GpuFloat::mul_add(-quarters, part, rest);
    }
    // Zero keeps its sign.
    // SAFETY: it is at most 2 / pi times `LARGE`, and no NaN.
    (unsafe { quarters.to_int_unchecked() }, if quarters == 0.0 { x } else { rest })
}

/// The first 224 bits of 2/pi, 32 zeros before them.
const TWO_OVER_PI: [u128; 2] = [0xa2f9_836e_4e44_1529_fc27_57d1, 0xf534_ddc0_db62_9599_3c43_9041_fe51_63ab];

/// The same for a large angle `m 2^e` with an integer `m` of 24 bits. Bits of 2/pi that are worth 4
/// and more as multiples of `2^e` only add whole turns. The next 96 decide.
#[cold]
fn reduced_large(x: f32) -> (i32, f32) {
    if !x.is_finite() {
        return (0, f32::NAN);
    }
    let exponent = (x.to_bits() >> 23 & 0xff) as i32 - 150;
    let mantissa = x.to_bits() & 0x7f_ffff | 0x80_0000;
    // In 2/pi with its 32 zeros, the bit of 2^-j is number 31 + j. The first that counts is that of
    // j = e - 1.
    let first = (30 + exponent) as u32;
    let [high, low] = TWO_OVER_PI;
    let window = if first < 128 { high << first | low >> 1 >> (127 - first) } else { low << (first - 128) };
    // Quarter turns: two bits before the point, 62 behind it.
    let product = ((window >> 32) * u128::from(mantissa)) << 32;
    let product = (product >> 64) as u64;
    let quarters = product.wrapping_add(1 << 61) >> 62;
    let rest = product.wrapping_sub(quarters << 62) as i64;
    let rest = (rest as f64 * (core::f64::consts::FRAC_PI_2 / (1_u64 << 62) as f64)) as f32;
    if x < 0.0 { (-(quarters as i32), -rest) } else { (quarters as i32, rest) }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;
    use crate::float::ulps;

    #[test]
    fn at_most_two_ulps_are_wrong() {
        // Every 4099th float from the least to the greatest, and all signs.
        let mut worst = 0.0_f64;
        for bits in (0..f32::INFINITY.to_bits()).step_by(4099) {
            for x in [f32::from_bits(bits), -f32::from_bits(bits)] {
                worst = worst.max(ulps(sin(x), libm::sin(f64::from(x)))).max(ulps(cos(x), libm::cos(f64::from(x))));
                assert_eq!(sin_cos(x), (sin(x), cos(x)));
            }
        }
        assert!(worst < 2.0, "{worst} ulp");
    }

    #[test]
    fn angles_beside_quarter_turns_keep_their_precision() {
        // The floats nearest to multiples of pi/2, where nearly all bits cancel; and the worst of
        // all floats, 16367173 * 2^72.
        let worst = [16_367_173.0 * 2.0_f32.powi(72), LARGE, LARGE + 1.0, f32::MAX];
        let beside = (1..70_000).map(|quarters| (f64::from(quarters) * core::f64::consts::FRAC_PI_2) as f32);
        for x in beside.chain(worst) {
            assert!(ulps(sin(x), libm::sin(f64::from(x))) < 2.0, "{x}");
            assert!(ulps(cos(x), libm::cos(f64::from(x))) < 2.0, "{x}");
        }
    }

    #[test]
    fn what_is_no_angle_has_no_sine() {
        for x in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(sin(x).is_nan() && cos(x).is_nan());
        }
        assert_eq!(sin(-0.0).to_bits(), (-0.0_f32).to_bits());
        assert_eq!((sin(0.0).to_bits(), cos(0.0)), (0, 1.0));
    }
}
