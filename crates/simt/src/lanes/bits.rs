//! Logic, shifts, and bit fields: the handlers of `and`, `shl`, `bfe`, `bfi`, `prmt` and the like.
//! Decoding picks a handler.

use ptx::{BinaryOp, PermuteMode, TernaryOp, Type, UnaryOp};

use super::handler::Handler;
use super::handler::lanes;
use super::registers::Registers;
use super::rows::Operands;

/// The handler for the unsigned type as wide as `$ty`, which `$body` may call `$T`.
macro_rules! by_width {
    ($ty:expr, $T:ident, $body:expr) => {
        match $ty.bits() {
            16 => by_width!(as u16, $T, $body),
            32 => by_width!(as u32, $T, $body),
            64 => by_width!(as u64, $T, $body),
            _ => return None,
        }
    };
    (as $Type:ty, $T:ident, $body:expr) => {{
        type $T = $Type;
        $body
    }};
}

/// [`by_width`] for types of 32 or 64 bits, signed or not.
macro_rules! by_word {
    ($ty:expr, $T:ident, $body:expr) => {
        match $ty {
            Type::U32 | Type::B32 => by_width!(as u32, $T, $body),
            Type::S32 => by_width!(as i32, $T, $body),
            Type::U64 | Type::B64 => by_width!(as u64, $T, $body),
            Type::S64 => by_width!(as i64, $T, $body),
            _ => return None,
        }
    };
}

pub(super) fn unary(op: UnaryOp, ty: Type) -> Option<Handler> {
    Some(match op {
        UnaryOp::Not => by_width!(ty, T, lanes!(|a: T| -> T { !a })),
        UnaryOp::LogicalNot => by_width!(ty, T, lanes!(cold |a: T| -> T { T::from(a == 0) })),
        UnaryOp::PopulationCount => by_width!(ty, T, lanes!(cold |a: T| -> u32 { a.count_ones() })),
        UnaryOp::CountLeadingZeros => by_width!(ty, T, lanes!(cold |a: T| -> u32 { a.leading_zeros() })),
        UnaryOp::BitReverse => by_width!(ty, T, lanes!(cold |a: T| -> T { a.reverse_bits() })),
        UnaryOp::FindLeadingBit { shift_amount } => {
            // For a negative number, finds the highest zero.
            macro_rules! find {
                ($T:ident, |$zeros:ident| $value:expr) => {
                    lanes!(cold |a: $T| -> u32 {
                        #[allow(unused_comparisons)]
                        let $zeros = if a < 0 { (!a).leading_zeros() } else { a.leading_zeros() };
                        if $zeros == $T::BITS { u32::MAX } else { $value }
                    })
                };
            }
            if shift_amount {
                by_word!(ty, T, find!(T, |zeros| zeros))
            } else {
                by_word!(ty, T, find!(T, |zeros| T::BITS - 1 - zeros))
            }
        }
        _ => return None,
    })
}

pub(super) fn binary(op: BinaryOp, ty: Type) -> Option<Handler> {
    Some(match op {
        BinaryOp::And => by_width!(ty, T, lanes!(|a: T, b: T| -> T { a & b })),
        BinaryOp::Or => by_width!(ty, T, lanes!(|a: T, b: T| -> T { a | b })),
        BinaryOp::Xor => by_width!(ty, T, lanes!(|a: T, b: T| -> T { a ^ b })),
        BinaryOp::ShiftLeft => {
            by_width!(ty, T, lanes!(|a: T, b: u32| -> T { if b < T::BITS { a << (b & (T::BITS - 1)) } else { 0 } }))
        }
        BinaryOp::ShiftRight => match ty {
            Type::S16 => lanes!(|a: i16, b: u32| -> i16 { a >> b.min(15) }),
            Type::S32 => lanes!(|a: i32, b: u32| -> i32 { a >> b.min(31) }),
            Type::S64 => lanes!(|a: i64, b: u32| -> i64 { a >> b.min(63) }),
            _ => {
                by_width!(ty, T, lanes!(|a: T, b: u32| -> T { if b < T::BITS { a >> (b & (T::BITS - 1)) } else { 0 } }))
            }
        },
        BinaryOp::BitMask { wrap: true } => lanes!(cold |a: u32, b: u32| -> u32 { bit_mask(a & 31, b & 31) }),
        BinaryOp::BitMask { wrap: false } => lanes!(cold |a: u32, b: u32| -> u32 { bit_mask(a, b) }),
        BinaryOp::SignZeroExtend { wrap } => match (ty, wrap) {
            (Type::U32, true) => lanes!(cold |a: u32, b: u32| -> u32 { extend(a, b & 31, false) }),
            (Type::U32, false) => lanes!(cold |a: u32, b: u32| -> u32 { extend(a, b, false) }),
            (Type::S32, true) => lanes!(cold |a: u32, b: u32| -> u32 { extend(a, b & 31, true) }),
            (Type::S32, false) => lanes!(cold |a: u32, b: u32| -> u32 { extend(a, b, true) }),
            _ => return None,
        },
        _ => return None,
    })
}

/// `width` ones from bit `position` on, those beyond bit 31 dropped.
fn bit_mask(position: u32, width: u32) -> u32 {
    let ones = if width < 32 { (1u32 << width) - 1 } else { u32::MAX };
    if position < 32 { ones << position } else { 0 }
}

/// The low `width` bits of `value`, extended to 32.
fn extend(value: u32, width: u32, signed: bool) -> u32 {
    if width >= 32 {
        return value;
    }
    let kept = value & ((1u32 << width) - 1);
    if signed && width > 0 && kept >> (width - 1) & 1 == 1 { kept | u32::MAX << width } else { kept }
}

#[expect(clippy::too_many_lines, reason = "one arm for each case")]
pub(super) fn ternary(op: TernaryOp, ty: Type) -> Option<(Handler, u32)> {
    let plain = |handler| Some((handler, 0));
    match op {
        TernaryOp::BitFieldExtract => plain(by_word!(
            ty,
            T,
            lanes!(|a: T, b: u32, c: u32| -> T {
                let (position, length) = (b & field_bits(T::BITS), c & field_bits(T::BITS));
                let bits = T::BITS;
                if length == 0 {
                    0
                } else if position >= bits {
                    // Bits beyond the value are the sign, or zero.
                    a >> (bits - 1) >> (if T::MIN == 0 { 1 } else { 0 })
                } else {
                    let kept = length.min(bits - position);
                    (a << (bits - position - kept)) >> (bits - kept)
                }
            })
        )),
        TernaryOp::FunnelShiftLeft { wrap } => plain(if wrap {
            lanes!(|a: u32, b: u32, c: u32| -> u32 { (pair(a, b) << (c & 31) >> 32) as u32 })
        } else {
            lanes!(|a: u32, b: u32, c: u32| -> u32 { (pair(a, b) << c.min(32) >> 32) as u32 })
        }),
        TernaryOp::FunnelShiftRight { wrap } => plain(if wrap {
            lanes!(|a: u32, b: u32, c: u32| -> u32 { (pair(a, b) >> (c & 31)) as u32 })
        } else {
            lanes!(|a: u32, b: u32, c: u32| -> u32 { (pair(a, b) >> c.min(32)) as u32 })
        }),
        TernaryOp::Permute(mode) => plain(match mode {
            PermuteMode::Index => lanes!(cold |a: u32, b: u32, c: u32| -> u32 { permute(a, b, c) }),
            PermuteMode::Forward4Extract => lanes!(cold |a: u32, b: u32, c: u32| -> u32 {
                permute(a, b, [0x3210, 0x4321, 0x5432, 0x6543][(c & 3) as usize])
            }),
            PermuteMode::Backward4Extract => lanes!(cold |a: u32, b: u32, c: u32| -> u32 {
                permute(a, b, [0x5670, 0x6701, 0x7012, 0x0123][(c & 3) as usize])
            }),
            PermuteMode::Replicate8 => lanes!(cold |a: u32, b: u32, c: u32| -> u32 { permute(a, b, (c & 3) * 0x1111) }),
            PermuteMode::EdgeClampLeft => lanes!(cold |a: u32, b: u32, c: u32| -> u32 {
                permute(a, b, [0x3210, 0x3211, 0x3222, 0x3333][(c & 3) as usize])
            }),
            PermuteMode::EdgeClampRight => lanes!(cold |a: u32, b: u32, c: u32| -> u32 {
                permute(a, b, [0x0000, 0x1110, 0x2210, 0x3210][(c & 3) as usize])
            }),
            PermuteMode::Replicate16 => {
                lanes!(cold |a: u32, b: u32, c: u32| -> u32 { permute(a, b, [0x1010, 0x3232][(c & 1) as usize]) })
            }
        }),
        TernaryOp::Logic(table) => {
            fn run(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
                let minterm = |bit: u32| if operands.e >> bit & 1 == 1 { u32::MAX } else { 0 };
                let terms: [u32; 8] = std::array::from_fn(|bit| minterm(bit as u32));
                registers.map3::<true, _, _, _, _>(operands, mask, |a: u32, b: u32, c: u32| -> u32 {
                    let high = b & (c & terms[7] | !c & terms[6]) | !b & (c & terms[5] | !c & terms[4]);
                    let low = b & (c & terms[3] | !c & terms[2]) | !b & (c & terms[1] | !c & terms[0]);
                    a & high | !a & low
                });
            }
            Some((run, table.into()))
        }
        TernaryOp::DotProduct4 { a_signed, b_signed } => {
            fn run(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
                let (a_signed, b_signed) = (operands.e & 1 == 1, operands.e & 2 == 2);
                registers.map3::<false, _, _, _, _>(operands, mask, |a: u32, b: u32, c: u32| -> u32 {
                    (0..4).fold(c, |sum, byte| {
                        sum.wrapping_add(part(a, byte * 8, 8, a_signed).wrapping_mul(part(b, byte * 8, 8, b_signed)))
                    })
                });
            }
            Some((run, u32::from(a_signed) | u32::from(b_signed) << 1))
        }
        TernaryOp::DotProduct2 { a_signed, b_signed, high } => {
            fn run(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
                let (a_signed, b_signed) = (operands.e & 1 == 1, operands.e & 2 == 2);
                let from = if operands.e & 4 == 4 { 16 } else { 0 };
                registers.map3::<false, _, _, _, _>(operands, mask, |a: u32, b: u32, c: u32| -> u32 {
                    (0..2).fold(c, |sum, half| {
                        let b = part(b, from + half * 8, 8, b_signed);
                        sum.wrapping_add(part(a, half * 16, 16, a_signed).wrapping_mul(b))
                    })
                });
            }
            Some((run, u32::from(a_signed) | u32::from(b_signed) << 1 | u32::from(high) << 2))
        }
        TernaryOp::FindNthSet => plain(lanes!(cold |a: u32, b: u32, c: i32| -> u32 { find_nth_set(a, b, c) })),
        _ => None,
    }
}

/// The bits of positions and lengths that `bfe` and `bfi` use, as on an H200: the low eight, or all
/// for fields of 64 bits.
const fn field_bits(width: u32) -> u32 {
    if width == 64 { u32::MAX } else { 0xff }
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// `bits` bits of `word` from bit `from` on, extended.
fn part(word: u32, from: u32, bits: u32, signed: bool) -> u32 {
    let top = word << (32 - from - bits);
    if signed { (top as i32 >> (32 - bits)) as u32 } else { top >> (32 - bits) }
}

/// `prmt`: each nibble of `selector` picks a byte of `b:a`; its highest bit selects that byte's
/// sign instead.
fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = pair(a, b);
    let mut result = 0;
    for byte_index in 0..4 {
        let choice = selector >> (4 * byte_index);
        let byte = (bytes >> (8 * (choice & 7))) as u8;
        let byte = if choice & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte };
        result |= u32::from(byte) << (8 * byte_index);
    }
    result
}

fn find_nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    // Whatever the mask, as on an H200: a count of 2^31 is not a positive one.
    if offset == i32::MIN {
        return 0;
    }
    if base >= 32 {
        return u32::MAX;
    }
    if offset == 0 {
        return if mask >> base & 1 == 1 { base } else { u32::MAX };
    }
    let mut left = offset.unsigned_abs();
    let step = offset.signum();
    let mut position = base as i32;
    while (0..32).contains(&position) {
        left -= mask >> position & 1;
        if left == 0 {
            return position as u32;
        }
        position += step;
    }
    u32::MAX
}

/// The handler of `bfi`: operands a, b, position (`c`), length (`e`).
pub(crate) fn bit_field_insert(ty: Type) -> Option<Handler> {
    /// The bits that the field takes.
    macro_rules! insert {
        ($T:ident) => {{
            fn run(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
                let lengths = *registers.word(operands.e);
                let positions = *registers.word(operands.c);
                let used = field_bits($T::BITS);
                let field: [$T; 32] = std::array::from_fn(|lane| {
                    let (position, length) = (positions[lane] & used, lengths[lane] & used);
                    let ones = if length < $T::BITS { ((1 as $T) << length) - 1 } else { $T::MAX };
                    if position < $T::BITS { ones << position } else { 0 }
                });
                let a = *<$T as super::registers::Value>::row(registers, operands.a);
                let b = *<$T as super::registers::Value>::row(registers, operands.b);
                let result = std::array::from_fn(|lane| {
                    let moved = a[lane].checked_shl(positions[lane] & used).unwrap_or(0);
                    b[lane] & !field[lane] | moved & field[lane]
                });
                <$T as super::registers::Value>::set(registers, operands.d, mask, &result);
            }
            run as Handler
        }};
    }
    Some(match ty.bits() {
        32 => insert!(u32),
        64 => insert!(u64),
        _ => return None,
    })
}
