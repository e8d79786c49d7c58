//! Sends each PTX instruction to the functions that decode its family. The one `match` over all of
//! [`Op`] has no catch-all: a new instruction does not compile until it is decoded here.

use ptx::{CacheOperator, FenceProxies, Op, Operand, Ordering, Type};

use super::function::{COUNTED, Decoded, FunctionDecoder};
use crate::lanes::{self, Update};
use crate::program::access::Order;
use crate::program::asynchronous::Asynchronous;
use crate::program::code::{Action, ClusterBarrier};
use crate::program::matrix::Matrix;
use crate::program::texture::SurfaceAction;

impl FunctionDecoder<'_, '_> {
    /// Decodes one instruction: emits the step that is counted, and its helpers.
    pub(super) fn instruction(&mut self, op: &Op) -> Decoded<()> {
        match op {
            // Moves and addresses.
            Op::Move { ty, dst, src } => self.copy(*ty, *dst, *src),
            Op::MoveVector { ty, dsts, srcs } => self.copy_vector(*ty, dsts, srcs),
            Op::Pack { ty, dst, parts } => self.pack(*ty, *dst, parts),
            Op::Unpack { ty, dsts, src } => self.unpack(*ty, dsts, *src),
            Op::MapToBlock { ty, dst, src, rank } => self.map_to_block(*ty, *dst, *src, *rank),
            Op::RankOfAddress { ty, dst, src } => self.rank_of_address(*ty, *dst, *src),
            Op::ConvertAddress { space, to_generic, ty, dst, src } => {
                self.convert_address(*space, *to_generic, *ty, *dst, *src)
            }
            Op::IsSpace { space, dst, src } => self.is_space(*space, *dst, *src),
            Op::IsType { ty, dst, src } => self.is_type(*ty, *dst, *src),
            // The hardware's encoding is undocumented; any policy may be zero.
            Op::CreatePolicy { dst } => self.copy(Type::B64, *dst, Operand::Integer(0)),

            // Arithmetic.
            Op::Convert { to, from, mode, dst, src } => self.convert(*to, *from, *mode, *dst, *src),
            Op::ConvertPair { to, from, mode, dst, a, b } => self.convert_pair((*to, *from), *mode, *dst, [*a, *b]),
            Op::ConvertPack { bits, signed, dst, a, b, c } => self.convert_pack((*bits, *signed), *dst, [*a, *b], *c),
            Op::ScalarVideo(video) => self.scalar_video(video),
            Op::SimdVideo(video) => self.simd_video(video),
            Op::Unary { op, ty, mode, dst, a } => self.unary(*op, *ty, *mode, *dst, *a),
            Op::Binary { op, ty, mode, dst, a, b } => self.binary(*op, *ty, *mode, *dst, *a, *b),
            Op::Ternary { op, ty, mode, dst, a, b, c } => self.ternary(*op, *ty, *mode, *dst, [*a, *b, *c]),
            Op::LogicAndTest { table, combine, dst, dst_is_set, a, b, c } => {
                self.logic_and_test(*table, *combine, [*dst, *dst_is_set], [*a, *b, *c])
            }
            Op::BitFieldInsert { ty, dst, a, b, position, length } => {
                self.bit_field_insert(*ty, *dst, [*a, *b], [*position, *length])
            }
            Op::Carry { op, ty, carry_in, carry_out, dst, a, b, c } => {
                let which = lanes::Carry { op: *op, carry_in: *carry_in, carry_out: *carry_out };
                self.with_carry(which, *ty, *dst, [*a, *b], *c)
            }

            // Comparisons and selections.
            Op::SetPredicate { comparison, ty, flush_subnormals, combine, dst, dst_not, a, b } => {
                self.set_predicate((*comparison, *flush_subnormals), *ty, *combine, [*dst, *dst_not], [*a, *b])
            }
            Op::Set { comparison, to, ty, flush_subnormals, combine, dst, a, b } => {
                self.set((*comparison, *flush_subnormals), (*to, *ty), *combine, *dst, [*a, *b])
            }
            Op::Select { ty, dst, a, b, predicate } => self.select(*ty, *dst, [*a, *b], *predicate),
            Op::SelectBySign { ty, selector, flush_subnormals, dst, a, b, c } => {
                self.select_by_sign((*ty, *selector), *flush_subnormals, *dst, [*a, *b], *c)
            }
            Op::TestProperty { property, ty, dst, a } => self.test_property(*property, *ty, *dst, *a),

            // Memory.
            Op::Load { space, ordering, scope, cache, non_coherent, uniform, ty, dsts, address } => {
                let volatile = *ordering == Ordering::Weak && *cache == CacheOperator::Volatile;
                let order = Order::new(if volatile { Ordering::Volatile } else { *ordering }, *scope);
                let order = Order { read_only: *non_coherent || *uniform, ..order };
                let hint = super::memory::hint(*ordering, *cache, *non_coherent);
                self.load((*space, *address), *ty, dsts, (order, hint), *uniform)
            }
            // How a store is cached does not matter: it goes through to L2.
            Op::Store { space, ordering, scope, cache: _, ty, srcs, address } => {
                self.store(*space, *ty, srcs, *address, Order::new(*ordering, *scope))
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
            Op::Fence { ordering: _, scope, proxies: Some(FenceProxies::AcquireTensorMap(map)) } => {
                self.acquire_tensor_map(*map, *scope)
            }
            Op::Fence { ordering: _, scope, proxies } => self.fence(*scope, *proxies),
            // Grids run one after the other.
            Op::Prefetch { .. } | Op::NanoSleep { .. } | Op::WaitForEarlierGrids | Op::NoEffect => {
                self.emit(COUNTED, Action::Nothing);
                Ok(())
            }

            // Textures and surfaces.
            Op::TextureFetch(fetch) => self.texture_fetch(fetch),
            Op::TextureQuery { what, of_surface, dst, object, level } => {
                self.texture_query((*what, *of_surface), *dst, *object, *level)
            }
            Op::SurfaceLoad { ty, dsts, surface, position, outside } => {
                self.surface_load(*ty, dsts, *surface, position, *outside)
            }
            Op::SurfaceStore { formatted, ty, srcs, surface, position, outside } => {
                let action = if *formatted { SurfaceAction::StoreFormatted } else { SurfaceAction::Store };
                self.texture_write((action, *formatted), *ty, srcs, *surface, position, *outside)
            }
            Op::SurfaceReduce { by_element, op, ty, src, surface, position, outside } => {
                let action = SurfaceAction::Reduce(*op);
                self.texture_write((action, *by_element), *ty, &[*src], *surface, position, *outside)
            }

            // Asynchronous copies and mbarriers.
            Op::CopyAsync(copy) => self.copy_async(copy),
            Op::CommitCopies => self.asynchronous(Asynchronous::Commit),
            &Op::WaitForCopies { groups_left } => self.asynchronous(Asynchronous::Wait { groups_left }),
            Op::ArriveAfterCopies { space, counted_before, address } => {
                let reach = self.reach(*space, *address)?;
                self.asynchronous(Asynchronous::ArriveAfterCopies { reach, counted_before: *counted_before })
            }
            Op::BulkCopy(copy) => self.bulk_copy(copy),
            Op::CommitBulkCopies => self.asynchronous(Asynchronous::CommitBulk),
            &Op::WaitForBulkCopies { groups_left, reads_only } => {
                self.asynchronous(Asynchronous::WaitBulk { groups_left, reads_only })
            }
            Op::StoreAsync(store) => self.store_async(store),
            Op::TensorCopy(copy) => self.tensor_copy(copy),
            Op::ReplaceTensorField { space, address, field, value } => {
                self.replace_tensor_field(*space, *address, *field, *value)
            }
            Op::CopyTensorMap { dst, src, scope } => self.copy_tensor_map(*dst, *src, *scope),
            Op::Mbarrier { action, space, address } => self.mbarrier(action, *space, *address),
            Op::PendingCount { dst, state } => self.pending_count(*dst, *state),

            // Matrices.
            Op::LoadMatrix { space, transposed, dsts, address } => {
                self.load_matrix(*space, *transposed, dsts, *address)
            }
            Op::StoreMatrix { space, transposed, address, srcs } => {
                self.store_matrix(*space, *transposed, *address, srcs)
            }
            Op::TransposeMatrix { dst, src } => self.transpose_matrix(*dst, *src),
            Op::LoadFragment { tile, dsts } => self.load_fragment(tile, dsts),
            Op::StoreFragment { tile, srcs } => self.store_fragment(tile, srcs),
            Op::MatrixMultiply(multiply) => self.matrix_multiply(multiply),
            Op::WarpgroupMultiply(multiply) => self.warpgroup_multiply(multiply),
            Op::WarpgroupFence => self.matrix(Matrix::Await),
            Op::CommitProducts => self.matrix(Matrix::CommitProducts),
            &Op::WaitForProducts { groups_left } => self.matrix(Matrix::WaitForProducts { groups_left }),

            // Lanes together.
            Op::Shuffle { mode, dst, in_range, src, lane, clamp, members } => {
                self.shuffle(*mode, [*dst, *in_range], [*src, *lane, *clamp], *members)
            }
            Op::Vote { mode, dst, predicate, members } => self.vote(*mode, *dst, *predicate, *members),
            Op::Match { all, ty, dst, all_equal, src, members } => {
                self.match_lanes((*all, *ty), [*dst, *all_equal], *src, *members)
            }
            Op::WarpReduce { op, ty, dst, src, members } => self.warp_reduce(*op, *ty, *dst, *src, *members),
            Op::ActiveMask { dst } => {
                let d = self.destination(*dst, Type::B32)?;
                self.control(Action::ActiveMask { d })
            }
            Op::Elect { dst, leader, members } => self.elect(*dst, *leader, *members),

            // Barriers.
            Op::Barrier { action, aligned, barrier, threads } => self.barrier(*action, *aligned, *barrier, *threads),
            Op::WarpBarrier { members } => {
                let members = self.word(*members, Type::U32)?;
                self.control(Action::WarpBarrier { members })
            }
            &Op::ClusterBarrier { waits, relaxed, aligned } => {
                self.control(Action::ClusterBarrier(ClusterBarrier { waits, relaxed, aligned }))
            }

            // Control flow.
            &Op::Branch { target, uniform } => self.branch(target, uniform),
            Op::BranchIndexed { index, targets, uniform } => self.branch_indexed(*index, targets, *uniform),
            // Whether a call is uniform is a hint.
            Op::Call { callee, results, arguments, uniform: _ } => self.call(callee, results, arguments),
            Op::StackAllocate { ty, dst, size, align } => self.stack_allocate(*ty, *dst, *size, *align),
            Op::StackSave { ty, dst } => {
                let d = self.destination(*dst, *ty)?;
                self.control(Action::SaveStack { d, wide: ty.bits() == 64 })
            }
            Op::StackRestore { ty, src } => {
                let source = self.value(*src, *ty)?;
                self.control(Action::RestoreStack { source, wide: ty.bits() == 64 })
            }
            Op::Return => self.control(Action::Return { join_at: self.join_at }),
            Op::Exit => self.control(Action::Exit),
            Op::Trap => self.control(Action::Trap),
            Op::Breakpoint => self.control(Action::Breakpoint),
        }
    }
}
