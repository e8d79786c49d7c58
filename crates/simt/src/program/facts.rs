//! What passes over a whole kernel need to know of each instruction, in one table: how reports
//! class it, whether the order of blocks may matter to it, what may be executed next, whether it
//! only moves bits, and, for predicted times, what `ptxas` does with it. The table has no catch-all,
//! so a new instruction does not compile until it has its row.

use ptx::{
    AtomicOp, BinaryOp, CacheOperator, Callee, Destination, Function, Handle, Kind, Op, Operand, Ordering, Space,
    Special, TensorTransfer, TernaryOp, Type,
};

use crate::instruction::{AccessKind, InstructionClass};

/// The row of an instruction.
pub(crate) struct Facts<'o> {
    class: InstructionClass,
    pub(super) order: Order,
    pub next: Next<'o>,
    pub motion: Motion,
    /// Whether it can have a predicate in place of a branch around it.
    pub predicated: bool,
    /// Whether a loop with it can be unrolled once more.
    pub unrolled: bool,
    /// Whether its result is the same in all threads if its operands are.
    pub uniform: bool,
    /// Whether its results are bits of its operands, put elsewhere.
    pub moves: bool,
    /// How long `ptxas` takes it to last.
    pub lasts: Lasts,
    /// Why a kernel with it has no predicted time.
    pub not_timed: Option<&'static str>,
}

/// Whether a result may depend on the order in which blocks execute an instruction.
#[derive(Clone, Copy)]
pub(super) enum Order {
    Never,
    Always,
    /// It combines with device memory: this depends on the operation, the type, whether the old
    /// value is used, and what else combines.
    Combines(AtomicOp, Type, Destination),
    /// It calls a function, which may use the heap.
    Calls(Handle<Function>),
}

/// What may be executed after an instruction whose guard holds.
#[derive(Clone, Copy)]
pub(crate) enum Next<'o> {
    Following,
    /// A function, and then what follows.
    Call,
    Jump(u32),
    JumpIndexed(&'o [u32]),
    Return,
    /// The thread ends.
    Exit,
    /// The launch ends.
    Trap,
}

/// How an instruction moves among accesses to memory when it is put in another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    /// It accesses no memory, or reads what nothing writes.
    Free,
    /// It stays behind the last write.
    Read,
    /// It stays behind all earlier accesses.
    Write,
}

/// How long `ptxas` takes an instruction to last, when it decides what to put first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasts {
    ItsLatency,
    SharedLoad,
    ConstantLoad,
    MemoryLoad,
}

const TENSOR_CORES: &str = "tensor cores";
const BULK: &str = "bulk copies";

impl Facts<'_> {
    /// How reports class the instruction. An unguarded jump or return does not count as a branch.
    pub fn class(&self, is_guarded: bool) -> InstructionClass {
        match (self.class, &self.next) {
            (InstructionClass::Branch, Next::Jump(_) | Next::Return) if !is_guarded => InstructionClass::Other,
            (class, _) => class,
        }
    }
}

/// Looks up an instruction.
pub(crate) fn facts(op: &Op) -> Facts<'_> {
    use InstructionClass::{Access, Barrier, Branch, Other, Surface, Texture};
    let plain = Facts {
        class: Other,
        order: Order::Never,
        next: Next::Following,
        motion: Motion::Free,
        predicated: true,
        unrolled: true,
        uniform: false,
        moves: false,
        lasts: Lasts::ItsLatency,
        not_timed: None,
    };
    let read = |class| Facts { class, motion: Motion::Read, ..plain };
    let write = |class| Facts { class, motion: Motion::Write, ..plain };
    let once = |class| Facts { unrolled: false, ..write(class) };
    let jump = |class, next| Facts { class, next, predicated: false, unrolled: false, ..plain };
    let not_timed = |what| Facts { not_timed: Some(what), ..plain };
    let uniform = |uniform| Facts { uniform, ..plain };
    let moves = |moves| Facts { moves, ..plain };
    let atomic = |is_reduction| Access(if is_reduction { AccessKind::Reduction } else { AccessKind::Atomic });
    match op {
        Op::Load { space, ordering, cache, non_coherent, .. } => {
            let strong = *ordering != Ordering::Weak || *cache == CacheOperator::Volatile;
            let polls = strong && matches!(space, Space::Global | Space::Generic);
            let never_written = matches!(space, Space::Parameter | Space::Constant);
            let motion = match strong {
                true => Motion::Write,
                false if *non_coherent || never_written => Motion::Free,
                false => Motion::Read,
            };
            let order = if polls { Order::Always } else { Order::Never };
            let lasts = match space {
                Space::Shared => Lasts::SharedLoad,
                Space::Parameter | Space::Constant => Lasts::ConstantLoad,
                Space::Generic | Space::Global | Space::ClusterShared | Space::Local => Lasts::MemoryLoad,
            };
            Facts { order, motion, lasts, uniform: never_written, ..read(Access(AccessKind::Load)) }
        }
        Op::LoadMatrix { .. } => read(Access(AccessKind::Load)),
        Op::LoadFragment { .. } => Facts { not_timed: Some(TENSOR_CORES), ..read(Access(AccessKind::Load)) },
        Op::Store { space: Space::Shared | Space::Local, .. } | Op::StoreMatrix { .. } => {
            write(Access(AccessKind::Store))
        }
        Op::Store { .. } => once(Access(AccessKind::Store)),
        Op::StoreFragment { .. } => Facts { not_timed: Some(TENSOR_CORES), ..write(Access(AccessKind::Store)) },
        Op::CopyAsync(_) => once(Access(AccessKind::Copy)),
        Op::Atomic { space, op, ty, is_reduction, dst, .. } => {
            let is_shared = matches!(space, Space::Shared | Space::ClusterShared | Space::Local);
            let order = if is_shared { Order::Never } else { Order::Combines(*op, *ty, *dst) };
            Facts { order, lasts: Lasts::MemoryLoad, ..once(atomic(*is_reduction)) }
        }
        // All of them are on floats.
        Op::AtomicVector { is_reduction, .. } => {
            Facts { order: Order::Always, lasts: Lasts::MemoryLoad, ..once(atomic(*is_reduction)) }
        }
        Op::BulkCopy(copy) => {
            let combines = copy.reduction.filter(|_| copy.to == Space::Global);
            let order = combines.map_or(Order::Never, |(op, ty)| Order::Combines(op, ty, None));
            Facts { order, ..not_timed(BULK) }
        }
        // Only the map knows the type of the elements.
        Op::TensorCopy(copy) => {
            let combines = matches!(copy.transfer, TensorTransfer::Store { reduction: Some(_), .. });
            Facts { order: if combines { Order::Always } else { Order::Never }, ..not_timed(BULK) }
        }
        Op::StoreAsync(_) => not_timed(BULK),
        Op::TextureFetch(_) => Facts { class: Texture, lasts: Lasts::MemoryLoad, ..plain },
        Op::SurfaceLoad { .. } => Facts { lasts: Lasts::MemoryLoad, ..write(Surface(AccessKind::Load)) },
        Op::SurfaceStore { .. } => once(Surface(AccessKind::Store)),
        Op::SurfaceReduce { .. } => once(Surface(AccessKind::Reduction)),
        Op::Barrier { .. } => Facts { predicated: false, ..once(Barrier) },
        Op::ClusterBarrier { waits, .. } => Facts {
            predicated: false,
            not_timed: Some("clusters of blocks"),
            ..once(if *waits { Barrier } else { Other })
        },
        Op::Fence { .. } => once(Other),
        Op::WarpBarrier { .. } | Op::Shuffle { .. } | Op::Vote { .. } => Facts { predicated: false, ..write(Other) },
        Op::Match { .. }
        | Op::ActiveMask { .. }
        | Op::Elect { .. }
        | Op::WarpReduce { .. }
        | Op::CommitCopies
        | Op::WaitForCopies { .. }
        | Op::ArriveAfterCopies { .. }
        | Op::Mbarrier { .. } => write(Other),
        Op::Branch { target, .. } => Facts { class: Branch, next: Next::Jump(*target), ..plain },
        Op::BranchIndexed { targets, .. } => jump(Branch, Next::JumpIndexed(targets)),
        Op::Return => jump(Branch, Next::Return),
        Op::Exit => jump(Other, Next::Exit),
        Op::Trap => jump(Other, Next::Trap),
        Op::Call { callee, .. } => {
            let order = match callee {
                Callee::Direct(callee) => Order::Calls(*callee),
                Callee::Indirect { .. } => Order::Never,
            };
            Facts { order, motion: Motion::Write, ..jump(Other, Next::Call) }
        }
        Op::MatrixMultiply(_) | Op::WarpgroupMultiply(_) => not_timed(TENSOR_CORES),
        Op::NanoSleep { .. } => not_timed("sleeping warps"),
        Op::Move { src: Operand::Special(special), .. } => {
            let uniform = matches!(special, Special::BlockIndex(_) | Special::GridSize(_) | Special::BlockSize(_));
            Facts { uniform, ..moves(true) }
        }
        Op::Move { .. } => Facts { moves: true, ..uniform(true) },
        Op::Convert { to, from, .. } => {
            Facts { moves: to.kind() != Kind::Float && from.kind() != Kind::Float, ..uniform(true) }
        }
        // Compilers split and assemble small structs with shifts and masks.
        Op::Binary { op, ty, .. } => {
            use BinaryOp::{And, Or, ShiftLeft, ShiftRight, Xor};
            let moves = matches!(op, And | Or | Xor | ShiftLeft | ShiftRight) && *ty != Type::Pred;
            Facts { moves, ..uniform(true) }
        }
        Op::Ternary { op, .. } => {
            use TernaryOp::{BitFieldExtract, FunnelShiftLeft, FunnelShiftRight, Logic, Permute};
            let moves = matches!(
                op,
                BitFieldExtract | FunnelShiftLeft { .. } | FunnelShiftRight { .. } | Logic(_) | Permute(_)
            );
            Facts { moves, ..uniform(true) }
        }
        Op::Unary { .. } | Op::SetPredicate { .. } | Op::Select { .. } => uniform(true),
        Op::MoveVector { .. } | Op::Pack { .. } | Op::Unpack { .. } | Op::BitFieldInsert { .. } => moves(true),
        Op::ConvertPair { .. }
        | Op::ConvertPack { .. }
        | Op::ConvertAddress { .. }
        | Op::IsSpace { .. }
        | Op::IsType { .. }
        | Op::LogicAndTest { .. }
        | Op::Carry { .. }
        | Op::ScalarVideo(_)
        | Op::SimdVideo(_)
        | Op::Set { .. }
        | Op::SelectBySign { .. }
        | Op::TestProperty { .. }
        | Op::Prefetch { .. }
        | Op::CreatePolicy { .. }
        | Op::TextureQuery { .. }
        | Op::CommitBulkCopies
        | Op::WaitForBulkCopies { .. }
        | Op::ReplaceTensorField { .. }
        | Op::CopyTensorMap { .. }
        | Op::PendingCount { .. }
        | Op::TransposeMatrix { .. }
        | Op::WarpgroupFence
        | Op::CommitProducts
        | Op::WaitForProducts { .. }
        | Op::MapToBlock { .. }
        | Op::RankOfAddress { .. }
        | Op::WaitForEarlierGrids
        | Op::NoEffect
        | Op::StackAllocate { .. }
        | Op::StackSave { .. }
        | Op::StackRestore { .. }
        | Op::Breakpoint => plain,
    }
}
