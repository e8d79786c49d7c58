//! The text of arithmetic, video instructions included.

use super::text::{Part, Text};
use crate::{
    BinaryOp, CarryOp, Kind, Mode, ScalarVideo, SecondaryOp, SimdVideo, SimdVideoOp, TernaryOp, Type, VideoMultiply,
    VideoOp,
};

/// Opcode, with its modifiers, of an operation on two values.
pub(super) fn binary(op: BinaryOp, ty: Type) -> &'static str {
    match (op, ty.kind()) {
        (BinaryOp::Multiply, Kind::Unsigned | Kind::Signed) => "mul.lo",
        _ => op.name(),
    }
}

fn signed(signed: bool) -> &'static str {
    if signed { "s32" } else { "u32" }
}

/// Opcode and modifiers of an operation on three values.
pub(super) fn ternary<'m>(text: Text<'m>, op: TernaryOp, ty: Type, mode: Mode) -> Text<'m> {
    let text = text.op(op.name());
    match op {
        TernaryOp::Minimum3 { absolute } | TernaryOp::Maximum3 { absolute } => {
            text.mode(mode).when(absolute, "abs").ty(ty)
        }
        TernaryOp::Permute(mode) => text.ty(ty).dot(mode.name()),
        TernaryOp::DotProduct4 { a_signed, b_signed } | TernaryOp::DotProduct2 { a_signed, b_signed, .. } => {
            text.dot(signed(a_signed)).dot(signed(b_signed))
        }
        _ => text.mode(mode).ty(ty),
    }
}

/// The opcode of an operation with a carry, without the final `c`, and its half of a product.
pub(super) fn carry(op: CarryOp) -> (&'static str, &'static str) {
    match op {
        CarryOp::Add => ("add", ""),
        CarryOp::Subtract => ("sub", ""),
        CarryOp::MultiplyAddLow => ("mad", "lo"),
        CarryOp::MultiplyAddHigh => ("mad", "hi"),
    }
}

/// The selector of a part of a word, with its dot.
impl Part for crate::Part {
    fn put(&self, text: &mut Text<'_>) {
        match self.bits {
            8 => text.put(format_args!(".b{}", self.first / 8)),
            16 => text.put(format_args!(".h{}", self.first / 16)),
            _ => {}
        }
    }
}

/// `vadd.s32.u32.s32.sat.min d.h1, a.b0, b, c`
pub(super) fn scalar_video<'m>(text: Text<'m>, video: &ScalarVideo) -> Text<'m> {
    let wrapped = |wrap: bool| if wrap { "wrap" } else { "clamp" };
    let minus = |negates: bool| if negates { "-" } else { "" };
    let mut multiply = VideoMultiply::default();
    let (name, how) = match video.op {
        VideoOp::Add => ("vadd", ""),
        VideoOp::Subtract => ("vsub", ""),
        VideoOp::AbsoluteDifference => ("vabsdiff", ""),
        VideoOp::Minimum => ("vmin", ""),
        VideoOp::Maximum => ("vmax", ""),
        VideoOp::ShiftLeft { wrap } => ("vshl", wrapped(wrap)),
        VideoOp::ShiftRight { wrap } => ("vshr", wrapped(wrap)),
        VideoOp::Compare(comparison) => ("vset", comparison.name()),
        VideoOp::MultiplyAdd(options) => {
            multiply = options;
            ("vmad", if options.plus_one { "po" } else { "" })
        }
    };
    let (then, to) = match video.then {
        SecondaryOp::Keep => ("", crate::Part::WORD),
        SecondaryOp::Add => ("add", crate::Part::WORD),
        SecondaryOp::Minimum => ("min", crate::Part::WORD),
        SecondaryOp::Maximum => ("max", crate::Part::WORD),
        SecondaryOp::Merge(to) => ("", to),
    };
    let text = text.op(name).when(name != "vset", signed(video.signed));
    let text = text.dot(signed(video.a.signed)).dot(signed(video.b.signed)).when(video.saturate, "sat").dot(how);
    let text = text.when(multiply.shift == 7, "shr7").when(multiply.shift == 15, "shr15").dot(then);
    let text = text.operand(|text| text.put_all(&[&video.dst, &to]));
    let text = text.operand(|text| {
        text.put_all(&[&minus(multiply.negate_product), &video.a.operand, &video.a.part]);
    });
    let text = text.operand(|text| text.put_all(&[&video.b.operand, &video.b.part]));
    video.c.iter().fold(text, |text, c| text.operand(|text| text.put_all(&[&minus(multiply.negate_addend), c])))
}

/// `vadd2.s32.u32.s32.sat d.h1, a.h01, b.h23, c`
pub(super) fn simd_video<'m>(text: Text<'m>, video: &SimdVideo) -> Text<'m> {
    let count = video.lanes;
    let (name, comparison) = match video.op {
        SimdVideoOp::Add => ("vadd", ""),
        SimdVideoOp::Subtract => ("vsub", ""),
        SimdVideoOp::Average => ("vavrg", ""),
        SimdVideoOp::AbsoluteDifference => ("vabsdiff", ""),
        SimdVideoOp::Minimum => ("vmin", ""),
        SimdVideoOp::Maximum => ("vmax", ""),
        SimdVideoOp::Compare(comparison) => ("vset", comparison.name()),
    };
    let [result, a, b] = video.signed.map(signed);
    let text = text.op(name).op(&count.to_string()).when(comparison.is_empty(), result).dot(a).dot(b);
    let text = text.when(video.saturate, "sat").dot(comparison).when(video.accumulate, "add");
    // The selector of lanes, the highest first, unless they are all lanes in order.
    let selector = |lanes: &mut dyn DoubleEndedIterator<Item = u8>, first: u8| {
        let digits: String = lanes.rev().map(|lane| lane.to_string()).collect();
        let plain: String = (first..first + count).rev().map(|lane| lane.to_string()).collect();
        let letter = if count == 2 { 'h' } else { 'b' };
        if digits == plain { String::new() } else { format!(".{letter}{digits}") }
    };
    let written = selector(&mut (0..count).filter(|lane| video.mask >> lane & 1 == 1), 0);
    let [of_a, of_b] = [(0, 0), (1, count)]
        .map(|(which, first)| selector(&mut video.sources[which].iter().copied().take(count.into()), first));
    let text = text.operand(|text| text.put_all(&[&video.dst, &written.as_str()]));
    let text = text.operand(|text| text.put_all(&[&video.a, &of_a.as_str()]));
    text.operand(|text| text.put_all(&[&video.b, &of_b.as_str()])).arg(video.c)
}
