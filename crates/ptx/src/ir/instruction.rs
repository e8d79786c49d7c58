//! Instructions: typed, with every modifier that changes what they do and none that does not.
//!
//! Operations of one shape share one variant ([`Op::Unary`], [`Op::Binary`], [`Op::Ternary`]); the modifiers of
//! arithmetic stand in one [`Mode`]. A modifier that PTX does not allow on an instruction never gets here: the parser
//! refuses it.

use super::{Function, Location, Register, Space, Span, Symbol, Type, Variable};
use crate::Handle;

/// One instruction of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// `@p` or `@!p`: the lanes that execute it.
    pub guard: Option<Predicate>,
    /// What it does.
    pub op: Op,
    /// Its text, guard and semicolon included.
    pub span: Span,
    /// The `.loc` in force.
    pub location: Option<Handle<Location>>,
}

/// A predicate register, as it is or negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// The register, of type [`Type::Pred`].
    pub register: Handle<Register>,
    /// `!p`.
    pub negated: bool,
}

/// A value that an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Register(Handle<Register>),
    /// A negated predicate register (`!p`), where PTX allows one.
    NotRegister(Handle<Register>),
    /// An integer constant, as 64 bits in two's complement.
    Integer(u64),
    /// The bits of an f32, where the operand's type is f32 (or b32): `0fXXXXXXXX`, or a decimal rounded to f32.
    Single(u32),
    /// The bits of an f64, where the operand's type is f64 (or b64): `0dXXXXXXXXXXXXXXXX` or a decimal.
    Double(u64),
    /// A special register.
    Special(Special),
    /// The address of a symbol plus an offset, in the symbol's own state space (`mov.u64 %rd1, tile+16;`).
    Address(Symbol, i64),
}

/// A register to write, or `_`.
pub type Destination = Option<Handle<Register>>;

/// The operand in square brackets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Address {
    /// What the address starts from.
    pub base: AddressBase,
    /// Added to it, in bytes.
    pub offset: i64,
}

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AddressBase {
    /// A register.
    Register(Handle<Register>),
    /// A variable.
    Variable(Handle<Variable>),
    /// Zero: the offset is the address.
    Absolute,
}

/// Special registers (PTX ISA, "Special Registers").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is named after PTX's own
pub enum Special {
    ThreadIndex(Axis),
    BlockSize(Axis),
    BlockIndex(Axis),
    GridSize(Axis),
    LaneId,
    WarpId,
    WarpCount,
    MultiprocessorId,
    MultiprocessorCount,
    GridId,
    LaneMaskEqual,
    LaneMaskLess,
    LaneMaskLessEqual,
    LaneMaskGreater,
    LaneMaskGreaterEqual,
    Clock,
    ClockHigh,
    Clock64,
    GlobalTimer,
    GlobalTimerLow,
    GlobalTimerHigh,
    TotalSharedSize,
    DynamicSharedSize,
    Environment(u8),
}

/// A dimension of the grid or the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Axis {
    X,
    Y,
    Z,
}

/// How arithmetic rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// None named: nearest even for floats, nothing to round for integers.
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

/// How exact a float operation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// As IEEE 754 says.
    #[default]
    Exact,
    /// `.approx`.
    Approximate,
    /// `.full` (division of f32).
    Full,
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
    /// `.NaN` of `min` and `max`: NaN if any input is.
    pub propagate_nan: bool,
    /// `.xorsign.abs` of `min` and `max`.
    pub xor_sign_abs: bool,
    /// `.relu`: negative results and NaN become zero.
    pub relu: bool,
}

/// Operations on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Absolute,
    Negate,
    Not,
    /// `cnot`: 1 if zero, else 0.
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
    /// The second operand is u32 whatever `ty` is; amounts beyond the width are clamped to it.
    ShiftLeft,
    /// As above; arithmetic for signed types.
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
    /// `dp4a`: whether a and b are signed.
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

/// Operations that carry from one word to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CarryOp {
    Add,
    Subtract,
    MultiplyAddLow,
    MultiplyAddHigh,
}

/// Comparisons of `set` and `setp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// `lo`, `ls`, `hi`, `hs` read as the four above on an unsigned type.
    /// The `...u` forms: true if either operand is NaN.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combine {
    /// With what operation.
    pub op: BooleanOp,
    /// With what predicate.
    pub predicate: Predicate,
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

/// The threads that an ordering is about.
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
    /// None named.
    #[default]
    Default,
    /// `ca`: at all levels.
    AllLevels,
    /// `cg`: at L2, not L1.
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

/// What `vote` tells.
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
    /// Waits for all.
    Synchronize,
    /// Counts as arrived, waits for none.
    Arrive,
    /// Waits, and reduces a predicate over all threads.
    Reduce {
        /// How.
        op: BarrierReduction,
        /// Where the result goes: a predicate for and/or, a u32 for the count.
        destination: Destination,
        /// What each thread gives.
        predicate: Predicate,
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

/// What a call calls.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A function by name.
    Direct(Handle<Function>),
    /// A function whose address a register holds. The candidates come from the call's `.calltargets`; if it has a
    /// `.callprototype` instead, all functions of the module that fit it.
    Indirect {
        /// The register.
        register: Handle<Register>,
        /// Which functions it may be.
        candidates: Vec<Handle<Function>>,
    },
}

/// An argument or a result of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CallOperand {
    /// A `.param` variable of the caller.
    Variable(Handle<Variable>),
    /// A value passed directly.
    Value(Operand),
}

/// What an instruction does. Positions of branches index the function's body; the position after the last
/// instruction is a `ret`.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields are the operands in PTX's order; dst is written, the others are read
pub enum Op {
    // Moving data within registers.
    Move {
        ty: Type,
        dst: Destination,
        src: Operand,
    },
    /// `mov.b64 d, {a, b}`: the first part is the least significant.
    Pack {
        ty: Type,
        dst: Destination,
        parts: Vec<Operand>,
    },
    /// `mov.b64 {a, b}, s`.
    Unpack {
        ty: Type,
        dsts: Vec<Destination>,
        src: Operand,
    },
    Convert {
        to: Type,
        from: Type,
        mode: Mode,
        dst: Destination,
        src: Operand,
    },
    /// `cvt.rn.f16x2.f32 d, a, b`: `a` becomes the upper half.
    ConvertPair {
        to: Type,
        from: Type,
        mode: Mode,
        dst: Destination,
        a: Operand,
        b: Operand,
    },
    /// `cvta` (to generic) or `cvta.to` (from generic).
    ConvertAddress {
        space: Space,
        to_generic: bool,
        ty: Type,
        dst: Destination,
        src: Operand,
    },
    IsSpace {
        space: Space,
        dst: Destination,
        src: Operand,
    },

    // Arithmetic.
    Unary {
        op: UnaryOp,
        ty: Type,
        mode: Mode,
        dst: Destination,
        a: Operand,
    },
    Binary {
        op: BinaryOp,
        ty: Type,
        mode: Mode,
        dst: Destination,
        a: Operand,
        b: Operand,
    },
    Ternary {
        op: TernaryOp,
        ty: Type,
        mode: Mode,
        dst: Destination,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `bfi d, a, b, position, length`: a inserted into b.
    BitFieldInsert {
        ty: Type,
        dst: Destination,
        a: Operand,
        b: Operand,
        position: Operand,
        length: Operand,
    },
    /// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.lo.cc`, `madc.hi`, ...; `c` only for multiply-add.
    Carry {
        op: CarryOp,
        ty: Type,
        carry_in: bool,
        carry_out: bool,
        dst: Destination,
        a: Operand,
        b: Operand,
        c: Option<Operand>,
    },

    // Comparing and selecting.
    /// `setp`: `dst` gets the result, `dst_not` what it would be with the comparison negated.
    SetPredicate {
        comparison: Comparison,
        ty: Type,
        flush_subnormals: bool,
        combine: Option<Combine>,
        dst: Destination,
        dst_not: Destination,
        a: Operand,
        b: Operand,
    },
    /// `set`: all ones (or 1.0) if true.
    Set {
        comparison: Comparison,
        to: Type,
        ty: Type,
        flush_subnormals: bool,
        combine: Option<Combine>,
        dst: Destination,
        a: Operand,
        b: Operand,
    },
    Select {
        ty: Type,
        dst: Destination,
        a: Operand,
        b: Operand,
        predicate: Predicate,
    },
    /// `slct d, a, b, c`: a if c >= 0, else b.
    SelectBySign {
        ty: Type,
        selector: Type,
        flush_subnormals: bool,
        dst: Destination,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    TestProperty {
        property: FloatProperty,
        ty: Type,
        dst: Destination,
        a: Operand,
    },

    // Memory.
    /// `ld`, `ldu`, `ld.global.nc` (non-coherent); one destination for each element of the vector. An access has up to
    /// 16 bytes in all; from sm_100 on up to 32 in global memory.
    Load {
        space: Space,
        ordering: Ordering,
        scope: Scope,
        cache: CacheOperator,
        non_coherent: bool,
        ty: Type,
        dsts: Vec<Destination>,
        address: Address,
    },
    Store {
        space: Space,
        ordering: Ordering,
        scope: Scope,
        cache: CacheOperator,
        ty: Type,
        srcs: Vec<Operand>,
        address: Address,
    },
    /// `atom`; `red` has no `dst`. `b` only for compare-and-swap (a: compare, b: new value).
    Atomic {
        space: Space,
        op: AtomicOp,
        ordering: Ordering,
        scope: Scope,
        ty: Type,
        flush_subnormals: bool,
        is_reduction: bool,
        dst: Destination,
        address: Address,
        a: Operand,
        b: Option<Operand>,
    },
    /// `prefetch`, `prefetchu`, `applypriority`, `discard`: touches no register and no data.
    Prefetch {
        space: Space,
        address: Address,
    },
    Fence {
        ordering: Ordering,
        scope: Scope,
    },

    // Across lanes.
    Shuffle {
        mode: ShuffleMode,
        dst: Destination,
        in_range: Destination,
        src: Operand,
        lane: Operand,
        clamp: Operand,
        members: Operand,
    },
    Vote {
        mode: VoteMode,
        dst: Destination,
        predicate: Operand,
        members: Operand,
    },
    /// `match.any`, `match.all`; `ty` is b32 or b64, `dst` a mask.
    Match {
        all: bool,
        ty: Type,
        dst: Destination,
        all_equal: Destination,
        src: Operand,
        members: Operand,
    },
    /// `redux.sync`.
    WarpReduce {
        op: AtomicOp,
        ty: Type,
        dst: Destination,
        src: Operand,
        members: Operand,
    },
    ActiveMask {
        dst: Destination,
    },

    // Waiting for other threads. `aligned`: all threads of the warp must execute the same barrier together.
    Barrier {
        action: BarrierAction,
        aligned: bool,
        barrier: Operand,
        threads: Option<Operand>,
    },
    WarpBarrier {
        members: Operand,
    },
    NanoSleep {
        duration: Operand,
    },

    // Control flow.
    Branch {
        target: u32,
        uniform: bool,
    },
    BranchIndexed {
        index: Operand,
        targets: Vec<u32>,
        uniform: bool,
    },
    Call {
        callee: Callee,
        results: Vec<CallOperand>,
        arguments: Vec<CallOperand>,
        uniform: bool,
    },
    Return,
    Exit,
    Trap,
    Breakpoint,
}
