//! Decodes asynchronous copies and mbarriers into [`program::hopper`](crate::program::hopper). `memory` calls it. Emits
//! steps.

use ptx::{
    FenceProxies, MbarrierArrival, MbarrierPhase, MbarrierTest, Op, Operand, Space, TensorField, TensorMode, Type,
};

use crate::LoadErrorReason;
use crate::lanes::{NEVER, Operands, lanes};
use crate::machine::pending_count;
use crate::program::code::Action;
use crate::program::decode::function::{COUNTED, Decoded, FunctionDecoder};
use crate::program::hopper::asynchronous::{
    AsyncCopy, Asynchronous, BulkCopy, MbarrierAction, RemoteStore, TensorCopy, TensorTransfer,
};
use crate::program::inspection::Rule;

impl FunctionDecoder<'_, '_> {
    pub(in crate::program) fn asynchronous(&mut self, op: &Op) -> Decoded<()> {
        let mut rule = None;
        let action = match op {
            Op::CopyAsync(copy) => {
                let given = copy.source_bytes.is_some();
                let source_bytes = copy.source_bytes.unwrap_or(Operand::Integer(copy.bytes.into()));
                let row = self.word(source_bytes, Type::U32)?;
                let operand = "the number of bytes that `cp.async` reads";
                rule = given.then_some(Rule::AtMost { row, limit: copy.bytes, operand });
                Asynchronous::Copy(AsyncCopy {
                    from: self.reach(Space::Global, copy.src)?,
                    to: self.reach(Space::Shared, copy.dst)?,
                    bytes: copy.bytes,
                    at_l2_only: copy.at_l2_only,
                    source_bytes: row,
                    ignore_source: match copy.ignore_source {
                        Some(predicate) => self.predicate(predicate)?,
                        None => NEVER,
                    },
                })
            }
            Op::BulkCopy(copy) => Asynchronous::Bulk(self.bulk_copy(copy)?),
            Op::CommitBulkCopies => Asynchronous::CommitBulk,
            Op::WaitForBulkCopies { groups_left, reads_only } => {
                Asynchronous::WaitBulk { groups_left: *groups_left, reads_only: *reads_only }
            }
            Op::StoreAsync(store) => {
                let rows = store.srcs.iter().map(|&src| self.value(src, store.ty)).collect::<Decoded<_>>()?;
                let to = self.reach(store.space, store.address)?;
                let barrier = self.reach(store.space, store.barrier)?;
                Asynchronous::RemoteStore(RemoteStore { to, barrier, op: store.op, ty: store.ty, rows })
            }
            Op::TensorCopy(copy) => Asynchronous::Tensor(self.tensor_copy(copy)?),
            Op::ReplaceTensorField { space, address, field, value } => {
                let wide = matches!(field, TensorField::GlobalAddress | TensorField::GlobalStride(_));
                let reach = self.reach(*space, *address)?;
                let value = if wide { self.wide(*value, Type::B64)? } else { self.word(*value, Type::B32)? };
                Asynchronous::ReplaceTensorField { reach, field: *field, wide, value }
            }
            Op::CopyTensorMap { dst, src, scope } => Asynchronous::CopyTensorMap {
                to: self.reach(Space::Global, *dst)?,
                from: self.reach(Space::Shared, *src)?,
                audience: (*scope).into(),
            },
            Op::Fence { scope, proxies: Some(FenceProxies::AcquireTensorMap(map)), .. } => {
                Asynchronous::AcquireTensorMap { map: self.reach(Space::Generic, *map)?, audience: (*scope).into() }
            }
            Op::CommitCopies => Asynchronous::Commit,
            Op::WaitForCopies { groups_left } => Asynchronous::Wait { groups_left: *groups_left },
            Op::ArriveAfterCopies { space, counted_before, address } => Asynchronous::ArriveAfterCopies {
                reach: self.reach(*space, *address)?,
                counted_before: *counted_before,
            },
            Op::Mbarrier { action, space, address } => {
                let reach = self.reach(*space, *address)?;
                rule = match action {
                    ptx::MbarrierAction::Initialize { .. } => Some(Rule::Mbarrier { reach, ends: false }),
                    ptx::MbarrierAction::Invalidate => Some(Rule::Mbarrier { reach, ends: true }),
                    _ => None,
                };
                Asynchronous::Mbarrier { reach, action: self.mbarrier(action)? }
            }
            Op::PendingCount { dst, state } => {
                let operands = Operands {
                    d: self.destination(*dst, Type::U32)?,
                    a: self.wide(*state, Type::B64)?,
                    ..Operands::default()
                };
                self.lanes(lanes!(|state: u64| -> u32 { pending_count(state) }), operands);
                return Ok(());
            }
            _ => return Err(LoadErrorReason::Unsupported { what: "this asynchronous instruction".into() }),
        };
        self.emit(COUNTED, Action::Asynchronous(Box::new(action)));
        if let Some(rule) = rule {
            self.inspect(rule);
        }
        Ok(())
    }

    fn bulk_copy(&mut self, copy: &ptx::BulkCopy) -> Decoded<BulkCopy> {
        if let Some((op, ty)) = copy.reduction
            && !crate::machine::has_atomic(op, ty)
        {
            let what = format!("cp.reduce.async.bulk {op:?} of type .{}", ty.name());
            return Err(LoadErrorReason::Unsupported { what });
        }
        Ok(BulkCopy {
            from: self.reach(copy.from, copy.src)?,
            to: self.reach(copy.to, copy.dst)?,
            bytes: self.word(copy.bytes, Type::U32)?,
            barrier: match copy.barrier {
                Some(barrier) => Some(self.reach(copy.to, barrier)?),
                None => None,
            },
            blocks: match copy.blocks {
                Some(blocks) => Some(self.word(blocks, Type::B16)?),
                None => None,
            },
            reduction: copy.reduction,
        })
    }

    fn tensor_copy(&mut self, copy: &ptx::TensorCopy) -> Decoded<TensorCopy> {
        let rows = |decoder: &mut Self, list: &[Operand], ty| {
            list.iter().map(|&operand| decoder.word(operand, ty)).collect::<Decoded<Vec<u32>>>()
        };
        Ok(TensorCopy {
            map: self.reach(Space::Generic, copy.map)?,
            coordinates: rows(self, &copy.coordinates, Type::S32)?,
            offsets: match &copy.mode {
                TensorMode::Tile => None,
                TensorMode::ImageToColumn { offsets } => Some(rows(self, offsets, Type::B16)?),
            },
            transfer: match copy.transfer {
                ptx::TensorTransfer::Load { dst, space, barrier, blocks } => TensorTransfer::Load {
                    to: self.reach(space, dst)?,
                    barrier: self.reach(space, barrier)?,
                    blocks: match blocks {
                        Some(blocks) => Some(self.word(blocks, Type::B16)?),
                        None => None,
                    },
                },
                ptx::TensorTransfer::Store { src, reduction } => {
                    TensorTransfer::Store { from: self.reach(Space::Shared, src)?, reduction }
                }
            },
        })
    }

    fn mbarrier(&mut self, action: &ptx::MbarrierAction) -> Decoded<MbarrierAction> {
        Ok(match *action {
            ptx::MbarrierAction::Initialize { count } => {
                MbarrierAction::Initialize { count: self.word(count, Type::U32)? }
            }
            ptx::MbarrierAction::Invalidate => MbarrierAction::Invalidate,
            ptx::MbarrierAction::Expect { bytes } => MbarrierAction::Expect { bytes: self.word(bytes, Type::U32)? },
            ptx::MbarrierAction::Complete { bytes } => MbarrierAction::Complete { bytes: self.word(bytes, Type::U32)? },
            ptx::MbarrierAction::Arrive(MbarrierArrival { state, count, expect, drops, never_completes }) => {
                MbarrierAction::Arrive {
                    state: match state {
                        Some(_) => Some(self.destination(state, Type::B64)?),
                        None => None,
                    },
                    count: self.word(count.unwrap_or(Operand::Integer(1)), Type::U32)?,
                    expect: match expect {
                        Some(bytes) => Some(self.word(bytes, Type::U32)?),
                        None => None,
                    },
                    drops,
                    never_completes,
                }
            }
            ptx::MbarrierAction::Test(MbarrierTest { dst, phase }) => {
                let d = self.destination(dst, Type::Pred)?;
                match phase {
                    MbarrierPhase::State(state) => MbarrierAction::TestState { d, state: self.wide(state, Type::B64)? },
                    MbarrierPhase::Parity(parity) => {
                        MbarrierAction::TestParity { d, parity: self.word(parity, Type::U32)? }
                    }
                }
            }
        })
    }
}
