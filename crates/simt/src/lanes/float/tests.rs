//! Tests of the arithmetic of floats.

use super::*;
use proptest::prelude::*;

fn number(value: f32) -> Number {
    soft::F32.decode(value.to_bits().into())
}

fn flushed(number: Number) -> u32 {
    soft::F32.encode_flushed(number, Round::Nearest) as u32
}

/// Numbers of any significand, with exponents from `low` to `high`.
fn around(low: i32, high: i32) -> impl Strategy<Value = f32> {
    (low..=high, prop_oneof![0u32..4, 0x7f_fffcu32..0x80_0000, 0u32..0x80_0000], any::<bool>()).prop_map(
        |(exponent, fraction, negative)| {
            f32::from_bits(u32::from(negative) << 31 | ((exponent + 127) as u32) << 23 | fraction)
        },
    )
}

#[test]
fn what_rounds_up_to_the_least_normal_number_is_flushed_first() {
    let (below_one, least) = (f32::from_bits(0x3f7f_ffff), f32::MIN_POSITIVE);
    assert_eq!(flushed(number(below_one).multiply(number(least))), 0);
    assert_eq!(flushed(number(-1.0).multiply(number(least))), 0x8080_0000);
    let reciprocal = Number::from_integer(1).divide(number(f32::from_bits(0x7e80_0001)));
    assert_eq!(soft::F32.encode(reciprocal, Round::Up), 0x0080_0000);
    assert_eq!(soft::F32.encode_flushed(reciprocal, Round::Up), 0);
}

proptest! {
    #[test]
    fn scaled_results_say_what_is_flushed(a in around(-2, 2), b in around(-128 + 2, -124), c in around(-126, -120)) {
        prop_assert_eq!(canonical(flush_tiny(a * b, a * UP * b).0), flushed(number(a).multiply(number(b))));
        prop_assert_eq!(canonical(flush_tiny(b / a, b * UP / a).0), flushed(number(b).divide(number(a))));
        let sum = number(a).multiply(number(b)).add(number(c), Round::Nearest);
        prop_assert_eq!(canonical(flush_tiny(a.mul_add(b, c), (a * UP).mul_add(b, c * UP)).0), flushed(sum));
    }

    #[test]
    fn scaling_changes_nothing_else(a in any::<u32>(), b in any::<u32>(), c in any::<u32>()) {
        let [a, b, c] = [a, b, c].map(|bits| flush(f32::from_bits(bits)));
        let same = |plain: f32, single: Single, exact| {
            let expected = if plain.abs() == f32::MIN_POSITIVE { exact } else { canonical(flush(plain)) };
            canonical(single.0) == expected
        };
        prop_assert!(same(a * b, flush_tiny(a * b, a * UP * b), flushed(number(a).multiply(number(b)))));
        prop_assert!(same(a / b, flush_tiny(a / b, a * UP / b), flushed(number(a).divide(number(b)))));
        let fused = flush_tiny(a.mul_add(b, c), (a * UP).mul_add(b, c * UP));
        let sum = number(a).multiply(number(b)).add(number(c), Round::Nearest);
        prop_assert!(same(a.mul_add(b, c), fused, flushed(sum)));
    }
}
