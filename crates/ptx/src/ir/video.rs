//! Video instructions: arithmetic on the bytes and halves of words (PTX ISA, "Scalar Video
//! Instructions" and "SIMD Video Instructions").

use super::operand::{Destination, Operand};
use super::operation::Comparison;

/// A range of bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The lowest bit.
    pub first: u8,
    /// How many: 8, 16 or 32.
    pub bits: u8,
}

impl Part {
    /// The whole word.
    pub const WORD: Part = Part { first: 0, bits: 32 };
}

/// A scalar video instruction: `op` on a part of `a` and a part of `b`, `.sat`, then `then` with
/// `c`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarVideo {
    /// What it computes, exactly.
    pub op: VideoOp,
    /// Whether the result is `.s32`; saturation clamps it to that type.
    pub signed: bool,
    /// `.sat`: saturates to the range of the result's type, and of the part of the destination that
    /// it goes to.
    pub saturate: bool,
    /// What is done with the result.
    pub then: SecondaryOp,
    /// The result.
    pub dst: Destination,
    /// The first source.
    pub a: VideoSource,
    /// The second source.
    pub b: VideoSource,
    /// The third source: the addend of `vmad`, the operand of a second operation, or the word to
    /// merge a part into.
    pub c: Option<Operand>,
}

/// A source of a scalar video instruction: a part of it, extended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VideoSource {
    /// The word.
    pub operand: Operand,
    /// The part.
    pub part: Part,
    /// Whether it is `.s32`, and its part sign-extended.
    pub signed: bool,
}

/// What scalar video instructions compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum VideoOp {
    Add,
    Subtract,
    AbsoluteDifference,
    Minimum,
    Maximum,
    /// With `.wrap` or `.clamp` for the amount.
    ShiftLeft {
        wrap: bool,
    },
    ShiftRight {
        wrap: bool,
    },
    /// 1 if the comparison holds, else 0.
    Compare(Comparison),
    MultiplyAdd(VideoMultiply),
}

/// The options of `vmad`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VideoMultiply {
    /// Whether the product is negated, because one of its factors is.
    pub negate_product: bool,
    /// Whether the addend is negated.
    pub negate_addend: bool,
    /// `.po`: one is added.
    pub plus_one: bool,
    /// Bits by which the sum is shifted right: 0, 7 or 15.
    pub shift: u8,
}

/// What a scalar video instruction does with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SecondaryOp {
    /// The result is not modified.
    Keep,
    Add,
    Minimum,
    Maximum,
    /// The low bits of the result replace a part of `c`.
    Merge(Part),
}

/// A SIMD video instruction: the same operation on each half, or each byte.
#[derive(Clone, Debug, PartialEq)]
pub struct SimdVideo {
    /// What it computes.
    pub op: SimdVideoOp,
    /// The number of lanes: 2 halves or 4 bytes.
    pub lanes: u8,
    /// Whether results, `a` and `b` are signed.
    pub signed: [bool; 3],
    /// For `a` and for `b`: the lane of `b:a` from which each lane's value comes, the lowest lane
    /// first.
    pub sources: [[u8; 4]; 2],
    /// The lanes that are written, or summed, a bit for each; the other lanes are those of `c`.
    pub mask: u8,
    /// `.sat`.
    pub saturate: bool,
    /// `.add`: the results of all lanes and `c` are summed.
    pub accumulate: bool,
    /// The result.
    pub dst: Destination,
    /// The first source.
    pub a: Operand,
    /// The second source.
    pub b: Operand,
    /// The third source.
    pub c: Operand,
}

/// What SIMD video instructions compute in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SimdVideoOp {
    Add,
    Subtract,
    /// Rounded away from zero.
    Average,
    AbsoluteDifference,
    Minimum,
    Maximum,
    /// 1 if the comparison holds, else 0.
    Compare(Comparison),
}
