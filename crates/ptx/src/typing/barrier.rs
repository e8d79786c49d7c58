//! Types waiting for other threads: `bar`, `barrier`, `nanosleep`. The barriers of
//! clusters are in `cluster`.

use super::context::Context;
use crate::Type::*;
use crate::errors::Parsed;
use crate::{BarrierAction, BarrierOp, BarrierReduction, Op};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Synchronize,
    Arrive,
    Reduce,
}

/// `bar{.cta}.sync a{, b};`, `bar.arrive a, b;`, `bar.red.popc.u32 d, a{, b}, {!}c;`,
/// `bar.warp.sync members;`, and the same with `barrier`, which the threads of a warp need not
/// execute together unless it is `.aligned`
pub(super) fn barrier(c: &mut Context<'_, '_>) -> Parsed<BarrierOp> {
    let always_aligned = c.opcode() == "bar";
    if always_aligned && c.accept("warp") {
        c.require(&[("sync", ())], "`.sync`")?;
        c.operands(1)?;
        return Ok(BarrierOp::Warp { members: c.src32(0)? });
    }
    c.accept("cta");
    let actions = [("sync", Action::Synchronize), ("arrive", Action::Arrive), ("red", Action::Reduce)];
    let action = c.require(&actions, "`.sync`, `.arrive` or `.red`")?;
    if action != Action::Reduce {
        let aligned = always_aligned || c.accept("aligned");
        let arrives = action == Action::Arrive;
        c.operands_between(if arrives { 2..=2 } else { 1..=2 })?;
        let barrier = c.src32(0)?;
        let threads = if c.count() == 2 { Some(c.src32(1)?) } else { None };
        let action = if arrives { BarrierAction::Arrive } else { BarrierAction::Synchronize };
        return Ok(BarrierOp::Block { action, aligned, barrier, threads });
    }
    let op = c.require_of(BarrierReduction::ALL, "an operation such as `.popc`")?;
    let aligned = always_aligned || c.accept("aligned");
    let ty = c.ty_of(if op == BarrierReduction::PopulationCount { &[U32] } else { &[Pred] })?;
    c.operands_between(3..=4)?;
    let destination = c.dst(0, ty)?;
    let barrier = c.src32(1)?;
    let threads = if c.count() == 4 { Some(c.src32(2)?) } else { None };
    let predicate = c.predicate(c.count() - 1)?;
    Ok(BarrierOp::Block { action: BarrierAction::Reduce { op, destination, predicate }, aligned, barrier, threads })
}

/// `nanosleep.u32 t;`
pub(super) fn nanosleep(c: &mut Context<'_, '_>) -> Parsed<Op> {
    let ty = c.ty_of(&[U32])?;
    c.operands(1)?;
    Ok(Op::NanoSleep { duration: c.src(0, ty)? })
}
