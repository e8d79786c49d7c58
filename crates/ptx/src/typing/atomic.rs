//! Types atomic operations on memory: `atom`, `red`.

use super::context::Context;
use super::memory::operands_and_policy;
use super::names::Width;
use crate::Type::*;
use crate::errors::Parsed;
use crate::{AtomicOp, Op, Ordering, Scope, Space, Type};

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

/// The operation. `red` has no exchanges.
pub(super) fn operation(c: &mut Context<'_, '_>, is_reduction: bool) -> Parsed<AtomicOp> {
    let op = c.require_of(AtomicOp::ALL, "an operation such as `.add`")?;
    if is_reduction && matches!(op, AtomicOp::Exchange | AtomicOp::CompareAndSwap) {
        return c.misplaced_modifier();
    }
    Ok(op)
}

/// The modifiers before the vector length and the type.
#[derive(Clone, Copy)]
struct Modifiers {
    is_reduction: bool,
    ordering: Ordering,
    scope: Scope,
    space: Space,
    op: AtomicOp,
    keeps_subnormals: bool,
    has_policy: bool,
}

impl Modifiers {
    fn take(c: &mut Context<'_, '_>) -> Parsed<Modifiers> {
        let is_reduction = c.opcode() == "red";
        let orderings = [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcquireRelease];
        Ok(Modifiers {
            is_reduction,
            ordering: c.choose_of(&orderings).unwrap_or(Ordering::Relaxed),
            scope: c.choose_of(Scope::ALL).unwrap_or_default(),
            space: c.choose_of(&[Space::Global, Space::Shared, Space::ClusterShared]).unwrap_or(Space::Generic),
            op: operation(c, is_reduction)?,
            keeps_subnormals: c.accept("noftz"),
            has_policy: c.accept("L2::cache_hint"),
        })
    }
}

/// `atom{.sem}{.scope}{.space}.op.type d, [a], b{, c};` and `red`, which has no `d`
pub(super) fn atomic(c: &mut Context<'_, '_>) -> Parsed<Op> {
    let modifiers = Modifiers::take(c)?;
    if let Some(lanes) = c.choose(&[("v2", 2), ("v4", 4), ("v8", 8)]) {
        return vector(c, lanes, modifiers);
    }
    let Modifiers { is_reduction, ordering, scope, space, op, keeps_subnormals, has_policy } = modifiers;
    let ty = c.ty_of(types(op))?;
    let half = matches!(ty, F16 | F16x2 | Bf16 | Bf16x2);
    if half != keeps_subnormals {
        return if half { c.missing("`.noftz` before its type") } else { c.wrong_type(ty) };
    }
    let swaps = op == AtomicOp::CompareAndSwap;
    operands_and_policy(c, 2 + usize::from(!is_reduction) + usize::from(swaps), has_policy)?;
    let first = usize::from(!is_reduction);
    let space = match c.space_of_name(first, space)? {
        Space::Shared => Space::Shared,
        _ => space,
    };
    let dst = if is_reduction { None } else { c.dst(0, ty)? };
    Ok(Op::Atomic {
        space,
        op,
        ordering,
        scope,
        ty,
        // PTX ISA, "atom": an f32 addition keeps subnormal numbers only in shared memory.
        flush_subnormals: ty == F32 && !matches!(space, Space::Shared | Space::ClusterShared),
        is_reduction,
        dst,
        address: c.address(first, space)?,
        a: c.src(first + 1, ty)?,
        b: if swaps { Some(c.src(first + 2, ty)?) } else { None },
    })
}

/// `atom{.sem}{.scope}{.global}.add.v4.f32 {d0, d1, d2, d3}, [a], {b0, b1, b2, b3};`, and likewise
/// `red`
fn vector(c: &mut Context<'_, '_>, lanes: usize, modifiers: Modifiers) -> Parsed<Op> {
    let Modifiers { is_reduction, ordering, scope, space, op, keeps_subnormals, has_policy } = modifiers;
    let types: &[Type] = match (op, lanes) {
        (AtomicOp::Add, 2 | 4) => &[F32, F16, Bf16, F16x2, Bf16x2],
        (AtomicOp::Minimum | AtomicOp::Maximum, 2 | 4) => &[F16, Bf16, F16x2, Bf16x2],
        (AtomicOp::Add | AtomicOp::Minimum | AtomicOp::Maximum, _) => &[F16, Bf16],
        _ => return c.misplaced_modifier(),
    };
    if !matches!(space, Space::Global | Space::Generic) {
        return c.misplaced_modifier();
    }
    let ty = c.ty_of(types)?;
    if (ty != F32) != keeps_subnormals {
        return if ty == F32 { c.wrong_type(ty) } else { c.missing("`.noftz` before its type") };
    }
    let first = usize::from(!is_reduction);
    operands_and_policy(c, 2 + first, has_policy)?;
    let written = if is_reduction { Vec::new() } else { c.parts(0, lanes)? };
    let read = c.parts(first + 1, lanes)?;
    Ok(Op::AtomicVector {
        space,
        op,
        ordering,
        scope,
        ty,
        flush_subnormals: ty == F32,
        is_reduction,
        dsts: written.iter().map(|part| c.destination(part, ty, Width::Exact)).collect::<Parsed<_>>()?,
        address: c.address(first, space)?,
        srcs: read.iter().map(|part| c.source(part, ty, Width::Exact)).collect::<Parsed<_>>()?,
    })
}
