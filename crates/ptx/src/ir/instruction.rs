//! Instructions: typed, with every modifier that changes what they do.
//!
//! [`Op`] has a variant for each kind of operation; what is particular to a family (textures,
//! video, matrices, copies) is in that family's file. Operations of one shape share one variant
//! ([`Op::Unary`], [`Op::Binary`], [`Op::Ternary`]), and the modifiers of arithmetic are one
//! [`Mode`]. `typing` makes the operations, the parser puts them into function bodies, and `simt`
//! executes them. Plain data.

use super::asynchronous::{AsyncCopy, AsyncStore, BulkCopy, MbarrierAction};
use super::lines::Span;
use super::matrix::{MatrixMultiply, MatrixTile};
use super::module::Location;
use super::operand::{Address, CallOperand, Callee, Destination, Operand, Predicate};
use super::operation::{
    AtomicOp, BarrierAction, BinaryOp, CacheOperator, CarryOp, Combine, Comparison, FloatProperty, Mode, Ordering,
    Scope, ShuffleMode, TernaryOp, UnaryOp, VoteMode,
};
use super::tensor::{FenceProxies, TensorCopy, TensorField};
use super::texture::{Opaque, OutOfRange, TexelPosition, TextureFetch, TextureQuery};
use super::types::{Space, Type};
use super::video::{ScalarVideo, SimdVideo};
use super::warpgroup::WarpgroupMultiply;
use crate::Handle;

/// One instruction of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// `@p` or `@!p`: only lanes in which it holds execute the instruction.
    pub guard: Option<Predicate>,
    /// What it does.
    pub op: Op,
    /// Its text, including the guard and the semicolon.
    pub span: Span,
    /// The `.loc` in force.
    pub location: Option<Handle<Location>>,
}

/// What an instruction does. Positions of branches index the function's body; the position after
/// the last instruction is a `ret`.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields are the operands in PTX's order; dst is written, the others are read
pub enum Op {
    // Moving data within registers.
    /// `mov`: `dst` and `src` have type `ty`, of 16 to 128 bits or a predicate. With 32 or 64 bits,
    /// `src` may be the address of a symbol.
    Move {
        ty: Type,
        dst: Destination,
        src: Operand,
    },
    /// `mov.v2.u32 {d, e}, {a, b}`: all are read before any is written. All parts have type `ty`,
    /// together at most 128 bits.
    MoveVector {
        ty: Type,
        dsts: Vec<Destination>,
        srcs: Vec<Operand>,
    },
    /// `mov.b64 d, {a, b}`: the first part is the least significant. `ty` is bits, of 16 to
    /// 128, and each part has an equal share of them.
    Pack {
        ty: Type,
        dst: Destination,
        parts: Vec<Operand>,
    },
    /// `mov.b64 {a, b}, s`. Typed as [`Op::Pack`].
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
    /// `cvt.pack`: `a` and `b` saturated to `bits` bits, with `a` above `b` and the low bits of `c`
    /// above both.
    ConvertPack {
        bits: u32,
        signed: bool,
        dst: Destination,
        a: Operand,
        b: Operand,
        c: Option<Operand>,
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
    /// `istypep`: whether an address is that of a `.texref`, `.samplerref` or `.surfref` of the
    /// module.
    IsType {
        ty: Type,
        dst: Destination,
        src: Operand,
    },

    // Arithmetic.
    /// `a` has type `ty`, and so has `dst`, except for operations that count bits: these return
    /// `u32`.
    Unary {
        op: UnaryOp,
        ty: Type,
        mode: Mode,
        dst: Destination,
        a: Operand,
    },
    /// `a`, `b` and `dst` have type `ty`, except that a shift's or an extension's amount `b` is
    /// `u32`, and a wide product is twice as wide.
    Binary {
        op: BinaryOp,
        ty: Type,
        mode: Mode,
        dst: Destination,
        a: Operand,
        b: Operand,
    },
    /// All operands have type `ty`, except positions, lengths and amounts, which are `u32`; the
    /// base and the offset of `fns`; and the sum and the addend of a wide product, which are twice
    /// as wide.
    Ternary {
        op: TernaryOp,
        ty: Type,
        mode: Mode,
        dst: Destination,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `lop3.or.b32 d|p, a, b, c, table, q`: `dst_is_set` is whether `dst` is not zero, combined
    /// with a predicate. All are `b32`, but for the predicates.
    LogicAndTest {
        table: u8,
        combine: Combine,
        dst: Destination,
        dst_is_set: Destination,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `bfi d, a, b, position, length`: a inserted into b. `ty` is `b32` or `b64`; `position` and
    /// `length` are `u32`.
    BitFieldInsert {
        ty: Type,
        dst: Destination,
        a: Operand,
        b: Operand,
        position: Operand,
        length: Operand,
    },
    /// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.lo.cc`, `madc.hi`, ...; `c` only for multiply-add.
    /// All operands have type `ty`.
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

    /// `vadd`, `vmad`, `vset`, ...
    ScalarVideo(Box<ScalarVideo>),
    /// `vadd2`, `vset4`, ...
    SimdVideo(Box<SimdVideo>),

    // Comparing and selecting.
    /// `setp`: `dst` gets the result, and `dst_not` the result of the negated comparison. For a
    /// packed type, `dst` gets the result of the lower half and `dst_not` that of the upper half.
    /// `a` and `b` have type `ty`, the destinations are predicates. A comparison must exist for the
    /// type's kind: bits have `eq` and `ne`, only unsigned types `lo` to `hs`, only floats the
    /// unordered ones. `flush_subnormals` is for `f32`, `f16` and `f16x2`. Half types have no
    /// `dst_not`.
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
    /// `set`: all ones (or 1.0) if true. `dst` has type `to`, and `a` and `b` have type `ty`, typed
    /// as for [`Op::SetPredicate`]; packed `ty` needs 32 bits of integer or the same type.
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
    /// `dst`, `a` and `b` have type `ty`, of at least 16 bits.
    Select {
        ty: Type,
        dst: Destination,
        a: Operand,
        b: Operand,
        predicate: Operand,
    },
    /// `slct d, a, b, c`: a if c >= 0, else b. `dst`, `a` and `b` have type `ty`; `c` has type
    /// `selector`, which is `s32` or `f32`.
    SelectBySign {
        ty: Type,
        selector: Type,
        flush_subnormals: bool,
        dst: Destination,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `testp`: `a` is `f32` or `f64`, `dst` a predicate.
    TestProperty {
        property: FloatProperty,
        ty: Type,
        dst: Destination,
        a: Operand,
    },

    // Memory.
    /// `ld`, `ld.global.nc` (non-coherent), `ldu` (uniform: all lanes of a warp have the same
    /// address), with one destination for each element of the vector. An access has up to 16 bytes;
    /// from sm_100 on, up to 32 in global memory.
    Load {
        space: Space,
        ordering: Ordering,
        scope: Scope,
        cache: CacheOperator,
        non_coherent: bool,
        uniform: bool,
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
    /// `atom` and `red` of vectors, in global memory: an atomic operation for each element. `red`
    /// has no `dsts`.
    AtomicVector {
        space: Space,
        op: AtomicOp,
        ordering: Ordering,
        scope: Scope,
        ty: Type,
        flush_subnormals: bool,
        is_reduction: bool,
        dsts: Vec<Destination>,
        address: Address,
        srcs: Vec<Operand>,
    },
    /// `prefetch`, `prefetchu`, `applypriority`, `discard`: no effect on registers or data.
    Prefetch {
        space: Space,
        address: Address,
    },
    /// `createpolicy`: a hint for loads and stores. Its 64 bits are opaque to the program.
    CreatePolicy {
        dst: Destination,
    },
    /// `fence`, `membar`.
    Fence {
        ordering: Ordering,
        scope: Scope,
        /// The proxies that it also orders.
        proxies: Option<FenceProxies>,
    },

    // Textures and surfaces.
    TextureFetch(Box<TextureFetch>),
    /// `txq`, `suq`, of one level of a mip-mapped texture, or else of the first level.
    TextureQuery {
        what: TextureQuery,
        of_surface: bool,
        dst: Destination,
        object: Opaque,
        level: Option<Operand>,
    },
    /// `suld.b`: the first coordinate counts bytes.
    SurfaceLoad {
        ty: Type,
        dsts: Vec<Destination>,
        surface: Opaque,
        place: TexelPosition,
        outside: OutOfRange,
    },
    /// `sust.b`; `sust.p` is `formatted`: coordinates count elements, values are converted to the
    /// surface's format.
    SurfaceStore {
        formatted: bool,
        ty: Type,
        srcs: Vec<Operand>,
        surface: Opaque,
        place: TexelPosition,
        outside: OutOfRange,
    },
    /// `sured.b`; `sured.p` is `by_element`: the first coordinate counts elements, not bytes.
    SurfaceReduce {
        by_element: bool,
        op: AtomicOp,
        ty: Type,
        src: Operand,
        surface: Opaque,
        place: TexelPosition,
        outside: OutOfRange,
    },

    // Asynchronous copies, which run beside the thread.
    CopyAsync(Box<AsyncCopy>),
    /// `cp.async.commit_group`: the thread's copies since the last commit become a group.
    CommitCopies,
    /// `cp.async.wait_group`: waits until at most `groups_left` groups are pending. `None` is
    /// `wait_all`, which includes copies in no group.
    WaitForCopies {
        groups_left: Option<u32>,
    },
    /// `cp.async.mbarrier.arrive`: arrives once the thread's copies so far are complete. `.noinc`:
    /// the barrier's count already includes this arrival.
    ArriveAfterCopies {
        space: Space,
        counted_before: bool,
        address: Address,
    },
    BulkCopy(Box<BulkCopy>),
    /// `cp.async.bulk.commit_group`.
    CommitBulkCopies,
    /// `cp.async.bulk.wait_group`: waits until at most `groups_left` groups are pending; `.read`:
    /// until their sources have been read.
    WaitForBulkCopies {
        groups_left: u32,
        reads_only: bool,
    },
    StoreAsync(Box<AsyncStore>),
    TensorCopy(Box<TensorCopy>),
    /// `tensormap.replace`: changes a field of the tensor map at an address in `Global`, `Shared`
    /// or `Generic`.
    ReplaceTensorField {
        space: Space,
        address: Address,
        field: TensorField,
        value: Operand,
    },
    /// `tensormap.cp_fenceproxy`: the warp copies a tensor map from shared to global memory, and
    /// releases it.
    CopyTensorMap {
        dst: Address,
        src: Address,
        scope: Scope,
    },
    Mbarrier {
        action: MbarrierAction,
        space: Space,
        address: Address,
    },
    /// `mbarrier.pending_count`: the pending count in a barrier's state.
    PendingCount {
        dst: Destination,
        state: Operand,
    },

    // Matrices that the lanes of a warp hold together.
    /// `ldmatrix`: for each destination, a matrix of 8 x 8 elements of 16 bits.
    LoadMatrix {
        space: Space,
        transposed: bool,
        dsts: Vec<Destination>,
        address: Address,
    },
    /// `stmatrix`.
    StoreMatrix {
        space: Space,
        transposed: bool,
        address: Address,
        srcs: Vec<Operand>,
    },
    /// `movmatrix`.
    TransposeMatrix {
        dst: Destination,
        src: Operand,
    },
    /// `mma` and `wmma.mma`.
    MatrixMultiply(Box<MatrixMultiply>),
    /// `wmma.load`.
    LoadFragment {
        tile: Box<MatrixTile>,
        dsts: Vec<Destination>,
    },
    /// `wmma.store`.
    StoreFragment {
        tile: Box<MatrixTile>,
        srcs: Vec<Operand>,
    },

    // Matrices that the four warps of a warpgroup hold together.
    /// `wgmma.mma_async`.
    WarpgroupMultiply(Box<WarpgroupMultiply>),
    /// `wgmma.fence`: orders writes to registers before the `wgmma.mma_async` that use them.
    WarpgroupFence,
    /// `wgmma.commit_group`: the products since the last commit become a group.
    CommitProducts,
    /// `wgmma.wait_group`: waits until at most `groups_left` groups are pending.
    WaitForProducts {
        groups_left: u32,
    },

    // Across lanes.
    Shuffle {
        mode: ShuffleMode,
        dst: Destination,
        in_range: Destination,
        src: Operand,
        lane: Operand,
        clamp: Operand,
        /// `None`: the lanes that execute it (before sm_70).
        members: Option<Operand>,
    },
    Vote {
        mode: VoteMode,
        dst: Destination,
        predicate: Operand,
        /// `None`: the lanes that execute it (before sm_70).
        members: Option<Operand>,
    },
    /// `match.any`, `match.all`: `ty` is b32 or b64, `dst` a mask.
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
    /// `elect.sync`: `dst` gets the lane number of one member, and `leader` is true in that lane.
    Elect {
        dst: Destination,
        leader: Destination,
        members: Operand,
    },

    // Waiting for other threads. `aligned`: all threads of the warp must execute the barrier
    // together.
    Barrier {
        action: BarrierAction,
        aligned: bool,
        barrier: Operand,
        threads: Option<Operand>,
    },
    WarpBarrier {
        members: Operand,
    },
    /// `barrier.cluster.arrive` and, if it `waits`, `barrier.cluster.wait`.
    ClusterBarrier {
        waits: bool,
        /// `barrier.cluster.arrive.relaxed`: without release semantics.
        relaxed: bool,
        aligned: bool,
    },
    /// `mapa`: the address in block `rank` of the cluster that corresponds to `src` in this block.
    MapToBlock {
        ty: Type,
        dst: Destination,
        src: Operand,
        rank: Operand,
    },
    /// `getctarank`: the rank of the block that an address of shared memory belongs to; `ty` is the
    /// type of the address.
    RankOfAddress {
        ty: Type,
        dst: Destination,
        src: Operand,
    },
    /// `griddepcontrol.wait`: waits for the grids before this one, if it began before their end.
    WaitForEarlierGrids,
    /// `griddepcontrol.launch_dependents`, `setmaxnreg`, `pmevent`: no effect that a program can
    /// see.
    NoEffect,
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
    /// `alloca`: bytes of local memory until the function returns.
    StackAllocate {
        ty: Type,
        dst: Destination,
        size: Operand,
        align: u32,
    },
    /// `stacksave`
    StackSave {
        ty: Type,
        dst: Destination,
    },
    /// `stackrestore`: frees what was allocated since.
    StackRestore {
        ty: Type,
        src: Operand,
    },
    Return,
    Exit,
    Trap,
    Breakpoint,
}
