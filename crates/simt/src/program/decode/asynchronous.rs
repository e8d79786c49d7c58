//! Decodes asynchronous copies and mbarriers.

use ptx::{
    Address, Destination, MbarrierArrival, MbarrierPhase, MbarrierTest, Operand, Scope, Space, TensorField, TensorMode,
    Type,
};

use crate::error::LoadErrorReason;
use crate::lanes::{NEVER, Operands, has_atomic, lanes};
use crate::memory::pending_count;
use crate::program::asynchronous::{
    AsyncCopy, Asynchronous, BulkCopy, MbarrierAction, RemoteStore, TensorCopy, TensorTransfer,
};
use crate::program::code::Action;
use crate::program::decode::function::{COUNTED, Decoded, FunctionDecoder};
use crate::program::inspection::Rule;

impl FunctionDecoder<'_, '_> {
    /// Emits the instruction itself.
    pub(in crate::program) fn asynchronous(&mut self, action: Asynchronous) -> Decoded<()> {
        self.emit(COUNTED, Action::Asynchronous(Box::new(action)));
        Ok(())
    }

    pub(in crate::program) fn copy_async(&mut self, copy: &ptx::AsyncCopy) -> Decoded<()> {
        let source_bytes = copy.source_bytes.unwrap_or(Operand::Integer(copy.bytes.into()));
        let row = self.word(source_bytes, Type::U32)?;
        let decoded = AsyncCopy {
            from: self.reach(Space::Global, copy.src)?,
            to: self.reach(Space::Shared, copy.dst)?,
            bytes: copy.bytes,
            at_l2_only: copy.at_l2_only,
            source_bytes: row,
            ignore_source: match copy.ignore_source {
                Some(predicate) => self.predicate(predicate)?,
                None => NEVER,
            },
        };
        self.asynchronous(Asynchronous::Copy(decoded))?;
        if copy.source_bytes.is_some() {
            let operand = "the number of bytes that `cp.async` reads";
            self.inspect(Rule::AtMost { row, limit: copy.bytes, operand });
        }
        Ok(())
    }

    pub(in crate::program) fn store_async(&mut self, store: &ptx::AsyncStore) -> Decoded<()> {
        let rows = store.srcs.iter().map(|&src| self.value(src, store.ty)).collect::<Decoded<_>>()?;
        let to = self.reach(store.space, store.address)?;
        let barrier = self.reach(store.space, store.barrier)?;
        self.asynchronous(Asynchronous::RemoteStore(RemoteStore { to, barrier, op: store.op, ty: store.ty, rows }))
    }

    pub(in crate::program) fn replace_tensor_field(
        &mut self,
        space: Space,
        address: Address,
        field: TensorField,
        value: Operand,
    ) -> Decoded<()> {
        let wide = matches!(field, TensorField::GlobalAddress | TensorField::GlobalStride(_));
        let reach = self.reach(space, address)?;
        let value = if wide { self.wide(value, Type::B64)? } else { self.word(value, Type::B32)? };
        self.asynchronous(Asynchronous::ReplaceTensorField { reach, field, wide, value })
    }

    pub(in crate::program) fn copy_tensor_map(&mut self, dst: Address, src: Address, scope: Scope) -> Decoded<()> {
        let (to, from) = (self.reach(Space::Global, dst)?, self.reach(Space::Shared, src)?);
        self.asynchronous(Asynchronous::CopyTensorMap { to, from, scope: scope.into() })
    }

    pub(in crate::program) fn acquire_tensor_map(&mut self, map: Address, scope: Scope) -> Decoded<()> {
        let map = self.reach(Space::Generic, map)?;
        self.asynchronous(Asynchronous::AcquireTensorMap { map, scope: scope.into() })
    }

    pub(in crate::program) fn mbarrier(
        &mut self,
        action: &ptx::MbarrierAction,
        space: Space,
        address: Address,
    ) -> Decoded<()> {
        let reach = self.reach(space, address)?;
        let rule = match action {
            ptx::MbarrierAction::Initialize { .. } => Some(Rule::Mbarrier { reach, ends: false }),
            ptx::MbarrierAction::Invalidate => Some(Rule::Mbarrier { reach, ends: true }),
            ptx::MbarrierAction::Expect { .. }
            | ptx::MbarrierAction::Complete { .. }
            | ptx::MbarrierAction::Arrive(_)
            | ptx::MbarrierAction::Test(_) => None,
        };
        let action = self.mbarrier_action(action)?;
        self.asynchronous(Asynchronous::Mbarrier { reach, action })?;
        if let Some(rule) = rule {
            self.inspect(rule);
        }
        Ok(())
    }

    pub(in crate::program) fn pending_count(&mut self, dst: Destination, state: Operand) -> Decoded<()> {
        let (d, a) = (self.destination(dst, Type::U32)?, self.wide(state, Type::B64)?);
        let handler = lanes!(|state: u64| -> u32 { pending_count(state) });
        self.arithmetic(handler, Operands { d, a, ..Operands::default() })
    }

    pub(in crate::program) fn bulk_copy(&mut self, copy: &ptx::BulkCopy) -> Decoded<()> {
        if let Some((op, ty)) = copy.reduction
            && !has_atomic(op, ty)
        {
            let what = format!("cp.reduce.async.bulk.{}.{}", op.name(), ty.name());
            return Err(LoadErrorReason::Unsupported { what });
        }
        let decoded = BulkCopy {
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
        };
        self.asynchronous(Asynchronous::Bulk(decoded))
    }

    pub(in crate::program) fn tensor_copy(&mut self, copy: &ptx::TensorCopy) -> Decoded<()> {
        let rows = |decoder: &mut Self, list: &[Operand], ty| {
            list.iter().map(|&operand| decoder.word(operand, ty)).collect::<Decoded<Vec<u32>>>()
        };
        let decoded = TensorCopy {
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
        };
        self.asynchronous(Asynchronous::Tensor(decoded))
    }

    fn mbarrier_action(&mut self, action: &ptx::MbarrierAction) -> Decoded<MbarrierAction> {
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
