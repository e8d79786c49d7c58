//! Tests of accurate and fast math, compared with the host's.

use crate::device_library::harness::{Run, lanes, of_one_warp, on_each_device};
use cuda_std::GpuFloat;

/// Compares results with the host's, within a relative error if the result is finite.
fn close<T: Copy + Into<f64>>(
    kernel: &str,
    tolerance: f64,
    input: &[T],
    results: &[Vec<T>],
    host: impl Fn(T) -> Vec<T>,
) {
    for (&x, results) in input.iter().zip(results) {
        let expected = host(x);
        assert_eq!(expected.len(), results.len());
        for (place, (&result, &expected)) in results.iter().zip(&expected).enumerate() {
            let (x, result, expected): (f64, f64, f64) = (x.into(), result.into(), expected.into());
            let same = result == expected || result.is_nan() && expected.is_nan();
            assert!(
                same || (result - expected).abs() <= tolerance * expected.abs().max(1.0),
                "{kernel}, result {place} of {x}: {result}, and not {expected}"
            );
        }
    }
}

macro_rules! exact {
    ($x:ident) => {
        vec![
            GpuFloat::floor($x),
            GpuFloat::ceil($x),
            GpuFloat::trunc($x),
            GpuFloat::round_ties_even($x),
            GpuFloat::fract($x),
            GpuFloat::abs($x),
            GpuFloat::signum($x),
            GpuFloat::sqrt($x),
            GpuFloat::recip($x),
            GpuFloat::copysign($x, -1.0),
            GpuFloat::mul_add($x, $x, 0.5),
            GpuFloat::powi($x, 5),
            GpuFloat::div_euclid($x, 2.0),
            GpuFloat::rem_euclid($x, 2.0),
        ]
    };
}

macro_rules! accurate {
    ($x:ident) => {
        vec![
            GpuFloat::round($x),
            GpuFloat::exp($x),
            GpuFloat::exp2($x),
            GpuFloat::exp_m1($x),
            GpuFloat::ln($x),
            GpuFloat::ln_1p($x),
            GpuFloat::log2($x),
            GpuFloat::log10($x),
            GpuFloat::cbrt($x),
            GpuFloat::sin($x),
            GpuFloat::cos($x),
            GpuFloat::tan($x),
            GpuFloat::asin($x),
            GpuFloat::acos($x),
            GpuFloat::atan($x),
            GpuFloat::sinh($x),
            GpuFloat::cosh($x),
            GpuFloat::tanh($x),
            GpuFloat::asinh($x),
            GpuFloat::acosh($x),
            GpuFloat::atanh($x),
            GpuFloat::log($x, 3.0),
            GpuFloat::powf($x, 1.5),
            GpuFloat::atan2($x, 0.5),
            GpuFloat::hypot($x, 0.5),
            GpuFloat::sin($x),
            GpuFloat::cos($x),
        ]
    };
}

#[test]
fn accurate_math_is_that_of_the_host() {
    on_each_device(|| {
        let floats = lanes(|lane| lane as f32 * 0.37 - 4.0);
        close("math_exact_f32", 0.0, &floats, &of_one_warp("math_exact_f32", &floats, 14), |x| exact!(x));
        close("math_accurate_f32", 1e-6, &floats, &of_one_warp("math_accurate_f32", &floats, 27), |x| accurate!(x));
        let doubles = lanes(|lane| f64::from(lane) * 0.37 - 4.0);
        close("math_exact_f64", 0.0, &doubles, &of_one_warp("math_exact_f64", &doubles, 14), |x| exact!(x));
        close("math_accurate_f64", 1e-14, &doubles, &of_one_warp("math_accurate_f64", &doubles, 27), |x| accurate!(x));
        // Angles whose range reduction takes the slow path, with arrays on the stack.
        let large = lanes(|lane| (lane as f32 + 1.0) * 1.0e9);
        close("math_accurate_f32", 1e-6, &large, &of_one_warp("math_accurate_f32", &large, 27), |x| accurate!(x));
    });
}

#[test]
fn fast_math_is_near() {
    on_each_device(|| {
        let floats = lanes(|lane| (lane as f32 + 1.0) * 0.09);
        close("math_fast", 2e-5, &floats, &of_one_warp("math_fast", &floats, 13), |x| {
            vec![
                x.sin(),
                x.cos(),
                x.tan(),
                x.exp2(),
                x.exp(),
                x.log2(),
                x.ln(),
                x.log10(),
                1.0 / x.sqrt(),
                1.0 / x,
                x.sqrt(),
                x.powf(1.5),
                1.5 / x,
            ]
        });
        let mut run = Run::new();
        let doubles = lanes(|lane| f64::from(lane + 1) * 0.37);
        let data = run.buffer(&doubles);
        run.launch("math_fast_f64", [1, 1, 1], [32, 1, 1]);
        let results: Vec<Vec<f64>> = run.read::<f64>(data).into_iter().map(|result| vec![result]).collect();
        close("math_fast_f64", 1e-6, &doubles, &results, |x| vec![1.0 / x.sqrt()]);
    });
}
