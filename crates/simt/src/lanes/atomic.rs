//! What atomic operations compute, of one value at a time: `atom` and `red`, the reductions of bulk
//! copies, of surfaces and between lanes.

use ptx::{AtomicOp, Kind, Type};

use super::{float, half};

/// Whether the operation exists for this type (PTX ISA, "atom").
pub(crate) fn has_atomic(op: AtomicOp, ty: Type) -> bool {
    let bits = ty.bits();
    match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => ty.kind() != Kind::Float && matches!(bits, 32 | 64),
        AtomicOp::Exchange => matches!(bits, 32 | 64 | 128),
        AtomicOp::CompareAndSwap => matches!(bits, 16 | 32 | 64 | 128),
        AtomicOp::Add => matches!(bits, 32 | 64) || ty.kind() == Kind::Float,
        AtomicOp::Increment | AtomicOp::Decrement => bits == 32,
        AtomicOp::Minimum | AtomicOp::Maximum => {
            matches!(ty.kind(), Kind::Signed | Kind::Unsigned) && matches!(bits, 32 | 64) || is_half(ty)
        }
    }
}

fn is_half(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2)
}

/// How an atomic operation or a reduction changes a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Update {
    pub op: AtomicOp,
    pub ty: Type,
    /// Whether subnormal numbers become zero.
    pub flush: bool,
}

impl Update {
    /// The new value, from the old one and one operand, or two for compare-and-swap.
    pub fn apply(self, old: u64, a: u64, b: u64) -> u64 {
        let Self { op, ty, flush } = self;
        let signed = |value: u64| if ty.bits() == 32 { i64::from(value as u32 as i32) } else { value as i64 };
        let less = || if ty.kind() == Kind::Signed { signed(a) < signed(old) } else { a < old };
        let value = match op {
            AtomicOp::Add | AtomicOp::Minimum | AtomicOp::Maximum if is_half(ty) => {
                half::atomic_halves(op, old as u32, a as u32, ty).into()
            }
            AtomicOp::And => old & a,
            AtomicOp::Or => old | a,
            AtomicOp::Xor => old ^ a,
            AtomicOp::Exchange => a,
            AtomicOp::CompareAndSwap => {
                if old == a {
                    b
                } else {
                    old
                }
            }
            AtomicOp::Add => match ty {
                Type::F32 => float::add_single(old as u32, a as u32, flush).into(),
                Type::F64 => float::add_double(old, a),
                _ => old.wrapping_add(a),
            },
            AtomicOp::Increment => {
                if old >= a {
                    0
                } else {
                    old + 1
                }
            }
            AtomicOp::Decrement => {
                if old == 0 || old > a {
                    a
                } else {
                    old - 1
                }
            }
            AtomicOp::Minimum => {
                if less() {
                    a
                } else {
                    old
                }
            }
            AtomicOp::Maximum => {
                if less() {
                    old
                } else {
                    a
                }
            }
        };
        if ty.bits() == 64 { value } else { value & (u64::MAX >> (64 - ty.bits())) }
    }
}

/// The new value of 128 bits. Only exchange and compare-and-swap exist.
pub(crate) fn exchange(op: AtomicOp, old: u128, a: u128, b: u128) -> u128 {
    match op {
        AtomicOp::CompareAndSwap if old == a => b,
        AtomicOp::CompareAndSwap => old,
        _ => a,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(op: AtomicOp, ty: Type) -> Update {
        Update { op, ty, flush: false }
    }

    #[test]
    fn wrapping_counters() {
        let inc = |old, limit| update(AtomicOp::Increment, Type::U32).apply(old, limit, 0);
        let dec = |old, limit| update(AtomicOp::Decrement, Type::U32).apply(old, limit, 0);
        assert_eq!([inc(0, 3), inc(2, 3), inc(3, 3), inc(9, 3)], [1, 3, 0, 0]);
        assert_eq!([dec(0, 3), dec(2, 3), dec(3, 3), dec(9, 3)], [3, 1, 2, 3]);
    }

    #[test]
    fn signs_count_in_minima() {
        let minus = u64::from(-5i32 as u32);
        assert_eq!(update(AtomicOp::Minimum, Type::S32).apply(3, minus, 0), minus);
        assert_eq!(update(AtomicOp::Minimum, Type::U32).apply(3, minus, 0), 3);
        assert_eq!(update(AtomicOp::Maximum, Type::S32).apply(3, minus, 0), 3);
        assert_eq!(update(AtomicOp::Add, Type::U32).apply(u64::from(u32::MAX), 2, 0), 1);
    }
}
