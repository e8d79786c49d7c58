//! Atomic operations on memory.

use super::Context;
use super::memory::{SCOPES, operands_and_policy};
use crate::Type::*;
use crate::errors::Parsed;
use crate::{AtomicOp, Op, Ordering, Space, Type};

/// The types of an atomic operation.
fn types(op: AtomicOp) -> &'static [Type] {
    match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => &[B32, B64],
        AtomicOp::Exchange => &[B32, B64, B128],
        AtomicOp::CompareAndSwap => &[B16, B32, B64, B128],
        AtomicOp::Add => &[U32, S32, U64, F16, F16x2, Bf16, Bf16x2, F32, F64],
        AtomicOp::Increment | AtomicOp::Decrement => &[U32],
        AtomicOp::Minimum | AtomicOp::Maximum => &[U32, S32, U64, S64],
    }
}

/// The operation; exchanges are no reductions.
pub(super) fn operation(c: &mut Context<'_, '_>, is_reduction: bool) -> Parsed<AtomicOp> {
    let op = c.require(
        &[
            ("and", AtomicOp::And),
            ("or", AtomicOp::Or),
            ("xor", AtomicOp::Xor),
            ("exch", AtomicOp::Exchange),
            ("cas", AtomicOp::CompareAndSwap),
            ("add", AtomicOp::Add),
            ("inc", AtomicOp::Increment),
            ("dec", AtomicOp::Decrement),
            ("min", AtomicOp::Minimum),
            ("max", AtomicOp::Maximum),
        ],
        "an operation such as `.add`",
    )?;
    if is_reduction && matches!(op, AtomicOp::Exchange | AtomicOp::CompareAndSwap) {
        return c.misplaced_modifier();
    }
    Ok(op)
}

/// `atom{.sem}{.scope}{.space}.op.type d, [a], b{, c};` and `red`, which has no `d`
pub(super) fn atomic(c: &mut Context<'_, '_>) -> Parsed<Op> {
    let is_reduction = c.opcode() == "red";
    let ordering = c.choose(&[
        ("relaxed", Ordering::Relaxed),
        ("acquire", Ordering::Acquire),
        ("release", Ordering::Release),
        ("acq_rel", Ordering::AcquireRelease),
    ]);
    let scope = c.choose(&SCOPES).unwrap_or_default();
    let spaces = [
        ("global", Space::Global),
        ("shared", Space::Shared),
        ("shared::cta", Space::Shared),
        ("shared::cluster", Space::ClusterShared),
    ];
    let space = c.choose(&spaces).unwrap_or(Space::Generic);
    let op = operation(c, is_reduction)?;
    let keeps_subnormals = c.accept("noftz");
    let has_policy = c.accept("L2::cache_hint");
    let ty = c.ty_of(types(op))?;
    let half = matches!(ty, F16 | F16x2 | Bf16 | Bf16x2);
    if half != keeps_subnormals {
        return if half { c.missing("`.noftz` before its type") } else { c.wrong_type(ty) };
    }
    let swaps = op == AtomicOp::CompareAndSwap;
    operands_and_policy(c, 2 + usize::from(!is_reduction) + usize::from(swaps), has_policy)?;
    let first = usize::from(!is_reduction);
    let dst = if is_reduction { None } else { c.dst(0, ty)? };
    Ok(Op::Atomic {
        space,
        op,
        ordering: ordering.unwrap_or(Ordering::Relaxed),
        scope,
        ty,
        // PTX ISA, "atom": only in shared memory does an f32 addition keep subnormal numbers.
        flush_subnormals: ty == F32 && !matches!(space, Space::Shared | Space::ClusterShared),
        is_reduction,
        dst,
        address: c.address(first, space)?,
        a: c.src(first + 1, ty)?,
        b: if swaps { Some(c.src(first + 2, ty)?) } else { None },
    })
}
