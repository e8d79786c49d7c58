//! Conversions: PTX and expected results. Part of the table in [`super`].

use super::operation::{Operation, operation};

/// From an integer type to others: the low bits, extended with the sign of the source.
macro_rules! integers {
    ($from:literal $read:ident $register:ident: $($to:literal $write:ident $result:ident),*) => {
        &[$(
            operation!(concat!("cvt.", $to, ".", $from, " $d, $a;"), |a: $register| $result: a as $read as $write as $result),
        )*]
    };
}

macro_rules! from_integer {
    ($from:literal $read:ident $register:ident) => {
        integers!($from $read $register:
            "u8" u8 u16, "s8" i8 i16, "u16" u16 u16, "s16" i16 i16, "u32" u32 u32, "s32" i32 i32, "u64" u64 u64, "s64" i64 i64)
    };
}

/// The same, saturated. PTX has it only for types that cannot represent all values of the source.
macro_rules! saturating {
    ($from:literal $read:ident $register:ident: $($to:literal $write:ident $result:ident),*) => {
        &[$(
            operation!(concat!("cvt.sat.", $to, ".", $from, " $d, $a;"), |a: $register| $result: {
                i128::from(a as $read).clamp($write::MIN.into(), $write::MAX.into()) as $write as $result
            }),
        )*]
    };
}

/// To floats, rounded to nearest.
macro_rules! to_floats {
    ($($from:literal $type:ident),*) => {
        &[$(
            operation!(concat!("cvt.rn.f32.", $from, " $d, $a;"), |a: $type| f32: a as f32),
            operation!(concat!("cvt.rn.f64.", $from, " $d, $a;"), |a: $type| f64: a as f64),
        )*]
    };
}

/// From floats to integers: rounded to an integer, then saturated. Rust's `as` saturates, too, and
/// turns NaN into 0. So does PTX, unless one of the types has 64 bits: then NaN becomes the highest
/// bit alone.
macro_rules! to_integers {
    ($from:literal $type:ident $long:literal $($to:literal $result:ident $long_result:literal),*) => {
        &[$(
            operation!(concat!("cvt.rni.", $to, ".", $from, " $d, $a;"), |a: $type| $result: {
                if a.is_nan() && ($long || $long_result) { 1 << ($result::BITS - 1) } else { a.round_ties_even() as $result }
            }),
            operation!(concat!("cvt.rzi.", $to, ".", $from, " $d, $a;"), |a: $type| $result: {
                if a.is_nan() && ($long || $long_result) { 1 << ($result::BITS - 1) } else { a.trunc() as $result }
            }),
            operation!(concat!("cvt.rmi.", $to, ".", $from, " $d, $a;"), |a: $type| $result: {
                if a.is_nan() && ($long || $long_result) { 1 << ($result::BITS - 1) } else { a.floor() as $result }
            }),
            operation!(concat!("cvt.rpi.", $to, ".", $from, " $d, $a;"), |a: $type| $result: {
                if a.is_nan() && ($long || $long_result) { 1 << ($result::BITS - 1) } else { a.ceil() as $result }
            }),
        )*]
    };
}

/// All of them.
pub const OPERATIONS: &[&[Operation]] = &[
    from_integer!("u8" u8 u32),
    from_integer!("s8" i8 u16),
    from_integer!("u16" u16 u16),
    from_integer!("s16" i16 u32),
    from_integer!("u32" u32 u32),
    from_integer!("s32" i32 u32),
    from_integer!("u64" u64 u64),
    from_integer!("s64" i64 u64),
    saturating!("u8" u8 u32: "s8" i8 i16),
    saturating!("s8" i8 u16: "u8" u8 u16, "u16" u16 u16, "u32" u32 u32, "u64" u64 u64),
    saturating!("u16" u16 u16: "u8" u8 u16, "s8" i8 i16, "s16" i16 i16),
    saturating!("s16" i16 u32: "u8" u8 u16, "s8" i8 i16, "u16" u16 u16, "u32" u32 u32, "u64" u64 u64),
    saturating!("u32" u32 u32: "u8" u8 u16, "s8" i8 i16, "u16" u16 u16, "s16" i16 i16, "s32" i32 i32),
    saturating!("s32" i32 u32: "u8" u8 u16, "s8" i8 i16, "u16" u16 u16, "s16" i16 i16, "u32" u32 u32, "u64" u64 u64),
    saturating!("u64" u64 u64: "u8" u8 u16, "s16" i16 i16, "u32" u32 u32, "s32" i32 i32, "s64" i64 i64),
    saturating!("s64" i64 u64: "s8" i8 i16, "u16" u16 u16, "u32" u32 u32, "s32" i32 i32, "u64" u64 u64),
    to_floats!("u16" u16, "s16" i16, "u32" u32, "s32" i32, "u64" u64, "s64" i64),
    to_integers!("f32" f32 false "u16" u16 false, "s16" i16 false, "u32" u32 false, "s32" i32 false, "u64" u64 true, "s64" i64 true),
    to_integers!("f64" f64 true "u32" u32 false, "s32" i32 false, "u64" u64 true, "s64" i64 true),
];
