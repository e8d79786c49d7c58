//! Accurate math: the methods of `f32` and `f64` that `core` lacks.
//!
//! On the device, functions for which there is an instruction compile to it (`sqrt.rn`, `fma.rn`,
//! `cvt.rmi`, ...), correctly rounded. Sine, cosine and `powf` of `f32` are written for GPUs here;
//! all others come from the crate `libm`, with errors of about 1 ulp. On the host they are the
//! same, so a reference on the CPU and a kernel can call the same code. The hardware's fast and
//! less accurate functions are in `cuda_std::fast`.
//!
//! `libm`'s sine, cosine and `powf` use `f64`, tables in memory and a stack, which took up to nine
//! times the instructions of CUDA's. Those here use `f32` and registers.

mod angle;
mod methods;
mod power;

pub use methods::GpuFloat;

/// The instruction on the device, the function of `libm` on the host.
macro_rules! instruction {
    ($intrinsic:ident, $libm:ident, $($argument:expr),*) => {{
        #[cfg(target_arch = "nvptx64")]
        let result = crate::intrinsics::$intrinsic($($argument),*);
        #[cfg(not(target_arch = "nvptx64"))]
        let result = libm::$libm($($argument),*);
        result
    }};
}

macro_rules! gpu_float {
    (
        $ty:ident,
        instructions { $($exact:ident: $intrinsic:ident, $exact_libm:ident;)* }
        mul_add { $fma:ident, $fma_libm:ident }
        sin_cos { $sin_cos:path }
        unary { $($unary:ident: $unary_function:path;)* }
        binary { $($binary:ident: $binary_function:path;)* }
    ) => {
        impl GpuFloat for $ty {
            $(
                #[inline]
                fn $exact(self) -> Self {
                    instruction!($intrinsic, $exact_libm, self)
                }
            )*

            #[inline]
            fn mul_add(self, a: Self, b: Self) -> Self {
                instruction!($fma, $fma_libm, self, a, b)
            }

            #[inline]
            fn fract(self) -> Self {
                self - GpuFloat::trunc(self)
            }

            #[inline]
            fn abs(self) -> Self {
                $ty::abs(self)
            }

            #[inline]
            fn signum(self) -> Self {
                $ty::signum(self)
            }

            #[inline]
            fn copysign(self, sign: Self) -> Self {
                $ty::copysign(self, sign)
            }

            #[inline]
            fn recip(self) -> Self {
                1.0 / self
            }

            #[inline]
            fn powi(self, n: i32) -> Self {
                power(self, n)
            }

            #[inline]
            fn div_euclid(self, divisor: Self) -> Self {
                let quotient = GpuFloat::trunc(self / divisor);
                match self % divisor {
                    rest if rest >= 0.0 => quotient,
                    _ if divisor > 0.0 => quotient - 1.0,
                    _ => quotient + 1.0,
                }
            }

            #[inline]
            fn rem_euclid(self, divisor: Self) -> Self {
                let rest = self % divisor;
                if rest < 0.0 { rest + divisor.abs() } else { rest }
            }

            #[inline]
            fn log(self, base: Self) -> Self {
                GpuFloat::ln(self) / GpuFloat::ln(base)
            }

            #[inline]
            fn sin_cos(self) -> (Self, Self) {
                $sin_cos(self)
            }

            $(
                #[inline]
                fn $unary(self) -> Self {
                    $unary_function(self)
                }
            )*

            $(
                #[inline]
                fn $binary(self, other: Self) -> Self {
                    $binary_function(self, other)
                }
            )*
        }
    };
}

gpu_float! {
    f32,
    instructions {
        floor: floor_f32, floorf;
        ceil: ceil_f32, ceilf;
        trunc: trunc_f32, truncf;
        round_ties_even: round_even_f32, rintf;
        sqrt: sqrt_f32, sqrtf;
    }
    mul_add { fma_f32, fmaf }
    sin_cos { angle::sin_cos }
    unary {
        round: libm::roundf;
        exp: libm::expf;
        exp2: libm::exp2f;
        exp_m1: libm::expm1f;
        ln: libm::logf;
        ln_1p: libm::log1pf;
        log2: libm::log2f;
        log10: libm::log10f;
        cbrt: libm::cbrtf;
        sin: angle::sin;
        cos: angle::cos;
        tan: libm::tanf;
        asin: libm::asinf;
        acos: libm::acosf;
        atan: libm::atanf;
        sinh: libm::sinhf;
        cosh: libm::coshf;
        tanh: libm::tanhf;
        asinh: libm::asinhf;
        acosh: libm::acoshf;
        atanh: libm::atanhf;
    }
    binary {
        powf: power::powf;
        atan2: libm::atan2f;
        hypot: libm::hypotf;
    }
}

gpu_float! {
    f64,
    instructions {
        floor: floor_f64, floor;
        ceil: ceil_f64, ceil;
        trunc: trunc_f64, trunc;
        round_ties_even: round_even_f64, rint;
        sqrt: sqrt_f64, sqrt;
    }
    mul_add { fma_f64, fma }
    sin_cos { libm::sincos }
    unary {
        round: libm::round;
        exp: libm::exp;
        exp2: libm::exp2;
        exp_m1: libm::expm1;
        ln: libm::log;
        ln_1p: libm::log1p;
        log2: libm::log2;
        log10: libm::log10;
        cbrt: libm::cbrt;
        sin: libm::sin;
        cos: libm::cos;
        tan: libm::tan;
        asin: libm::asin;
        acos: libm::acos;
        atan: libm::atan;
        sinh: libm::sinh;
        cosh: libm::cosh;
        tanh: libm::tanh;
        asinh: libm::asinh;
        acosh: libm::acosh;
        atanh: libm::atanh;
    }
    binary {
        powf: libm::pow;
        atan2: libm::atan2;
        hypot: libm::hypot;
    }
}

/// `base^exponent` by squaring; a negative exponent takes the reciprocal at the end.
#[inline]
fn power<T: Copy + core::ops::Mul<Output = T> + core::ops::Div<Output = T> + From<f32>>(base: T, exponent: i32) -> T {
    let one = T::from(1.0);
    let (mut result, mut square, mut bits) = (one, base, exponent.unsigned_abs());
    while bits != 0 {
        if bits & 1 != 0 {
            result = result * square;
        }
        square = square * square;
        bits >>= 1;
    }
    if exponent < 0 { one / result } else { result }
}

/// The error of a result in units in the last place. An infinity or NaN has no error if it is the
/// expected one.
#[cfg(all(test, not(target_arch = "nvptx64")))]
fn ulps(found: f32, expected: f64) -> f64 {
    let nearest = expected as f32;
    if found == nearest || found.is_nan() && nearest.is_nan() {
        return 0.0;
    }
    let unit = f32::from_bits(nearest.abs().to_bits() + 1) - nearest.abs();
    (f64::from(found) - expected).abs() / f64::from(unit)
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::GpuFloat;

    #[test]
    fn integers_and_remainders() {
        assert_eq!(GpuFloat::floor(-1.5_f32), -2.0);
        assert_eq!(GpuFloat::ceil(-1.5_f64), -1.0);
        assert_eq!(GpuFloat::round(2.5_f32), 3.0);
        assert_eq!(GpuFloat::round_ties_even(2.5_f32), 2.0);
        assert_eq!(GpuFloat::fract(-1.75_f64), -0.75);
        assert_eq!(GpuFloat::div_euclid(-7.0_f32, 2.0), -4.0);
        assert_eq!(GpuFloat::div_euclid(-7.0_f32, -2.0), 4.0);
        assert_eq!(GpuFloat::rem_euclid(-7.0_f64, -2.0), 1.0);
    }

    #[test]
    fn powers_take_every_exponent() {
        assert_eq!(GpuFloat::powi(3.0_f32, 4), 81.0);
        assert_eq!(GpuFloat::powi(2.0_f64, -3), 0.125);
        assert_eq!(GpuFloat::powi(5.0_f64, 0), 1.0);
        assert_eq!(GpuFloat::powi(1.0_f32, i32::MIN), 1.0);
    }

    #[test]
    fn names_call_the_function_they_name() {
        for x in [0.1_f64, 0.5, 0.9] {
            let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
            close(GpuFloat::exp(GpuFloat::ln(x)), x);
            close(GpuFloat::exp_m1(GpuFloat::ln_1p(x)), x);
            close(GpuFloat::exp2(GpuFloat::log2(x)), x);
            close(GpuFloat::powf(10.0, GpuFloat::log10(x)), x);
            close(GpuFloat::log(x, 2.0), GpuFloat::log2(x));
            close(GpuFloat::sin(GpuFloat::asin(x)), x);
            close(GpuFloat::cos(GpuFloat::acos(x)), x);
            close(GpuFloat::tan(GpuFloat::atan(x)), x);
            close(GpuFloat::sinh(GpuFloat::asinh(x)), x);
            close(GpuFloat::cosh(GpuFloat::acosh(1.0 + x)), 1.0 + x);
            close(GpuFloat::tanh(GpuFloat::atanh(x)), x);
            close(GpuFloat::cbrt(x * x * x), x);
            close(GpuFloat::hypot(3.0 * x, 4.0 * x), 5.0 * x);
            close(GpuFloat::atan2(x, 1.0), GpuFloat::atan(x));
            let (sine, cosine) = GpuFloat::sin_cos(x);
            close(GpuFloat::mul_add(sine, sine, cosine * cosine), 1.0);
            close(GpuFloat::sqrt(x) * GpuFloat::sqrt(x), x);
            close(GpuFloat::recip(x) * x, 1.0);
        }
    }
}
