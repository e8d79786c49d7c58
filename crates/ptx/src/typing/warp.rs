//! Types operations across the lanes of a warp: `shfl`, `vote`, `match`, `redux`, `elect`,
//! `activemask`.

use super::context::Context;
use crate::Type::*;
use crate::errors::Parsed;
use crate::{AtomicOp, ShuffleMode, VoteMode, WarpOp};

/// `shfl.sync.down.b32 d{|p}, a, lane, clamp, members;`
pub(super) fn shuffle(c: &mut Context<'_, '_>) -> Parsed<WarpOp> {
    let sync = synchronizes(c)?;
    let mode = c.require_of(ShuffleMode::ALL, "a mode such as `.down`")?;
    let ty = c.ty_of(&[B32])?;
    c.operands(if sync { 5 } else { 4 })?;
    let (dst, in_range) = c.dst_and_predicate(0, ty)?;
    let (src, lane, clamp) = (c.src(1, ty)?, c.src32(2)?, c.src32(3)?);
    let members = if sync { Some(c.src32(4)?) } else { None };
    Ok(WarpOp::Shuffle { mode, dst, in_range, src, lane, clamp, members })
}

/// `vote.sync.any.pred d, a, members;`, `vote.sync.ballot.b32 d, a, members;`
pub(super) fn vote(c: &mut Context<'_, '_>) -> Parsed<WarpOp> {
    let sync = synchronizes(c)?;
    let mode = c.require_of(VoteMode::ALL, "a mode such as `.any`")?;
    let ty = c.ty_of(if mode == VoteMode::Ballot { &[B32] } else { &[Pred] })?;
    c.operands(if sync { 3 } else { 2 })?;
    let (dst, predicate) = (c.dst(0, ty)?, c.src(1, Pred)?);
    Ok(WarpOp::Vote { mode, dst, predicate, members: if sync { Some(c.src32(2)?) } else { None } })
}

/// Whether a shuffle or a vote is `.sync`. Before sm_70 it need not be; then the lanes that execute
/// it take part.
fn synchronizes(c: &mut Context<'_, '_>) -> Parsed<bool> {
    let sync = c.accept("sync");
    if sync || c.environment.module.target < 70 { Ok(sync) } else { c.missing("`.sync` from sm_70 on") }
}

/// `elect.sync d|p, members;`
pub(super) fn elect(c: &mut Context<'_, '_>) -> Parsed<WarpOp> {
    c.require(&[("sync", ())], "`.sync`")?;
    c.operands(2)?;
    let (dst, leader) = c.dst_and_predicate(0, B32)?;
    Ok(WarpOp::Elect { dst, leader, members: c.src32(1)? })
}

/// `match.any.sync.b32 d, a, members;`, `match.all.sync.b32 d{|p}, a, members;`
pub(super) fn matching(c: &mut Context<'_, '_>) -> Parsed<WarpOp> {
    let all = c.require(&[("any", false), ("all", true)], "`.any` or `.all`")?;
    c.require(&[("sync", ())], "`.sync`")?;
    let ty = c.ty_of(&[B32, B64])?;
    c.operands(3)?;
    let (dst, all_equal) = if all { c.dst_and_predicate(0, B32)? } else { (c.dst(0, B32)?, None) };
    Ok(WarpOp::Match { all, ty, dst, all_equal, src: c.src(1, ty)?, members: c.src32(2)? })
}

/// `redux.sync.add.u32 d, a, members;`
pub(super) fn reduce(c: &mut Context<'_, '_>) -> Parsed<WarpOp> {
    c.require(&[("sync", ())], "`.sync`")?;
    use AtomicOp::*;
    let op = c.require_of(&[Add, Minimum, Maximum, And, Or, Xor], "an operation such as `.add`")?;
    let bits = matches!(op, And | Or | Xor);
    let ty = c.ty_of(if bits { &[B32] } else { &[U32, S32] })?;
    c.operands(3)?;
    Ok(WarpOp::Reduce { op, ty, dst: c.dst(0, ty)?, src: c.src(1, ty)?, members: c.src32(2)? })
}

/// `activemask.b32 d;`
pub(super) fn active_mask(c: &mut Context<'_, '_>) -> Parsed<WarpOp> {
    let ty = c.ty_of(&[B32])?;
    c.operands(1)?;
    Ok(WarpOp::ActiveMask { dst: c.dst(0, ty)? })
}
