//! What instructions do: operations, and the modifiers that change them.
//!
//! What PTX can express in several ways has one form here. A modifier that PTX does not allow on an
//! instruction never gets here: `typing` rejects it. Plain data that `simt` decodes.

use std::fmt;

use super::operand::{Destination, Operand};

/// How arithmetic rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// None given: nearest even for floats, no rounding for integers.
    #[default]
    Default,
    /// `.rn`: nearest, ties to even.
    Nearest,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards minus infinity.
    Down,
    /// `.rp`: towards plus infinity.
    Up,
    /// `.rna`: nearest, ties away from zero.
    NearestAway,
    /// `.rni`: to the nearest integer, ties to even.
    IntegerNearest,
    /// `.rzi`: to an integer, towards zero.
    IntegerZero,
    /// `.rmi`: to an integer, towards minus infinity.
    IntegerDown,
    /// `.rpi`: to an integer, towards plus infinity.
    IntegerUp,
}

/// The precision of a float operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Exact as in IEEE 754.
    #[default]
    Exact,
    /// `.approx`.
    Approximate,
    /// `.full` (division of f32).
    Full,
}

/// Modifiers of arithmetic.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Mode {
    /// Rounding.
    pub rounding: Rounding,
    /// Exact, `.approx` or `.full`.
    pub precision: Precision,
    /// `.ftz`: subnormal inputs and results are zeros of the same sign.
    pub flush_subnormals: bool,
    /// `.sat`: floats to [0, 1] (NaN to 0), integers to the type's range.
    pub saturate: bool,
    /// `.satfinite`: results beyond the largest finite number become that number.
    pub saturate_finite: bool,
    /// `.oob` of `fma`: the result is zero if a factor is the NaN that means "out of bounds".
    pub out_of_bounds_zero: bool,
    /// `.NaN` of `min` and `max`: NaN if any input is.
    pub propagate_nan: bool,
    /// `.xorsign.abs` of `min` and `max`.
    pub xor_sign_abs: bool,
    /// `.relu`: negative results and NaN become zero.
    pub relu: bool,
}

/// Shows the modifiers that are not at their defaults.
impl fmt::Debug for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Mode");
        if self.rounding != Rounding::default() {
            shown.field("rounding", &self.rounding);
        }
        if self.precision != Precision::default() {
            shown.field("precision", &self.precision);
        }
        let flags = [
            ("flush_subnormals", self.flush_subnormals),
            ("saturate", self.saturate),
            ("saturate_finite", self.saturate_finite),
            ("out_of_bounds_zero", self.out_of_bounds_zero),
            ("propagate_nan", self.propagate_nan),
            ("xor_sign_abs", self.xor_sign_abs),
            ("relu", self.relu),
        ];
        for (name, set) in flags {
            if set {
                shown.field(name, &set);
            }
        }
        shown.finish()
    }
}

/// Operations on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Absolute,
    Negate,
    Not,
    /// `cnot`: 1 if the operand is zero, else 0.
    LogicalNot,
    PopulationCount,
    CountLeadingZeros,
    BitReverse,
    /// `bfind`, or `bfind.shiftamt`.
    FindLeadingBit {
        shift_amount: bool,
    },
    Reciprocal,
    SquareRoot,
    ReciprocalSquareRoot,
    Sine,
    Cosine,
    Log2,
    Exp2,
    Tanh,
}

/// Operations on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Subtract,
    /// `mul` of floats, `mul.lo` of integers.
    Multiply,
    MultiplyHigh,
    /// The result is twice as wide as `ty`.
    MultiplyWide,
    Multiply24Low,
    Multiply24High,
    Divide,
    Remainder,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
    /// The second operand is u32 for any `ty`; amounts beyond the width are clamped to it.
    ShiftLeft,
    /// As [`BinaryOp::ShiftLeft`]; arithmetic for signed types.
    ShiftRight,
    CopySign,
    /// `bmsk.clamp` or `bmsk.wrap`.
    BitMask {
        wrap: bool,
    },
    /// `szext.clamp` or `szext.wrap`.
    SignZeroExtend {
        wrap: bool,
    },
}

/// Operations on three values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TernaryOp {
    /// `mad.lo` of integers; `mad` of floats is fused and reads as [`TernaryOp::FusedMultiplyAdd`].
    MultiplyAdd,
    MultiplyAddHigh,
    /// The result and the third operand are twice as wide as `ty`.
    MultiplyAddWide,
    MultiplyAdd24Low,
    MultiplyAdd24High,
    FusedMultiplyAdd,
    /// `min` of three f32, or of their absolute values.
    Minimum3 {
        absolute: bool,
    },
    /// `max` of three f32, or of their absolute values.
    Maximum3 {
        absolute: bool,
    },
    SumOfAbsoluteDifferences,
    BitFieldExtract,
    /// `shf.l`: (a: low, b: high, c: amount), `ty` is b32.
    FunnelShiftLeft {
        wrap: bool,
    },
    /// `shf.r`.
    FunnelShiftRight {
        wrap: bool,
    },
    /// `prmt` with its mode.
    Permute(PermuteMode),
    /// `lop3` with its truth table.
    Logic(u8),
    /// `dp4a`, and whether a and b are signed.
    DotProduct4 {
        a_signed: bool,
        b_signed: bool,
    },
    /// `dp2a.lo`/`.hi`.
    DotProduct2 {
        a_signed: bool,
        b_signed: bool,
        high: bool,
    },
    /// `fns.b32`: mask, base, offset.
    FindNthSet,
}

/// Modes of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PermuteMode {
    Index,
    Forward4Extract,
    Backward4Extract,
    Replicate8,
    EdgeClampLeft,
    EdgeClampRight,
    Replicate16,
}

/// Operations with a carry from one word to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CarryOp {
    Add,
    Subtract,
    MultiplyAddLow,
    MultiplyAddHigh,
}

/// Comparisons of `set` and `setp`. `lo`, `ls`, `hi` and `hs` become the first four orderings of an
/// unsigned type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// `equ`, and so on for the next five: also true if either operand is NaN.
    EqualOrUnordered,
    NotEqualOrUnordered,
    LessOrUnordered,
    LessEqualOrUnordered,
    GreaterOrUnordered,
    GreaterEqualOrUnordered,
    /// `num`: neither is NaN.
    Ordered,
    /// `nan`: either is NaN.
    Unordered,
}

/// A predicate combined with a comparison: `setp.lt.and.u32 p, a, b, c`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Combine {
    /// The operation.
    pub op: BooleanOp,
    /// The predicate, or an integer constant: true unless it is zero.
    pub predicate: Operand,
}

/// Boolean operations of `set` and `setp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BooleanOp {
    And,
    Or,
    Xor,
}

/// What `testp` tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FloatProperty {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// Memory ordering of a load, store, atomic operation or fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Ordering {
    #[default]
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
    /// `.mmio`.
    MemoryMapped,
}

/// The threads to which an ordering applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scope {
    Block,
    Cluster,
    #[default]
    Device,
    System,
}

/// Cache operators of loads and stores (PTX ISA, "Cache Operators").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CacheOperator {
    /// None given.
    #[default]
    Default,
    /// `ca`: at all levels.
    AllLevels,
    /// `cg`: at L2 and not at L1.
    GlobalLevel,
    /// `cs`: streaming.
    Streaming,
    /// `lu`: last use.
    LastUse,
    /// `cv`: fetch again.
    Volatile,
    /// `wb`: write back.
    WriteBack,
    /// `wt`: write through.
    WriteThrough,
}

/// Operations of `atom` and `red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomicOp {
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Add,
    Increment,
    Decrement,
    Minimum,
    Maximum,
}

/// How `shfl` picks the source lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// What `vote` returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum VoteMode {
    All,
    Any,
    Uniform,
    Ballot,
}

/// What a block-wide barrier does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BarrierAction {
    /// Waits for all threads.
    Synchronize,
    /// Arrives and does not wait.
    Arrive,
    /// Waits for all threads, and reduces a predicate over them.
    Reduce {
        /// The reduction.
        op: BarrierReduction,
        /// Where the result goes: a predicate for and/or, a u32 for a count.
        destination: Destination,
        /// Each thread's contribution.
        predicate: Operand,
    },
}

/// Reductions of `bar.red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BarrierReduction {
    PopulationCount,
    And,
    Or,
}
