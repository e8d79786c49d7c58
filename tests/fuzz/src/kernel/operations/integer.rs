//! Integer arithmetic: PTX and expected results. Part of the table in [`super`].

use super::operation::{Operation, operation};

/// Operations of every integer type. Every product fits `$wide`; `$odd` is a register with an odd,
/// positive divisor.
macro_rules! common {
    ($name:literal $type:ident $wide:ident $bits:literal $size:literal $odd:literal $most:literal) => {
        &[
            operation!(concat!("add.", $name, " $d, $a, $b;"), |a: $type, b: $type| $type: a.wrapping_add(b)),
            operation!(concat!("sub.", $name, " $d, $a, $b;"), |a: $type, b: $type| $type: a.wrapping_sub(b)),
            operation!(concat!("mul.lo.", $name, " $d, $a, $b;"), |a: $type, b: $type| $type: a.wrapping_mul(b)),
            operation!(concat!("mul.hi.", $name, " $d, $a, $b;"), |a: $type, b: $type| $type: {
                ((a as $wide).wrapping_mul(b as $wide) >> $bits) as $type
            }),
            operation!(concat!("mad.lo.", $name, " $d, $a, $b, $c;"), |a: $type, b: $type, c: $type| $type: {
                a.wrapping_mul(b).wrapping_add(c)
            }),
            operation!(concat!("mad.hi.", $name, " $d, $a, $b, $c;"), |a: $type, b: $type, c: $type| $type: {
                (((a as $wide).wrapping_mul(b as $wide) >> $bits) as $type).wrapping_add(c)
            }),
            operation!(concat!("min.", $name, " $d, $a, $b;"), |a: $type, b: $type| $type: a.min(b)),
            operation!(concat!("max.", $name, " $d, $a, $b;"), |a: $type, b: $type| $type: a.max(b)),
            operation!(concat!("sad.", $name, " $d, $a, $b, $c;"), |a: $type, b: $type, c: $type| $type: {
                c.wrapping_add(if a < b { b.wrapping_sub(a) } else { a.wrapping_sub(b) })
            }),
            operation!(concat!("shr.", $name, " $d, $a, $b;"), |a: $type, b: u32| $type: {
                (a as $wide >> b.min($bits)) as $type
            }),
            operation!(
                concat!(
                    "and.", $size, " ", $odd, ", $b, ", $most, "; or.", $size, " ", $odd, ", ", $odd, ", 1; ",
                    "div.", $name, " $d, $a, ", $odd, ";"
                ),
                |a: $type, b: $type| $type: a / (b & ($most as $type) | 1)
            ),
            operation!(
                concat!(
                    "and.", $size, " ", $odd, ", $b, ", $most, "; or.", $size, " ", $odd, ", ", $odd, ", 1; ",
                    "rem.", $name, " $d, $a, ", $odd, ";"
                ),
                |a: $type, b: $type| $type: a % (b & ($most as $type) | 1)
            ),
        ]
    };
}

/// Operations of signed types.
macro_rules! signed {
    ($name:literal $type:ident) => {
        &[
            operation!(concat!("neg.", $name, " $d, $a;"), |a: $type| $type: a.wrapping_neg()),
            operation!(concat!("abs.", $name, " $d, $a;"), |a: $type| $type: a.wrapping_abs()),
        ]
    };
}

/// Products twice as wide as their factors.
macro_rules! wide {
    ($name:literal $type:ident $wide:ident) => {
        &[
            operation!(concat!("mul.wide.", $name, " $d, $a, $b;"), |a: $type, b: $type| $wide: {
                (a as $wide).wrapping_mul(b as $wide)
            }),
            operation!(concat!("mad.wide.", $name, " $d, $a, $b, $c;"), |a: $type, b: $type, c: $wide| $wide: {
                (a as $wide).wrapping_mul(b as $wide).wrapping_add(c)
            }),
        ]
    };
}

/// The low 24 bits of a number, extended with their sign or with zeros.
fn low24(value: u32, signed: bool) -> i64 {
    if signed { i64::from((value << 8) as i32 >> 8) } else { i64::from(value & 0xff_ffff) }
}

macro_rules! of_24_bits {
    ($name:literal $signed:literal) => {
        &[
            operation!(concat!("mul24.lo.", $name, " $d, $a, $b;"), |a: u32, b: u32| u32: {
                (low24(a, $signed) * low24(b, $signed)) as u32
            }),
            operation!(concat!("mul24.hi.", $name, " $d, $a, $b;"), |a: u32, b: u32| u32: {
                (low24(a, $signed) * low24(b, $signed) >> 16) as u32
            }),
            operation!(concat!("mad24.lo.", $name, " $d, $a, $b, $c;"), |a: u32, b: u32, c: u32| u32: {
                ((low24(a, $signed) * low24(b, $signed)) as u32).wrapping_add(c)
            }),
        ]
    };
}

/// Part `index` of a word that is cut into parts of `bits` bits.
fn part(word: u32, index: u32, bits: u32, signed: bool) -> i64 {
    let shifted = word << (32 - bits * (index + 1));
    if signed { i64::from(shifted as i32 >> (32 - bits)) } else { i64::from(shifted >> (32 - bits)) }
}

fn dot4(a: u32, b: u32, c: u32, [a_signed, b_signed]: [bool; 2]) -> u32 {
    (0..4).fold(c, |sum, index| sum.wrapping_add((part(a, index, 8, a_signed) * part(b, index, 8, b_signed)) as u32))
}

fn dot2(a: u32, b: u32, c: u32, [a_signed, b_signed]: [bool; 2], high: u32) -> u32 {
    (0..2).fold(c, |sum, index| {
        sum.wrapping_add((part(a, index, 16, a_signed) * part(b, index + 2 * high, 8, b_signed)) as u32)
    })
}

macro_rules! dots {
    ($name:literal $signs:expr) => {
        &[
            operation!(concat!("dp4a.", $name, " $d, $a, $b, $c;"), |a: u32, b: u32, c: u32| u32: dot4(a, b, c, $signs)),
            operation!(concat!("dp2a.lo.", $name, " $d, $a, $b, $c;"), |a: u32, b: u32, c: u32| u32: {
                dot2(a, b, c, $signs, 0)
            }),
            operation!(concat!("dp2a.hi.", $name, " $d, $a, $b, $c;"), |a: u32, b: u32, c: u32| u32: {
                dot2(a, b, c, $signs, 1)
            }),
        ]
    };
}

const OTHERS: &[Operation] = &[
    operation!("add.sat.s32 $d, $a, $b;", |a: i32, b: i32| i32: a.saturating_add(b)),
    // Not of two registers: NVIDIA's compiler cancels common terms and then does not saturate.
    operation!("mul.lo.s32 %tr0, $b, $b; sub.sat.s32 $d, $a, %tr0;", |a: i32, b: i32| i32: {
        a.saturating_sub(b.wrapping_mul(b))
    }),
    operation!("mad.hi.sat.s32 $d, $a, $b, $c;", |a: i32, b: i32, c: i32| i32: {
        (((i64::from(a) * i64::from(b)) >> 32) as i32).saturating_add(c)
    }),
    // Sums and differences of 64 bits in two halves, with the carry between them.
    operation!(
        "mov.b64 {%tr0, %tr1}, $a; mov.b64 {%tr2, %tr3}, $b; add.cc.u32 %tr0, %tr0, %tr2; addc.u32 %tr1, %tr1, %tr3; \
         mov.b64 $d, {%tr0, %tr1};",
        |a: u64, b: u64| u64: a.wrapping_add(b)
    ),
    operation!(
        "mov.b64 {%tr0, %tr1}, $a; mov.b64 {%tr2, %tr3}, $b; sub.cc.u32 %tr0, %tr0, %tr2; subc.u32 %tr1, %tr1, %tr3; \
         mov.b64 $d, {%tr0, %tr1};",
        |a: u64, b: u64| u64: a.wrapping_sub(b)
    ),
    // The carry itself.
    operation!("add.cc.u32 %tr0, $a, $b; addc.u32 $d, 0, 0;", |a: u32, b: u32| u32: a.overflowing_add(b).1.into()),
    operation!("sub.cc.u32 %tr0, $a, $b; subc.u32 $d, 0, 0;", |a: u32, b: u32| u32: {
        if a < b { u32::MAX } else { 0 }
    }),
    operation!("add.cc.u64 %td0, $a, $b; addc.u64 $d, $a, 0;", |a: u64, b: u64| u64: {
        a.wrapping_add(a.overflowing_add(b).1.into())
    }),
    // A product of 32 bits in its two halves: mad.lo.cc carries into madc.hi.
    operation!(
        "mov.b64 {%tr0, %tr1}, $c; mad.lo.cc.u32 %tr0, $a, $b, %tr0; madc.hi.u32 %tr1, $a, $b, %tr1; \
         mov.b64 $d, {%tr0, %tr1};",
        |a: u32, b: u32, c: u64| u64: (u64::from(a) * u64::from(b)).wrapping_add(c)
    ),
];

/// All of them.
pub const OPERATIONS: &[&[Operation]] = &[
    common!("u16" u16 u32 16 "b16" "%th0" 0x7fff),
    common!("s16" i16 i32 16 "b16" "%th0" 0x7fff),
    common!("u32" u32 u64 32 "b32" "%tr0" 0x7fffffff),
    common!("s32" i32 i64 32 "b32" "%tr0" 0x7fffffff),
    common!("u64" u64 u128 64 "b64" "%td0" 0x7fffffffffffffff),
    common!("s64" i64 i128 64 "b64" "%td0" 0x7fffffffffffffff),
    signed!("s16" i16),
    signed!("s32" i32),
    signed!("s64" i64),
    wide!("u16" u16 u32),
    wide!("s16" i16 i32),
    wide!("u32" u32 u64),
    wide!("s32" i32 i64),
    of_24_bits!("u32" false),
    of_24_bits!("s32" true),
    dots!("u32.u32" [false, false]),
    dots!("u32.s32" [false, true]),
    dots!("s32.u32" [true, false]),
    dots!("s32.s32" [true, true]),
    OTHERS,
];
