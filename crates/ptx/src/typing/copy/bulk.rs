//! Types what the copy engine does, and stores to other blocks that arrive at a barrier:
//! `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`, `red.async`.

use crate::Type::*;
use crate::errors::{InstructionError, OperandError, Parsed, fault};
use crate::typing::atomic;
use crate::typing::context::Context;
use crate::typing::copy::tensor;
use crate::typing::copy::tensor::COUNTS_BYTES;
use crate::typing::memory::operands_and_policy;
use crate::typing::names::Width;
use crate::{AsyncOp, AsyncStore, AtomicOp, BulkCopy, Op, Operand, Space, Type};

/// The most bytes of a copy.
const MOST_BYTES: u64 = (1 << 20) - 16;

/// `cp.async.bulk...`, `cp.reduce.async.bulk...`
pub(in crate::typing) fn copy(c: &mut Context<'_, '_>) -> Parsed<Op> {
    let reduces = c.accept("reduce");
    c.require(&[("async", ())], "`.async`")?;
    c.accept("bulk");
    if c.has_modifier("tensor") {
        tensor::copy(c, reduces)
    } else if reduces {
        copy_bytes(c, true)
    } else if c.accept("commit_group") {
        c.operands(0)?;
        Ok(Op::Async(AsyncOp::CommitBulk))
    } else if c.accept("wait_group") {
        let reads_only = c.accept("read");
        c.operands(1)?;
        Ok(Op::Async(AsyncOp::WaitForBulk { groups_left: c.immediate(0, u32::MAX.into())? as u32, reads_only }))
    } else if c.accept("prefetch") {
        prefetch(c)
    } else {
        copy_bytes(c, false)
    }
}

/// `cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [s], bytes{, policy};`
fn prefetch(c: &mut Context<'_, '_>) -> Parsed<Op> {
    c.require(&[("L2", ())], "`.L2`")?;
    c.require(&[("global", ())], "`.global`")?;
    let has_policy = c.accept("L2::cache_hint");
    operands_and_policy(c, 2, has_policy)?;
    bytes(c, 1)?;
    Ok(Op::Prefetch { space: Space::Global, address: c.address(0, Space::Global)? })
}

/// `cp{.reduce}.async.bulk.TO.FROM.COMPLETION{.multicast::cluster}{.L2::cache_hint}{.op.type} [d],
/// [s], bytes, [barrier]{, blocks} {, policy};`
fn copy_bytes(c: &mut Context<'_, '_>, reduces: bool) -> Parsed<Op> {
    let spaces = [("shared::cluster", Space::ClusterShared), ("shared::cta", Space::Shared), ("global", Space::Global)];
    let to = c.require(&spaces, "where to, such as `.shared::cluster`")?;
    let from = c.require(&spaces, "where from, such as `.global`")?;
    let possible = match (to, from) {
        (Space::ClusterShared, Space::Shared) | (Space::Global, Space::Shared) => true,
        (Space::ClusterShared | Space::Shared, Space::Global) => !reduces,
        _ => false,
    };
    if !possible {
        return c.misplaced_modifier();
    }
    if to == Space::Global {
        c.require(&[("bulk_group", ())], "`.bulk_group`")?;
    } else {
        c.require(&COUNTS_BYTES, "`.mbarrier::complete_tx::bytes`")?;
    }
    let multicasts = (to, from) == (Space::ClusterShared, Space::Global) && c.accept("multicast::cluster");
    let has_policy = (to == Space::Global || from == Space::Global) && c.accept("L2::cache_hint");
    let reduction = if reduces { Some(reduction(c, to)?) } else { None };
    let has_barrier = to != Space::Global;
    let count = 3 + usize::from(has_barrier) + usize::from(multicasts);
    operands_and_policy(c, count, has_policy)?;
    let (dst, src) = (c.address(0, to)?, c.address(1, from)?);
    let barrier = if has_barrier { Some(c.address(3, to)?) } else { None };
    let blocks = if multicasts { Some(c.src(4, B16)?) } else { None };
    let copy = BulkCopy { dst, to, src, from, bytes: bytes(c, 2)?, barrier, blocks, reduction };
    Ok(Op::Async(AsyncOp::BulkCopy(Box::new(copy))))
}

/// Operand `index`: a number of bytes, a multiple of 16.
fn bytes(c: &mut Context<'_, '_>, index: usize) -> Parsed<Operand> {
    let bytes = c.src32(index)?;
    match bytes {
        Operand::Integer(value) if value % 16 != 0 || value > MOST_BYTES => {
            fault(c.raw(index).span, OperandError::BulkCopySize)
        }
        bytes => Ok(bytes),
    }
}

/// The operation and the type of a reduction by the copy engine.
fn reduction(c: &mut Context<'_, '_>, to: Space) -> Parsed<(AtomicOp, Type)> {
    let op = atomic::operation(c, true)?;
    let keeps_subnormals = c.accept("noftz");
    let in_global = to == Space::Global;
    let types: &[Type] = match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor if in_global => &[B32, B64],
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => &[B32],
        AtomicOp::Add if in_global => &[U32, S32, U64, F16, Bf16, F32, F64],
        AtomicOp::Add => &[U32, S32, U64],
        AtomicOp::Minimum | AtomicOp::Maximum if in_global => &[U32, S32, U64, S64, F16, Bf16],
        AtomicOp::Minimum | AtomicOp::Maximum => &[U32, S32],
        _ => &[U32],
    };
    let ty = c.ty_of(types)?;
    let must = op == AtomicOp::Add && matches!(ty, F16 | Bf16);
    if must != keeps_subnormals {
        return if must { c.missing("`.noftz` before its type") } else { c.wrong_type(ty) };
    }
    Ok((op, ty))
}

/// `st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type [a], b, [barrier];`,
/// `red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type [a], b,
/// [barrier];`
pub(in crate::typing) fn store(c: &mut Context<'_, '_>) -> Parsed<Op> {
    let reduces = c.opcode() == "red";
    if c.has_modifier("mmio") || c.has_modifier("release") || c.has_modifier("global") {
        // Stores to global memory need sm_100.
        return fault(c.name_span(), InstructionError::Unsupported(c.name()));
    }
    c.accept("async");
    if reduces {
        c.require(&[("relaxed", ())], "`.relaxed`")?;
        c.require(&[("cluster", ())], "`.cluster`")?;
    } else {
        c.accept("weak");
    }
    let space = c.choose_of(&[Space::ClusterShared]).unwrap_or(Space::Generic);
    c.require(&COUNTS_BYTES, "`.mbarrier::complete_tx::bytes`")?;
    let (op, lanes, ty) = if reduces {
        let op = atomic::operation(c, true)?;
        let types: &[Type] = match op {
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => &[B32],
            AtomicOp::Add => &[U32, S32, U64, S64],
            AtomicOp::Minimum | AtomicOp::Maximum => &[U32, S32],
            _ => &[U32],
        };
        (Some(op), 1, c.ty_of(types)?)
    } else {
        let lanes = c.choose(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
        let ty = c.ty_of(&[B32, B64, U32, U64, S32, S64, F32, F64])?;
        if lanes * ty.bytes() as usize > 16 {
            let error = InstructionError::VectorTooWide { lanes: lanes as u32, ty: ty.name().into() };
            return fault(c.name_span(), error);
        }
        (None, lanes, ty)
    };
    c.operands(3)?;
    let parts = c.parts(1, lanes)?;
    let srcs = parts.iter().map(|part| c.source(part, ty, Width::Exact)).collect::<Parsed<_>>()?;
    let (address, barrier) = (c.address(0, space)?, c.address(2, space)?);
    Ok(Op::Async(AsyncOp::Store(Box::new(AsyncStore { space, op, ty, srcs, address, barrier }))))
}
