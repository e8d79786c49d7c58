//! Instructions: typed, with every modifier that changes what they do.
//!
//! [`Op`] has a variant for each kind of operation; what is particular to a family (textures,
//! video, matrices, copies) is in that family's file. Operations of one shape share one variant
//! ([`Op::Unary`], [`Op::Binary`], [`Op::Ternary`]), and the modifiers of arithmetic are one
//! [`Mode`]. `typing` makes the operations, the parser puts them into function bodies, and `simt`
//! executes them. Plain data.

use super::asynchronous::{AsyncCopy, AsyncStore, BulkCopy, MbarrierAction};
use super::lanes::{BarrierAction, ShuffleMode, VoteMode};
use super::lines::Span;
use super::matrix::{MatrixMultiply, MatrixTile};
use super::memory::{AtomicOp, CacheOperator, Ordering, Scope};
use super::module::Location;
use super::operand::{Address, CallOperand, Callee, Destination, Operand, Predicate};
use super::operation::{BinaryOp, CarryOp, Combine, Comparison, FloatProperty, Mode, TernaryOp, UnaryOp};
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
///
/// Each variant says which types its operands have. Unless it says more, a register fits a type if
/// it has as many bits and both are integers, or both are the same float, or either is bits.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields are the operands in PTX's order; dst is written, the others are read
pub enum Op {
    // Moving data within registers.
    /// `mov`: `dst` and `src` have type `ty`, of 16 to 128 bits or a predicate. With 32 or 64 bits,
    /// `src` may be the address of a symbol.
    Move { ty: Type, dst: Destination, src: Operand },
    /// `mov.v2.u32 {d, e}, {a, b}`: all are read before any is written. All parts have type `ty`,
    /// together at most 128 bits.
    MoveVector { ty: Type, dsts: Vec<Destination>, srcs: Vec<Operand> },
    /// `mov.b64 d, {a, b}`: the first part is the least significant. `ty` is bits, of 16 to
    /// 128, and each part has an equal share of them.
    Pack { ty: Type, dst: Destination, parts: Vec<Operand> },
    /// `mov.b64 {a, b}, s`. Typed as [`Op::Pack`].
    Unpack { ty: Type, dsts: Vec<Destination>, src: Operand },
    /// `cvt`: `src` has type `from` and `dst` type `to`, each in a register that may be wider (but
    /// for `bf16` and packed types). From floats to integers and wherever a value may not fit,
    /// `mode` rounds.
    Convert { to: Type, from: Type, mode: Mode, dst: Destination, src: Operand },
    /// `cvt.rn.f16x2.f32 d, a, b`: `a` becomes the upper half. `a` and `b` have type `from`, which
    /// is `f32`; `to` is a packed type, and `dst` has as many bits.
    ConvertPair { to: Type, from: Type, mode: Mode, dst: Destination, a: Operand, b: Operand },
    /// `cvt.pack`: `a` and `b` saturated to `bits` bits, with `a` above `b` and the low bits of `c`
    /// above both. `a` and `b` are `s32`, `dst` and `c` are `b32`; `bits` is 16, or 2, 4 or 8,
    /// which need `c`.
    ConvertPack { bits: u32, signed: bool, dst: Destination, a: Operand, b: Operand, c: Option<Operand> },
    /// `cvta` (to generic) or `cvta.to` (from generic). `dst` and `src` have type `ty`, which is
    /// `u32` or `u64`; `src` may be a variable of the space.
    ConvertAddress { space: Space, to_generic: bool, ty: Type, dst: Destination, src: Operand },
    /// `isspacep`: whether a generic address, of 32 or 64 bits, is in a space. `dst` is a
    /// predicate.
    IsSpace { space: Space, dst: Destination, src: Operand },
    /// `istypep`: whether an address is that of a `.texref`, `.samplerref` or `.surfref` of the
    /// module. `ty` is that type, `src` has 64 bits, and `dst` is a predicate.
    IsType { ty: Type, dst: Destination, src: Operand },

    // Arithmetic.
    /// `a` has type `ty`, and so has `dst`, except for operations that count bits: these return
    /// `u32`.
    Unary { op: UnaryOp, ty: Type, mode: Mode, dst: Destination, a: Operand },
    /// `a`, `b` and `dst` have type `ty`, except that a shift's or an extension's amount `b` is
    /// `u32`, and a wide product is twice as wide.
    Binary { op: BinaryOp, ty: Type, mode: Mode, dst: Destination, a: Operand, b: Operand },
    /// All operands have type `ty`, except positions, lengths and amounts, which are `u32`; the
    /// base and the offset of `fns`; and the sum and the addend of a wide product, which are twice
    /// as wide.
    Ternary { op: TernaryOp, ty: Type, mode: Mode, dst: Destination, a: Operand, b: Operand, c: Operand },
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
    BitFieldInsert { ty: Type, dst: Destination, a: Operand, b: Operand, position: Operand, length: Operand },
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

    /// `vadd`, `vmad`, `vset`, ... on a byte, a half or all of each operand of 32 bits.
    ScalarVideo(Box<ScalarVideo>),
    /// `vadd2`, `vset4`, ... on two halves or four bytes at once of operands of 32 bits.
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
    /// `selp`: `a` if the predicate holds, else `b`. `dst`, `a` and `b` have type `ty`, of at least
    /// 16 bits; `predicate` is a predicate register or a constant.
    Select { ty: Type, dst: Destination, a: Operand, b: Operand, predicate: Operand },
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
    TestProperty { property: FloatProperty, ty: Type, dst: Destination, a: Operand },

    // Memory.
    /// `ld`, `ld.global.nc` (non-coherent), `ldu` (uniform: all lanes of a warp have the same
    /// address, in global or generic memory), with one destination for each element of the vector,
    /// in a register at least as wide as `ty`. An access has up to 16 bytes; from sm_100 on, up to
    /// 32 in global memory.
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
    /// `st`: one source for each element, in a register at least as wide as `ty`, or a constant.
    /// Sizes as for [`Op::Load`]; `.const` memory cannot be written.
    Store {
        space: Space,
        ordering: Ordering,
        scope: Scope,
        cache: CacheOperator,
        ty: Type,
        srcs: Vec<Operand>,
        address: Address,
    },
    /// `atom`; `red` has no `dst`. `b` only for compare-and-swap (a: compare, b: new value). All
    /// have type `ty`, which must suit `op`: bits for logic, exchange and swap, `u32` for `inc` and
    /// `dec`, integers for `min`, `max` and `add`, and for `add` also floats and halves. The space
    /// is global, shared, a cluster's shared or generic.
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
    /// has no `dsts`. `op` is `add`, `min` or `max`, of two, four or eight elements of a half type;
    /// `add` also of two or four `f32`.
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
    Prefetch { space: Space, address: Address },
    /// `createpolicy`: a hint for loads and stores. Its 64 bits are opaque to the program; `dst` is
    /// `b64`.
    CreatePolicy { dst: Destination },
    /// `fence`, `membar`.
    Fence {
        ordering: Ordering,
        scope: Scope,
        /// The proxies that it also orders.
        proxies: Option<FenceProxies>,
    },

    // Textures and surfaces.
    /// `tex` and `tld4`.
    TextureFetch(Box<TextureFetch>),
    /// `txq`, `suq`, of one level of a mip-mapped texture, or else of the first level.
    TextureQuery { what: TextureQuery, of_surface: bool, dst: Destination, object: Opaque, level: Option<Operand> },
    /// `suld.b`: the first coordinate counts bytes.
    SurfaceLoad { ty: Type, dsts: Vec<Destination>, surface: Opaque, position: TexelPosition, outside: OutOfRange },
    /// `sust.b`; `sust.p` is `formatted`: coordinates count elements, values are converted to the
    /// surface's format.
    SurfaceStore {
        formatted: bool,
        ty: Type,
        srcs: Vec<Operand>,
        surface: Opaque,
        position: TexelPosition,
        outside: OutOfRange,
    },
    /// `sured.b`; `sured.p` is `by_element`: the first coordinate counts elements, not bytes.
    SurfaceReduce {
        by_element: bool,
        op: AtomicOp,
        ty: Type,
        src: Operand,
        surface: Opaque,
        position: TexelPosition,
        outside: OutOfRange,
    },

    // Asynchronous copies, which run beside the thread.
    /// `cp.async`: 4, 8 or 16 bytes from global to shared memory.
    CopyAsync(Box<AsyncCopy>),
    /// `cp.async.commit_group`: the thread's copies since the last commit become a group.
    CommitCopies,
    /// `cp.async.wait_group`: waits until at most `groups_left` groups are pending. `None` is
    /// `wait_all`, which includes copies in no group.
    WaitForCopies { groups_left: Option<u32> },
    /// `cp.async.mbarrier.arrive`: arrives once the thread's copies so far are complete. `.noinc`:
    /// the barrier's count already includes this arrival.
    ArriveAfterCopies { space: Space, counted_before: bool, address: Address },
    /// `cp.async.bulk` and `cp.reduce.async.bulk`.
    BulkCopy(Box<BulkCopy>),
    /// `cp.async.bulk.commit_group`.
    CommitBulkCopies,
    /// `cp.async.bulk.wait_group`: waits until at most `groups_left` groups are pending; `.read`:
    /// until their sources have been read.
    WaitForBulkCopies { groups_left: u32, reads_only: bool },
    /// `st.async` and `red.async`: into the shared memory of a block of the cluster, whose mbarrier
    /// counts the bytes.
    StoreAsync(Box<AsyncStore>),
    /// `cp.async.bulk.tensor` and its prefetch and reduction: a box of a tensor map.
    TensorCopy(Box<TensorCopy>),
    /// `tensormap.replace`: changes a field of the tensor map at an address in `Global`, `Shared`
    /// or `Generic`.
    ReplaceTensorField { space: Space, address: Address, field: TensorField, value: Operand },
    /// `tensormap.cp_fenceproxy`: the warp copies a tensor map from shared to global memory, and
    /// releases it.
    CopyTensorMap { dst: Address, src: Address, scope: Scope },
    /// `mbarrier`: counts and bytes are `u32`, a state is `b64`, the result of a test a predicate.
    /// Only arrivals and counts of bytes reach the barrier of another block.
    Mbarrier { action: MbarrierAction, space: Space, address: Address },
    /// `mbarrier.pending_count`: the pending count, `u32`, in a barrier's state, `b64`.
    PendingCount { dst: Destination, state: Operand },

    // Matrices that the lanes of a warp hold together.
    /// `ldmatrix`: for each destination (one, two or four of `b32`), a matrix of 8 x 8 elements of
    /// 16 bits. The space is shared or generic.
    LoadMatrix { space: Space, transposed: bool, dsts: Vec<Destination>, address: Address },
    /// `stmatrix`. Typed as [`Op::LoadMatrix`].
    StoreMatrix { space: Space, transposed: bool, address: Address, srcs: Vec<Operand> },
    /// `movmatrix`: a matrix of 8 x 8 elements of 16 bits, transposed. Both are `b32`.
    TransposeMatrix { dst: Destination, src: Operand },
    /// `mma` and `wmma.mma`. Shape, types and layouts are one of the variants that PTX lists, and
    /// each operand has as many registers as its fragment needs.
    MatrixMultiply(Box<MatrixMultiply>),
    /// `wmma.load`: as many registers as the fragment of `tile` needs.
    LoadFragment { tile: Box<MatrixTile>, dsts: Vec<Destination> },
    /// `wmma.store`. Typed as [`Op::LoadFragment`].
    StoreFragment { tile: Box<MatrixTile>, srcs: Vec<Operand> },

    // Matrices that the four warps of a warpgroup hold together.
    /// `wgmma.mma_async`: `b`, and `a` unless it is in registers, is a `b64` descriptor of shared
    /// memory.
    WarpgroupMultiply(Box<WarpgroupMultiply>),
    /// `wgmma.fence`: orders writes to registers before the `wgmma.mma_async` that use them.
    WarpgroupFence,
    /// `wgmma.commit_group`: the products since the last commit become a group.
    CommitProducts,
    /// `wgmma.wait_group`: waits until at most `groups_left` groups are pending.
    WaitForProducts { groups_left: u32 },

    // Across lanes.
    /// `shfl`: `dst` and `src` are `b32`, `in_range` is a predicate, and the rest are `u32`.
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
    /// `vote`: `dst` is a predicate, or `b32` for a ballot; `predicate` may be negated.
    Vote {
        mode: VoteMode,
        dst: Destination,
        predicate: Operand,
        /// `None`: the lanes that execute it (before sm_70).
        members: Option<Operand>,
    },
    /// `match.any`, `match.all`: `src` has type `ty`, `b32` or `b64`; `dst` is a mask, `b32`, and
    /// `all_equal`, only of `match.all`, a predicate.
    Match { all: bool, ty: Type, dst: Destination, all_equal: Destination, src: Operand, members: Operand },
    /// `redux.sync`: `dst` and `src` have type `ty`: `s32` or `u32` for `add`, `min` and `max`,
    /// `b32` for logic.
    WarpReduce { op: AtomicOp, ty: Type, dst: Destination, src: Operand, members: Operand },
    /// `activemask`: `dst` is `b32`.
    ActiveMask { dst: Destination },
    /// `elect.sync`: `dst` gets the lane number of one member, and `leader` is true in that lane.
    Elect { dst: Destination, leader: Destination, members: Operand },

    // Waiting for other threads. `aligned`: all threads of the warp must execute the barrier
    // together.
    /// `bar` and `barrier` of a block: `barrier` and `threads` are `b32`. A reduction's predicate
    /// may be negated; its `dst` is a predicate, or `u32` for a count.
    Barrier { action: BarrierAction, aligned: bool, barrier: Operand, threads: Option<Operand> },
    /// `bar.warp.sync`: `members` is a mask, `b32`.
    WarpBarrier { members: Operand },
    /// `barrier.cluster.arrive` and, if it `waits`, `barrier.cluster.wait`.
    ClusterBarrier {
        waits: bool,
        /// `barrier.cluster.arrive.relaxed`: without release semantics.
        relaxed: bool,
        aligned: bool,
    },
    /// `mapa`: the address in block `rank` of the cluster that corresponds to `src` in this block.
    /// `dst` and `src` have type `ty`, `u32` or `u64`; `rank` is `u32`.
    MapToBlock { ty: Type, dst: Destination, src: Operand, rank: Operand },
    /// `getctarank`: the rank of the block that an address of shared memory belongs to. `src` has
    /// type `ty`, `u32` or `u64`; `dst` is `u32`.
    RankOfAddress { ty: Type, dst: Destination, src: Operand },
    /// `griddepcontrol.wait`: waits for the grids before this one, if it began before their end.
    WaitForEarlierGrids,
    /// `griddepcontrol.launch_dependents`, `setmaxnreg`, `pmevent`: no effect that a program can
    /// see.
    NoEffect,
    /// `nanosleep`: `duration` is `u32`.
    NanoSleep { duration: Operand },

    // Control flow.
    /// `bra`: to a position of the body. `uniform` promises that all lanes go there.
    Branch { target: u32, uniform: bool },
    /// `brx.idx`: to one of `targets`, a `.branchtargets` list; `index` is `u32`.
    BranchIndexed { index: Operand, targets: Vec<u32>, uniform: bool },
    /// `call`: as many results and arguments as the callee has, each of the size of its parameter.
    /// Only a last parameter `[]` may be left out.
    Call { callee: Callee, results: Vec<CallOperand>, arguments: Vec<CallOperand>, uniform: bool },
    /// `alloca`: bytes of local memory until the function returns. `dst` and `size` have type `ty`,
    /// `u32` or `u64`; `align` is a power of two.
    StackAllocate { ty: Type, dst: Destination, size: Operand, align: u32 },
    /// `stacksave`: `dst` has type `ty`, `u32` or `u64`.
    StackSave { ty: Type, dst: Destination },
    /// `stackrestore`: frees what was allocated since. `src` has type `ty`, `u32` or `u64`.
    StackRestore { ty: Type, src: Operand },
    /// `ret`: from the function, or of the kernel.
    Return,
    /// `exit`: ends the thread.
    Exit,
    /// `trap`: ends the grid with an error.
    Trap,
    /// `brkpt`.
    Breakpoint,
}
