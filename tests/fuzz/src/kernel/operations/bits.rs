//! Logic, shifts, and operations on bit fields: PTX and expected results. Part of the table in
//! [`super`].

use super::operation::{Operation, operation};

/// Operations of every size.
macro_rules! common {
    ($name:literal $type:ident $bits:literal) => {
        &[
            operation!(concat!("and.", $name, " $d, $a, $b;"), |a: $type, b: $type| $type: a & b),
            operation!(concat!("or.", $name, " $d, $a, $b;"), |a: $type, b: $type| $type: a | b),
            operation!(concat!("xor.", $name, " $d, $a, $b;"), |a: $type, b: $type| $type: a ^ b),
            operation!(concat!("not.", $name, " $d, $a;"), |a: $type| $type: !a),
            operation!(concat!("cnot.", $name, " $d, $a;"), |a: $type| $type: (a == 0).into()),
            operation!(concat!("shl.", $name, " $d, $a, $b;"), |a: $type, b: u32| $type: {
                if b < $bits { a << b } else { 0 }
            }),
            operation!(concat!("mov.", $name, " $d, $a;"), |a: $type| $type: a),
        ]
    };
}

/// Operations of 32 and 64 bits. The position of a field is kept below 64, because devices differ
/// beyond.
macro_rules! long {
    ($name:literal $type:ident $bits:literal) => {
        &[
            operation!(concat!("popc.", $name, " $d, $a;"), |a: $type| u32: a.count_ones()),
            operation!(concat!("clz.", $name, " $d, $a;"), |a: $type| u32: a.leading_zeros()),
            operation!(concat!("brev.", $name, " $d, $a;"), |a: $type| $type: a.reverse_bits()),
            operation!(
                concat!("and.b32 %tr0, $c, 63; and.b32 %tr1, $e, 63; bfi.", $name, " $d, $a, $b, %tr0, %tr1;"),
                |a: $type, b: $type, position: u32, length: u32| $type: {
                    let (position, length) = (position & 63, length & 63);
                    (0..length).filter(|index| position + index < $bits).fold(b, |found, index| {
                        let bit = a.checked_shr(index).unwrap_or(0) & 1;
                        found & !(1 << (position + index)) | bit << (position + index)
                    })
                }
            ),
        ]
    };
}

/// Signed and unsigned extraction of fields, and the position of the highest bit that differs from
/// the sign.
macro_rules! fields {
    ($name:literal $type:ident $bits:literal $signed:literal) => {
        &[
            operation!(
                concat!("and.b32 %tr0, $b, 63; and.b32 %tr1, $c, 63; bfe.", $name, " $d, $a, %tr0, %tr1;"),
                |a: $type, position: u32, length: u32| $type: {
                    let (position, length) = (position & 63, length & 63);
                    let bit = |index: u32| a.checked_shr(index).unwrap_or(0) & 1;
                    let sign = if $signed && length > 0 { bit((position + length - 1).min($bits - 1)) } else { 0 };
                    (0..$bits).fold(0, |found, index| {
                        let inside = index < length && position + index < $bits;
                        found | (if inside { bit(position + index) } else { sign }) << index
                    })
                }
            ),
            operation!(concat!("bfind.", $name, " $d, $a;"), |a: $type| u32: highest(a.into(), $bits, $signed)),
            operation!(concat!("bfind.shiftamt.", $name, " $d, $a;"), |a: $type| u32: {
                match highest(a.into(), $bits, $signed) {
                    u32::MAX => u32::MAX,
                    place => $bits - 1 - place,
                }
            }),
        ]
    };
}

/// The position of the highest bit that differs from the sign; all ones if no bit differs.
fn highest(value: u64, bits: u32, signed: bool) -> u32 {
    let negative = signed && value >> (bits - 1) & 1 == 1;
    (0..bits).rev().find(|&index| (value >> index & 1 == 1) != negative).unwrap_or(u32::MAX)
}

/// `prmt` without a mode: each nibble of the selector picks a byte of eight, or its sign.
fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |word, index| {
        let nibble = selector >> (4 * index) & 15;
        let byte = (bytes >> (8 * (nibble & 7))) as u8;
        let byte = if nibble & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 };
        word | u32::from(byte) << (8 * index)
    })
}

/// `prmt` with a mode: for each value of the selector's low two bits, the equivalent selector
/// without a mode.
macro_rules! permute_mode {
    ($mode:literal $selectors:expr) => {
        operation!(concat!("prmt.b32.", $mode, " $d, $a, $b, $c;"), |a: u32, b: u32, c: u32| u32: {
            permute(a, b, $selectors[c as usize & 3])
        })
    };
}

/// Each bit of the table is the result for one combination of three bits.
fn table3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    (0..32).fold(0, |word, bit| {
        let index = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1);
        word | (table >> index & 1) << bit
    })
}

macro_rules! tables {
    ($($table:literal)*) => {
        &[$(operation!(concat!("lop3.b32 $d, $a, $b, $c, ", $table, ";"), |a: u32, b: u32, c: u32| u32: {
            table3(a, b, c, $table)
        })),*]
    };
}

const OTHERS: &[Operation] = &[
    operation!("and.pred $d, $a, $b;", |a: bool, b: bool| bool: a & b),
    operation!("or.pred $d, $a, $b;", |a: bool, b: bool| bool: a | b),
    operation!("xor.pred $d, $a, $b;", |a: bool, b: bool| bool: a ^ b),
    operation!("not.pred $d, $a;", |a: bool| bool: !a),
    operation!("mov.pred $d, $a;", |a: bool| bool: a),
    operation!("shf.l.clamp.b32 $d, $a, $b, $c;", |a: u32, b: u32, c: u32| u32: {
        ((u64::from(b) << 32 | u64::from(a)) << c.min(32) >> 32) as u32
    }),
    operation!("shf.l.wrap.b32 $d, $a, $b, $c;", |a: u32, b: u32, c: u32| u32: {
        ((u64::from(b) << 32 | u64::from(a)) << (c & 31) >> 32) as u32
    }),
    operation!("shf.r.clamp.b32 $d, $a, $b, $c;", |a: u32, b: u32, c: u32| u32: {
        ((u64::from(b) << 32 | u64::from(a)) >> c.min(32)) as u32
    }),
    operation!("shf.r.wrap.b32 $d, $a, $b, $c;", |a: u32, b: u32, c: u32| u32: {
        ((u64::from(b) << 32 | u64::from(a)) >> (c & 31)) as u32
    }),
    operation!("prmt.b32 $d, $a, $b, $c;", |a: u32, b: u32, c: u32| u32: permute(a, b, c)),
    permute_mode!("f4e" [0x3210, 0x4321, 0x5432, 0x6543]),
    permute_mode!("b4e" [0x5670, 0x6701, 0x7012, 0x0123]),
    permute_mode!("rc8" [0x0000, 0x1111, 0x2222, 0x3333]),
    permute_mode!("ecl" [0x3210, 0x3211, 0x3222, 0x3333]),
    permute_mode!("ecr" [0x0000, 0x1110, 0x2210, 0x3210]),
    permute_mode!("rc16" [0x1010, 0x3232, 0x1010, 0x3232]),
    operation!("mov.b64 {%tr0, %tr1}, $a; mov.b64 $d, {%tr1, %tr0};", |a: u64| u64: a.rotate_left(32)),
    operation!("mov.b64 $d, {$a, $b};", |a: u32, b: u32| u64: u64::from(b) << 32 | u64::from(a)),
    operation!("mov.b32 {%th0, %th1}, $a; mov.b32 $d, {%th1, %th0};", |a: u32| u32: a.rotate_left(16)),
    operation!("mov.b32 $d, {$a, $b};", |a: u16, b: u16| u32: u32::from(b) << 16 | u32::from(a)),
    operation!("bmsk.clamp.b32 $d, $a, $b;", |a: u32, b: u32| u32: {
        (0..32).filter(|&bit| bit >= a && bit - a < b).fold(0, |mask, bit| mask | 1 << bit)
    }),
    operation!("bmsk.wrap.b32 $d, $a, $b;", |a: u32, b: u32| u32: {
        (0..32).filter(|&bit| bit >= a & 31 && bit - (a & 31) < b & 31).fold(0, |mask, bit| mask | 1 << bit)
    }),
    operation!("szext.clamp.s32 $d, $a, $b;", |a: u32, b: u32| u32: extend(a, b.min(32), true)),
    operation!("szext.clamp.u32 $d, $a, $b;", |a: u32, b: u32| u32: extend(a, b.min(32), false)),
    operation!("szext.wrap.s32 $d, $a, $b;", |a: u32, b: u32| u32: extend(a, b & 31, true)),
    operation!("szext.wrap.u32 $d, $a, $b;", |a: u32, b: u32| u32: extend(a, b & 31, false)),
];

/// The low `bits` bits, extended with their sign or with zeros.
fn extend(value: u32, bits: u32, signed: bool) -> u32 {
    match bits {
        0 => 0,
        bits if signed => ((value << (32 - bits)) as i32 >> (32 - bits)) as u32,
        bits => value << (32 - bits) >> (32 - bits),
    }
}

/// All of them.
pub const OPERATIONS: &[&[Operation]] = &[
    common!("b16" u16 16),
    common!("b32" u32 32),
    common!("b64" u64 64),
    long!("b32" u32 32),
    long!("b64" u64 64),
    fields!("u32" u32 32 false),
    fields!("s32" u32 32 true),
    fields!("u64" u64 64 false),
    fields!("s64" u64 64 true),
    tables!(0x80 0xfe 0x96 0x1b 0xe8 0x00 0xff),
    OTHERS,
];
