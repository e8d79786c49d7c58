//! What passes over a whole kernel need to know of each instruction, in one table: how reports
//! class it, whether the order of blocks may matter to it, and what may be executed next. The table
//! has no catch-all, so a new instruction does not compile until it has its row.

use ptx::{AtomicOp, CacheOperator, Callee, Destination, Function, Handle, Op, Ordering, Space, TensorTransfer, Type};

use crate::{AccessKind, InstructionClass};

/// The row of an instruction.
pub(super) struct Facts<'o> {
    class: InstructionClass,
    pub order: Order,
    pub next: Next<'o>,
}

/// Whether a result may depend on the order in which blocks execute an instruction.
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
pub(super) enum Next<'o> {
    Following,
    Jump(u32),
    JumpIndexed(&'o [u32]),
    Return,
    /// The thread ends.
    Exit,
    /// The launch ends.
    Trap,
}

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
pub(super) fn facts(op: &Op) -> Facts<'_> {
    use InstructionClass::{Access, Surface};
    let plain = |class| Facts { class, order: Order::Never, next: Next::Following };
    let ordered = |class, order| Facts { class, order, next: Next::Following };
    let jumps = |class, next| Facts { class, order: Order::Never, next };
    match op {
        Op::Load { space, ordering, cache, .. } => {
            let strong = *ordering != Ordering::Weak || *cache == CacheOperator::Volatile;
            let polls = strong && matches!(space, Space::Global | Space::Generic);
            ordered(Access(AccessKind::Load), if polls { Order::Always } else { Order::Never })
        }
        Op::LoadMatrix { .. } | Op::LoadFragment { .. } => plain(Access(AccessKind::Load)),
        Op::Store { .. } | Op::StoreMatrix { .. } | Op::StoreFragment { .. } => plain(Access(AccessKind::Store)),
        Op::CopyAsync(_) => plain(Access(AccessKind::Copy)),
        Op::Atomic { space, op, ty, is_reduction, dst, .. } => {
            let class = Access(if *is_reduction { AccessKind::Reduction } else { AccessKind::Atomic });
            match space {
                Space::Shared | Space::ClusterShared | Space::Local => plain(class),
                _ => ordered(class, Order::Combines(*op, *ty, *dst)),
            }
        }
        // All of them are on floats.
        Op::AtomicVector { is_reduction, .. } => {
            ordered(Access(if *is_reduction { AccessKind::Reduction } else { AccessKind::Atomic }), Order::Always)
        }
        Op::BulkCopy(copy) => match copy.reduction {
            Some((op, ty)) if copy.to == Space::Global => {
                ordered(InstructionClass::Other, Order::Combines(op, ty, None))
            }
            _ => plain(InstructionClass::Other),
        },
        // Only the map knows the type of the elements.
        Op::TensorCopy(copy) => match copy.transfer {
            TensorTransfer::Store { reduction: Some(_), .. } => ordered(InstructionClass::Other, Order::Always),
            TensorTransfer::Store { reduction: None, .. } | TensorTransfer::Load { .. } => {
                plain(InstructionClass::Other)
            }
        },
        Op::TextureFetch(_) => plain(InstructionClass::Texture),
        Op::SurfaceLoad { .. } => plain(Surface(AccessKind::Load)),
        Op::SurfaceStore { .. } => plain(Surface(AccessKind::Store)),
        Op::SurfaceReduce { .. } => plain(Surface(AccessKind::Reduction)),
        Op::Barrier { .. } | Op::ClusterBarrier { waits: true, .. } => plain(InstructionClass::Barrier),
        Op::Branch { target, .. } => jumps(InstructionClass::Branch, Next::Jump(*target)),
        Op::BranchIndexed { targets, .. } => jumps(InstructionClass::Branch, Next::JumpIndexed(targets)),
        Op::Return => jumps(InstructionClass::Branch, Next::Return),
        Op::Exit => jumps(InstructionClass::Other, Next::Exit),
        Op::Trap => jumps(InstructionClass::Other, Next::Trap),
        Op::Call { callee: Callee::Direct(callee), .. } => ordered(InstructionClass::Other, Order::Calls(*callee)),
        Op::Call { callee: Callee::Indirect { .. }, .. }
        | Op::ClusterBarrier { waits: false, .. }
        | Op::Move { .. }
        | Op::MoveVector { .. }
        | Op::Pack { .. }
        | Op::Unpack { .. }
        | Op::Convert { .. }
        | Op::ConvertPair { .. }
        | Op::ConvertPack { .. }
        | Op::ConvertAddress { .. }
        | Op::IsSpace { .. }
        | Op::IsType { .. }
        | Op::Unary { .. }
        | Op::Binary { .. }
        | Op::Ternary { .. }
        | Op::LogicAndTest { .. }
        | Op::BitFieldInsert { .. }
        | Op::Carry { .. }
        | Op::ScalarVideo(_)
        | Op::SimdVideo(_)
        | Op::SetPredicate { .. }
        | Op::Set { .. }
        | Op::Select { .. }
        | Op::SelectBySign { .. }
        | Op::TestProperty { .. }
        | Op::Prefetch { .. }
        | Op::CreatePolicy { .. }
        | Op::Fence { .. }
        | Op::TextureQuery { .. }
        | Op::CommitCopies
        | Op::WaitForCopies { .. }
        | Op::ArriveAfterCopies { .. }
        | Op::CommitBulkCopies
        | Op::WaitForBulkCopies { .. }
        | Op::StoreAsync(_)
        | Op::ReplaceTensorField { .. }
        | Op::CopyTensorMap { .. }
        | Op::Mbarrier { .. }
        | Op::PendingCount { .. }
        | Op::TransposeMatrix { .. }
        | Op::MatrixMultiply(_)
        | Op::WarpgroupMultiply(_)
        | Op::WarpgroupFence
        | Op::CommitProducts
        | Op::WaitForProducts { .. }
        | Op::Shuffle { .. }
        | Op::Vote { .. }
        | Op::Match { .. }
        | Op::WarpReduce { .. }
        | Op::ActiveMask { .. }
        | Op::Elect { .. }
        | Op::WarpBarrier { .. }
        | Op::MapToBlock { .. }
        | Op::RankOfAddress { .. }
        | Op::WaitForEarlierGrids
        | Op::NoEffect
        | Op::NanoSleep { .. }
        | Op::StackAllocate { .. }
        | Op::StackSave { .. }
        | Op::StackRestore { .. }
        | Op::Breakpoint => plain(InstructionClass::Other),
    }
}
