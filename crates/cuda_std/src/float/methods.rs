//! The methods' declarations; `float.rs` implements them, and what is written for GPUs in
//! `angle.rs` and `power.rs` uses them.

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The methods that `f32` and `f64` have in `std` but not in `core`, for kernels.
///
/// If `std` is linked, its own methods take precedence; call these as `GpuFloat::sin(x)` there.
pub trait GpuFloat: Copy + PartialOrd + private::Sealed {
    /// The greatest integer not above this.
    fn floor(self) -> Self;
    /// The least integer not below this.
    fn ceil(self) -> Self;
    /// The integer part.
    fn trunc(self) -> Self;
    /// The nearest integer, halves to the even one.
    fn round_ties_even(self) -> Self;
    /// The fractional part, which [`trunc`](Self::trunc) removes.
    fn fract(self) -> Self;
    /// The magnitude.
    fn abs(self) -> Self;
    /// 1 or -1 with the sign of this; NaN stays NaN.
    fn signum(self) -> Self;
    /// The magnitude of this with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// `self * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The square root, correctly rounded; NaN below 0.
    fn sqrt(self) -> Self;
    /// `1 / self`.
    fn recip(self) -> Self;
    /// `self^n`, by repeated multiplication.
    fn powi(self, n: i32) -> Self;
    /// The integer `q` for which `self - q * divisor` is at least 0 and below the magnitude of
    /// `divisor`.
    fn div_euclid(self, divisor: Self) -> Self;
    /// The remainder of [`div_euclid`](Self::div_euclid).
    fn rem_euclid(self, divisor: Self) -> Self;
    /// The logarithm to `base`.
    fn log(self, base: Self) -> Self;
    /// Sine and cosine of an angle in radians.
    fn sin_cos(self) -> (Self, Self);
    /// The nearest integer, halves away from zero.
    fn round(self) -> Self;
    /// `e^x`.
    fn exp(self) -> Self;
    /// `2^x`.
    fn exp2(self) -> Self;
    /// `e^x - 1`, accurate near 0.
    fn exp_m1(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// `ln(1 + x)`, accurate near 0.
    fn ln_1p(self) -> Self;
    /// The binary logarithm.
    fn log2(self) -> Self;
    /// The decimal logarithm.
    fn log10(self) -> Self;
    /// The cube root.
    fn cbrt(self) -> Self;
    /// The sine of an angle in radians.
    fn sin(self) -> Self;
    /// The cosine of an angle in radians.
    fn cos(self) -> Self;
    /// The tangent of an angle in radians.
    fn tan(self) -> Self;
    /// The angle in radians, -pi/2 to pi/2, whose sine this is; NaN beyond -1 to 1.
    fn asin(self) -> Self;
    /// The angle in radians, 0 to pi, whose cosine this is; NaN beyond -1 to 1.
    fn acos(self) -> Self;
    /// The angle in radians, -pi/2 to pi/2, whose tangent this is.
    fn atan(self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The inverse of the hyperbolic sine.
    fn asinh(self) -> Self;
    /// The inverse of the hyperbolic cosine.
    fn acosh(self) -> Self;
    /// The inverse of the hyperbolic tangent.
    fn atanh(self) -> Self;
    /// `self^other`.
    fn powf(self, other: Self) -> Self;
    /// The angle in radians, -pi to pi, of the point (`other`, `self`).
    fn atan2(self, other: Self) -> Self;
    /// `sqrt(self^2 + other^2)`, without intermediate overflow.
    fn hypot(self, other: Self) -> Self;
}
