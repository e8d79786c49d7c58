//! Video instructions: arithmetic on the bytes and halves of words (PTX ISA, "Scalar Video Instructions" and "SIMD
//! Video Instructions"). Plain data: `typing/video.rs` makes it, `simt` executes it.

use super::{Comparison, Destination, Operand};

/// Some bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The lowest of them.
    pub first: u8,
    /// How many: 8, 16 or 32.
    pub bits: u8,
}

impl Part {
    /// All of it.
    pub const WORD: Part = Part { first: 0, bits: 32 };
}

/// A scalar video instruction: `op` on a part of `a` and a part of `b`, `.sat`, then what `then` says with `c`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarVideo {
    /// What it computes, exactly.
    pub op: VideoOp,
    /// Whether the result is `.s32`; it is clamped to that type if it is to be saturated.
    pub signed: bool,
    /// `.sat`: to the range of the result's type, and of the part of the destination that it goes to.
    pub saturate: bool,
    /// What is done with the result.
    pub then: VideoThen,
    /// The result.
    pub dst: Destination,
    /// The first source.
    pub a: VideoSource,
    /// The second source.
    pub b: VideoSource,
    /// The third one: of `vmad`, of a second operation, and what a part of the destination is merged into.
    pub c: Option<Operand>,
}

/// A source of a scalar video instruction: a part of it, extended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VideoSource {
    /// The word.
    pub operand: Operand,
    /// The part.
    pub part: Part,
    /// Whether it is `.s32`, and the part sign-extended.
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
    /// `.wrap` or `.clamp` of the amount.
    ShiftLeft {
        wrap: bool,
    },
    ShiftRight {
        wrap: bool,
    },
    /// 1 if it holds, else 0.
    Compare(Comparison),
    MultiplyAdd(VideoMultiply),
}

/// The rest of `vmad`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VideoMultiply {
    /// Whether the product is negated: one of its factors is.
    pub negate_product: bool,
    /// Whether the addend is.
    pub negate_addend: bool,
    /// `.po`: one is added.
    pub plus_one: bool,
    /// Bits that the sum is shifted right by: 0, 7 or 15.
    pub shift: u8,
}

/// What follows a scalar video operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum VideoThen {
    /// The result is not modified.
    Keep,
    Add,
    Minimum,
    Maximum,
    /// Its low bits replace a part of `c`.
    Merge(Part),
}

/// A SIMD video instruction: the same operation on each half, or each byte.
#[derive(Clone, Debug, PartialEq)]
pub struct SimdVideo {
    /// What it computes.
    pub op: SimdVideoOp,
    /// Number of lanes: 2 halves or 4 bytes.
    pub lanes: u8,
    /// Whether results, `a` and `b` are signed.
    pub signed: [bool; 3],
    /// For `a` and for `b`: of which of the lanes of `b:a` each lane's value comes, the lowest lane first.
    pub sources: [[u8; 4]; 2],
    /// The lanes that are written, or added up, a bit for each; the others are `c`'s.
    pub mask: u8,
    /// `.sat`.
    pub saturate: bool,
    /// `.add`: the results of all lanes and `c` are added up.
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
    /// 1 if it holds, else 0.
    Compare(Comparison),
}
