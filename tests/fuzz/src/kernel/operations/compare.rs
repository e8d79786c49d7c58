//! Comparisons and selections: PTX and expected results. Part of the table in [`super`].

use std::cmp::Ordering;

use super::operation::{Operation, operation};

macro_rules! comparisons {
    ($name:literal $type:ident $($comparison:literal $operator:tt),*) => {
        &[$(
            operation!(concat!("setp.", $comparison, ".", $name, " $d, $a, $b;"), |a: $type, b: $type| bool: a $operator b),
            // The second result is that of the opposite comparison.
            operation!(
                concat!("setp.", $comparison, ".or.", $name, " %tp0|$d, $a, $b, !$c;"),
                |a: $type, b: $type, c: bool| bool: !(a $operator b) | !c
            ),
            operation!(concat!("set.", $comparison, ".u32.", $name, " $d, $a, $b;"), |a: $type, b: $type| u32: {
                if a $operator b { u32::MAX } else { 0 }
            }),
        )*]
    };
}

macro_rules! selections {
    ($name:literal $type:ident) => {
        &[
            operation!(concat!("selp.", $name, " $d, $a, $b, $c;"), |a: $type, b: $type, c: bool| $type: {
                if c { a } else { b }
            }),
            operation!(concat!("slct.", $name, ".s32 $d, $a, $b, $c;"), |a: $type, b: $type, c: i32| $type: {
                if c >= 0 { a } else { b }
            }),
        ]
    };
}

/// Float comparisons: the result for a NaN, and the order that two numbers must have.
macro_rules! float_comparisons {
    ($name:literal $type:ident $($comparison:literal $order:ident $with_nan:literal),*) => {
        &[$(
            operation!(concat!("setp.", $comparison, ".", $name, " $d, $a, $b;"), |a: $type, b: $type| bool: {
                a.partial_cmp(&b).map_or($with_nan, Ordering::$order)
            }),
            operation!(
                concat!("setp.", $comparison, ".and.", $name, " $d, $a, $b, $c;"),
                |a: $type, b: $type, c: bool| bool: a.partial_cmp(&b).map_or($with_nan, Ordering::$order) && c
            ),
        )*]
    };
}

macro_rules! of_floats {
    ($name:literal $type:ident) => {
        float_comparisons!($name $type
            "eq" is_eq false, "ne" is_ne false, "lt" is_lt false, "le" is_le false, "gt" is_gt false, "ge" is_ge false,
            "equ" is_eq true, "neu" is_ne true, "ltu" is_lt true, "leu" is_le true, "gtu" is_gt true, "geu" is_ge true)
    };
}

macro_rules! numbers {
    ($name:literal $type:ident) => {
        &[
            operation!(concat!("setp.num.", $name, " $d, $a, $b;"), |a: $type, b: $type| bool: !a.is_nan() && !b.is_nan()),
            operation!(concat!("setp.nan.", $name, " $d, $a, $b;"), |a: $type, b: $type| bool: a.is_nan() || b.is_nan()),
        ]
    };
}

/// Classes of numbers. Zero is normal.
macro_rules! tests {
    ($name:literal $type:ident) => {
        &[
            operation!(concat!("testp.finite.", $name, " $d, $a;"), |a: $type| bool: a.is_finite()),
            operation!(concat!("testp.infinite.", $name, " $d, $a;"), |a: $type| bool: a.is_infinite()),
            operation!(concat!("testp.number.", $name, " $d, $a;"), |a: $type| bool: !a.is_nan()),
            operation!(concat!("testp.notanumber.", $name, " $d, $a;"), |a: $type| bool: a.is_nan()),
            operation!(concat!("testp.normal.", $name, " $d, $a;"), |a: $type| bool: a.is_normal() || a == 0.0),
            operation!(concat!("testp.subnormal.", $name, " $d, $a;"), |a: $type| bool: a.is_subnormal()),
        ]
    };
}

/// All of them.
pub const OPERATIONS: &[&[Operation]] = &[
    comparisons!("u16" u16 "eq" ==, "lt" <, "ge" >=),
    comparisons!("s16" i16 "ne" !=, "le" <=, "gt" >),
    comparisons!("u32" u32 "ne" !=, "lo" <, "ls" <=, "hi" >, "hs" >=),
    comparisons!("s32" i32 "eq" ==, "lt" <, "le" <=, "gt" >, "ge" >=),
    comparisons!("u64" u64 "eq" ==, "lt" <, "ge" >=),
    comparisons!("s64" i64 "ne" !=, "le" <=, "gt" >),
    comparisons!("b32" u32 "eq" ==),
    selections!("b16" u16),
    selections!("b32" u32),
    selections!("s64" i64),
    of_floats!("f32" f32),
    of_floats!("f64" f64),
    numbers!("f32" f32),
    numbers!("f64" f64),
    tests!("f32" f32),
    tests!("f64" f64),
];
