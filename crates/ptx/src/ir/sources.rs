//! What an instruction reads: its operands and addresses, for passes that look at all instructions
//! alike. The one `match` has no catch-all, so a new instruction has to say here what it reads.

use super::asynchronous::{MbarrierAction, MbarrierPhase};
use super::instruction::Op;
use super::lanes::BarrierAction;
use super::matrix::Sparsity;
use super::operand::{Address, CallOperand, Operand};
use super::operation::Combine;
use super::tensor::{FenceProxies, TensorMode, TensorTransfer};
use super::texture::{Level, TexelPosition};
use super::warpgroup::WarpgroupFactor;

/// The operands that an instruction reads and the addresses of its accesses, in PTX's order. Its
/// guard, the objects of textures and surfaces, and variables that a call passes are not among
/// them.
#[derive(Default)]
pub struct Sources<'o> {
    /// Operands.
    pub operands: Vec<&'o Operand>,
    /// Addresses.
    pub addresses: Vec<&'o Address>,
    /// Whether it reads memory that is promised not to change during the launch: there the compiler
    /// and the caches may ignore synchronisation.
    pub takes_constant: bool,
}

impl<'o> Sources<'o> {
    fn read(&mut self, operands: impl IntoIterator<Item = &'o Operand>) {
        self.operands.extend(operands);
    }

    fn access(&mut self, addresses: impl IntoIterator<Item = &'o Address>) {
        self.addresses.extend(addresses);
    }

    fn combine(&mut self, combine: Option<&'o Combine>) {
        self.read(combine.map(|combine| &combine.predicate));
    }

    fn position(&mut self, position: &'o TexelPosition) {
        self.read(&position.layer);
        self.read(&position.coordinates);
    }

    fn factor(&mut self, factor: &'o WarpgroupFactor) {
        match factor {
            WarpgroupFactor::Registers(registers) => self.read(registers),
            WarpgroupFactor::Shared { descriptor, .. } => self.read([descriptor]),
        }
    }

    fn sparsity(&mut self, sparsity: Option<&'o Sparsity>) {
        self.read(sparsity.map(|sparsity| &sparsity.metadata));
    }
}

impl Op {
    /// What the instruction reads.
    pub fn sources(&self) -> Sources<'_> {
        let mut all = Sources::default();
        match self {
            Op::Move { src, .. }
            | Op::Unpack { src, .. }
            | Op::Convert { src, .. }
            | Op::ConvertAddress { src, .. }
            | Op::IsSpace { src, .. }
            | Op::IsType { src, .. }
            | Op::TransposeMatrix { src, .. }
            | Op::RankOfAddress { src, .. }
            | Op::StackRestore { src, .. } => all.read([src]),
            Op::MoveVector { srcs, .. } | Op::Pack { parts: srcs, .. } => all.read(srcs),
            Op::Unary { a, .. } | Op::TestProperty { a, .. } => all.read([a]),
            Op::ConvertPair { a, b, .. } | Op::Binary { a, b, .. } => all.read([a, b]),
            Op::ConvertPack { a, b, c, .. } | Op::Carry { a, b, c, .. } => {
                all.read([a, b]);
                all.read(c);
            }
            Op::Ternary { a, b, c, .. } | Op::SelectBySign { a, b, c, .. } => all.read([a, b, c]),
            Op::LogicAndTest { a, b, c, combine, .. } => {
                all.read([a, b, c]);
                all.combine(Some(combine));
            }
            Op::BitFieldInsert { a, b, position, length, .. } => all.read([a, b, position, length]),
            Op::ScalarVideo(video) => {
                all.read([&video.a.operand, &video.b.operand]);
                all.read(&video.c);
            }
            Op::SimdVideo(video) => all.read([&video.a, &video.b, &video.c]),
            Op::SetPredicate { a, b, combine, .. } | Op::Set { a, b, combine, .. } => {
                all.read([a, b]);
                all.combine(combine.as_ref());
            }
            Op::Select { a, b, predicate, .. } => all.read([a, b, predicate]),
            Op::Load { address, non_coherent, uniform, .. } => {
                all.access([address]);
                all.takes_constant = *non_coherent || *uniform;
            }
            Op::Prefetch { address, .. } | Op::LoadMatrix { address, .. } => all.access([address]),
            Op::Store { srcs, address, .. }
            | Op::StoreMatrix { srcs, address, .. }
            | Op::AtomicVector { srcs, address, .. } => {
                all.access([address]);
                all.read(srcs);
            }
            Op::Atomic { address, a, b, .. } => {
                all.access([address]);
                all.read([a]);
                all.read(b);
            }
            Op::Fence { proxies, .. } => match proxies {
                Some(FenceProxies::AcquireTensorMap(map)) => all.access([map]),
                Some(FenceProxies::Async(_) | FenceProxies::ReleaseTensorMaps) | None => {}
            },
            Op::TextureFetch(fetch) => {
                all.takes_constant = true;
                all.position(&fetch.position);
                match &fetch.level {
                    Level::Base => {}
                    Level::At(level) => all.read([level]),
                    Level::Gradient(in_x, in_y) => all.read(in_x.iter().chain(in_y)),
                }
                all.read(&fetch.offset);
            }
            Op::TextureQuery { level, .. } => all.read(level),
            Op::SurfaceLoad { position, .. } => all.position(position),
            Op::SurfaceStore { position, srcs, .. } => {
                all.position(position);
                all.read(srcs);
            }
            Op::SurfaceReduce { position, src, .. } => {
                all.position(position);
                all.read([src]);
            }
            Op::CopyAsync(copy) => {
                all.access([&copy.dst, &copy.src]);
                all.read(copy.source_bytes.iter().chain(&copy.ignore_source));
            }
            Op::ArriveAfterCopies { address, .. } => all.access([address]),
            Op::BulkCopy(copy) => {
                all.access([&copy.dst, &copy.src]);
                all.access(&copy.barrier);
                all.read([&copy.bytes]);
                all.read(&copy.blocks);
            }
            Op::StoreAsync(store) => {
                all.access([&store.address, &store.barrier]);
                all.read(&store.srcs);
            }
            Op::TensorCopy(copy) => {
                all.access([&copy.map]);
                all.read(&copy.coordinates);
                match &copy.mode {
                    TensorMode::Tile => {}
                    TensorMode::ImageToColumn { offsets } => all.read(offsets),
                }
                match &copy.transfer {
                    TensorTransfer::Load { dst, barrier, blocks, .. } => {
                        all.access([dst, barrier]);
                        all.read(blocks);
                    }
                    TensorTransfer::Store { src, .. } => all.access([src]),
                }
            }
            Op::ReplaceTensorField { address, value, .. } => {
                all.access([address]);
                all.read([value]);
            }
            Op::CopyTensorMap { dst, src, .. } => all.access([dst, src]),
            Op::Mbarrier { action, address, .. } => {
                all.access([address]);
                match action {
                    MbarrierAction::Initialize { count: operand }
                    | MbarrierAction::Expect { bytes: operand }
                    | MbarrierAction::Complete { bytes: operand } => all.read([operand]),
                    MbarrierAction::Invalidate => {}
                    MbarrierAction::Arrive(arrival) => all.read(arrival.count.iter().chain(&arrival.expect)),
                    MbarrierAction::Test(test) => match &test.phase {
                        MbarrierPhase::State(operand) | MbarrierPhase::Parity(operand) => all.read([operand]),
                    },
                }
            }
            Op::PendingCount { state, .. } => all.read([state]),
            Op::MatrixMultiply(multiply) => {
                all.read(multiply.a.iter().chain(&multiply.b).chain(&multiply.c));
                all.sparsity(multiply.sparsity.as_ref());
            }
            Op::LoadFragment { tile, .. } => {
                all.access([&tile.address]);
                all.read(&tile.stride);
            }
            Op::StoreFragment { tile, srcs } => {
                all.access([&tile.address]);
                all.read(srcs.iter().chain(&tile.stride));
            }
            Op::WarpgroupMultiply(multiply) => {
                all.factor(&multiply.a);
                all.factor(&multiply.b);
                all.sparsity(multiply.sparsity.as_ref());
                all.read([&multiply.adds]);
            }
            Op::Shuffle { src, lane, clamp, members, .. } => {
                all.read([src, lane, clamp]);
                all.read(members);
            }
            Op::Vote { predicate, members, .. } => {
                all.read([predicate]);
                all.read(members);
            }
            Op::Match { src, members, .. } | Op::WarpReduce { src, members, .. } => all.read([src, members]),
            Op::Elect { members, .. } | Op::WarpBarrier { members } => all.read([members]),
            Op::Barrier { action, barrier, threads, .. } => {
                all.read([barrier]);
                all.read(threads);
                match action {
                    BarrierAction::Synchronize | BarrierAction::Arrive => {}
                    BarrierAction::Reduce { predicate, .. } => all.read([predicate]),
                }
            }
            Op::MapToBlock { src, rank, .. } => all.read([src, rank]),
            Op::NanoSleep { duration } => all.read([duration]),
            Op::BranchIndexed { index, .. } => all.read([index]),
            Op::Call { arguments, .. } => all.read(arguments.iter().filter_map(|argument| match argument {
                CallOperand::Value(operand) => Some(operand),
                CallOperand::Variable(_) => None,
            })),
            Op::StackAllocate { size, .. } => all.read([size]),
            Op::CreatePolicy { .. }
            | Op::CommitCopies
            | Op::WaitForCopies { .. }
            | Op::CommitBulkCopies
            | Op::WaitForBulkCopies { .. }
            | Op::WarpgroupFence
            | Op::CommitProducts
            | Op::WaitForProducts { .. }
            | Op::ActiveMask { .. }
            | Op::ClusterBarrier { .. }
            | Op::WaitForEarlierGrids
            | Op::NoEffect
            | Op::Branch { .. }
            | Op::StackSave { .. }
            | Op::Return
            | Op::Exit
            | Op::Trap
            | Op::Breakpoint => {}
        }
        all
    }
}
