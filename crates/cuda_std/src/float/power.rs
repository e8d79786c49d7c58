//! `x^y` of `f32`, in `f32` arithmetic, without tables and nearly without branches, so that a warp
//! does not diverge.
//!
//! `x^y = 2^(y log2 x)`. An error of the logarithm is multiplied by up to 128, so it is computed as
//! the sum of two floats, with a relative error of 2^-31. The error of the power is below 2 ulp.

use super::methods::GpuFloat;

/// `2 / ln 2` as the sum of two floats.
const SCALE: [f32; 2] = [f32::from_bits(0x4038_aa3b), 3.851_926e-8];

/// `(log2((1 + s) / (1 - s)) - 2 / ln 2 s) / s^3` in powers of `s^2`, for numbers between the roots
/// of 1/2 and 2.
const LOGARITHM: [f32; 4] = [
    f32::from_bits(0x3f76_384f),
    f32::from_bits(0x3f13_bbb4),
    f32::from_bits(0x3ed2_cae8),
    f32::from_bits(0x3eae_367a),
];

/// `(2^x - 1) / x` in powers of `x`, from -1/2 to 1/2: relative error of the power 2^-28.
const POWER: [f32; 6] = [
    f32::from_bits(0x3f31_7218),
    f32::from_bits(0x3e75_fdee),
    f32::from_bits(0x3d63_5774),
    f32::from_bits(0x3c1d_96a6),
    f32::from_bits(0x3aaf_9f2a),
    f32::from_bits(0x3920_fddd),
];

/// `x^y`.
pub(super) fn powf(x: f32, y: f32) -> f32 {
    if x == 1.0 || y == 0.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return f32::NAN;
    }
    let magnitude = if x == 0.0 || x.is_infinite() || y.is_infinite() {
        of_a_limit(x.abs(), y)
    } else {
        exp2(times(log2(x.abs()), y))
    };
    if x.is_sign_positive() {
        return magnitude;
    }
    match whole(y) {
        Whole::Odd => -magnitude,
        Whole::Even => magnitude,
        // Zero and infinity have no sign then; other numbers have no power.
        Whole::Not if x == 0.0 || x.is_infinite() => magnitude,
        Whole::Not => f32::NAN,
    }
}

/// What kind of integer a number is.
enum Whole {
    Odd,
    Even,
    Not,
}

fn whole(y: f32) -> Whole {
    if GpuFloat::trunc(y) != y {
        Whole::Not
    } else if y.abs() < 16_777_216.0 && y as i32 & 1 != 0 {
        Whole::Odd
    } else {
        // Floats from 2^24 on are even, infinity too.
        Whole::Even
    }
}

/// `x^y` for `x >= 0` in the special cases: `x` or `y` is 0 or infinite.
fn of_a_limit(x: f32, y: f32) -> f32 {
    if x == 1.0 {
        1.0
    } else if (x > 1.0) == (y > 0.0) {
        f32::INFINITY
    } else {
        0.0
    }
}

/// The binary logarithm of a positive number, as the sum of two floats.
#[inline(always)]
fn log2(x: f32) -> [f32; 2] {
    // Subnormal floats have fewer bits; scale them by 2^24.
    let (x, shift) = if x < f32::MIN_POSITIVE { (x * 16_777_216.0, -24) } else { (x, 0) };
    // The exponent for a mantissa between the roots of 1/2 and 2.
    let exponent = (x.to_bits() as i32 - 0x3f35_04f3) >> 23;
    let mantissa = f32::from_bits((x.to_bits() as i32 - (exponent << 23)) as u32);
    let whole = (exponent + shift) as f32;

    // s = (m - 1) / (m + 1), with the rounding errors of the sum and the quotient.
    let (above, below) = (mantissa - 1.0, mantissa + 1.0);
    let below_rest = mantissa - (below - 1.0);
    let reciprocal = near_reciprocal(below);
    let s = above * reciprocal;
    let s_rest = GpuFloat::mul_add(-s, below_rest, GpuFloat::mul_add(-s, below, above)) * reciprocal;

    let square = s * s;
    let [c0, c1, c2, c3] = LOGARITHM;
    let tail =
        GpuFloat::mul_add(GpuFloat::mul_add(GpuFloat::mul_add(c3, square, c2), square, c1), square, c0) * square * s;
    let high = s * SCALE[0];
    let low = GpuFloat::mul_add(s, SCALE[0], -high) + GpuFloat::mul_add(s, SCALE[1], s_rest * SCALE[0]);
    let [high, low] = sum(high, tail + low);
    let [total, rest] = sum(whole, high);
    [total, rest + low]
}

/// `1 / x`, or a neighbouring float: the rest of the quotient corrects that.
#[inline(always)]
fn near_reciprocal(x: f32) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    let reciprocal = crate::intrinsics::rcp_approx(x);
    #[cfg(not(target_arch = "nvptx64"))]
    let reciprocal = 1.0 / x;
    reciprocal
}

/// The sum of two floats, the first of which is 0 or the larger, and its rounding error.
#[inline(always)]
fn sum(larger: f32, smaller: f32) -> [f32; 2] {
    let total = larger + smaller;
    [total, smaller - (total - larger)]
}

/// Every power of 2 beyond is infinite or 0.
const LIMIT: f32 = 160.0;

/// `y` times the sum of two floats; at most [`LIMIT`] in magnitude.
#[inline(always)]
fn times([high, low]: [f32; 2], y: f32) -> [f32; 2] {
    let product = high * y;
    if product.abs() < LIMIT {
        [product, GpuFloat::mul_add(low, y, GpuFloat::mul_add(high, y, -product))]
    } else {
        [LIMIT.copysign(product), 0.0]
    }
}

/// `2^x` of the sum of two floats, the first at most [`LIMIT`] in magnitude.
#[inline(always)]
fn exp2([high, low]: [f32; 2]) -> f32 {
    let whole = GpuFloat::round_ties_even(high);
    let part = (high - whole) + low;
    let [c0, c1, c2, c3, c4, c5] = POWER;
    let mut tail = c5;
    for coefficient in [c4, c3, c2, c1, c0] {
        tail = GpuFloat::mul_add(tail, part, coefficient);
    }
    let power = GpuFloat::mul_add(tail, part, 1.0);
    // SAFETY: it is at most `LIMIT` in magnitude.
    let whole: i32 = unsafe { whole.to_int_unchecked() };
    // In two steps, because 2^whole may not be representable. Only the second one rounds.
    let half = whole >> 1;
    power * power_of_two(half) * power_of_two(whole - half)
}

/// `2^n` for `n` from -126 to 127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) << 23) as u32)
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;
    use crate::float::ulps;

    #[test]
    fn at_most_two_ulps_are_wrong() {
        let mut worst = 0.0_f64;
        let exponents = [0.5, 2.2, 1.0 / 2.2, -1.0, 3.0, 17.3, -40.7, 1e-3, 1e4, -3e6];
        for bits in (1..f32::INFINITY.to_bits()).step_by(9973) {
            let x = f32::from_bits(bits);
            for y in exponents {
                worst = worst.max(ulps(powf(x, y), libm::pow(f64::from(x), f64::from(y))));
            }
        }
        // Near 1, where large exponents have results of all magnitudes.
        for step in 1..20_000 {
            for x in [1.0 + step as f32 * 1e-6, 1.0 - step as f32 * 1e-6] {
                for y in [1e3, -7e3, 3.3e4, 1.1e5] {
                    worst = worst.max(ulps(powf(x, y), libm::pow(f64::from(x), f64::from(y))));
                }
            }
        }
        assert!(worst < 2.0, "{worst} ulp");
    }

    #[test]
    fn limits_are_those_of_the_standard() {
        let limits = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 2.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        let large = [16_777_215.0, 16_777_216.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45];
        let all = || limits.into_iter().chain(large);
        for x in all() {
            for y in all() {
                let (found, expected) = (powf(x, y), x.powf(y));
                let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
                assert!(same || ulps(found, f64::from(expected)) < 2.0, "{x}^{y}: {found}, not {expected}");
            }
        }
    }
}
