//! f16 and bf16 arithmetic, on one value or two in a word: handlers that compute in software.
//! Decoding picks a handler.
//!
//! No manual documents the NaN of `fma.oob`. On an H200 (driver 580.159, 2026-11-21), all 65536
//! values of each operand were tried: a factor of 0x7ff7 or 0xfff7 gives zero, in f16 and in bf16.

use ptx::{AtomicOp, BinaryOp, Mode, TernaryOp, Type, UnaryOp};

use super::handler::Handler;
use super::handler::lanes;
use super::soft::{BF16, F16, Format, Number, Round};

/// One operation on three values of a 16-bit format. Operations with fewer operands ignore the
/// rest.
type Compute = fn([u16; 3], Format, Mode) -> u16;

const SIGN: u16 = 0x8000;
/// The NaN that `fma.oob` takes for "out of bounds", with either sign and in both formats, as on an
/// H200.
const OUT_OF_BOUNDS: u16 = 0x7ff7;

fn is_nan(bits: u16, format: Format) -> bool {
    format.decode(bits.into()) == Number::Nan
}

#[inline(never)]
fn finish(bits: u16, format: Format, mode: Mode) -> u16 {
    let bits = if mode.flush_subnormals { format.flush(bits.into()) as u16 } else { bits };
    let nan = is_nan(bits, format);
    if mode.saturate {
        let one = format.encode(Number::from_integer(1), Round::Nearest) as u16;
        if nan || bits & SIGN != 0 { 0 } else { bits.min(one) }
    } else if mode.relu && !nan && bits & SIGN != 0 {
        0
    } else {
        bits
    }
}

#[inline(never)]
fn arithmetic(inputs: [u16; 3], format: Format, mode: Mode, compute: impl Fn([Number; 3], Round) -> Number) -> u16 {
    let round = Round::of(mode.rounding);
    let read = |bits: u16| if mode.flush_subnormals { format.flush(bits.into()) } else { bits.into() };
    let numbers = inputs.map(|bits| format.decode(read(bits)));
    finish(format.encode(compute(numbers, round), round) as u16, format, mode)
}

/// A function of one value, computed in f64.
#[inline(never)]
fn function(inputs: [u16; 3], format: Format, mode: Mode, compute: impl Fn(f64) -> f64) -> u16 {
    let read = if mode.flush_subnormals { format.flush(inputs[0].into()) } else { inputs[0].into() };
    let value = f64::from_bits(super::soft::F64.encode(format.decode(read), Round::Nearest));
    let result = super::soft::F64.decode(compute(value).to_bits());
    finish(format.encode(result, Round::Nearest) as u16, format, mode)
}

#[inline(never)]
fn extremum([a, b, _]: [u16; 3], format: Format, mode: Mode, minimum: bool) -> u16 {
    let read = |bits: u16| if mode.flush_subnormals { format.flush(bits.into()) as u16 } else { bits };
    let (a, b) = (read(a), read(b));
    let (x, y) = if mode.xor_sign_abs { (a & !SIGN, b & !SIGN) } else { (a, b) };
    let nan = format.encode(Number::Nan, Round::Nearest) as u16;
    // Sign and magnitude as an integer that is ordered like the value, with -0 below +0.
    let key = |bits: u16| if bits & SIGN != 0 { -1 - i32::from(bits & !SIGN) } else { i32::from(bits) };
    let value = match (is_nan(x, format), is_nan(y, format)) {
        (true, true) => nan,
        (true, false) | (false, true) if mode.propagate_nan => nan,
        (true, false) => y,
        (false, true) => x,
        (false, false) if (key(x) < key(y)) == minimum => x,
        (false, false) => y,
    };
    let value = if mode.xor_sign_abs && value != nan { value | (a ^ b) & SIGN } else { value };
    finish(value, format, mode)
}

/// `atom.add`, `atom.min` and `atom.max` on the values in two words.
pub(crate) fn atomic_halves(op: AtomicOp, a: u32, b: u32, ty: Type) -> u32 {
    let format = if matches!(ty, Type::Bf16 | Type::Bf16x2) { BF16 } else { F16 };
    let one = |a: u32, b: u32| match op {
        AtomicOp::Add => {
            let sum = format.decode((a & 0xffff).into()).add(format.decode((b & 0xffff).into()), Round::Nearest);
            format.encode(sum, Round::Nearest) as u32
        }
        _ => extremum([a as u16, b as u16, 0], format, Mode::default(), op == AtomicOp::Minimum).into(),
    };
    match ty {
        Type::F16x2 | Type::Bf16x2 => one(a, b) | one(a >> 16, b >> 16) << 16,
        _ => one(a, b),
    }
}

/// Handlers for the four types, of an operation with one operand for each name.
macro_rules! halves {
    ($ty:expr, |$($name:ident),+| $compute:expr) => {
        match $ty {
            Type::F16 => halves!(u16, F16, $compute, $($name),+),
            Type::Bf16 => halves!(u16, BF16, $compute, $($name),+),
            Type::F16x2 => halves!(u32, F16, $compute, $($name),+),
            Type::Bf16x2 => halves!(u32, BF16, $compute, $($name),+),
            _ => return None,
        }
    };
    (u16, $format:expr, $compute:expr, $($name:ident),+) => {
        lanes!(mode => |$($name: u16),+| -> u16 {
            apply($compute, padded([$($name),+]), $format, mode)
        })
    };
    (u32, $format:expr, $compute:expr, $($name:ident),+) => {
        lanes!(mode => |$($name: u32),+| -> u32 {
            let low = apply($compute, padded([$($name as u16),+]), $format, mode);
            let high = apply($compute, padded([$(($name >> 16) as u16),+]), $format, mode);
            u32::from(low) | u32::from(high) << 16
        })
    };
}

/// Keeps the software arithmetic out of the loops over lanes.
#[inline(never)]
fn apply(compute: Compute, inputs: [u16; 3], format: Format, mode: Mode) -> u16 {
    compute(inputs, format, mode)
}

fn padded<const N: usize>(inputs: [u16; N]) -> [u16; 3] {
    std::array::from_fn(|index| inputs.get(index).copied().unwrap_or(0))
}

pub(super) fn unary(op: UnaryOp, ty: Type) -> Option<Handler> {
    Some(match op {
        UnaryOp::Absolute => halves!(ty, |a| |[a, ..], format, mode| finish(a & !SIGN, format, mode)),
        UnaryOp::Negate => halves!(ty, |a| |[a, ..], format, mode| finish(a ^ SIGN, format, mode)),
        UnaryOp::Exp2 => halves!(ty, |a| |inputs, format, mode| function(inputs, format, mode, f64::exp2)),
        UnaryOp::Tanh => halves!(ty, |a| |inputs, format, mode| function(inputs, format, mode, f64::tanh)),
        _ => return None,
    })
}

pub(super) fn binary(op: BinaryOp, ty: Type) -> Option<Handler> {
    Some(match op {
        BinaryOp::Add => halves!(ty, |a, b| |inputs, format, mode| {
            arithmetic(inputs, format, mode, |[a, b, _], round| a.add(b, round))
        }),
        BinaryOp::Subtract => halves!(ty, |a, b| |inputs, format, mode| {
            arithmetic(inputs, format, mode, |[a, b, _], round| a.add(b.negated(), round))
        }),
        BinaryOp::Multiply => halves!(ty, |a, b| |inputs, format, mode| {
            arithmetic(inputs, format, mode, |[a, b, _], _| a.multiply(b))
        }),
        BinaryOp::Minimum => halves!(ty, |a, b| |inputs, format, mode| extremum(inputs, format, mode, true)),
        BinaryOp::Maximum => halves!(ty, |a, b| |inputs, format, mode| extremum(inputs, format, mode, false)),
        _ => return None,
    })
}

pub(super) fn ternary(op: TernaryOp, ty: Type) -> Option<Handler> {
    Some(match op {
        TernaryOp::FusedMultiplyAdd => halves!(ty, |a, b, c| |inputs, format, mode| {
            if mode.out_of_bounds_zero && inputs[..2].iter().any(|&factor| factor & !SIGN == OUT_OF_BOUNDS) {
                return 0;
            }
            arithmetic(inputs, format, mode, |[a, b, c], round| a.multiply(b).add(c, round))
        }),
        _ => return None,
    })
}
