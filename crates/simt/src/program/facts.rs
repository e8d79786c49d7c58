//! What passes over a whole kernel need to know of each instruction, in one table: how reports
//! class it, whether the order of blocks may matter to it, what may be executed next, whether it
//! only moves bits, and, for predicted times, what `ptxas` does with it. What it reads, and what it
//! does to memory, is in the table of `ptx` ([`Op::effect`]).

use ptx::{
    AsyncOp, AtomicOp, BarrierOp, BinaryOp, CacheOperator, Callee, ComputeOp, ControlOp, Destination, Effect, Function,
    Handle, Kind, MatrixOp, Op, Operand, Ordering, Space, Special, TensorTransfer, TernaryOp, TextureOp, Type, WarpOp,
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
    /// It accesses no memory, or reads memory that is never written.
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

const REDUCTIONS: &str = "bulk reductions";
const CLUSTERS: &str = "clusters of blocks";

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
#[expect(clippy::too_many_lines, reason = "one arm for each case")]
pub(crate) fn facts(op: &Op) -> Facts<'_> {
    use InstructionClass::{Access, Barrier, Other};
    let motion = match op.effect() {
        Effect::Nothing | Effect::Acts | Effect::WritesLater => Motion::Free,
        Effect::Reads => Motion::Read,
        Effect::Observes | Effect::Orders | Effect::Writes => Motion::Write,
    };
    let plain = Facts {
        class: Other,
        order: Order::Never,
        next: Next::Following,
        motion,
        predicated: true,
        unrolled: true,
        uniform: false,
        moves: false,
        lasts: Lasts::ItsLatency,
        not_timed: None,
    };
    // `ptxas` moves nothing across copies, their groups and mbarriers.
    let stays = Facts { motion: Motion::Write, ..plain };
    let once = |class| Facts { class, unrolled: false, ..plain };
    let atomic = |is_reduction, order| Facts {
        order,
        lasts: Lasts::MemoryLoad,
        ..once(Access(if is_reduction { AccessKind::Reduction } else { AccessKind::Atomic }))
    };
    match op {
        Op::Compute(op) => computed(op, plain),
        Op::Load { space, ordering, cache, .. } => {
            let strong = *ordering != Ordering::Weak || *cache == CacheOperator::Volatile;
            let polls = strong && matches!(space, Space::Global | Space::Generic);
            let lasts = match space {
                Space::Shared => Lasts::SharedLoad,
                Space::Parameter | Space::Constant => Lasts::ConstantLoad,
                Space::Generic | Space::Global | Space::ClusterShared | Space::Local => Lasts::MemoryLoad,
            };
            Facts {
                class: Access(AccessKind::Load),
                order: if polls { Order::Always } else { Order::Never },
                lasts,
                uniform: matches!(space, Space::Parameter | Space::Constant),
                ..plain
            }
        }
        Op::Store { space, .. } => {
            Facts { class: Access(AccessKind::Store), unrolled: matches!(space, Space::Shared | Space::Local), ..plain }
        }
        Op::Atomic { space, op, ty, is_reduction, dst, .. } => {
            let is_shared = matches!(space, Space::Shared | Space::ClusterShared | Space::Local);
            atomic(*is_reduction, if is_shared { Order::Never } else { Order::Combines(*op, *ty, *dst) })
        }
        // All of them are on floats.
        Op::AtomicVector { is_reduction, .. } => atomic(*is_reduction, Order::Always),
        Op::Fence { .. } => once(Other),
        Op::NanoSleep { .. } => Facts { not_timed: Some("sleeping warps"), ..plain },
        Op::Prefetch { .. } | Op::CreatePolicy { .. } | Op::WaitForEarlierGrids | Op::NoEffect | Op::Stack(_) => plain,
        Op::Texture(op) => match op {
            TextureOp::Fetch(_) => Facts { class: InstructionClass::Texture, lasts: Lasts::MemoryLoad, ..plain },
            TextureOp::Query { .. } => plain,
            TextureOp::SurfaceLoad { .. } => {
                Facts { class: InstructionClass::Surface(AccessKind::Load), lasts: Lasts::MemoryLoad, ..plain }
            }
            TextureOp::SurfaceStore { .. } => once(InstructionClass::Surface(AccessKind::Store)),
            TextureOp::SurfaceReduce { .. } => once(InstructionClass::Surface(AccessKind::Reduction)),
        },
        Op::Async(op) => match op {
            AsyncOp::Copy(_) => once(Access(AccessKind::Copy)),
            AsyncOp::BulkCopy(copy) => {
                let combines = copy.reduction.filter(|_| copy.to == Space::Global);
                let order = combines.map_or(Order::Never, |(op, ty)| Order::Combines(op, ty, None));
                let between_blocks = copy.blocks.is_some() || copy.from == Space::Shared && copy.barrier.is_some();
                Facts { order, not_timed: bulk(between_blocks, copy.reduction.is_some()), ..stays }
            }
            // Only the map knows the type of the elements.
            AsyncOp::TensorCopy(copy) => {
                let combines = matches!(copy.transfer, TensorTransfer::Store { reduction: Some(_), .. });
                let order = if combines { Order::Always } else { Order::Never };
                let between_blocks = matches!(copy.transfer, TensorTransfer::Load { blocks: Some(_), .. });
                Facts { order, not_timed: bulk(between_blocks, combines), ..stays }
            }
            AsyncOp::Store(_) => Facts { not_timed: Some(CLUSTERS), ..stays },
            AsyncOp::PendingCount { .. } => plain,
            _ => stays,
        },
        Op::Matrix(op) => {
            use MatrixOp::{LoadFragment, Multiply, StoreFragment, WarpgroupMultiply};
            let class = match op {
                MatrixOp::Load { .. } | LoadFragment { .. } => Access(AccessKind::Load),
                MatrixOp::Store { .. } | StoreFragment { .. } => Access(AccessKind::Store),
                _ => Other,
            };
            let not_timed = match op {
                LoadFragment { .. } | StoreFragment { .. } | Multiply(_) | WarpgroupMultiply(_) => Some("tensor cores"),
                _ => None,
            };
            Facts { class, not_timed, ..plain }
        }
        Op::Warp(op) => Facts { predicated: !matches!(op, WarpOp::Shuffle { .. } | WarpOp::Vote { .. }), ..plain },
        Op::Barrier(op) => {
            let barrier = Facts { predicated: false, ..once(Barrier) };
            match op {
                BarrierOp::Block { .. } => barrier,
                BarrierOp::Warp { .. } => Facts { class: Other, unrolled: true, ..barrier },
                BarrierOp::Cluster { waits, .. } => {
                    Facts { class: if *waits { Barrier } else { Other }, not_timed: Some(CLUSTERS), ..barrier }
                }
            }
        }
        Op::Control(op) => control(op, plain),
    }
}

/// Why a kernel with a bulk copy has no predicted time.
fn bulk(between_blocks: bool, combines: bool) -> Option<&'static str> {
    match (between_blocks, combines) {
        (true, _) => Some(CLUSTERS),
        (false, true) => Some(REDUCTIONS),
        (false, false) => None,
    }
}

/// Jumps, calls and ends.
fn control<'o>(op: &'o ControlOp, plain: Facts<'o>) -> Facts<'o> {
    use InstructionClass::{Branch, Other};
    let jump = |class, next| Facts { class, next, predicated: false, unrolled: false, ..plain };
    match op {
        ControlOp::Branch { target, .. } => Facts { class: Branch, next: Next::Jump(*target), ..plain },
        ControlOp::BranchIndexed { targets, .. } => jump(Branch, Next::JumpIndexed(targets)),
        ControlOp::Return => jump(Branch, Next::Return),
        ControlOp::Exit => jump(Other, Next::Exit),
        ControlOp::Trap => jump(Other, Next::Trap),
        ControlOp::Call { callee, .. } => {
            let order = match callee {
                Callee::Direct(callee) => Order::Calls(*callee),
                Callee::Indirect { .. } => Order::Never,
            };
            Facts { order, ..jump(Other, Next::Call) }
        }
        ControlOp::Breakpoint => plain,
    }
}

/// What a lane computes of its operands.
fn computed<'o>(op: &ComputeOp, plain: Facts<'o>) -> Facts<'o> {
    let (uniform, moves) = match op {
        ComputeOp::Move { src: Operand::Special(special), .. } => {
            (matches!(special, Special::BlockIndex(_) | Special::GridSize(_) | Special::BlockSize(_)), true)
        }
        ComputeOp::Move { .. } => (true, true),
        ComputeOp::Convert { to, from, .. } => (true, to.kind() != Kind::Float && from.kind() != Kind::Float),
        // Compilers split and assemble small structs with shifts and masks.
        ComputeOp::Binary { op, ty, .. } => {
            use BinaryOp::{And, Or, ShiftLeft, ShiftRight, Xor};
            (true, matches!(op, And | Or | Xor | ShiftLeft | ShiftRight) && *ty != Type::Pred)
        }
        ComputeOp::Ternary { op, .. } => {
            use TernaryOp::{BitFieldExtract, FunnelShiftLeft, FunnelShiftRight, Logic, Permute};
            let moves = matches!(
                op,
                BitFieldExtract | FunnelShiftLeft { .. } | FunnelShiftRight { .. } | Logic(_) | Permute(_)
            );
            (true, moves)
        }
        ComputeOp::Unary { .. } | ComputeOp::SetPredicate { .. } | ComputeOp::Select { .. } => (true, false),
        ComputeOp::MoveVector { .. }
        | ComputeOp::Pack { .. }
        | ComputeOp::Unpack { .. }
        | ComputeOp::BitFieldInsert { .. } => (false, true),
        _ => (false, false),
    };
    Facts { uniform, moves, ..plain }
}
