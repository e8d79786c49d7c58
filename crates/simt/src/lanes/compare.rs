//! Comparisons: the handlers of `setp`, `set`, `slct` and `testp`. Decoding picks a handler.

use ptx::{BooleanOp, Comparison, FloatProperty, Type};

use super::handler::Handler;
use super::handler::lanes;
use super::registers::{Registers, Value, value};
use super::rows::Operands;
use super::soft::{BF16, F16, F32, Format, Round};

/// An f32 with subnormal numbers read as zeros.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Flushed(f32);
value!(cold word Flushed, |raw| Flushed(f32::from_bits(F32.flush(raw.into()) as u32)), |value| value.0.to_bits());

/// The value of an f16 or a bf16.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Half(f32);
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Brain(f32);
value!(cold word Half, |raw| Half(to_single(raw, F16)), |value| value.0.to_bits());
value!(cold word Brain, |raw| Brain(to_single(raw, BF16)), |value| value.0.to_bits());

/// [`Half`] with subnormal numbers read as zeros.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct FlushedHalf(f32);
value!(cold word FlushedHalf, |raw| FlushedHalf(to_single(F16.flush(raw.into()) as u32, F16)), |value| value.0.to_bits());

fn to_single(raw: u32, format: Format) -> f32 {
    f32::from_bits(F32.encode(format.decode((raw & 0xffff).into()), Round::Nearest) as u32)
}

/// What follows a comparison: the boolean operation and the second destination, in operand `e`.
pub(crate) fn combination(op: Option<BooleanOp>, second: u32) -> u32 {
    let op = match op {
        None | Some(BooleanOp::And) => 0,
        Some(BooleanOp::Or) => 1,
        Some(BooleanOp::Xor) => 2,
    };
    op << 30 | second
}

fn combine(e: u32, compared: u32, with: u32) -> u32 {
    match e >> 30 {
        0 => compared & with,
        1 => compared | with,
        _ => compared ^ with,
    }
}

// NaN makes `!(a < b)` differ from `a >= b`, and `a < b || a > b` from `a != b`.
#[allow(clippy::neg_cmp_op_on_partial_ord, clippy::double_comparisons)]
#[inline(always)]
fn holds<T: PartialOrd>(comparison: Comparison, a: T, b: T) -> bool {
    match comparison {
        Comparison::Equal => a == b,
        // False for NaN.
        Comparison::NotEqual => a < b || a > b,
        Comparison::Less => a < b,
        Comparison::LessEqual => a <= b,
        Comparison::Greater => a > b,
        Comparison::GreaterEqual => a >= b,
        Comparison::EqualOrUnordered => !(a < b || a > b),
        Comparison::NotEqualOrUnordered => a != b,
        Comparison::LessOrUnordered => !(a >= b),
        Comparison::LessEqualOrUnordered => !(a > b),
        Comparison::GreaterOrUnordered => !(a <= b),
        Comparison::GreaterEqualOrUnordered => !(a < b),
        Comparison::Ordered => a <= b || a > b,
        Comparison::Unordered => !(a <= b || a > b),
    }
}

/// [`holds`], kept out of loops that do not know the comparison.
#[inline(never)]
fn holds_any<T: PartialOrd>(comparison: Comparison, a: T, b: T) -> bool {
    holds(comparison, a, b)
}

const COMPARISONS: &[Comparison] = Comparison::ALL;

/// The handler of `setp`: predicate `d` and the row in `e` (see [`combination`]) are written; `a`
/// and `b` are compared, and the result is combined with predicate `c`.
pub(crate) fn compare(comparison: Comparison, ty: Type, flush: bool) -> Option<Handler> {
    fn run<T: Value + PartialOrd, const COMPARISON: usize>(
        registers: &mut Registers<'_>,
        operands: &Operands,
        mask: u32,
    ) {
        let compared = registers.test2::<true, T>(operands.a, operands.b, |a, b| holds(COMPARISONS[COMPARISON], a, b));
        let with = registers.predicate(operands.c);
        let (first, second) = (combine(operands.e, compared, with), combine(operands.e, !compared, with));
        registers.set_predicate(operands.d, mask, first);
        registers.set_predicate(operands.e & !(3 << 30), mask, second);
    }
    fn ordered<T: Value + PartialOrd>(comparison: Comparison) -> Option<Handler> {
        Some(match comparison {
            Comparison::Equal => run::<T, 0>,
            Comparison::NotEqual => run::<T, 1>,
            Comparison::Less => run::<T, 2>,
            Comparison::LessEqual => run::<T, 3>,
            Comparison::Greater => run::<T, 4>,
            Comparison::GreaterEqual => run::<T, 5>,
            _ => return None,
        })
    }
    fn unordered<T: Value + PartialOrd>(comparison: Comparison) -> Option<Handler> {
        Some(match comparison {
            Comparison::EqualOrUnordered => run::<T, 6>,
            Comparison::NotEqualOrUnordered => run::<T, 7>,
            Comparison::LessOrUnordered => run::<T, 8>,
            Comparison::LessEqualOrUnordered => run::<T, 9>,
            Comparison::GreaterOrUnordered => run::<T, 10>,
            Comparison::GreaterEqualOrUnordered => run::<T, 11>,
            Comparison::Ordered => run::<T, 12>,
            Comparison::Unordered => run::<T, 13>,
            other => return ordered::<T>(other),
        })
    }
    match ty {
        Type::B16 | Type::U16 => ordered::<u16>(comparison),
        Type::S16 => ordered::<i16>(comparison),
        Type::B32 | Type::U32 => ordered::<u32>(comparison),
        Type::S32 => ordered::<i32>(comparison),
        Type::B64 | Type::U64 => ordered::<u64>(comparison),
        Type::S64 => ordered::<i64>(comparison),
        Type::F32 if flush => unordered::<Flushed>(comparison),
        Type::F32 => unordered::<f32>(comparison),
        Type::F64 => unordered::<f64>(comparison),
        Type::F16 if flush => unordered::<FlushedHalf>(comparison),
        Type::F16 => unordered::<Half>(comparison),
        Type::Bf16 => unordered::<Brain>(comparison),
        _ => None,
    }
}

/// The handler of `set`, and operand `e`: like [`compare`], but row `d` gets all ones, or one as a
/// float.
pub(crate) fn set(
    comparison: Comparison,
    to: Type,
    ty: Type,
    flush: bool,
    op: Option<BooleanOp>,
) -> Option<(Handler, u32)> {
    fn run<T: Value + PartialOrd>(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
        const TRUE: [u32; 5] = [u32::MAX, 0xffff, 0x3f80_0000, 0x3c00, 0x3f80];
        let comparison = COMPARISONS[(operands.e & 15) as usize % COMPARISONS.len()];
        let compared = registers.test2::<false, T>(operands.a, operands.b, |a, b| holds_any(comparison, a, b));
        let result = combine(operands.e, compared, registers.predicate(operands.c));
        let yes = TRUE[(operands.e >> 4 & 7) as usize % TRUE.len()];
        registers.set_word(
            operands.d,
            mask,
            &std::array::from_fn(|lane| if result >> lane & 1 == 1 { yes } else { 0 }),
        );
    }
    let handler: Handler = match ty {
        Type::B16 | Type::U16 => run::<u16>,
        Type::S16 => run::<i16>,
        Type::B32 | Type::U32 => run::<u32>,
        Type::S32 => run::<i32>,
        Type::B64 | Type::U64 => run::<u64>,
        Type::S64 => run::<i64>,
        Type::F32 if flush => run::<Flushed>,
        Type::F32 => run::<f32>,
        Type::F64 => run::<f64>,
        Type::F16 if flush => run::<FlushedHalf>,
        Type::F16 => run::<Half>,
        Type::Bf16 => run::<Brain>,
        _ => return None,
    };
    let yes = match to {
        Type::U32 | Type::S32 | Type::B32 => 0,
        Type::U16 | Type::S16 | Type::B16 => 1,
        Type::F32 => 2,
        Type::F16 => 3,
        Type::Bf16 => 4,
        _ => return None,
    };
    let index = COMPARISONS.iter().position(|&candidate| candidate == comparison)?;
    Some((handler, combination(op, 0) | yes << 4 | index as u32))
}

/// The handler of `set` and `setp` on two halves in a word, and the low bits of operand `e` (see
/// [`combination`]): the result of the lower half and that of the upper one. For `setp`, `to` is a
/// predicate, and `second` the row of the upper result.
pub(crate) fn set_pair(
    comparison: Comparison,
    to: Type,
    ty: Type,
    flush: bool,
    op: Option<BooleanOp>,
) -> Option<(Handler, u32)> {
    let bfloat = match ty {
        Type::F16x2 => false,
        Type::Bf16x2 => true,
        _ => return None,
    };
    let index = COMPARISONS.iter().position(|&candidate| candidate == comparison)? as u32;
    let e = combination(op, 0) | index | u32::from(flush) << 4 | u32::from(bfloat) << 5;
    let (floats, predicates) = (u32::from(to.kind() == ptx::Kind::Float), to == Type::Pred);
    let handler: Handler = if predicates { set_pair_of_predicates } else { set_pair_of_halves };
    Some((handler, e | floats << 6))
}

/// The lanes in which the lower halves compare, and those in which the upper ones do.
fn compare_halves(registers: &Registers<'_>, operands: &Operands) -> [u32; 2] {
    let comparison = COMPARISONS[(operands.e & 15) as usize % COMPARISONS.len()];
    let format = if operands.e >> 5 & 1 == 1 { BF16 } else { F16 };
    let read = |bits: u32| {
        let bits = if operands.e >> 4 & 1 == 1 { format.flush((bits & 0xffff).into()) as u32 } else { bits };
        to_single(bits, format)
    };
    let (a, b) = (registers.word(operands.a), registers.word(operands.b));
    let with = registers.predicate(operands.c);
    [0, 16].map(|shift| {
        let compared = (0..32).fold(0, |lanes, lane| {
            lanes | u32::from(holds_any(comparison, read(a[lane] >> shift), read(b[lane] >> shift))) << lane
        });
        combine(operands.e, compared, with)
    })
}

fn set_pair_of_halves(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
    let [low, high] = compare_halves(registers, operands);
    let yes = match (operands.e >> 6 & 1, operands.e >> 5 & 1) {
        (0, _) => 0xffff,
        (_, 0) => 0x3c00,
        _ => 0x3f80,
    };
    let half = |lanes: u32, lane: usize| if lanes >> lane & 1 == 1 { yes } else { 0 };
    registers.set_word(operands.d, mask, &std::array::from_fn(|lane| half(low, lane) | half(high, lane) << 16));
}

/// Row `d` is the first of two predicates: the results go to it and to the next one.
fn set_pair_of_predicates(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
    let [low, high] = compare_halves(registers, operands);
    registers.set_predicate(operands.d, mask, low);
    registers.set_predicate(operands.d + 1, mask, high);
}

/// The handler of `slct`: `d = c >= 0 ? a : b`.
pub(crate) fn select_by_sign(ty: Type, selector: Type, flush: bool) -> Option<Handler> {
    Some(match (ty.bits(), selector) {
        (32, Type::S32) => lanes!(cold |a: u32, b: u32, c: i32| -> u32 { if c >= 0 { a } else { b } }),
        (64, Type::S32) => lanes!(cold |a: u64, b: u64, c: i32| -> u64 { if c >= 0 { a } else { b } }),
        (16, Type::S32) => lanes!(cold |a: u16, b: u16, c: i32| -> u16 { if c >= 0 { a } else { b } }),
        (32, Type::F32) if flush => lanes!(cold |a: u32, b: u32, c: Flushed| -> u32 { if c.0 >= 0.0 { a } else { b } }),
        (64, Type::F32) if flush => lanes!(cold |a: u64, b: u64, c: Flushed| -> u64 { if c.0 >= 0.0 { a } else { b } }),
        (16, Type::F32) if flush => lanes!(cold |a: u16, b: u16, c: Flushed| -> u16 { if c.0 >= 0.0 { a } else { b } }),
        (32, Type::F32) => lanes!(cold |a: u32, b: u32, c: f32| -> u32 { if c >= 0.0 { a } else { b } }),
        (64, Type::F32) => lanes!(cold |a: u64, b: u64, c: f32| -> u64 { if c >= 0.0 { a } else { b } }),
        (16, Type::F32) => lanes!(cold |a: u16, b: u16, c: f32| -> u16 { if c >= 0.0 { a } else { b } }),
        _ => return None,
    })
}

/// The handler of `testp`: predicate `d` says whether `a` has the property.
pub(crate) fn test_property(property: FloatProperty, ty: Type) -> Option<Handler> {
    macro_rules! test {
        ($T:ty, |$a:ident| $has:expr) => {{
            fn run(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
                let result = registers.test2::<false, $T>(operands.a, operands.a, |$a, _| $has);
                registers.set_predicate(operands.d, mask, result);
            }
            run as Handler
        }};
    }
    macro_rules! by_property {
        ($T:ty) => {
            match property {
                FloatProperty::Finite => test!($T, |a| a.is_finite()),
                FloatProperty::Infinite => test!($T, |a| a.is_infinite()),
                FloatProperty::Number => test!($T, |a| !a.is_nan()),
                FloatProperty::NotANumber => test!($T, |a| a.is_nan()),
                // Zeros count as normal (PTX ISA, "testp").
                FloatProperty::Normal => test!($T, |a| a.is_normal() || a == 0.0),
                FloatProperty::Subnormal => test!($T, |a| a.is_subnormal()),
            }
        };
    }
    Some(match ty {
        Type::F32 => by_property!(f32),
        Type::F64 => by_property!(f64),
        _ => return None,
    })
}
