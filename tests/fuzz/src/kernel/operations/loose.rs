//! Operations for which the PTX manual promises only a tolerance, or leaves the result to the
//! hardware, and video instructions. Only loose kernels have them: their runs are compared with
//! each other, not with expected results.
//!
//! Textures and surfaces are those of [`OBJECTS`].

use super::operation::Operation;
use crate::kernel::Bank;

/// Declarations of a module whose kernels use these operations: where the host stores handles.
pub const OBJECTS: &str =
    ".global .align 8 .u64 image;\n.global .align 8 .u64 volume;\n.global .align 8 .u64 pixels;\n";

const fn operation(text: &'static str, result: Bank, operands: &'static [Bank]) -> Operation {
    Operation { text, result, operands, evaluate: |_| unreachable!("a loose operation has no second machine") }
}

const WORDS: [&[Bank]; 4] = [&[], &[Bank::Word], &[Bank::Word, Bank::Word], &[Bank::Word, Bank::Word, Bank::Word]];

/// From words to a word.
const fn word(text: &'static str, operands: usize) -> Operation {
    operation(text, Bank::Word, WORDS[operands])
}

/// All of them.
pub const OPERATIONS: &[Operation] = &[
    word("sin.approx.f32 $d, $a;", 1),
    word("sin.approx.ftz.f32 $d, $a;", 1),
    word("cos.approx.f32 $d, $a;", 1),
    word("ex2.approx.f32 $d, $a;", 1),
    word("ex2.approx.ftz.f32 $d, $a;", 1),
    word("lg2.approx.f32 $d, $a;", 1),
    word("lg2.approx.ftz.f32 $d, $a;", 1),
    word("tanh.approx.f32 $d, $a;", 1),
    word("rcp.approx.f32 $d, $a;", 1),
    word("rcp.approx.ftz.f32 $d, $a;", 1),
    word("sqrt.approx.f32 $d, $a;", 1),
    word("rsqrt.approx.f32 $d, $a;", 1),
    word("rsqrt.approx.ftz.f32 $d, $a;", 1),
    word("div.approx.f32 $d, $a, $b;", 2),
    word("div.full.f32 $d, $a, $b;", 2),
    operation("rcp.approx.ftz.f64 $d, $a;", Bank::Double, &[Bank::Double]),
    operation("rsqrt.approx.f64 $d, $a;", Bank::Double, &[Bank::Double]),
    operation("ex2.approx.f16 $d, $a;", Bank::Half, &[Bank::Half]),
    operation("tanh.approx.f16 $d, $a;", Bank::Half, &[Bank::Half]),
    word("ex2.approx.f16x2 $d, $a;", 1),
    word("tanh.approx.f16x2 $d, $a;", 1),
    word("vadd.s32.s32.u32 $d, $a.h1, $b.b2;", 2),
    word("vadd.s32.s32.s32.sat.max $d, $a.b0, $b.b2, $c;", 3),
    word("vadd.u32.u32.u32.sat $d.b2, $a.h1, $b.b0, $c;", 3),
    word("vsub.u32.s32.u32.sat $d, $a.h0, $b.b0;", 2),
    word("vsub.s32.s32.s32 $d.h1, $a.b1, $b.b0, $c;", 3),
    word("vabsdiff.u32.s32.u32.add $d, $a.b0, $b.b2, $c;", 3),
    word("vmin.s32.u32.s32 $d, $a.h1, $b.b3;", 2),
    word("vmax.u32.u32.u32.sat.min $d, $a, $b.h0, $c;", 3),
    word("vshl.u32.u32.u32.wrap $d, $a.h1, $b.b0;", 2),
    word("vshr.s32.s32.u32.clamp.add $d, $a, $b.b1, $c;", 3),
    word("vmad.s32.s32.u32.shr7 $d, $a.b1, $b.h0, $c;", 3),
    word("vset.s32.u32.lt.max $d, $a.b3, $b.h1, $c;", 3),
    word("vadd2.s32.s32.s32.sat $d, $a.h10, $b.h32, $c;", 3),
    word("vsub2.u32.u32.u32.add $d, $a, $b, $c;", 3),
    word("vavrg2.s32.s32.s32 $d, $a, $b, $c;", 3),
    word("vset2.s32.s32.ge $d, $a, $b, $c;", 3),
    word("vadd4.u32.u32.s32.sat $d, $a, $b, $c;", 3),
    word("vabsdiff4.u32.s32.s32.add $d, $a.b3210, $b.b7654, $c;", 3),
    word("vmax4.s32.s32.s32 $d.b31, $a, $b.b0000, $c;", 3),
    word(
        "ld.global.u64 %td0, [image]; tex.2d.v4.f32.f32 {%tr0, %tr1, %tr2, %tr3}, [%td0, {$a, $b}]; \
         add.rn.f32 $d, %tr0, %tr3;",
        2,
    ),
    word(
        "ld.global.u64 %td0, [image]; tex.level.2d.v4.f32.f32 {%tr0, %tr1, %tr2, %tr3}, [%td0, {$a, $b}], $c; \
         mov.b32 $d, %tr1;",
        3,
    ),
    word(
        "ld.global.u64 %td0, [image]; tld4.g.2d.v4.f32.f32 {%tr0, %tr1, %tr2, %tr3}, [%td0, {$a, $b}]; mov.b32 $d, %tr2;",
        2,
    ),
    word(
        "ld.global.u64 %td0, [volume]; tex.3d.v4.s32.s32 {%tr0, %tr1, %tr2, %tr3}, [%td0, {$a, $b, $c, $c}]; \
         xor.b32 $d, %tr0, %tr1;",
        3,
    ),
    word("ld.global.u64 %td0, [pixels]; and.b32 %tr0, $a, -4; suld.b.2d.b32.zero $d, [%td0, {%tr0, $b}];", 2),
    word(
        "ld.global.u64 %td0, [pixels]; and.b32 %tr0, $a, 28; suld.b.2d.v2.b16.clamp {%th0, %th1}, [%td0, {%tr0, $b}]; \
         cvt.u32.u16 $d, %th1;",
        2,
    ),
];
