//! Decides whether a kernel's result depends on the order in which its blocks run. Pure; decoding asks once for each kernel.

use std::collections::HashSet;

use ptx::{
    AtomicOp, CacheOperator, Callee, Function, Handle, Kind, Module, Op, Ordering, Register, Space, TensorTransfer,
};

use super::system::{self, SystemFunction};

/// A register of a function.
pub(super) type RegisterOf = (Handle<Function>, Handle<Register>);

/// Whether the order may matter, by the instructions of `functions`; `read` has the registers that are read anywhere. The rule is in
/// the crate's documentation.
pub(super) fn matters(module: &Module, functions: &[Handle<Function>], read: &HashSet<RegisterOf>) -> bool {
    let mut only: Option<AtomicOp> = None;
    let bodies = functions.iter().flat_map(|&handle| {
        module.functions[handle].body.iter().flatten().map(move |instruction| (handle, &instruction.op))
    });
    for (function, op) in bodies {
        let matters = match op {
            Op::Atomic { space: Space::Shared | Space::ClusterShared | Space::Local, .. } => false,
            // All of them are on floats.
            Op::AtomicVector { .. } => true,
            Op::Atomic { op, ty, dst, .. } => {
                let commutes = !matches!(
                    op,
                    AtomicOp::Exchange | AtomicOp::CompareAndSwap | AtomicOp::Increment | AtomicOp::Decrement
                );
                let kept = dst.is_some_and(|register| read.contains(&(function, register)));
                let mixed = only.replace(*op).is_some_and(|other| other != *op);
                ty.kind() == Kind::Float || !commutes || kept || mixed
            }
            Op::BulkCopy(copy) if copy.to == Space::Global => copy.reduction.is_some_and(|(op, ty)| {
                let mixed = only.replace(op).is_some_and(|other| other != op);
                ty.kind() == Kind::Float || matches!(op, AtomicOp::Increment | AtomicOp::Decrement) || mixed
            }),
            // Only the map knows the type of the elements.
            Op::TensorCopy(copy) => {
                matches!(copy.transfer, TensorTransfer::Store { reduction: Some(_), .. })
            }
            Op::Call { callee: Callee::Direct(callee), .. } => {
                system::of(module, &module.functions[*callee]).is_some_and(SystemFunction::uses_heap)
            }
            Op::Load { space: Space::Global | Space::Generic, ordering, cache, .. } => {
                *ordering != Ordering::Weak || *cache == CacheOperator::Volatile
            }
            _ => false,
        };
        if matters {
            return true;
        }
    }
    false
}
