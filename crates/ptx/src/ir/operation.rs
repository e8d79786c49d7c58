//! What instructions do: arithmetic and comparisons, and the modifiers that change them.
//!
//! What PTX can express in several ways has one form here. A modifier that PTX does not allow on an
//! instruction never gets here: `typing` rejects it. Plain data that `simt` decodes.

use super::names::names;
use super::operand::Operand;

names! {
    /// How arithmetic rounds.
    #[derive(Default)]
    pub enum Rounding {
        /// None given: nearest even for floats, no rounding for integers.
        #[default]
        Default = "",
        /// `.rn`: nearest, ties to even.
        Nearest = "rn",
        /// `.rz`: towards zero.
        Zero = "rz",
        /// `.rm`: towards minus infinity.
        Down = "rm",
        /// `.rp`: towards plus infinity.
        Up = "rp",
        /// `.rna`: nearest, ties away from zero.
        NearestAway = "rna",
        /// `.rni`: to the nearest integer, ties to even.
        IntegerNearest = "rni",
        /// `.rzi`: to an integer, towards zero.
        IntegerZero = "rzi",
        /// `.rmi`: to an integer, towards minus infinity.
        IntegerDown = "rmi",
        /// `.rpi`: to an integer, towards plus infinity.
        IntegerUp = "rpi",
    }
}

names! {
    /// The precision of a float operation.
    #[derive(Default)]
    pub enum Precision {
        /// Exact as in IEEE 754.
        #[default]
        Exact = "",
        /// `.approx`.
        Approximate = "approx",
        /// `.full` (division of f32).
        Full = "full",
    }
}

/// Modifiers of arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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

names! {
    /// The flags of a [`Mode`].
    pub(crate) enum ModeFlag {
        FlushSubnormals = "ftz",
        Saturate = "sat",
        PropagateNan = "NaN",
        /// Followed by `.abs`.
        XorSignAbs = "xorsign",
        OutOfBoundsZero = "oob",
        Relu = "relu",
        SaturateFinite = "satfinite",
    }
}

impl Mode {
    /// One of its flags.
    pub(crate) fn flag(&mut self, flag: ModeFlag) -> &mut bool {
        match flag {
            ModeFlag::FlushSubnormals => &mut self.flush_subnormals,
            ModeFlag::Saturate => &mut self.saturate,
            ModeFlag::PropagateNan => &mut self.propagate_nan,
            ModeFlag::XorSignAbs => &mut self.xor_sign_abs,
            ModeFlag::OutOfBoundsZero => &mut self.out_of_bounds_zero,
            ModeFlag::Relu => &mut self.relu,
            ModeFlag::SaturateFinite => &mut self.saturate_finite,
        }
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

names! {
    UnaryOp {
        Absolute = "abs",
        Negate = "neg",
        Not = "not",
        LogicalNot = "cnot",
        PopulationCount = "popc",
        CountLeadingZeros = "clz",
        BitReverse = "brev",
        FindLeadingBit { shift_amount: false } = "bfind",
        FindLeadingBit { shift_amount: true } = "bfind.shiftamt",
        Reciprocal = "rcp",
        SquareRoot = "sqrt",
        ReciprocalSquareRoot = "rsqrt",
        Sine = "sin",
        Cosine = "cos",
        Log2 = "lg2",
        Exp2 = "ex2",
        Tanh = "tanh",
    }
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

names! {
    BinaryOp {
        Add = "add",
        Subtract = "sub",
        Multiply = "mul",
        MultiplyHigh = "mul.hi",
        MultiplyWide = "mul.wide",
        Multiply24Low = "mul24.lo",
        Multiply24High = "mul24.hi",
        Divide = "div",
        Remainder = "rem",
        Minimum = "min",
        Maximum = "max",
        And = "and",
        Or = "or",
        Xor = "xor",
        ShiftLeft = "shl",
        ShiftRight = "shr",
        CopySign = "copysign",
        BitMask { wrap: false } = "bmsk.clamp",
        BitMask { wrap: true } = "bmsk.wrap",
        SignZeroExtend { wrap: false } = "szext.clamp",
        SignZeroExtend { wrap: true } = "szext.wrap",
    }
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

impl TernaryOp {
    /// The opcode, with the modifiers that belong to it rather than to types or modes.
    pub fn name(self) -> &'static str {
        match self {
            TernaryOp::MultiplyAdd => "mad.lo",
            TernaryOp::MultiplyAddHigh => "mad.hi",
            TernaryOp::MultiplyAddWide => "mad.wide",
            TernaryOp::MultiplyAdd24Low => "mad24.lo",
            TernaryOp::MultiplyAdd24High => "mad24.hi",
            TernaryOp::FusedMultiplyAdd => "fma",
            TernaryOp::Minimum3 { .. } => "min",
            TernaryOp::Maximum3 { .. } => "max",
            TernaryOp::SumOfAbsoluteDifferences => "sad",
            TernaryOp::BitFieldExtract => "bfe",
            TernaryOp::FunnelShiftLeft { wrap: false } => "shf.l.clamp",
            TernaryOp::FunnelShiftLeft { wrap: true } => "shf.l.wrap",
            TernaryOp::FunnelShiftRight { wrap: false } => "shf.r.clamp",
            TernaryOp::FunnelShiftRight { wrap: true } => "shf.r.wrap",
            TernaryOp::Permute(_) => "prmt",
            TernaryOp::Logic(_) => "lop3",
            TernaryOp::DotProduct4 { .. } => "dp4a",
            TernaryOp::DotProduct2 { high: false, .. } => "dp2a.lo",
            TernaryOp::DotProduct2 { high: true, .. } => "dp2a.hi",
            TernaryOp::FindNthSet => "fns",
        }
    }
}

names! {
    /// Modes of `prmt`.
    #[allow(missing_docs)]
    pub enum PermuteMode {
        Index = "",
        Forward4Extract = "f4e",
        Backward4Extract = "b4e",
        Replicate8 = "rc8",
        EdgeClampLeft = "ecl",
        EdgeClampRight = "ecr",
        Replicate16 = "rc16",
    }
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

names! {
    /// Comparisons of `set` and `setp`. `lo`, `ls`, `hi` and `hs` become the first four orderings
    /// of an unsigned type.
    #[allow(missing_docs)]
    pub enum Comparison {
        Equal = "eq",
        NotEqual = "ne",
        Less = "lt",
        LessEqual = "le",
        Greater = "gt",
        GreaterEqual = "ge",
        /// `equ`, and so on for the next five: also true if either operand is NaN.
        EqualOrUnordered = "equ",
        NotEqualOrUnordered = "neu",
        LessOrUnordered = "ltu",
        LessEqualOrUnordered = "leu",
        GreaterOrUnordered = "gtu",
        GreaterEqualOrUnordered = "geu",
        /// `num`: neither is NaN.
        Ordered = "num",
        /// `nan`: either is NaN.
        Unordered = "nan",
    }
}

impl Comparison {
    /// Those of ordered values, the only ones that integers have.
    pub const ORDERED: &'static [Self] = Self::ALL.split_at(6).0;
}

/// A predicate combined with a comparison: `setp.lt.and.u32 p, a, b, c`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Combine {
    /// The operation.
    pub op: BooleanOp,
    /// The predicate, or an integer constant: true unless it is zero.
    pub predicate: Operand,
}

names! {
    /// Boolean operations of `set` and `setp`.
    #[allow(missing_docs)]
    pub enum BooleanOp {
        And = "and",
        Or = "or",
        Xor = "xor",
    }
}

names! {
    /// What `testp` tests.
    #[allow(missing_docs)]
    pub enum FloatProperty {
        Finite = "finite",
        Infinite = "infinite",
        Number = "number",
        NotANumber = "notanumber",
        Normal = "normal",
        Subnormal = "subnormal",
    }
}
