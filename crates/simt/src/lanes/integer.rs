//! Integer arithmetic: the handlers of `add`, `mul`, `mad`, `div`, `sad`, `dp4a`, carries and the
//! like. Decoding picks a handler.

use ptx::{BinaryOp, CarryOp, Mode, TernaryOp, Type, UnaryOp};

use super::handler::lanes;
use super::handler::{Carry, Handler};
use super::registers::Registers;
use super::rows::Operands;

/// The handler for the integer type that `$ty` is, which `$body` may call `$T` (and the type of
/// twice its width `$W`).
macro_rules! by_integer {
    ($ty:expr, $T:ident, $W:ident, $body:expr) => {
        match $ty {
            Type::U16 | Type::B16 => by_integer!(u16, u32, $T, $W, $body),
            Type::S16 => by_integer!(i16, i32, $T, $W, $body),
            Type::U32 | Type::B32 => by_integer!(u32, u64, $T, $W, $body),
            Type::S32 => by_integer!(i32, i64, $T, $W, $body),
            Type::U64 | Type::B64 => by_integer!(u64, u128, $T, $W, $body),
            Type::S64 => by_integer!(i64, i128, $T, $W, $body),
            _ => return None,
        }
    };
    ($Type:ty, $Wide:ty, $T:ident, $W:ident, $body:expr) => {{
        type $T = $Type;
        #[allow(dead_code)]
        type $W = $Wide;
        $body
    }};
}

/// [`by_integer`] for results of twice the width, which 64-bit types lack.
macro_rules! by_narrow_integer {
    ($ty:expr, $T:ident, $W:ident, $body:expr) => {
        match $ty {
            Type::U16 => by_integer!(u16, u32, $T, $W, $body),
            Type::S16 => by_integer!(i16, i32, $T, $W, $body),
            Type::U32 => by_integer!(u32, u64, $T, $W, $body),
            Type::S32 => by_integer!(i32, i64, $T, $W, $body),
            _ => return None,
        }
    };
}

/// The low 24 bits, sign-extended for signed types.
fn low24(value: u32, signed: bool) -> i64 {
    if signed { i64::from((value << 8) as i32 >> 8) } else { i64::from(value & 0xff_ffff) }
}

pub(super) fn unary(op: UnaryOp, ty: Type) -> Option<Handler> {
    Some(match op {
        UnaryOp::Absolute => match ty {
            Type::S16 => lanes!(|a: i16| -> i16 { a.wrapping_abs() }),
            Type::S32 => lanes!(|a: i32| -> i32 { a.wrapping_abs() }),
            Type::S64 => lanes!(|a: i64| -> i64 { a.wrapping_abs() }),
            _ => return None,
        },
        UnaryOp::Negate => by_integer!(ty, T, W, lanes!(|a: T| -> T { a.wrapping_neg() })),
        _ => return None,
    })
}

/// Two halves of a word, each computed separately.
macro_rules! halves {
    (|$a:ident: $T:ty, $b:ident| $value:expr) => {
        lanes!(|a: u32, b: u32| -> u32 {
            let half = |$a: $T, $b: $T| -> u32 { u32::from($value as u16) };
            half(a as $T, b as $T) | half((a >> 16) as $T, (b >> 16) as $T) << 16
        })
    };
}

/// Operations on two halves of a word.
fn packed(op: BinaryOp, ty: Type, mode: Mode) -> Option<Handler> {
    Some(match (op, ty, mode.relu) {
        (BinaryOp::Add, ..) => halves!(|a: u16, b| a.wrapping_add(b)),
        (BinaryOp::Minimum, Type::U16x2, _) => halves!(|a: u16, b| a.min(b)),
        (BinaryOp::Maximum, Type::U16x2, _) => halves!(|a: u16, b| a.max(b)),
        (BinaryOp::Minimum, _, false) => halves!(|a: i16, b| a.min(b)),
        (BinaryOp::Maximum, _, false) => halves!(|a: i16, b| a.max(b)),
        (BinaryOp::Minimum, _, true) => halves!(|a: i16, b| a.min(b).max(0)),
        (BinaryOp::Maximum, _, true) => halves!(|a: i16, b| a.max(b).max(0)),
        _ => return None,
    })
}

pub(super) fn binary(op: BinaryOp, ty: Type, mode: Mode) -> Option<Handler> {
    if matches!(ty, Type::U16x2 | Type::S16x2) {
        return packed(op, ty, mode);
    }
    Some(match op {
        BinaryOp::Add if mode.saturate => match ty {
            Type::S32 => lanes!(|a: i32, b: i32| -> i32 { a.saturating_add(b) }),
            _ => return None,
        },
        BinaryOp::Subtract if mode.saturate => match ty {
            Type::S32 => lanes!(|a: i32, b: i32| -> i32 { a.saturating_sub(b) }),
            _ => return None,
        },
        BinaryOp::Add => by_integer!(ty, T, W, lanes!(|a: T, b: T| -> T { a.wrapping_add(b) })),
        BinaryOp::Subtract => by_integer!(ty, T, W, lanes!(|a: T, b: T| -> T { a.wrapping_sub(b) })),
        BinaryOp::Multiply => by_integer!(ty, T, W, lanes!(|a: T, b: T| -> T { a.wrapping_mul(b) })),
        BinaryOp::MultiplyHigh => {
            by_integer!(ty, T, W, lanes!(|a: T, b: T| -> T { ((a as W * b as W) >> T::BITS) as T }))
        }
        BinaryOp::MultiplyWide => {
            by_narrow_integer!(ty, T, W, lanes!(|a: T, b: T| -> W { W::from(a) * W::from(b) }))
        }
        BinaryOp::Multiply24Low => match ty {
            Type::U32 => lanes!(cold |a: u32, b: u32| -> u32 { (low24(a, false) * low24(b, false)) as u32 }),
            Type::S32 => lanes!(cold |a: u32, b: u32| -> u32 { (low24(a, true) * low24(b, true)) as u32 }),
            _ => return None,
        },
        BinaryOp::Multiply24High => match ty {
            Type::U32 => lanes!(cold |a: u32, b: u32| -> u32 { ((low24(a, false) * low24(b, false)) >> 16) as u32 }),
            Type::S32 => lanes!(cold |a: u32, b: u32| -> u32 { ((low24(a, true) * low24(b, true)) >> 16) as u32 }),
            _ => return None,
        },
        BinaryOp::Divide => {
            by_integer!(ty, T, W, lanes!(cold |a: T, b: T| -> T { if b == 0 { !0 } else { a.wrapping_div(b) } }))
        }
        BinaryOp::Remainder => {
            by_integer!(ty, T, W, lanes!(cold |a: T, b: T| -> T { if b == 0 { !0 } else { a.wrapping_rem(b) } }))
        }
        BinaryOp::Minimum if mode.relu => match ty {
            Type::S32 => lanes!(|a: i32, b: i32| -> i32 { a.min(b).max(0) }),
            _ => return None,
        },
        BinaryOp::Maximum if mode.relu => match ty {
            Type::S32 => lanes!(|a: i32, b: i32| -> i32 { a.max(b).max(0) }),
            _ => return None,
        },
        BinaryOp::Minimum => by_integer!(ty, T, W, lanes!(|a: T, b: T| -> T { a.min(b) })),
        BinaryOp::Maximum => by_integer!(ty, T, W, lanes!(|a: T, b: T| -> T { a.max(b) })),
        _ => return None,
    })
}

pub(super) fn ternary(op: TernaryOp, ty: Type, mode: Mode) -> Option<Handler> {
    Some(match op {
        TernaryOp::MultiplyAdd => {
            by_integer!(ty, T, W, lanes!(|a: T, b: T, c: T| -> T { a.wrapping_mul(b).wrapping_add(c) }))
        }
        TernaryOp::MultiplyAddHigh if mode.saturate => match ty {
            Type::S32 => lanes!(cold |a: i32, b: i32, c: i32| -> i32 {
                ((i64::from(a) * i64::from(b)) >> 32).saturating_add(c.into()).clamp(i32::MIN.into(), i32::MAX.into())
                    as i32
            }),
            _ => return None,
        },
        TernaryOp::MultiplyAddHigh => by_integer!(
            ty,
            T,
            W,
            lanes!(|a: T, b: T, c: T| -> T { (((a as W * b as W) >> T::BITS) as T).wrapping_add(c) })
        ),
        TernaryOp::MultiplyAddWide => {
            by_narrow_integer!(ty, T, W, lanes!(|a: T, b: T, c: W| -> W { (W::from(a) * W::from(b)).wrapping_add(c) }))
        }
        TernaryOp::MultiplyAdd24Low => match ty {
            Type::U32 => {
                lanes!(|a: u32, b: u32, c: u32| -> u32 { ((low24(a, false) * low24(b, false)) as u32).wrapping_add(c) })
            }
            Type::S32 => {
                lanes!(|a: u32, b: u32, c: u32| -> u32 { ((low24(a, true) * low24(b, true)) as u32).wrapping_add(c) })
            }
            _ => return None,
        },
        TernaryOp::MultiplyAdd24High if mode.saturate => match ty {
            Type::S32 => lanes!(cold |a: u32, b: u32, c: i32| -> i32 {
                (((low24(a, true) * low24(b, true)) >> 16) as i32).saturating_add(c)
            }),
            _ => return None,
        },
        TernaryOp::MultiplyAdd24High => match ty {
            Type::U32 => lanes!(cold |a: u32, b: u32, c: u32| -> u32 {
                ((low24(a, false) * low24(b, false)) >> 16).wrapping_add(c.into()) as u32
            }),
            Type::S32 => lanes!(cold |a: u32, b: u32, c: u32| -> u32 {
                ((low24(a, true) * low24(b, true)) >> 16).wrapping_add(c.into()) as u32
            }),
            _ => return None,
        },
        TernaryOp::SumOfAbsoluteDifferences => {
            by_integer!(ty, T, W, lanes!(|a: T, b: T, c: T| -> T { (a.max(b).wrapping_sub(a.min(b))).wrapping_add(c) }))
        }
        _ => return None,
    })
}

/// The handler of an operation with carry. Operand `e` names the predicate that stands for the
/// carry flag.
pub(crate) fn carry(which: Carry, ty: Type) -> Option<Handler> {
    /// `$value` is a pair: the result and the carry. `$unread` is the carry of operations that read
    /// none: a subtraction adds the complement and one, so its carry means that nothing was
    /// borrowed. Compilers rely on that (nvcc's 128-bit division reads it with `addc`).
    macro_rules! with_carry {
        ($T:ident, $row:ident, $set:ident, $unread:literal, |$a:ident, $b:ident, $c:ident, $flag:ident| $value:expr) => {{
            fn run<const IN: bool, const OUT: bool>(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
                let flags = if IN { registers.predicate(operands.e) } else { $unread };
                let (a, b) = (registers.$row(operands.a), registers.$row(operands.b));
                let c = registers.$row(operands.c);
                let mut result: [$T; 32] = [0; 32];
                let mut out = 0;
                for lane in 0..32 {
                    let ($a, $b, $c, $flag): ($T, $T, $T, $T) = (a[lane], b[lane], c[lane], (flags >> lane & 1).into());
                    let (value, carried): ($T, bool) = $value;
                    result[lane] = value;
                    out |= u32::from(carried) << lane;
                }
                registers.$set(operands.d, mask, &result);
                if OUT {
                    registers.set_predicate(operands.e, mask, out);
                }
            }
            match (which.carry_in, which.carry_out) {
                (false, false) => run::<false, false> as Handler,
                (false, true) => run::<false, true>,
                (true, false) => run::<true, false>,
                (true, true) => run::<true, true>,
            }
        }};
    }
    macro_rules! add {
        ($T:ident, $x:expr, $y:expr, $flag:expr) => {{
            let (sum, first) = $T::overflowing_add($x, $y);
            let (sum, second) = sum.overflowing_add($flag);
            (sum, first | second)
        }};
    }
    macro_rules! for_width {
        ($T:ident, $row:ident, $set:ident, $W:ident, $S:ident, $SW:ident) => {
            match which.op {
                CarryOp::Add => with_carry!($T, $row, $set, 0, |a, b, _c, flag| add!($T, a, b, flag)),
                CarryOp::Subtract => {
                    with_carry!($T, $row, $set, 0xffff_ffff, |a, b, _c, flag| add!($T, a, !b, flag))
                }
                CarryOp::MultiplyAddLow => {
                    with_carry!($T, $row, $set, 0, |a, b, c, flag| add!($T, a.wrapping_mul(b), c, flag))
                }
                CarryOp::MultiplyAddHigh if ty.kind() == ptx::Kind::Signed => {
                    with_carry!($T, $row, $set, 0, |a, b, c, flag| {
                        let high = (($SW::from(a as $S) * $SW::from(b as $S)) >> $T::BITS) as $T;
                        add!($T, high, c, flag)
                    })
                }
                CarryOp::MultiplyAddHigh => with_carry!($T, $row, $set, 0, |a, b, c, flag| {
                    add!($T, (($W::from(a) * $W::from(b)) >> $T::BITS) as $T, c, flag)
                }),
            }
        };
    }
    Some(match ty.bits() {
        32 => for_width!(u32, word, set_word, u64, i32, i64),
        64 => for_width!(u64, wide, set_wide, u128, i64, i128),
        _ => return None,
    })
}
