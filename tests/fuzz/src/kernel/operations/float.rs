//! Arithmetic on f32 and f64, rounded to nearest: PTX and expected results. Part of the table in
//! [`super`].

use super::operation::{Operation, operation};

/// Makes a NaN result canonical.
macro_rules! canonical {
    (f32 $text:literal) => {
        concat!($text, " testp.notanumber.f32 %tp0, %tr0; selp.b32 $d, 0x7fffffff, %tr0, %tp0;")
    };
    (f64 $text:literal) => {
        concat!($text, " testp.notanumber.f64 %tp0, %td0; selp.b64 $d, 0x7ff8000000000000, %td0, %tp0;")
    };
}

/// The smaller operand: -0 is smaller than +0, and a number wins over a NaN.
macro_rules! smaller {
    ($a:expr, $b:expr) => {
        match ($a, $b) {
            (a, b) if a.is_nan() => b,
            (a, b) if b.is_nan() => a,
            (a, b) if a == b => {
                if a.is_sign_negative() {
                    a
                } else {
                    b
                }
            }
            (a, b) => {
                if a < b {
                    a
                } else {
                    b
                }
            }
        }
    };
}

macro_rules! larger {
    ($a:expr, $b:expr) => {
        -smaller!(-$a, -$b)
    };
}

/// Subnormal operands and results are zero.
fn flush(value: f32) -> f32 {
    if value.is_subnormal() { 0_f32.copysign(value) } else { value }
}

/// Clamped to 0 and 1; NaN becomes 0.
fn saturate(value: f32) -> f32 {
    match value {
        value if value.is_nan() || value <= 0.0 => 0.0,
        value => value.min(1.0),
    }
}

const SINGLE: &[Operation] = &[
    operation!("add.rn.f32 $d, $a, $b;", |a: f32, b: f32| f32: a + b),
    operation!("sub.rn.f32 $d, $a, $b;", |a: f32, b: f32| f32: a - b),
    operation!("mul.rn.f32 $d, $a, $b;", |a: f32, b: f32| f32: a * b),
    operation!("fma.rn.f32 $d, $a, $b, $c;", |a: f32, b: f32, c: f32| f32: a.mul_add(b, c)),
    operation!("mad.rn.f32 $d, $a, $b, $c;", |a: f32, b: f32, c: f32| f32: a.mul_add(b, c)),
    operation!("div.rn.f32 $d, $a, $b;", |a: f32, b: f32| f32: a / b),
    operation!("rcp.rn.f32 $d, $a;", |a: f32| f32: 1.0 / a),
    operation!("sqrt.rn.f32 $d, $a;", |a: f32| f32: a.sqrt()),
    operation!(canonical!(f32 "min.f32 %tr0, $a, $b;"), |a: f32, b: f32| f32: smaller!(a, b)),
    operation!(canonical!(f32 "max.f32 %tr0, $a, $b;"), |a: f32, b: f32| f32: larger!(a, b)),
    operation!("min.NaN.f32 $d, $a, $b;", |a: f32, b: f32| f32: {
        if a.is_nan() || b.is_nan() { f32::NAN } else { smaller!(a, b) }
    }),
    operation!("add.rn.ftz.f32 $d, $a, $b;", |a: f32, b: f32| f32: flush(flush(a) + flush(b))),
    operation!("add.rn.sat.f32 $d, $a, $b;", |a: f32, b: f32| f32: saturate(a + b)),
    operation!("mul.rn.sat.f32 $d, $a, $b;", |a: f32, b: f32| f32: saturate(a * b)),
    operation!("fma.rn.sat.f32 $d, $a, $b, $c;", |a: f32, b: f32, c: f32| f32: saturate(a.mul_add(b, c))),
    operation!("setp.lt.ftz.f32 $d, $a, $b;", |a: f32, b: f32| bool: flush(a) < flush(b)),
    operation!(canonical!(f32 "neg.f32 %tr0, $a;"), |a: f32| f32: -a),
    operation!(canonical!(f32 "abs.f32 %tr0, $a;"), |a: f32| f32: a.abs()),
    operation!(canonical!(f32 "copysign.f32 %tr0, $a, $b;"), |a: f32, b: f32| f32: b.copysign(a)),
    operation!(canonical!(f32 "cvt.rn.f32.f64 %tr0, $a;"), |a: f64| f32: a as f32),
    operation!(canonical!(f32 "cvt.rni.f32.f32 %tr0, $a;"), |a: f32| f32: a.round_ties_even()),
    operation!(canonical!(f32 "cvt.rzi.f32.f32 %tr0, $a;"), |a: f32| f32: a.trunc()),
    operation!(canonical!(f32 "cvt.rmi.f32.f32 %tr0, $a;"), |a: f32| f32: a.floor()),
    operation!(canonical!(f32 "cvt.rpi.f32.f32 %tr0, $a;"), |a: f32| f32: a.ceil()),
    operation!("cvt.sat.f32.f32 $d, $a;", |a: f32| f32: saturate(a)),
];

const DOUBLE: &[Operation] = &[
    operation!(canonical!(f64 "add.rn.f64 %td0, $a, $b;"), |a: f64, b: f64| f64: a + b),
    operation!(canonical!(f64 "sub.rn.f64 %td0, $a, $b;"), |a: f64, b: f64| f64: a - b),
    operation!(canonical!(f64 "mul.rn.f64 %td0, $a, $b;"), |a: f64, b: f64| f64: a * b),
    operation!(canonical!(f64 "fma.rn.f64 %td0, $a, $b, $c;"), |a: f64, b: f64, c: f64| f64: a.mul_add(b, c)),
    operation!(canonical!(f64 "div.rn.f64 %td0, $a, $b;"), |a: f64, b: f64| f64: a / b),
    operation!(canonical!(f64 "rcp.rn.f64 %td0, $a;"), |a: f64| f64: 1.0 / a),
    operation!(canonical!(f64 "sqrt.rn.f64 %td0, $a;"), |a: f64| f64: a.sqrt()),
    operation!(canonical!(f64 "min.f64 %td0, $a, $b;"), |a: f64, b: f64| f64: smaller!(a, b)),
    operation!(canonical!(f64 "max.f64 %td0, $a, $b;"), |a: f64, b: f64| f64: larger!(a, b)),
    operation!(canonical!(f64 "neg.f64 %td0, $a;"), |a: f64| f64: -a),
    operation!(canonical!(f64 "abs.f64 %td0, $a;"), |a: f64| f64: a.abs()),
    operation!(canonical!(f64 "copysign.f64 %td0, $a, $b;"), |a: f64, b: f64| f64: b.copysign(a)),
    operation!(canonical!(f64 "cvt.f64.f32 %td0, $a;"), |a: f32| f64: f64::from(a)),
    operation!(canonical!(f64 "cvt.rni.f64.f64 %td0, $a;"), |a: f64| f64: a.round_ties_even()),
    operation!(canonical!(f64 "cvt.rzi.f64.f64 %td0, $a;"), |a: f64| f64: a.trunc()),
];

/// All of them.
pub const OPERATIONS: &[&[Operation]] = &[SINGLE, DOUBLE];
