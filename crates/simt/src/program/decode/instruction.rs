//! Sends each PTX instruction to the function that decodes it. The matches over [`Op`] and its
//! families have no catch-all: a new instruction does not compile until it is decoded here.

use ptx::{
    AsyncOp, BarrierOp, CacheOperator, ComputeOp, ControlOp, FenceProxies, MatrixOp, Op, Operand, Ordering, StackOp,
    TextureOp, Type, WarpOp,
};

use super::function::{COUNTED, Decoded, FunctionDecoder};
use crate::lanes::{self, Update};
use crate::model::policy_of;
use crate::program::access::Order;
use crate::program::asynchronous::Asynchronous;
use crate::program::code::{Action, ClusterBarrier};
use crate::program::matrix::Matrix;
use crate::program::texture::SurfaceAction;

impl FunctionDecoder<'_, '_> {
    /// Decodes one instruction: emits the step that is counted, and its helpers.
    pub(super) fn instruction(&mut self, op: &Op) -> Decoded<()> {
        match op {
            Op::Load { space, ordering, scope, cache, eviction, non_coherent, uniform, ty, dsts, address } => {
                let volatile = *ordering == Ordering::Weak && *cache == CacheOperator::Volatile;
                let order = Order::new(if volatile { Ordering::Volatile } else { *ordering }, *scope);
                let order = Order { read_only: *non_coherent || *uniform, ..order };
                let hint = super::memory::hint(*ordering, *cache, *non_coherent);
                let eviction = self.eviction(*cache, *eviction)?;
                self.load((*space, *address), *ty, dsts, (order, hint, eviction), *uniform)
            }
            // Whether L1 caches a store does not matter: it goes through to L2.
            Op::Store { space, ordering, scope, cache, eviction, ty, srcs, address } => {
                let eviction = self.eviction(*cache, *eviction)?;
                self.store((*space, *address), *ty, srcs, (Order::new(*ordering, *scope), eviction))
            }
            Op::Atomic { space, op, ordering, scope, ty, flush_subnormals, is_reduction: _, dst, address, a, b } => {
                let update = Update { op: *op, ty: *ty, flush: *flush_subnormals };
                let reach = self.atomic_target(*space, *address)?;
                self.atomic(reach, update, *dst, *a, *b, Order::atomic(*ordering, *scope))
            }
            Op::AtomicVector {
                space,
                op,
                ordering,
                scope,
                ty,
                flush_subnormals,
                is_reduction: _,
                dsts,
                address,
                srcs,
            } => {
                let update = Update { op: *op, ty: *ty, flush: *flush_subnormals };
                let reach = self.atomic_target(*space, *address)?;
                self.atomic_vector(reach, update, dsts, srcs, Order::atomic(*ordering, *scope))
            }
            Op::CreatePolicy { dst, priority } => self.copy(Type::B64, *dst, Operand::Integer(policy_of(*priority))),
            Op::Fence { ordering: _, scope, proxies: Some(FenceProxies::AcquireTensorMap(map)) } => {
                self.acquire_tensor_map(*map, *scope)
            }
            Op::Fence { ordering: _, scope, proxies } => self.fence(*scope, *proxies),
            // Grids run one after the other.
            Op::Prefetch { .. } | Op::NanoSleep { .. } | Op::WaitForEarlierGrids | Op::NoEffect => {
                self.emit(COUNTED, Action::Nothing);
                Ok(())
            }
            Op::Compute(op) => self.compute_op(op),
            Op::Texture(op) => self.texture_op(op),
            Op::Async(op) => self.asynchronous_op(op),
            Op::Matrix(op) => self.matrix_op(op),
            Op::Warp(op) => self.warp_op(op),
            Op::Barrier(BarrierOp::Block { action, aligned, barrier, threads }) => {
                self.barrier(*action, *aligned, *barrier, *threads)
            }
            Op::Barrier(BarrierOp::Warp { members }) => {
                let members = self.word(*members, Type::U32)?;
                self.control(Action::WarpBarrier { members })
            }
            &Op::Barrier(BarrierOp::Cluster { waits, relaxed, aligned }) => {
                self.control(Action::ClusterBarrier(ClusterBarrier { waits, relaxed, aligned }))
            }
            Op::Control(op) => self.control_op(op),
            Op::Stack(StackOp::Allocate { ty, dst, size, align }) => self.stack_allocate(*ty, *dst, *size, *align),
            Op::Stack(StackOp::Save { ty, dst }) => {
                let d = self.destination(*dst, *ty)?;
                self.control(Action::SaveStack { d, wide: ty.bits() == 64 })
            }
            Op::Stack(StackOp::Restore { ty, src }) => {
                let source = self.value(*src, *ty)?;
                self.control(Action::RestoreStack { source, wide: ty.bits() == 64 })
            }
        }
    }

    fn compute_op(&mut self, op: &ComputeOp) -> Decoded<()> {
        match op {
            // Moves and addresses.
            ComputeOp::Move { ty, dst, src } => self.copy(*ty, *dst, *src),
            ComputeOp::MoveVector { ty, dsts, srcs } => self.copy_vector(*ty, dsts, srcs),
            ComputeOp::Pack { ty, dst, parts } => self.pack(*ty, *dst, parts),
            ComputeOp::Unpack { ty, dsts, src } => self.unpack(*ty, dsts, *src),
            ComputeOp::MapToBlock { ty, dst, src, rank } => self.map_to_block(*ty, *dst, *src, *rank),
            ComputeOp::RankOfAddress { ty, dst, src } => self.rank_of_address(*ty, *dst, *src),
            ComputeOp::ConvertAddress { space, to_generic, ty, dst, src } => {
                self.convert_address(*space, *to_generic, *ty, *dst, *src)
            }
            ComputeOp::IsSpace { space, dst, src } => self.is_space(*space, *dst, *src),
            ComputeOp::IsType { ty, dst, src } => self.is_type(*ty, *dst, *src),
            // Arithmetic.
            ComputeOp::Convert { to, from, mode, dst, src } => self.convert(*to, *from, *mode, *dst, *src),
            ComputeOp::ConvertPair { to, from, mode, dst, a, b } => {
                self.convert_pair((*to, *from), *mode, *dst, [*a, *b])
            }
            ComputeOp::ConvertPack { bits, signed, dst, a, b, c } => {
                self.convert_pack((*bits, *signed), *dst, [*a, *b], *c)
            }
            ComputeOp::ScalarVideo(video) => self.scalar_video(video),
            ComputeOp::SimdVideo(video) => self.simd_video(video),
            ComputeOp::Unary { op, ty, mode, dst, a } => self.unary(*op, *ty, *mode, *dst, *a),
            ComputeOp::Binary { op, ty, mode, dst, a, b } => self.binary(*op, *ty, *mode, *dst, *a, *b),
            ComputeOp::Ternary { op, ty, mode, dst, a, b, c } => self.ternary(*op, *ty, *mode, *dst, [*a, *b, *c]),
            ComputeOp::LogicAndTest { table, combine, dst, dst_is_set, a, b, c } => {
                self.logic_and_test(*table, *combine, [*dst, *dst_is_set], [*a, *b, *c])
            }
            ComputeOp::BitFieldInsert { ty, dst, a, b, position, length } => {
                self.bit_field_insert(*ty, *dst, [*a, *b], [*position, *length])
            }
            ComputeOp::Carry { op, ty, carry_in, carry_out, dst, a, b, c } => {
                let which = lanes::Carry { op: *op, carry_in: *carry_in, carry_out: *carry_out };
                self.with_carry(which, *ty, *dst, [*a, *b], *c)
            }
            // Comparisons and selections.
            ComputeOp::SetPredicate { comparison, ty, flush_subnormals, combine, dst, dst_not, a, b } => {
                self.set_predicate((*comparison, *flush_subnormals), *ty, *combine, [*dst, *dst_not], [*a, *b])
            }
            ComputeOp::Set { comparison, to, ty, flush_subnormals, combine, dst, a, b } => {
                self.set((*comparison, *flush_subnormals), (*to, *ty), *combine, *dst, [*a, *b])
            }
            ComputeOp::Select { ty, dst, a, b, predicate } => self.select(*ty, *dst, [*a, *b], *predicate),
            ComputeOp::SelectBySign { ty, selector, flush_subnormals, dst, a, b, c } => {
                self.select_by_sign((*ty, *selector), *flush_subnormals, *dst, [*a, *b], *c)
            }
            ComputeOp::TestProperty { property, ty, dst, a } => self.test_property(*property, *ty, *dst, *a),
        }
    }

    fn texture_op(&mut self, op: &TextureOp) -> Decoded<()> {
        match op {
            TextureOp::Fetch(fetch) => self.texture_fetch(fetch),
            TextureOp::Query { what, of_surface, dst, object, level } => {
                self.texture_query((*what, *of_surface), *dst, *object, *level)
            }
            TextureOp::SurfaceLoad { ty, dsts, surface, position, outside } => {
                self.surface_load(*ty, dsts, *surface, position, *outside)
            }
            TextureOp::SurfaceStore { formatted, ty, srcs, surface, position, outside } => {
                let action = if *formatted { SurfaceAction::StoreFormatted } else { SurfaceAction::Store };
                self.texture_write((action, *formatted), *ty, srcs, *surface, position, *outside)
            }
            TextureOp::SurfaceReduce { by_element, op, ty, src, surface, position, outside } => {
                let action = SurfaceAction::Reduce(*op);
                self.texture_write((action, *by_element), *ty, &[*src], *surface, position, *outside)
            }
        }
    }

    fn asynchronous_op(&mut self, op: &AsyncOp) -> Decoded<()> {
        match op {
            AsyncOp::Copy(copy) => self.copy_async(copy),
            AsyncOp::Commit => self.asynchronous(Asynchronous::Commit),
            &AsyncOp::Wait { groups_left } => self.asynchronous(Asynchronous::Wait { groups_left }),
            AsyncOp::ArriveAfterCopies { space, counted_before, address } => {
                let reach = self.reach(*space, *address)?;
                self.asynchronous(Asynchronous::ArriveAfterCopies { reach, counted_before: *counted_before })
            }
            AsyncOp::BulkCopy(copy) => self.bulk_copy(copy),
            AsyncOp::CommitBulk => self.asynchronous(Asynchronous::CommitBulk),
            &AsyncOp::WaitForBulk { groups_left, reads_only } => {
                self.asynchronous(Asynchronous::WaitBulk { groups_left, reads_only })
            }
            AsyncOp::Store(store) => self.store_async(store),
            AsyncOp::TensorCopy(copy) => self.tensor_copy(copy),
            AsyncOp::ReplaceTensorField { space, address, field, value } => {
                self.replace_tensor_field(*space, *address, *field, *value)
            }
            AsyncOp::CopyTensorMap { dst, src, scope } => self.copy_tensor_map(*dst, *src, *scope),
            AsyncOp::Mbarrier { action, space, address } => self.mbarrier(action, *space, *address),
            AsyncOp::PendingCount { dst, state } => self.pending_count(*dst, *state),
        }
    }

    fn matrix_op(&mut self, op: &MatrixOp) -> Decoded<()> {
        match op {
            MatrixOp::Load { space, transposed, dsts, address } => {
                self.load_matrix(*space, *transposed, dsts, *address)
            }
            MatrixOp::Store { space, transposed, address, srcs } => {
                self.store_matrix(*space, *transposed, *address, srcs)
            }
            MatrixOp::Transpose { dst, src } => self.transpose_matrix(*dst, *src),
            MatrixOp::LoadFragment { tile, dsts } => self.load_fragment(tile, dsts),
            MatrixOp::StoreFragment { tile, srcs } => self.store_fragment(tile, srcs),
            MatrixOp::Multiply(multiply) => self.matrix_multiply(multiply),
            MatrixOp::WarpgroupMultiply(multiply) => self.warpgroup_multiply(multiply),
            MatrixOp::WarpgroupFence => self.matrix(Matrix::Await),
            MatrixOp::CommitProducts => self.matrix(Matrix::CommitProducts),
            &MatrixOp::WaitForProducts { groups_left } => self.matrix(Matrix::WaitForProducts { groups_left }),
        }
    }

    fn warp_op(&mut self, op: &WarpOp) -> Decoded<()> {
        match op {
            WarpOp::Shuffle { mode, dst, in_range, src, lane, clamp, members } => {
                self.shuffle(*mode, [*dst, *in_range], [*src, *lane, *clamp], *members)
            }
            WarpOp::Vote { mode, dst, predicate, members } => self.vote(*mode, *dst, *predicate, *members),
            WarpOp::Match { all, ty, dst, all_equal, src, members } => {
                self.match_lanes((*all, *ty), [*dst, *all_equal], *src, *members)
            }
            WarpOp::Reduce { op, ty, dst, src, members } => self.warp_reduce(*op, *ty, *dst, *src, *members),
            WarpOp::ActiveMask { dst } => {
                let d = self.destination(*dst, Type::B32)?;
                self.control(Action::ActiveMask { d })
            }
            WarpOp::Elect { dst, leader, members } => self.elect(*dst, *leader, *members),
        }
    }

    fn control_op(&mut self, op: &ControlOp) -> Decoded<()> {
        match op {
            &ControlOp::Branch { target, uniform } => self.branch(target, uniform),
            ControlOp::BranchIndexed { index, targets, uniform } => self.branch_indexed(*index, targets, *uniform),
            // Whether a call is uniform is a hint.
            ControlOp::Call { callee, results, arguments, uniform: _ } => self.call(callee, results, arguments),
            ControlOp::Return => self.control(Action::Return { join_at: self.join_at }),
            ControlOp::Exit => self.control(Action::Exit),
            ControlOp::Trap => self.control(Action::Trap),
            ControlOp::Breakpoint => self.control(Action::Breakpoint),
        }
    }
}
