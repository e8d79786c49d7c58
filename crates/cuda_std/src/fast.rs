//! The hardware's approximate math: a few instructions at most, for `f32` unless stated otherwise.
//!
//! Errors are those that the PTX manual gives for the `.approx` instructions, in units in the last
//! place (ulp) or absolute. The accurate functions are the methods of
//! [`GpuFloat`](crate::float::GpuFloat).

use crate::intrinsics;

/// Sine of an angle in radians: absolute error 2^-20.5 in -2 pi to 2 pi, 2^-14.7 in -100 pi to 100
/// pi, and growing (`sin.approx.f32`).
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    intrinsics::sin_approx(x)
}

/// Cosine of an angle in radians: absolute error 2^-20.5 in -2 pi to 2 pi, 2^-14.7 in -100 pi to
/// 100 pi, and growing (`cos.approx.f32`).
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    intrinsics::cos_approx(x)
}

/// Tangent of an angle in radians, as the quotient of [`sin`] and [`cos`].
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    div(sin(x), cos(x))
}

/// `2^x`: at most 2 ulp of error (`ex2.approx.f32`).
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    intrinsics::ex2_approx(x)
}

/// `e^x`, as `2^(x * log2(e))`: the error grows with the magnitude of `x`.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    exp2(x * core::f32::consts::LOG2_E)
}

/// The binary logarithm: absolute error 2^-22 between 1/2 and 2, at most 2 ulp elsewhere
/// (`lg2.approx.f32`).
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    intrinsics::lg2_approx(x)
}

/// The natural logarithm, as `log2(x) * ln(2)`.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    log2(x) * core::f32::consts::LN_2
}

/// The decimal logarithm, as `log2(x) * log10(2)`.
#[inline(always)]
pub fn log10(x: f32) -> f32 {
    log2(x) * core::f32::consts::LOG10_2
}

/// `x^y` for `x > 0`, as `2^(y * log2(x))`: the error grows with the magnitude of the exponent.
#[inline(always)]
pub fn powf(x: f32, y: f32) -> f32 {
    exp2(y * log2(x))
}

/// `1 / sqrt(x)`: at most 2 ulp of error (`rsqrt.approx.f32`).
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    intrinsics::rsqrt_approx(x)
}

/// `1 / sqrt(x)` in `f64`: a relative error of about 2^-22 or better (`rsqrt.approx.f64`, which is
/// emulated in software, and slow).
#[inline(always)]
pub fn rsqrt_f64(x: f64) -> f64 {
    intrinsics::rsqrt_approx_f64(x)
}

/// `1 / x`: at most 1 ulp of error; subnormal numbers count as 0 (`rcp.approx.ftz.f32`).
#[inline(always)]
pub fn recip(x: f32) -> f32 {
    intrinsics::rcp_approx(x)
}

/// The square root: a relative error of at most 2^-23 (`sqrt.approx.f32`).
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    intrinsics::sqrt_approx(x)
}

/// `x / y`: at most 2 ulp of error for `y` between 2^-126 and 2^126 (`div.approx.f32`).
#[inline(always)]
pub fn div(x: f32, y: f32) -> f32 {
    intrinsics::div_approx(x, y)
}
