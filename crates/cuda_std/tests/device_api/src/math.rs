//! Math: the hardware's approximations, and the accurate functions.

#[gpu_only]
use cuda_std::fast;
#[gpu_only]
use cuda_std::{GpuFloat, thread};
use cuda_std::{gpu_only, kernel};

/// Every approximation of one positive number: 13 results per thread.
///
/// # Safety
/// `input` has an element for each thread, `output` 13.
#[kernel]
pub unsafe fn math_fast(input: *const f32, output: *mut f32) {
    let i = thread::index_1d() as usize;
    let x = *input.add(i);
    let results = [
        fast::sin(x), // ptx: sin.approx.f32
        fast::cos(x), // ptx: cos.approx.f32
        fast::tan(x),
        fast::exp2(x), // ptx: ex2.approx
        fast::exp(x),
        fast::log2(x), // ptx: lg2.approx.f32
        fast::ln(x),
        fast::log10(x),
        fast::rsqrt(x), // ptx: rsqrt.approx.f32
        fast::recip(x), // ptx: rcp.approx
        fast::sqrt(x),  // ptx: sqrt.approx.f32
        fast::powf(x, 1.5),
        fast::div(1.5, x), // ptx: div.approx.f32
    ];
    for (place, result) in results.into_iter().enumerate() {
        *output.add(results.len() * i + place) = result;
    }
}

/// The approximate reciprocal root of a double.
///
/// # Safety
/// `data` has an element for each thread.
#[kernel]
pub unsafe fn math_fast_f64(data: *mut f64) {
    let i = thread::index_1d() as usize;
    *data.add(i) = fast::rsqrt_f64(*data.add(i)); // ptx: rsqrt.approx.f64
}

/// Functions that are one or a few instructions, correctly rounded: 14 results per thread.
///
/// # Safety
/// `input` has an element for each thread, `output` 14.
#[kernel]
pub unsafe fn math_exact_f32(input: *const f32, output: *mut f32) {
    let i = thread::index_1d() as usize;
    let x = *input.add(i);
    let results = [
        GpuFloat::floor(x),           // ptx: cvt.rmi
        GpuFloat::ceil(x),            // ptx: cvt.rpi
        GpuFloat::trunc(x),           // ptx: cvt.rzi
        GpuFloat::round_ties_even(x), // ptx: cvt.rni
        GpuFloat::fract(x),
        GpuFloat::abs(x), // ptx: abs.
        GpuFloat::signum(x),
        GpuFloat::sqrt(x),  // ptx: sqrt.rn
        GpuFloat::recip(x), // ptx: rcp.rn
        GpuFloat::copysign(x, -1.0),
        GpuFloat::mul_add(x, x, 0.5), // ptx: fma.rn.f32
        GpuFloat::powi(x, 5),
        GpuFloat::div_euclid(x, 2.0),
        GpuFloat::rem_euclid(x, 2.0),
    ];
    for (place, result) in results.into_iter().enumerate() {
        *output.add(results.len() * i + place) = result;
    }
}

/// Functions that are one or a few instructions, correctly rounded: 14 results per thread.
///
/// # Safety
/// `input` has an element for each thread, `output` 14.
#[kernel]
pub unsafe fn math_exact_f64(input: *const f64, output: *mut f64) {
    let i = thread::index_1d() as usize;
    let x = *input.add(i);
    let results = [
        GpuFloat::floor(x),           // ptx: cvt.rmi
        GpuFloat::ceil(x),            // ptx: cvt.rpi
        GpuFloat::trunc(x),           // ptx: cvt.rzi
        GpuFloat::round_ties_even(x), // ptx: cvt.rni
        GpuFloat::fract(x),
        GpuFloat::abs(x), // ptx: abs.
        GpuFloat::signum(x),
        GpuFloat::sqrt(x),  // ptx: sqrt.rn
        GpuFloat::recip(x), // ptx: rcp.rn
        GpuFloat::copysign(x, -1.0),
        GpuFloat::mul_add(x, x, 0.5), // ptx: fma.rn.f64
        GpuFloat::powi(x, 5),
        GpuFloat::div_euclid(x, 2.0),
        GpuFloat::rem_euclid(x, 2.0),
    ];
    for (place, result) in results.into_iter().enumerate() {
        *output.add(results.len() * i + place) = result;
    }
}

/// The accurate functions of one number: 27 results per thread, NaN where a function is not
/// defined.
///
/// # Safety
/// `input` has an element for each thread, `output` 27.
#[kernel]
pub unsafe fn math_accurate_f32(input: *const f32, output: *mut f32) {
    let i = thread::index_1d() as usize;
    let x = *input.add(i);
    let (sine, cosine) = GpuFloat::sin_cos(x);
    let results = [
        GpuFloat::round(x),
        GpuFloat::exp(x),
        GpuFloat::exp2(x),
        GpuFloat::exp_m1(x),
        GpuFloat::ln(x),
        GpuFloat::ln_1p(x),
        GpuFloat::log2(x),
        GpuFloat::log10(x),
        GpuFloat::cbrt(x),
        GpuFloat::sin(x),
        GpuFloat::cos(x),
        GpuFloat::tan(x),
        GpuFloat::asin(x),
        GpuFloat::acos(x),
        GpuFloat::atan(x),
        GpuFloat::sinh(x),
        GpuFloat::cosh(x),
        GpuFloat::tanh(x),
        GpuFloat::asinh(x),
        GpuFloat::acosh(x),
        GpuFloat::atanh(x),
        GpuFloat::log(x, 3.0),
        GpuFloat::powf(x, 1.5),
        GpuFloat::atan2(x, 0.5),
        GpuFloat::hypot(x, 0.5),
        sine,
        cosine,
    ];
    for (place, result) in results.into_iter().enumerate() {
        *output.add(results.len() * i + place) = result;
    }
}

/// The accurate functions of one number: 27 results per thread, NaN where a function is not
/// defined.
///
/// # Safety
/// `input` has an element for each thread, `output` 27.
#[kernel]
pub unsafe fn math_accurate_f64(input: *const f64, output: *mut f64) {
    let i = thread::index_1d() as usize;
    let x = *input.add(i);
    let (sine, cosine) = GpuFloat::sin_cos(x);
    let results = [
        GpuFloat::round(x),
        GpuFloat::exp(x),
        GpuFloat::exp2(x),
        GpuFloat::exp_m1(x),
        GpuFloat::ln(x),
        GpuFloat::ln_1p(x),
        GpuFloat::log2(x),
        GpuFloat::log10(x),
        GpuFloat::cbrt(x),
        GpuFloat::sin(x),
        GpuFloat::cos(x),
        GpuFloat::tan(x),
        GpuFloat::asin(x),
        GpuFloat::acos(x),
        GpuFloat::atan(x),
        GpuFloat::sinh(x),
        GpuFloat::cosh(x),
        GpuFloat::tanh(x),
        GpuFloat::asinh(x),
        GpuFloat::acosh(x),
        GpuFloat::atanh(x),
        GpuFloat::log(x, 3.0),
        GpuFloat::powf(x, 1.5),
        GpuFloat::atan2(x, 0.5),
        GpuFloat::hypot(x, 0.5),
        sine,
        cosine,
    ];
    for (place, result) in results.into_iter().enumerate() {
        *output.add(results.len() * i + place) = result;
    }
}
