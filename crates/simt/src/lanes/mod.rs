//! Arithmetic on the 32 lanes of a warp at once.
//!
//! A register of a warp is a *row*: 32 words, or 32 double words for 64-bit types; narrower values
//! are zero-extended. Predicate registers are bit masks. A [`Handler`] is the code of one
//! instruction: one function for the operation, its types and modifiers, chosen when the program is
//! decoded. It computes all 32 lanes and keeps the active ones. The loops over lanes have a fixed
//! length and no branches, so that the compiler vectorises them. Each is compiled for the
//! instruction sets that [`pulp`] supports, and the best one of the host is used.
//!
//! `program/decode` picks handlers, `machine/step.rs` runs them. They read and write registers
//! only: memory, control flow and everything between lanes is in `machine`.
//!
//! The operations are those of PTX ISA, "Instruction Set". Where PTX leaves a result undefined
//! (`docs/SANITIZER.md` has the list):
//!
//! - integer division by zero: all bits set in the quotient and in the remainder, as on an H200;
//! - f32 NaN: 0x7fffffff, as on hardware; f64 NaN: the first NaN operand, made quiet, or
//!   0xfff8000000000000;
//! - `.approx` and `.full` operations, and functions such as `sin`: computed in f64 and rounded to
//!   f32, which is within the hardware's documented error.
//!
//! `pulp` selects the instruction set at run time, which keeps `unsafe` out of this crate.
//! Everything that runs inside `Arch::dispatch` must be inlined and free of closures; otherwise it
//! is compiled without the host's instruction set.

mod atomic;
mod bits;
mod compare;
mod convert;
mod float;
mod half;
pub(crate) mod handler;
mod integer;
pub(crate) mod registers;
pub(crate) mod rows;
pub(crate) mod soft;
mod video;

pub(crate) use atomic::{Update, exchange, has_atomic};
pub(crate) use compare::{combination, compare, select_by_sign, set, set_pair, test_property};
pub(crate) use convert::{convert, convert_pack, convert_pair, float_immediate};
pub(crate) use handler::lanes;
pub(crate) use handler::{Carry, Handler, pack};
pub(crate) use registers::{Base, Constants, Registers, blend};
pub(crate) use rows::{ALWAYS, FIXED, FULL, NEGATED, NEVER, Operands, Row, WideRow, lanes, mask_where};
pub(crate) use video::{scalar_video, simd_video};

use ptx::{BinaryOp, Mode, TernaryOp, Type, UnaryOp};

/// The handler of an operation on one value, if there is one for that type. Operand `e` is
/// [`pack`]`(mode)`.
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
        Type::F32 | Type::F32x2 | Type::F64 => float::binary(op, ty, mode),
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => half::binary(op, ty),
        _ => integer::binary(op, ty, mode).or_else(|| bits::binary(op, ty)),
    }
}

/// The handler of an operation on three values, and its operand `e`.
pub(crate) fn ternary(op: TernaryOp, ty: Type, mode: Mode) -> Option<(Handler, u32)> {
    match ty {
        Type::F32 | Type::F32x2 | Type::F64 => float::ternary(op, ty, mode).map(|handler| (handler, pack(mode))),
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

/// The handler of a choice between values of that type: `d = c ? a : b`, where `c` names a
/// predicate.
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
