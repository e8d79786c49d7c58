//! f32 and f64 arithmetic: the handlers of `add`, `mul`, `fma`, `sqrt`, `sin` and the like.
//! Decoding picks a handler.

use ptx::{BinaryOp, Mode, Precision, Rounding, TernaryOp, Type, UnaryOp};

use super::handler::Handler;
use super::handler::lanes;
use super::registers::value;
use super::soft::{self, Format, Number, Round};

/// The NaN that f32 operations return.
const SINGLE_NAN: u32 = 0x7fff_ffff;

/// An f32 as the result of arithmetic: NaN has one form.
#[derive(Clone, Copy)]
struct Single(f32);
value!(word Single, |raw| Single(f32::from_bits(raw)), |value| canonical(value.0));

/// [`Single`] with subnormal numbers read and written as zeros.
#[derive(Clone, Copy)]
struct Flushed(f32);
value!(word Flushed, |raw| Flushed(flush(f32::from_bits(raw))), |value| canonical(flush(value.0)));

/// The bits of a result. (Not a float: the compiler may replace one NaN by another.)
#[inline(always)]
fn canonical(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits & 0x7fff_ffff > 0x7f80_0000 { SINGLE_NAN } else { bits }
}

#[inline(always)]
fn flush(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

/// A power of two that moves results around 2^-126 away from the subnormal numbers.
const UP: f32 = (1u64 << 32) as f32;

/// A result with subnormal numbers as zeros. `scaled` is the same result times [`UP`], and so
/// rounded as if there were no subnormal numbers: one that this rounds to less than 2^-126 is a
/// zero too, as on an H200.
#[inline(always)]
fn flush_tiny(value: f32, scaled: f32) -> Single {
    let bits = value.to_bits();
    Single(f32::from_bits(if scaled.abs() < f32::MIN_POSITIVE * UP { bits & 0x8000_0000 } else { bits }))
}

/// The bits of a result. f64 has no canonical NaN: the first NaN operand is returned, made quiet.
#[inline(always)]
fn quiet(value: f64, a: f64, b: f64) -> u64 {
    const QUIET: u64 = 1 << 51;
    let is_nan = |bits: u64| bits & !(1 << 63) > 0x7ff0_0000_0000_0000;
    let (value, a, b) = (value.to_bits(), a.to_bits(), b.to_bits());
    if !is_nan(value) {
        value
    } else if is_nan(a) {
        a | QUIET
    } else if is_nan(b) {
        b | QUIET
    } else {
        0xfff8_0000_0000_0000
    }
}

/// The sum of two f32, as `atom.add` computes it.
pub(crate) fn add_single(a: u32, b: u32, flush_subnormals: bool) -> u32 {
    let (a, b) = (f32::from_bits(a), f32::from_bits(b));
    if flush_subnormals { canonical(flush(flush(a) + flush(b))) } else { canonical(a + b) }
}

/// The sum of two f64, as `atom.add` computes it.
pub(crate) fn add_double(a: u64, b: u64) -> u64 {
    let (a, b) = (f64::from_bits(a), f64::from_bits(b));
    quiet(a + b, a, b)
}

/// Whether the host's arithmetic computes it: to nearest, no clamping.
fn is_plain(mode: Mode) -> bool {
    matches!(mode.rounding, Rounding::Default | Rounding::Nearest) && !mode.saturate && !mode.relu
}

/// f32 arithmetic with any modifiers, in software.
#[inline(never)]
fn soft_single(mode: Mode, inputs: [f32; 3], compute: impl Fn([Number; 3], Round) -> Number) -> Single {
    let round = Round::of(mode.rounding);
    let read = |value: f32| if mode.flush_subnormals { flush(value) } else { value };
    let number = compute(inputs.map(|value| soft::F32.decode(read(value).to_bits().into())), round);
    let bits = match mode.flush_subnormals {
        true => soft::F32.encode_flushed(number, round),
        false => soft::F32.encode(number, round),
    };
    finish(f32::from_bits(bits as u32), mode)
}

/// Applies the modifiers that change a result.
#[inline(always)]
fn finish(value: f32, mode: Mode) -> Single {
    let value = if mode.flush_subnormals { flush(value) } else { value };
    Single(if mode.saturate { if value > 0.0 { value.min(1.0) } else { 0.0 } } else { value })
}

/// f64 arithmetic with any rounding, in software.
#[inline(never)]
fn soft_double(mode: Mode, inputs: [f64; 3], compute: impl Fn([Number; 3], Round) -> Number) -> u64 {
    let round = Round::of(mode.rounding);
    let format: Format = soft::F64;
    let value =
        f64::from_bits(format.encode(compute(inputs.map(|value| format.decode(value.to_bits())), round), round));
    let nan = if inputs[0].is_nan() || !inputs[1].is_nan() { inputs[0] } else { inputs[1] };
    quiet(value, nan, inputs[2])
}

/// Handlers of f32 arithmetic: on the host's arithmetic if `$mode` is plain, with and without
/// flushing; otherwise in software. Operations that can round a number up to 2^-126 have a second
/// expression: the result times [`UP`].
macro_rules! single {
    ($mode:expr, |$a:ident $(, $more:ident)*| ($plain:expr, $scaled:expr), $($soft:tt)*) => {
        match is_plain($mode) && $mode.flush_subnormals {
            true => lanes!(|$a: Flushed $(, $more: Flushed)*| -> Single {
                let ($a $(, $more)*) = ($a.0 $(, $more.0)*);
                flush_tiny($plain, $scaled)
            }),
            false => single!($mode, |$a $(, $more)*| $plain, $($soft)*),
        }
    };
    ($mode:expr, |$a:ident $(, $more:ident)*| $plain:expr, |$numbers:ident, $round:ident| $soft:expr) => {
        match (is_plain($mode), $mode.flush_subnormals) {
            (true, false) => lanes!(|$a: Single $(, $more: Single)*| -> Single {
                #[allow(unused_parens)]
                let ($a $(, $more)*) = ($a.0 $(, $more.0)*);
                Single($plain)
            }),
            (true, true) => lanes!(|$a: Flushed $(, $more: Flushed)*| -> Flushed {
                #[allow(unused_parens)]
                let ($a $(, $more)*) = ($a.0 $(, $more.0)*);
                Flushed($plain)
            }),
            (false, _) => lanes!(mode => |$a: f32 $(, $more: f32)*| -> Single {
                let mut inputs = [0.0; 3];
                for (input, value) in inputs.iter_mut().zip([$a $(, $more)*]) {
                    *input = value;
                }
                soft_single(mode, inputs, |$numbers, $round| $soft)
            }),
        }
    };
}

/// Two f32 in a register, the first in the lower half.
#[derive(Clone, Copy)]
struct Pair([f32; 2]);
value!(wide Pair, |raw| Pair([raw as u32, (raw >> 32) as u32].map(f32::from_bits)), |value| join(value.0.map(canonical)));

#[inline(always)]
fn join([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// [`single`] for one f32 or two.
macro_rules! singles {
    ($ty:expr, $($rest:tt)*) => {
        match $ty {
            Type::F32 => single!($($rest)*),
            _ => pair!($($rest)*),
        }
    };
}

/// [`single`] for two f32.
macro_rules! pair {
    ($mode:expr, |$($name:ident),*| ($plain:expr, $scaled:expr), $($soft:tt)*) => {
        pair!(@ $mode, |$($name),*| $plain, flush_tiny($plain, $scaled).0, $($soft)*)
    };
    ($mode:expr, |$($name:ident),*| $plain:expr, $($soft:tt)*) => {
        pair!(@ $mode, |$($name),*| $plain, flush($plain), $($soft)*)
    };
    (@ $mode:expr, |$($name:ident),*| $plain:expr, $flushed:expr, |$numbers:ident, $round:ident| $soft:expr) => {
        match (is_plain($mode), $mode.flush_subnormals) {
            (true, false) => lanes!(|$($name: Pair),*| -> Pair { pair!(each |$($name),*| $plain) }),
            (true, true) => lanes!(|$($name: Pair),*| -> Pair {
                $(let $name = Pair([flush($name.0[0]), flush($name.0[1])]);)*
                pair!(each |$($name),*| $flushed)
            }),
            (false, _) => lanes!(mode => |$($name: Pair),*| -> Pair {
                pair!(each |$($name),*| {
                    let mut inputs = [0.0; 3];
                    for (input, value) in inputs.iter_mut().zip([$($name),*]) {
                        *input = value;
                    }
                    soft_single(mode, inputs, |$numbers, $round| $soft).0
                })
            }),
        }
    };
    (each |$($name:ident),*| $value:expr) => {
        Pair([
            { let ($($name),*) = ($($name.0[0]),*); $value },
            { let ($($name),*) = ($($name.0[1]),*); $value },
        ])
    };
}

/// [`single`] for f64.
macro_rules! double {
    ($mode:expr, |$a:ident $(, $more:ident)*| $plain:expr, |$numbers:ident, $round:ident| $soft:expr) => {
        if is_plain($mode) {
            lanes!(|$a: f64 $(, $more: f64)*| -> u64 { $plain })
        } else {
            lanes!(mode => |$a: f64 $(, $more: f64)*| -> u64 {
                let mut inputs = [0.0; 3];
                for (input, value) in inputs.iter_mut().zip([$a $(, $more)*]) {
                    *input = value;
                }
                soft_double(mode, inputs, |$numbers, $round| $soft)
            })
        }
    };
}

/// A function of one f32, computed in f64.
macro_rules! by_double {
    (|$x:ident| $value:expr) => {
        lanes!(mode => |a: f32| -> Single {
            let $x = f64::from(if mode.flush_subnormals { flush(a) } else { a });
            finish(($value) as f32, mode)
        })
    };
}

pub(super) fn unary(op: UnaryOp, ty: Type, mode: Mode) -> Option<Handler> {
    let single = ty == Type::F32;
    let exact = mode.precision == Precision::Exact;
    Some(match op {
        UnaryOp::Absolute if single => match mode.flush_subnormals {
            true => lanes!(|a: Flushed| -> Flushed { Flushed(a.0.abs()) }),
            false => lanes!(|a: Single| -> Single { Single(a.0.abs()) }),
        },
        UnaryOp::Negate if single => match mode.flush_subnormals {
            true => lanes!(|a: Flushed| -> Flushed { Flushed(-a.0) }),
            false => lanes!(|a: Single| -> Single { Single(-a.0) }),
        },
        UnaryOp::Absolute => lanes!(|a: f64| -> f64 { a.abs() }),
        UnaryOp::Negate => lanes!(|a: f64| -> f64 { -a }),
        UnaryOp::Reciprocal if single && exact => {
            single!(mode, |a| 1.0 / a, |numbers, _round| Number::from_integer(1).divide(numbers[0]))
        }
        UnaryOp::Reciprocal if single => by_double!(|x| 1.0 / x),
        UnaryOp::Reciprocal if exact => {
            double!(mode, |a| quiet(1.0 / a, a, a), |numbers, _round| Number::from_integer(1).divide(numbers[0]))
        }
        // The hardware's rough start for a Newton iteration: the upper half of the reciprocal.
        UnaryOp::Reciprocal => lanes!(cold |a: f64| -> u64 { upper_half(quiet(1.0 / flush_double(a), a, a)) }),
        UnaryOp::ReciprocalSquareRoot if single => by_double!(|x| 1.0 / x.sqrt()),
        UnaryOp::ReciprocalSquareRoot if exact => lanes!(cold |a: f64| -> u64 { quiet(1.0 / a.sqrt(), a, a) }),
        UnaryOp::ReciprocalSquareRoot if mode.flush_subnormals => {
            lanes!(cold |a: f64| -> u64 { upper_half(quiet(1.0 / flush_double(a).sqrt(), a, a)) })
        }
        UnaryOp::ReciprocalSquareRoot => lanes!(cold |a: f64| -> u64 { quiet(1.0 / a.sqrt(), a, a) }),
        UnaryOp::SquareRoot if single && exact => {
            single!(mode, |a| a.sqrt(), |numbers, _round| numbers[0].square_root())
        }
        UnaryOp::SquareRoot if single => by_double!(|x| x.sqrt()),
        UnaryOp::SquareRoot => double!(mode, |a| quiet(a.sqrt(), a, a), |numbers, _round| numbers[0].square_root()),
        UnaryOp::Sine if single => by_double!(|x| x.sin()),
        UnaryOp::Cosine if single => by_double!(|x| x.cos()),
        UnaryOp::Log2 if single => by_double!(|x| x.log2()),
        UnaryOp::Exp2 if single => by_double!(|x| x.exp2()),
        UnaryOp::Tanh if single => by_double!(|x| x.tanh()),
        _ => return None,
    })
}

fn flush_double(value: f64) -> f64 {
    if value.is_subnormal() { 0f64.copysign(value) } else { value }
}

/// `.approx.ftz.f64` operations keep the sign, the exponent and 20 bits.
fn upper_half(bits: u64) -> u64 {
    flush_double(f64::from_bits(bits & 0xffff_ffff_0000_0000)).to_bits()
}

/// `min` and `max`: a number wins over a NaN, unless `.NaN`; -0 is less than +0.
macro_rules! extremum {
    ($mode:expr, $Type:ident, $a:expr, $b:expr, $nan:expr, $minimum:expr) => {{
        let (mode, a, b): (Mode, $Type, $Type) = ($mode, $a, $b);
        let (x, y) = if mode.xor_sign_abs { (a.abs(), b.abs()) } else { (a, b) };
        let less = x < y || x == y && x.is_sign_negative();
        let value = if less == $minimum { x } else { y };
        let value = if x.is_nan() {
            y
        } else if y.is_nan() {
            x
        } else {
            value
        };
        let signed = if mode.xor_sign_abs {
            value.copysign(if a.is_sign_negative() != b.is_sign_negative() { -1.0 } else { 1.0 })
        } else {
            value
        };
        if value.is_nan() || mode.propagate_nan && (a.is_nan() || b.is_nan()) { $nan } else { signed }
    }};
}

/// PTX ISA, "div": the quotient by a divisor above 2^126 is zero, and NaN for an infinite dividend.
#[inline(always)]
fn divide_approximately(a: f32, b: f32) -> f32 {
    const LARGEST: f32 = f32::from_bits(0x7e80_0000);
    let (product, quotient) = (a * 0f32.copysign(b), a / b);
    if b.abs() > LARGEST { product } else { quotient }
}

pub(super) fn binary(op: BinaryOp, ty: Type, mode: Mode) -> Option<Handler> {
    let single = ty == Type::F32;
    let singles = matches!(ty, Type::F32 | Type::F32x2);
    let ftz = mode.flush_subnormals;
    let bare = !mode.xor_sign_abs && !mode.propagate_nan && !ftz;
    Some(match op {
        BinaryOp::Add if singles => {
            singles!(ty, mode, |a, b| a + b, |numbers, round| numbers[0].add(numbers[1], round))
        }
        BinaryOp::Subtract if singles => {
            singles!(ty, mode, |a, b| a - b, |numbers, round| numbers[0].add(numbers[1].negated(), round))
        }
        BinaryOp::Multiply if singles => {
            singles!(ty, mode, |a, b| (a * b, a * UP * b), |numbers, _round| numbers[0].multiply(numbers[1]))
        }
        BinaryOp::Divide if single && mode.precision == Precision::Exact => {
            single!(mode, |a, b| (a / b, a * UP / b), |numbers, _round| numbers[0].divide(numbers[1]))
        }
        // Approximate division may be more precise than required.
        BinaryOp::Divide if single && mode.precision == Precision::Approximate && ftz => {
            lanes!(|a: Flushed, b: Flushed| -> Single {
                flush_tiny(divide_approximately(a.0, b.0), divide_approximately(a.0 * UP, b.0))
            })
        }
        BinaryOp::Divide if single && mode.precision == Precision::Approximate => {
            lanes!(|a: Single, b: Single| -> Single { Single(divide_approximately(a.0, b.0)) })
        }
        BinaryOp::Divide if single && ftz => {
            lanes!(|a: Flushed, b: Flushed| -> Single { flush_tiny(a.0 / b.0, a.0 * UP / b.0) })
        }
        BinaryOp::Divide if single => lanes!(|a: Single, b: Single| -> Single { Single(a.0 / b.0) }),
        BinaryOp::Add => double!(mode, |a, b| quiet(a + b, a, b), |numbers, round| numbers[0].add(numbers[1], round)),
        BinaryOp::Subtract => {
            double!(mode, |a, b| quiet(a - b, a, b), |numbers, round| numbers[0].add(numbers[1].negated(), round))
        }
        BinaryOp::Multiply => {
            double!(mode, |a, b| quiet(a * b, a, b), |numbers, _round| numbers[0].multiply(numbers[1]))
        }
        BinaryOp::Divide => {
            double!(mode, |a, b| quiet(a / b, a, b), |numbers, _round| numbers[0].divide(numbers[1]))
        }
        BinaryOp::Minimum if single && bare => {
            lanes!(|a: f32, b: f32| -> Single { Single(extremum!(Mode::default(), f32, a, b, f32::NAN, true)) })
        }
        BinaryOp::Maximum if single && bare => {
            lanes!(|a: f32, b: f32| -> Single { Single(extremum!(Mode::default(), f32, a, b, f32::NAN, false)) })
        }
        BinaryOp::Minimum if single && ftz => lanes!(mode => |a: Flushed, b: Flushed| -> Flushed {
            Flushed(extremum!(mode, f32, a.0, b.0, f32::NAN, true))
        }),
        BinaryOp::Maximum if single && ftz => lanes!(mode => |a: Flushed, b: Flushed| -> Flushed {
            Flushed(extremum!(mode, f32, a.0, b.0, f32::NAN, false))
        }),
        BinaryOp::Minimum if single => lanes!(mode => |a: f32, b: f32| -> Single {
            Single(extremum!(mode, f32, a, b, f32::NAN, true))
        }),
        BinaryOp::Maximum if single => lanes!(mode => |a: f32, b: f32| -> Single {
            Single(extremum!(mode, f32, a, b, f32::NAN, false))
        }),
        BinaryOp::Minimum => {
            lanes!(|a: f64, b: f64| -> u64 { quiet(extremum!(Mode::default(), f64, a, b, f64::NAN, true), a, b) })
        }
        BinaryOp::Maximum => {
            lanes!(|a: f64, b: f64| -> u64 { quiet(extremum!(Mode::default(), f64, a, b, f64::NAN, false), a, b) })
        }
        BinaryOp::CopySign if single => lanes!(|a: f32, b: f32| -> f32 { b.copysign(a) }),
        BinaryOp::CopySign => lanes!(|a: f64, b: f64| -> f64 { b.copysign(a) }),
        _ => return None,
    })
}

/// `min` and `max` of three f32, each read as `$read` says.
macro_rules! extremum_of_three {
    ($mode:expr, $minimum:expr, |$value:ident| $read:expr) => {{
        macro_rules! of {
            ($with:expr, $a:expr, $b:expr, $c:expr) => {{
                let [a, b, c]: [f32; 3] = [{ let $value = $a; $read }, { let $value = $b; $read }, { let $value = $c; $read }];
                let first = extremum!($with, f32, a, b, f32::NAN, $minimum);
                extremum!($with, f32, first, c, f32::NAN, $minimum)
            }};
        }
        match ($mode.propagate_nan, $mode.flush_subnormals) {
            (false, false) => lanes!(|a: f32, b: f32, c: f32| -> Single { Single(of!(Mode::default(), a, b, c)) }),
            (true, false) => lanes!(mode => |a: f32, b: f32, c: f32| -> Single { Single(of!(mode, a, b, c)) }),
            (_, true) => lanes!(mode => |a: Flushed, b: Flushed, c: Flushed| -> Flushed {
                Flushed(of!(mode, a.0, b.0, c.0))
            }),
        }
    }};
}

pub(super) fn ternary(op: TernaryOp, ty: Type, mode: Mode) -> Option<Handler> {
    Some(match (op, ty) {
        (TernaryOp::FusedMultiplyAdd, Type::F32 | Type::F32x2) => {
            singles!(ty, mode, |a, b, c| (a.mul_add(b, c), (a * UP).mul_add(b, c * UP)), |numbers, round| {
                numbers[0].multiply(numbers[1]).add(numbers[2], round)
            })
        }
        (TernaryOp::Minimum3 { absolute: false }, Type::F32) => extremum_of_three!(mode, true, |value| value),
        (TernaryOp::Minimum3 { absolute: true }, Type::F32) => extremum_of_three!(mode, true, |value| value.abs()),
        (TernaryOp::Maximum3 { absolute: false }, Type::F32) => extremum_of_three!(mode, false, |value| value),
        (TernaryOp::Maximum3 { absolute: true }, Type::F32) => extremum_of_three!(mode, false, |value| value.abs()),
        (TernaryOp::FusedMultiplyAdd, Type::F64) => double!(
            mode,
            |a, b, c| quiet(a.mul_add(b, c), if a.is_nan() || !b.is_nan() { a } else { b }, c),
            |numbers, round| numbers[0].multiply(numbers[1]).add(numbers[2], round)
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
