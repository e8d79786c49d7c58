//! Instructions: typed, with every modifier that changes what they do.
//!
//! [`Op`] has a variant for each access to memory and for each family of operations: [`ComputeOp`],
//! [`TextureOp`], [`AsyncOp`], [`MatrixOp`], [`WarpOp`] and [`BarrierOp`] are in their families'
//! files, [`ControlOp`] and [`StackOp`] here. `typing` makes the operations, the parser puts them
//! into function bodies, and `simt` executes them. Plain data.

use super::asynchronous::AsyncOp;
use super::compute::ComputeOp;
use super::lanes::{BarrierOp, WarpOp};
use super::lines::Span;
use super::matrix::MatrixOp;
use super::memory::{AtomicOp, CacheOperator, EvictionHint, EvictionPriority, Ordering, Scope};
use super::module::Location;
use super::operand::{Address, CallOperand, Callee, Destination, Operand, Predicate};
use super::tensor::FenceProxies;
use super::texture::TextureOp;
use super::types::{Space, Type};
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
    /// Arithmetic, comparisons, conversions and moves: results computed from operands.
    Compute(ComputeOp),
    /// `ld`, `ld.global.nc` (non-coherent), `ldu` (uniform: all lanes of a warp have the same
    /// address, in global or generic memory), with one destination for each element of the vector,
    /// in a register at least as wide as `ty`. An access has up to 16 bytes; from sm_100 on, up to
    /// 32 in global memory.
    Load {
        space: Space,
        ordering: Ordering,
        scope: Scope,
        cache: CacheOperator,
        eviction: EvictionHint,
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
        eviction: EvictionHint,
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
    /// `b64`. Fractions are not kept: the priority is that of all accesses. Policies of ranges and
    /// converted ones change no priority.
    CreatePolicy { dst: Destination, priority: EvictionPriority },
    /// `fence`, `membar`.
    Fence {
        ordering: Ordering,
        scope: Scope,
        /// The proxies that it also orders.
        proxies: Option<FenceProxies>,
    },
    /// Memory through textures and surfaces.
    Texture(TextureOp),
    /// Copies that run beside the thread, and what waits for them.
    Async(AsyncOp),
    /// Matrices that the lanes of a warp, or the four warps of a warpgroup, hold together.
    Matrix(MatrixOp),
    /// Values of other lanes of the warp.
    Warp(WarpOp),
    /// Waiting for other threads.
    Barrier(BarrierOp),
    /// What is executed next.
    Control(ControlOp),
    /// Local memory that a function allocates.
    Stack(StackOp),
    /// `griddepcontrol.wait`: waits for the grids before this one, if it began before their end.
    WaitForEarlierGrids,
    /// `griddepcontrol.launch_dependents`, `setmaxnreg`, `pmevent`: no effect that a program can
    /// see.
    NoEffect,
    /// `nanosleep`: `duration` is `u32`.
    NanoSleep { duration: Operand },
}

/// Branches, calls and ends. Positions are those of [`Op`].
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields as in `Op`
pub enum ControlOp {
    /// `bra`: to a position of the body. `uniform` promises that all lanes go there.
    Branch { target: u32, uniform: bool },
    /// `brx.idx`: to one of `targets`, a `.branchtargets` list; `index` is `u32`.
    BranchIndexed { index: Operand, targets: Vec<u32>, uniform: bool },
    /// `call`: as many results and arguments as the callee has, each of the size of its parameter.
    /// Only a last parameter `[]` may be left out.
    Call { callee: Callee, results: Vec<CallOperand>, arguments: Vec<CallOperand>, uniform: bool },
    /// `ret`: from the function, or of the kernel.
    Return,
    /// `exit`: ends the thread.
    Exit,
    /// `trap`: ends the grid with an error.
    Trap,
    /// `brkpt`.
    Breakpoint,
}

/// Allocations of local memory.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields as in `Op`
pub enum StackOp {
    /// `alloca`: bytes of local memory until the function returns. `dst` and `size` have type `ty`,
    /// `u32` or `u64`; `align` is a power of two.
    Allocate { ty: Type, dst: Destination, size: Operand, align: u32 },
    /// `stacksave`: `dst` has type `ty`, `u32` or `u64`.
    Save { ty: Type, dst: Destination },
    /// `stackrestore`: frees what was allocated since. `src` has type `ty`, `u32` or `u64`.
    Restore { ty: Type, src: Operand },
}
