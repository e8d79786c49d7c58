//! Types asynchronous copies by threads and the barriers that count them: `cp.async`, `mbarrier`.

use crate::Type::*;
use crate::errors::{OperandError, Parsed, fault};
use crate::typing::context::Context;
use crate::typing::memory::{hints, operands_and_policy};
use crate::{AsyncCopy, AsyncOp, MbarrierAction, MbarrierArrival, MbarrierPhase, MbarrierTest, Space};

/// State spaces of barriers and destinations in the block's own memory.
const SHARED: &[Space] = &[Space::Shared];

/// State spaces of barriers that other blocks of the cluster can reach.
const CLUSTER: &[Space] = &[Space::Shared, Space::ClusterShared];

/// `cp.async...`, except copies by the copy engine (`cp.async.bulk`), which are in
/// [`crate::typing::copy::bulk`]
pub(in crate::typing) fn copy(c: &mut Context<'_, '_>) -> Parsed<AsyncOp> {
    c.require(&[("async", ())], "`.async`")?;
    if c.accept("commit_group") {
        c.operands(0)?;
        Ok(AsyncOp::Commit)
    } else if c.accept("wait_all") {
        c.operands(0)?;
        Ok(AsyncOp::Wait { groups_left: None })
    } else if c.accept("wait_group") {
        c.operands(1)?;
        Ok(AsyncOp::Wait { groups_left: Some(c.immediate(0, u32::MAX.into())? as u32) })
    } else if c.accept("mbarrier") {
        arrive_after_copies(c)
    } else {
        copy_bytes(c)
    }
}

/// `cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [a];`
fn arrive_after_copies(c: &mut Context<'_, '_>) -> Parsed<AsyncOp> {
    c.require(&[("arrive", ())], "`.arrive`")?;
    let counted_before = c.accept("noinc");
    let space = c.choose_of(SHARED).unwrap_or(Space::Generic);
    c.ty_of(&[B64])?;
    c.operands(1)?;
    Ok(AsyncOp::ArriveAfterCopies { space, counted_before, address: c.address(0, space)? })
}

/// `cp.async.ca.shared.global{hints} [d], [s], 16{, source bytes or predicate}{, policy};`
fn copy_bytes(c: &mut Context<'_, '_>) -> Parsed<AsyncOp> {
    let at_l2_only = c.require(&[("ca", false), ("cg", true)], "`.ca` or `.cg`")?;
    c.require_of(SHARED, "`.shared`")?;
    c.require(&[("global", ())], "`.global`")?;
    let (_, has_policy) = hints(c);
    c.finish_modifiers()?;
    let has_more = c.count() > 3 + usize::from(has_policy);
    operands_and_policy(c, 3 + usize::from(has_more), has_policy)?;
    let bytes = c.immediate(2, 16)? as u32;
    if at_l2_only && bytes != 16 {
        return fault(c.raw(2).span, OperandError::OutOfRange { low: 16, high: 16 });
    }
    if !matches!(bytes, 4 | 8 | 16) {
        return fault(c.raw(2).span, OperandError::CopySize);
    }
    let (mut source_bytes, mut ignore_source) = (None, None);
    if has_more {
        let raw = c.raw(3);
        if c.register_type(raw)? == Some(Pred) {
            ignore_source = Some(c.predicate(3)?);
        } else {
            source_bytes = Some(c.src32(3)?);
        }
    }
    let (dst, src) = (c.address(0, Space::Shared)?, c.address(1, Space::Global)?);
    Ok(AsyncOp::Copy(Box::new(AsyncCopy { dst, src, bytes, at_l2_only, source_bytes, ignore_source })))
}

/// Ordering and scope, which have no effect here: all threads see one shared memory.
fn ordering(c: &mut Context<'_, '_>, orderings: &[(&str, ())]) -> Parsed<()> {
    if c.choose(orderings).is_some() {
        c.require(&[("cta", ()), ("cluster", ())], "`.cta` or `.cluster`")?;
    }
    Ok(())
}

/// The state space, which must be one of `spaces`, and the type.
fn ending(c: &mut Context<'_, '_>, spaces: &[Space]) -> Parsed<Space> {
    let space = c.choose_of(spaces).unwrap_or(Space::Generic);
    c.ty_of(&[B64])?;
    Ok(space)
}

/// `mbarrier.init`, `inval`, `expect_tx`, `complete_tx`, `arrive`, `arrive_drop`, `test_wait`,
/// `try_wait`, `pending_count`
pub(in crate::typing) fn mbarrier(c: &mut Context<'_, '_>) -> Parsed<AsyncOp> {
    #[derive(Clone, Copy)]
    enum Form {
        Initialize,
        Invalidate,
        Expect,
        Complete,
        Arrive { drops: bool },
        Test { suspends: bool },
        Count,
    }
    let form = c.require(
        &[
            ("init", Form::Initialize),
            ("inval", Form::Invalidate),
            ("expect_tx", Form::Expect),
            ("complete_tx", Form::Complete),
            ("arrive", Form::Arrive { drops: false }),
            ("arrive_drop", Form::Arrive { drops: true }),
            ("test_wait", Form::Test { suspends: false }),
            ("try_wait", Form::Test { suspends: true }),
            ("pending_count", Form::Count),
        ],
        "an operation such as `.arrive`",
    )?;
    match form {
        Form::Initialize => {
            let space = ending(c, SHARED)?;
            c.operands(2)?;
            let action = MbarrierAction::Initialize { count: c.src32(1)? };
            Ok(AsyncOp::Mbarrier { action, space, address: c.address(0, space)? })
        }
        Form::Invalidate => {
            let space = ending(c, SHARED)?;
            c.operands(1)?;
            Ok(AsyncOp::Mbarrier { action: MbarrierAction::Invalidate, space, address: c.address(0, space)? })
        }
        Form::Expect | Form::Complete => {
            ordering(c, &[("relaxed", ())])?;
            let space = ending(c, CLUSTER)?;
            c.operands(2)?;
            let bytes = c.src32(1)?;
            let expects = matches!(form, Form::Expect);
            let action = if expects { MbarrierAction::Expect { bytes } } else { MbarrierAction::Complete { bytes } };
            Ok(AsyncOp::Mbarrier { action, space, address: c.address(0, space)? })
        }
        Form::Arrive { drops } => arrive(c, drops),
        Form::Test { suspends } => test(c, suspends),
        Form::Count => {
            c.ty_of(&[B64])?;
            c.operands(2)?;
            Ok(AsyncOp::PendingCount { dst: c.dst(0, U32)?, state: c.src(1, B64)? })
        }
    }
}

/// `mbarrier.arrive{.expect_tx}{.release.cta}{.shared}.b64 state, [a]{, count};`, `.noComplete`
/// with a count
fn arrive(c: &mut Context<'_, '_>, drops: bool) -> Parsed<AsyncOp> {
    let expects = c.accept("expect_tx");
    let never_completes = !expects && c.accept("noComplete");
    ordering(c, &[("release", ()), ("relaxed", ())])?;
    let space = ending(c, if never_completes { SHARED } else { CLUSTER })?;
    let counts = if expects || never_completes { 3..=3 } else { 2..=3 };
    c.operands_between(counts)?;
    let state = c.dst(0, B64)?;
    if space == Space::ClusterShared && state.is_some() {
        let expected = "`_`, since there is no state of a barrier of the cluster";
        return fault(c.raw(0).span, OperandError::Kind { expected, found: "a register" });
    }
    let address = c.address(1, space)?;
    let number = if c.count() == 3 { Some(c.src32(2)?) } else { None };
    let (count, expect) = if expects { (None, number) } else { (number, None) };
    let action = MbarrierAction::Arrive(MbarrierArrival { state, count, expect, drops, never_completes });
    Ok(AsyncOp::Mbarrier { action, space, address })
}

/// `mbarrier.try_wait{.parity}{.acquire.cta}{.shared}.b64 p, [a], phase{, time};`; `test_wait` has
/// no time
fn test(c: &mut Context<'_, '_>, suspends: bool) -> Parsed<AsyncOp> {
    let by_parity = c.accept("parity");
    ordering(c, &[("acquire", ()), ("relaxed", ())])?;
    let space = ending(c, SHARED)?;
    c.operands_between(3..=if suspends { 4 } else { 3 })?;
    let dst = c.dst(0, Pred)?;
    let address = c.address(1, space)?;
    let phase = if by_parity { MbarrierPhase::Parity(c.src32(2)?) } else { MbarrierPhase::State(c.src(2, B64)?) };
    if c.count() == 4 {
        c.src32(3)?;
    }
    Ok(AsyncOp::Mbarrier { action: MbarrierAction::Test(MbarrierTest { dst, phase }), space, address })
}
