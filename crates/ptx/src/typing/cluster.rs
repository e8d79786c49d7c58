//! Types instructions of clusters and of grids that overlap, and hints to the hardware, which have
//! no visible effect.

use crate::Type::*;
use crate::errors::{InstructionError, OperandError, Parsed, fault};
use crate::typing::context::Context;
use crate::{BarrierOp, ComputeOp, Op};

/// `barrier.cluster.arrive{.sem}{.aligned};`, `barrier.cluster.wait{.acquire}{.aligned};`
pub(in crate::typing) fn barrier(c: &mut Context<'_, '_>) -> Parsed<BarrierOp> {
    c.accept("cluster");
    let waits = c.require(&[("arrive", false), ("wait", true)], "`.arrive` or `.wait`")?;
    let orderings: &[(&str, bool)] =
        if waits { &[("acquire", false)] } else { &[("release", false), ("relaxed", true)] };
    let relaxed = c.choose(orderings).unwrap_or(false);
    let aligned = c.accept("aligned");
    c.operands(0)?;
    Ok(BarrierOp::Cluster { waits, relaxed, aligned })
}

/// `mapa{.shared::cluster}.u64 d, a, rank;`: the address in another block of the cluster of what is
/// at `a` in this one
pub(in crate::typing) fn map(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    c.accept("shared::cluster");
    let ty = c.ty_of(&[U32, U64])?;
    c.operands(3)?;
    let (dst, src) = (c.dst(0, ty)?, crate::typing::movement::value_or_address(c, 1, ty)?);
    Ok(ComputeOp::MapToBlock { ty, dst, src, rank: c.src(2, U32)? })
}

/// `getctarank{.shared::cluster}.u64 d, a;`: the block of the cluster that an address belongs to
pub(in crate::typing) fn rank(c: &mut Context<'_, '_>) -> Parsed<ComputeOp> {
    c.accept("shared::cluster");
    let ty = c.ty_of(&[U32, U64])?;
    c.operands(2)?;
    Ok(ComputeOp::RankOfAddress { ty, dst: c.dst(0, U32)?, src: crate::typing::movement::value_or_address(c, 1, ty)? })
}

/// `griddepcontrol.wait;`, `griddepcontrol.launch_dependents;`
pub(in crate::typing) fn grid_dependency(c: &mut Context<'_, '_>) -> Parsed<Op> {
    let waits = c.require(&[("launch_dependents", false), ("wait", true)], "`.launch_dependents` or `.wait`")?;
    c.operands(0)?;
    Ok(if waits { Op::WaitForEarlierGrids } else { Op::NoEffect })
}

/// `setmaxnreg.inc.sync.aligned.u32 64;`, `pmevent 1;`, `pmevent.mask 5;`
pub(in crate::typing) fn no_effect(c: &mut Context<'_, '_>) -> Parsed<Op> {
    match c.opcode() {
        "setmaxnreg" => {
            c.require(&[("inc", ()), ("dec", ())], "`.inc` or `.dec`")?;
            c.require(&[("sync", ())], "`.sync`")?;
            c.require(&[("aligned", ())], "`.aligned`")?;
            c.ty_of(&[U32])?;
            if c.environment.module.target_suffix.is_none() {
                return fault(c.name_span(), InstructionError::OtherTarget { instruction: c.name(), target: "sm_90a" });
            }
            c.operands(1)?;
            let count = c.immediate(0, u64::MAX)?;
            if !(24..=256).contains(&count) || !count.is_multiple_of(8) {
                return fault(c.raw(0).span, OperandError::RegisterCount);
            }
        }
        _ => {
            let most = if c.accept("mask") { 0xffff } else { 15 };
            c.operands(1)?;
            c.immediate(0, most)?;
        }
    }
    Ok(Op::NoEffect)
}
