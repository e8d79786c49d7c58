//! Decides whether a kernel's result depends on the order in which its blocks run, and whether it
//! changes memory.

use std::collections::HashSet;

use ptx::{AtomicOp, Function, Handle, Kind, Module, Op, Register};

use super::facts::{Order, facts};
use super::system::{self, SystemFunction};

/// A register of a function.
pub(super) type RegisterOf = (Handle<Function>, Handle<Register>);

/// Whether the order may matter, by the instructions of `functions`; `read` has the registers that
/// are read anywhere. The rule is in the crate's documentation.
pub(super) fn matters(module: &Module, functions: &[Handle<Function>], read: &HashSet<RegisterOf>) -> bool {
    let mut only: Option<AtomicOp> = None;
    operations(module, functions).any(|(function, op)| match facts(op).order {
        Order::Never => false,
        Order::Always => true,
        Order::Combines(op, ty, dst) => {
            let commutes = match op {
                AtomicOp::Increment | AtomicOp::Decrement => false,
                AtomicOp::Exchange | AtomicOp::CompareAndSwap => false,
                AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => true,
                AtomicOp::Add | AtomicOp::Minimum | AtomicOp::Maximum => true,
            };
            let kept = dst.is_some_and(|register| read.contains(&(function, register)));
            let mixed = only.replace(op).is_some_and(|other| other != op);
            ty.kind() == Kind::Float || !commutes || kept || mixed
        }
        Order::Calls(callee) => system::of(module, &module.functions[callee]).is_some_and(SystemFunction::uses_heap),
    })
}

/// Whether these functions may change memory. A call counts: it may allocate.
pub(super) fn writes(module: &Module, functions: &[Handle<Function>]) -> bool {
    operations(module, functions).any(|(_, op)| op.effect().changes_memory())
}

fn operations<'m>(
    module: &'m Module,
    functions: &'m [Handle<Function>],
) -> impl Iterator<Item = (Handle<Function>, &'m Op)> {
    functions.iter().flat_map(move |&handle| {
        module.functions[handle].body.iter().flatten().map(move |instruction| (handle, &instruction.op))
    })
}
