//! What holds of an operation, in one table with a row for each: what it reads, and what it does
//! beyond its results. The rows have no catch-all, so a new operation does not compile until it
//! has its own. Passes that look at all instructions alike ask the table.

use Effect::{Acts, Nothing, Observes, Orders, Reads, Writes, WritesLater};

use super::asynchronous::{AsyncOp, MbarrierAction, MbarrierPhase};
use super::compute::ComputeOp;
use super::instruction::{ControlOp, Op, StackOp};
use super::lanes::{BarrierAction, BarrierOp, WarpOp};
use super::matrix::{MatrixOp, Sparsity};
use super::memory::{CacheOperator, Ordering};
use super::operand::{Address, CallOperand, Operand};
use super::tensor::{FenceProxies, TensorMode, TensorTransfer};
use super::texture::{Level, TexelPosition, TextureOp};
use super::types::Space;
use super::warpgroup::WarpgroupFactor;

/// What an operation does beyond writing its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// None: it accesses no memory, or reads memory that is never written.
    Nothing,
    /// It reads memory.
    Reads,
    /// Nothing, but its results depend on what other threads do in the meantime.
    Observes,
    /// It orders other accesses.
    Orders,
    /// It writes memory, or lets other threads write.
    Writes,
    /// Something else: it jumps, sleeps, allocates, ...
    Acts,
    /// Memory changes while the thread continues.
    WritesLater,
}

impl Effect {
    /// Whether nobody misses the operation if its results are unused.
    pub fn may_be_unused(self) -> bool {
        matches!(self, Self::Nothing | Self::Reads | Self::Observes)
    }

    /// Whether memory may have changed after the operation.
    pub fn changes_memory(self) -> bool {
        matches!(self, Self::Writes | Self::WritesLater)
    }
}

/// The operands that an instruction reads and the addresses of its accesses, in PTX's order. Its
/// guard, the objects of textures and surfaces, and variables that a call passes are not among
/// them.
#[derive(Default)]
pub struct Sources<'o> {
    /// Operands.
    pub operands: Vec<&'o Operand>,
    /// Addresses.
    pub addresses: Vec<&'o Address>,
}

impl Op {
    /// What the instruction reads.
    pub fn sources(&self) -> Sources<'_> {
        let mut all = Sources::default();
        self.row(&mut all);
        all
    }

    /// What the instruction does beyond its results.
    pub fn effect(&self) -> Effect {
        self.row(&mut Unread)
    }

    /// Whether it reads memory that is promised not to change during the launch: there the compiler
    /// and the caches may ignore synchronisation.
    pub fn takes_constant(&self) -> bool {
        matches!(self, Op::Load { non_coherent, uniform, .. } if *non_coherent || *uniform)
            || matches!(self, Op::Texture(TextureOp::Fetch(_)))
    }

    fn row<'o>(&'o self, all: &mut impl Visitor<'o>) -> Effect {
        match self {
            Op::Compute(op) => op.row(all),
            Op::Load { space, ordering, cache, eviction, non_coherent, address, .. } => {
                all.access([address]).read(eviction.policy()).has(match ordering {
                    _ if *cache == CacheOperator::Volatile => Orders,
                    Ordering::Weak if *non_coherent || matches!(space, Space::Parameter | Space::Constant) => Nothing,
                    Ordering::Weak => Reads,
                    Ordering::Relaxed => Observes,
                    _ => Orders,
                })
            }
            Op::Store { srcs, address, eviction, .. } => {
                all.access([address]).read(srcs).read(eviction.policy()).has(Writes)
            }
            Op::Atomic { address, a, b, .. } => all.access([address]).read([a]).read(b).has(Writes),
            Op::AtomicVector { srcs, address, .. } => all.access([address]).read(srcs).has(Writes),
            Op::Prefetch { address, .. } => all.access([address]).has(Acts),
            Op::CreatePolicy { .. } => Nothing,
            Op::Fence { proxies: Some(FenceProxies::AcquireTensorMap(map)), .. } => all.access([map]).has(Writes),
            Op::Fence { .. } => Writes,
            Op::Texture(op) => op.row(all),
            Op::Async(op) => op.row(all),
            Op::Matrix(op) => op.row(all),
            Op::Warp(op) => op.row(all),
            Op::Barrier(BarrierOp::Block {
                action: BarrierAction::Reduce { predicate, .. }, barrier, threads, ..
            }) => all.read([barrier]).read(threads).read([predicate]).has(Writes),
            Op::Barrier(BarrierOp::Block { barrier, threads, .. }) => all.read([barrier]).read(threads).has(Writes),
            Op::Barrier(BarrierOp::Warp { members }) => all.read([members]).has(Writes),
            Op::Barrier(BarrierOp::Cluster { .. }) => Writes,
            Op::Control(op) => op.row(all),
            Op::Stack(StackOp::Allocate { size: operand, .. } | StackOp::Restore { src: operand, .. }) => {
                all.read([operand]).has(Acts)
            }
            Op::Stack(StackOp::Save { .. }) => Acts,
            Op::WaitForEarlierGrids => Acts,
            Op::NoEffect => Nothing,
            Op::NanoSleep { duration } => all.read([duration]).has(WritesLater),
        }
    }
}

impl ComputeOp {
    fn row<'o>(&'o self, all: &mut impl Visitor<'o>) -> Effect {
        match self {
            Self::Move { src, .. } | Self::Unpack { src, .. } | Self::Convert { src, .. } => all.read([src]),
            Self::ConvertAddress { src, .. } | Self::RankOfAddress { src, .. } => all.read([src]),
            Self::IsSpace { src, .. } | Self::IsType { src, .. } => all.read([src]),
            Self::MoveVector { srcs, .. } | Self::Pack { parts: srcs, .. } => all.read(srcs),
            Self::Unary { a, .. } | Self::TestProperty { a, .. } => all.read([a]),
            Self::ConvertPair { a, b, .. } | Self::Binary { a, b, .. } => all.read([a, b]),
            Self::ConvertPack { a, b, c, .. } | Self::Carry { a, b, c, .. } => all.read([a, b]).read(c),
            Self::Ternary { a, b, c, .. } | Self::SelectBySign { a, b, c, .. } => all.read([a, b, c]),
            Self::LogicAndTest { a, b, c, combine, .. } => all.read([a, b, c, &combine.predicate]),
            Self::BitFieldInsert { a, b, position, length, .. } => all.read([a, b, position, length]),
            Self::ScalarVideo(video) => all.read([&video.a.operand, &video.b.operand]).read(&video.c),
            Self::SimdVideo(video) => all.read([&video.a, &video.b, &video.c]),
            Self::SetPredicate { a, b, combine, .. } | Self::Set { a, b, combine, .. } => {
                all.read([a, b]).read(combine.as_ref().map(|combine| &combine.predicate))
            }
            Self::Select { a, b, predicate, .. } => all.read([a, b, predicate]),
            Self::MapToBlock { src, rank, .. } => all.read([src, rank]),
        };
        Nothing
    }
}

impl TextureOp {
    fn row<'o>(&'o self, all: &mut impl Visitor<'o>) -> Effect {
        match self {
            Self::Fetch(fetch) => {
                match &fetch.level {
                    Level::Base => all.position(&fetch.position),
                    Level::At(level) => all.position(&fetch.position).read([level]),
                    Level::Gradient(in_x, in_y) => all.position(&fetch.position).read(in_x.iter().chain(in_y)),
                };
                all.read(&fetch.offset).has(Nothing)
            }
            Self::Query { level, .. } => all.read(level).has(Nothing),
            // Surfaces are read and written in order.
            Self::SurfaceLoad { position, .. } => all.position(position).has(Writes),
            Self::SurfaceStore { position, srcs, .. } => all.position(position).read(srcs).has(Writes),
            Self::SurfaceReduce { position, src, .. } => all.position(position).read([src]).has(Writes),
        }
    }
}

impl AsyncOp {
    fn row<'o>(&'o self, all: &mut impl Visitor<'o>) -> Effect {
        match self {
            Self::Copy(copy) => {
                let operands = copy.source_bytes.iter().chain(&copy.ignore_source);
                all.access([&copy.dst, &copy.src]).read(operands).has(Writes)
            }
            Self::Commit | Self::Wait { .. } => Writes,
            Self::ArriveAfterCopies { address, .. } => all.access([address]).has(Writes),
            Self::BulkCopy(copy) => {
                let all = all.access([&copy.dst, &copy.src]).access(&copy.barrier);
                all.read([&copy.bytes]).read(&copy.blocks).has(WritesLater)
            }
            Self::CommitBulk => Acts,
            // What has been copied is there.
            Self::WaitForBulk { .. } => Writes,
            Self::Store(store) => all.access([&store.address, &store.barrier]).read(&store.srcs).has(WritesLater),
            Self::TensorCopy(copy) => {
                let all = all.access([&copy.map]).read(&copy.coordinates);
                if let TensorMode::ImageToColumn { offsets } = &copy.mode {
                    all.read(offsets);
                }
                match &copy.transfer {
                    TensorTransfer::Load { dst, barrier, blocks, .. } => all.access([dst, barrier]).read(blocks),
                    TensorTransfer::Store { src, .. } => all.access([src]),
                };
                WritesLater
            }
            Self::ReplaceTensorField { address, value, .. } => all.access([address]).read([value]).has(Writes),
            Self::CopyTensorMap { dst, src, .. } => all.access([dst, src]).has(Writes),
            Self::Mbarrier { action, address, .. } => {
                let all = all.access([address]);
                match action {
                    MbarrierAction::Initialize { count: operand }
                    | MbarrierAction::Expect { bytes: operand }
                    | MbarrierAction::Complete { bytes: operand } => all.read([operand]),
                    MbarrierAction::Invalidate => all,
                    MbarrierAction::Arrive(arrival) => all.read(arrival.count.iter().chain(&arrival.expect)),
                    MbarrierAction::Test(test) => match &test.phase {
                        MbarrierPhase::State(operand) | MbarrierPhase::Parity(operand) => all.read([operand]),
                    },
                };
                Writes
            }
            Self::PendingCount { state, .. } => all.read([state]).has(Nothing),
        }
    }
}

impl MatrixOp {
    fn row<'o>(&'o self, all: &mut impl Visitor<'o>) -> Effect {
        match self {
            Self::Load { address, .. } => all.access([address]).has(Reads),
            Self::Store { srcs, address, .. } => all.access([address]).read(srcs).has(Writes),
            Self::Transpose { src, .. } => all.read([src]).has(Nothing),
            Self::Multiply(multiply) => {
                let all = all.read(multiply.a.iter().chain(&multiply.b).chain(&multiply.c));
                all.sparsity(&multiply.sparsity).has(Acts)
            }
            Self::LoadFragment { tile, .. } => all.access([&tile.address]).read(&tile.stride).has(Reads),
            Self::StoreFragment { tile, srcs } => {
                all.access([&tile.address]).read(srcs.iter().chain(&tile.stride)).has(Writes)
            }
            Self::WarpgroupMultiply(multiply) => {
                let all = all.factor(&multiply.a).factor(&multiply.b);
                all.sparsity(&multiply.sparsity).read([&multiply.adds]).has(WritesLater)
            }
            Self::WarpgroupFence | Self::CommitProducts | Self::WaitForProducts { .. } => Acts,
        }
    }
}

impl WarpOp {
    fn row<'o>(&'o self, all: &mut impl Visitor<'o>) -> Effect {
        match self {
            Self::Shuffle { src, lane, clamp, members, .. } => all.read([src, lane, clamp]).read(members).has(Observes),
            Self::Vote { predicate, members, .. } => all.read([predicate]).read(members).has(Observes),
            Self::Match { src, members, .. } | Self::Reduce { src, members, .. } => {
                all.read([src, members]).has(Observes)
            }
            Self::ActiveMask { .. } => Observes,
            Self::Elect { members, .. } => all.read([members]).has(Observes),
        }
    }
}

impl ControlOp {
    fn row<'o>(&'o self, all: &mut impl Visitor<'o>) -> Effect {
        match self {
            Self::BranchIndexed { index, .. } => all.read([index]).has(Acts),
            Self::Call { arguments, .. } => {
                let operands = arguments.iter().filter_map(|argument| match argument {
                    CallOperand::Value(operand) => Some(operand),
                    CallOperand::Variable(_) => None,
                });
                all.read(operands).has(Writes)
            }
            Self::Branch { .. } | Self::Return | Self::Exit | Self::Trap | Self::Breakpoint => Acts,
        }
    }
}

/// What a row says: the operands and addresses that an operation reads, in PTX's order, and its
/// effect.
trait Visitor<'o> {
    fn read(&mut self, operands: impl IntoIterator<Item = &'o Operand>) -> &mut Self;

    fn access(&mut self, addresses: impl IntoIterator<Item = &'o Address>) -> &mut Self;

    fn position(&mut self, position: &'o TexelPosition) -> &mut Self {
        self.read(&position.layer).read(&position.coordinates)
    }

    fn factor(&mut self, factor: &'o WarpgroupFactor) -> &mut Self {
        match factor {
            WarpgroupFactor::Registers(registers) => self.read(registers),
            WarpgroupFactor::Shared { descriptor, .. } => self.read([descriptor]),
        }
    }

    fn sparsity(&mut self, sparsity: &'o Option<Sparsity>) -> &mut Self {
        self.read(sparsity.iter().map(|sparsity| &sparsity.metadata))
    }

    fn has(&self, effect: Effect) -> Effect {
        effect
    }
}

impl<'o> Visitor<'o> for Sources<'o> {
    fn read(&mut self, operands: impl IntoIterator<Item = &'o Operand>) -> &mut Self {
        self.operands.extend(operands);
        self
    }

    fn access(&mut self, addresses: impl IntoIterator<Item = &'o Address>) -> &mut Self {
        self.addresses.extend(addresses);
        self
    }
}

/// A visitor that ignores operands: for callers that need the effect alone.
struct Unread;

impl<'o> Visitor<'o> for Unread {
    fn read(&mut self, _: impl IntoIterator<Item = &'o Operand>) -> &mut Self {
        self
    }

    fn access(&mut self, _: impl IntoIterator<Item = &'o Address>) -> &mut Self {
        self
    }
}
