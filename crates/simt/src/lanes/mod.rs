//! Arithmetic on the 32 lanes of a warp at once.
//!
//! A register of a warp is a *row*: 32 words, or 32 double words for 64-bit types; narrower values are zero-extended.
//! Predicate registers are bit masks. A [`Handler`] is the code of one instruction: the operation, its types and modifiers
//! folded into one function, chosen when the program is decoded, that computes all 32 lanes and keeps those that are
//! active. The loops over lanes have fixed length and no branches, so that the compiler vectorises them; each is compiled
//! for the instruction sets that [`pulp`] knows, and the best one that the host has is taken.
//!
//! What the operations mean is PTX ISA, "Instruction Set". Where PTX leaves a result open (`docs/SANITIZER.md` has the list), it is:
//!
//! - integer division by zero: all bits set in the quotient and in the remainder, as on an H200;
//! - f32 NaN: 0x7fffffff, as the hardware; f64 NaN: the first NaN operand, made quiet, or 0xfff8000000000000;
//! - `.approx` and `.full` operations, and functions such as `sin`: computed in f64 and rounded to f32, which is within the
//!   hardware's documented error.
//!
//! `pulp` chooses the instruction set at run time, which keeps `unsafe` out of this crate. Whatever
//! runs inside `Arch::dispatch` must be inlined all the way and have no closures, or it is compiled
//! without the host's instruction set.

mod bits;
mod compare;
mod convert;
mod float;
mod half;
mod integer;
mod registers;
mod soft;
pub(crate) mod tensor;
mod video;

pub(crate) use compare::{combination, compare, select_by_sign, set, set_pair, test_property};
pub(crate) use convert::{convert, convert_pack, convert_pair, float_immediate};
pub(crate) use float::{add_double, add_single};
pub(crate) use half::atomic_halves;
pub(crate) use registers::{Base, Constants, Registers, Value, blend, value};
pub(crate) use video::{scalar_video, simd_video};

use ptx::{BinaryOp, CarryOp, Mode, Precision, Rounding, TernaryOp, Type, UnaryOp};

/// All 32 lanes.
pub(crate) const FULL: u32 = u32::MAX;
/// A register of 32 bits or fewer, for the 32 lanes of a warp.
pub(crate) type Row = [u32; 32];
/// A 64-bit register.
pub(crate) type WideRow = [u64; 32];

/// Bit of an operand: it names a row of the [`Constants`], not of the current frame.
pub(crate) const FIXED: u32 = 1 << 31;
/// Bit of a predicate operand: negated.
pub(crate) const NEGATED: u32 = 1 << 30;
/// The predicate operand that is false in every lane.
pub(crate) const NEVER: u32 = FIXED;
/// The predicate operand that is true in every lane.
pub(crate) const ALWAYS: u32 = FIXED | NEGATED;

/// What an instruction works on: row numbers, mostly. `d` is written, `a`, `b` and `c` are read, `e` is what else the
/// handler wants to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) struct Operands {
    pub d: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    pub e: u32,
}

/// The code of one instruction: registers, operands, active lanes.
pub(crate) type Handler = fn(&mut Registers<'_>, &Operands, u32);

/// A [`Handler`] that computes one expression of one, two or three values in each lane. With `mode` before it, the
/// expression may use the modifiers that stand in operand `e`; with `mode` or `cold`, it is compiled for one instruction
/// set only, as what is slow or rare is.
macro_rules! lanes {
    (@$hot:literal $mode:ident |$a:ident: $A:ty| -> $R:ty $body:block) => {{
        fn run(registers: &mut $crate::lanes::Registers<'_>, operands: &$crate::lanes::Operands, mask: u32) {
            let $mode = $crate::lanes::unpack(operands.e);
            registers.map1::<$hot, $A, $R>(operands, mask, |$a| $body);
        }
        run as $crate::lanes::Handler
    }};
    (@$hot:literal $mode:ident |$a:ident: $A:ty, $b:ident: $B:ty| -> $R:ty $body:block) => {{
        fn run(registers: &mut $crate::lanes::Registers<'_>, operands: &$crate::lanes::Operands, mask: u32) {
            let $mode = $crate::lanes::unpack(operands.e);
            registers.map2::<$hot, $A, $B, $R>(operands, mask, |$a, $b| $body);
        }
        run as $crate::lanes::Handler
    }};
    (@$hot:literal $mode:ident |$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty| -> $R:ty $body:block) => {{
        fn run(registers: &mut $crate::lanes::Registers<'_>, operands: &$crate::lanes::Operands, mask: u32) {
            let $mode = $crate::lanes::unpack(operands.e);
            registers.map3::<$hot, $A, $B, $C, $R>(operands, mask, |$a, $b, $c| $body);
        }
        run as $crate::lanes::Handler
    }};
    ($mode:ident => |$($name:ident: $Type:ty),+| -> $R:ty $body:block) => {
        $crate::lanes::lanes!(@false $mode |$($name: $Type),+| -> $R $body)
    };
    (cold |$($name:ident: $Type:ty),+| -> $R:ty $body:block) => {
        $crate::lanes::lanes!(@false _mode |$($name: $Type),+| -> $R $body)
    };
    (|$($name:ident: $Type:ty),+| -> $R:ty $body:block) => {
        $crate::lanes::lanes!(@true _mode |$($name: $Type),+| -> $R $body)
    };
}
pub(crate) use lanes;

/// The modifiers of arithmetic as operand `e`.
pub(crate) fn pack(mode: Mode) -> u32 {
    let rounding = match mode.rounding {
        Rounding::Default => 0,
        Rounding::Nearest => 1,
        Rounding::Zero => 2,
        Rounding::Down => 3,
        Rounding::Up => 4,
        Rounding::NearestAway => 5,
        Rounding::IntegerNearest => 6,
        Rounding::IntegerZero => 7,
        Rounding::IntegerDown => 8,
        Rounding::IntegerUp => 9,
    };
    let precision = match mode.precision {
        Precision::Exact => 0,
        Precision::Approximate => 1,
        Precision::Full => 2,
    };
    let flags = [
        mode.flush_subnormals,
        mode.saturate,
        mode.propagate_nan,
        mode.xor_sign_abs,
        mode.relu,
        mode.saturate_finite || mode.out_of_bounds_zero,
    ];
    let flags = flags.iter().enumerate().fold(0, |bits, (bit, &flag)| bits | u32::from(flag) << bit);
    rounding | precision << 4 | flags << 6
}

/// The reverse of [`pack`].
pub(crate) fn unpack(e: u32) -> Mode {
    const ROUNDINGS: [Rounding; 10] = [
        Rounding::Default,
        Rounding::Nearest,
        Rounding::Zero,
        Rounding::Down,
        Rounding::Up,
        Rounding::NearestAway,
        Rounding::IntegerNearest,
        Rounding::IntegerZero,
        Rounding::IntegerDown,
        Rounding::IntegerUp,
    ];
    const PRECISIONS: [Precision; 3] = [Precision::Exact, Precision::Approximate, Precision::Full];
    let flag = |bit: u32| e >> bit & 1 == 1;
    Mode {
        rounding: ROUNDINGS.get((e & 15) as usize).copied().unwrap_or_default(),
        precision: PRECISIONS.get((e >> 4 & 3) as usize).copied().unwrap_or_default(),
        flush_subnormals: flag(6),
        saturate: flag(7),
        propagate_nan: flag(8),
        xor_sign_abs: flag(9),
        relu: flag(10),
        // No instruction takes both.
        saturate_finite: flag(11),
        out_of_bounds_zero: flag(11),
    }
}

/// The handler of an operation on one value, if there is one for that type. Operand `e` is [`pack`]`(mode)`.
pub(crate) fn unary(op: UnaryOp, ty: Type, mode: Mode) -> Option<Handler> {
    match ty {
        Type::F32 | Type::F64 => float::unary(op, ty, mode),
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => half::unary(op, ty),
        _ => integer::unary(op, ty).or_else(|| bits::unary(op, ty)),
    }
}

/// The handler of an operation on two values. Operand `e` is [`pack`]`(mode)`.
pub(crate) fn binary(op: BinaryOp, ty: Type, mode: Mode) -> Option<Handler> {
    match ty {
        Type::F32 | Type::F64 => float::binary(op, ty, mode),
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => half::binary(op, ty),
        _ => integer::binary(op, ty, mode).or_else(|| bits::binary(op, ty)),
    }
}

/// The handler of an operation on three values, and what it wants as operand `e`.
pub(crate) fn ternary(op: TernaryOp, ty: Type, mode: Mode) -> Option<(Handler, u32)> {
    match ty {
        Type::F32 | Type::F64 => float::ternary(op, ty, mode).map(|handler| (handler, pack(mode))),
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => {
            half::ternary(op, ty).map(|handler| (handler, pack(mode)))
        }
        _ => integer::ternary(op, ty, mode).map(|handler| (handler, 0)).or_else(|| bits::ternary(op, ty)),
    }
}

pub(crate) use bits::bit_field_insert;
pub(crate) use integer::carry;

/// The handler that copies a value of that type: `d = a`.
pub(crate) fn copy(ty: Type) -> Handler {
    match ty.bits() {
        64 => lanes!(|a: u64| -> u64 { a }),
        16 => lanes!(|a: u16| -> u16 { a }),
        8 => lanes!(|a: u8| -> u8 { a }),
        _ => lanes!(|a: u32| -> u32 { a }),
    }
}

/// The handler of a choice between values of that type: `d = c ? a : b`, where `c` names a predicate.
pub(crate) fn select(ty: Type) -> Handler {
    fn word(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
        let chosen = registers.predicate(operands.c);
        let mut values = *registers.word(operands.b);
        blend(&mut values, chosen, registers.word(operands.a));
        registers.set_word(operands.d, mask, &values);
    }
    fn wide(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
        let chosen = registers.predicate(operands.c);
        let mut values = *registers.wide(operands.b);
        blend(&mut values, chosen, registers.wide(operands.a));
        registers.set_wide(operands.d, mask, &values);
    }
    fn predicate(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
        let chosen = registers.predicate(operands.c);
        let values = registers.predicate(operands.a) & chosen | registers.predicate(operands.b) & !chosen;
        registers.set_predicate(operands.d, mask, values);
    }
    match ty.bits() {
        64 => wide,
        1 => predicate,
        _ => word,
    }
}

/// The handler of logic on predicates: `d = op(a, b)`; `not` has no `b`.
pub(crate) fn predicate_logic(op: BinaryOp) -> Option<Handler> {
    macro_rules! logic {
        (|$a:ident, $b:ident| $value:expr) => {{
            fn run(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
                let ($a, $b) = (registers.predicate(operands.a), registers.predicate(operands.b));
                registers.set_predicate(operands.d, mask, $value);
            }
            run as Handler
        }};
    }
    Some(match op {
        BinaryOp::And => logic!(|a, b| a & b),
        BinaryOp::Or => logic!(|a, b| a | b),
        BinaryOp::Xor => logic!(|a, b| a ^ b),
        _ => return None,
    })
}

/// Which carry operation, for [`carry`]: the operation, and whether it takes the carry in and gives it out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carry {
    pub op: CarryOp,
    pub carry_in: bool,
    pub carry_out: bool,
}
