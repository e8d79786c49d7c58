//! Which `.target` and `.version` an instruction or a special register needs: what its name asks
//! for, by the tables of `syntax`, and what its operands do.

use super::context::Context;
use crate::errors::{InstructionError, Parsed, fault};
use crate::syntax::cursor::Word;
use crate::syntax::versions::{Version, newer};
use crate::syntax::{opcodes, targets, versions};
use crate::{AsyncOp, ComputeOp, MbarrierAction, Module, Op, Span, Special, TernaryOp, TextureOp, Type};

/// Fails if the instruction needs a newer target or version than the module has.
pub(super) fn check_instruction(c: &Context<'_, '_>, op: &Op) -> Parsed<()> {
    let Word { text, span } = c.statement.opcode;
    let Some((version, target)) = opcodes::needs(text) else {
        return fault(span, InstructionError::UnknownOpcode(text.to_owned()));
    };
    let target = target.max(targets::of_statement(c.statement)).max(target_of_operands(op));
    let version = version.max(versions::of_statement(c.statement)).max(version_of_operands(op));
    check(&c.environment.module, (target, version), c.name_span(), || c.name())
}

/// Fails if the special register needs a newer target or version than the module has.
pub(super) fn check_special(module: &Module, special: Special, name: &str, span: Span) -> Parsed<()> {
    check(module, needs_of_register(special), span, || name.to_owned())
}

fn check(
    module: &Module,
    (target, version): (Option<u32>, Option<Version>),
    span: Span,
    name: impl FnOnce() -> String,
) -> Parsed<()> {
    if let Some(target) = target.filter(|&target| target > module.target) {
        return fault(span, InstructionError::NeedsTarget { instruction: name(), target });
    }
    match newer(version, module.version) {
        Some(version) => fault(span, InstructionError::NeedsVersion { instruction: name(), version }),
        None => Ok(()),
    }
}

/// The target that an instruction needs for its operands or types. Most need none beyond that of
/// their names: `syntax` has these.
fn target_of_operands(op: &Op) -> Option<u32> {
    let Op::Compute(op) = op else { return None };
    match *op {
        ComputeOp::Ternary { op: TernaryOp::Minimum3 { .. } | TernaryOp::Maximum3 { .. }, .. } => Some(100),
        ComputeOp::Convert { to: Type::F32, from: Type::Bf16, mode, .. } => mode.flush_subnormals.then_some(90),
        ComputeOp::Convert { to: Type::Bf16, from: Type::F32, .. } => None,
        ComputeOp::Convert { to: Type::Bf16, .. } | ComputeOp::Convert { from: Type::Bf16, .. } => Some(90),
        _ => None,
    }
}

/// The same for versions.
fn version_of_operands(op: &Op) -> Option<Version> {
    match op {
        Op::Texture(TextureOp::Fetch(fetch)) if fetch.resident.is_some() => Some((7, 1)),
        Op::Compute(ComputeOp::Convert { to: Type::F32, from: Type::Bf16, .. }) => Some((7, 1)),
        Op::Compute(ComputeOp::Ternary { op: TernaryOp::Minimum3 { .. } | TernaryOp::Maximum3 { .. }, .. }) => {
            Some((8, 8))
        }
        Op::Async(AsyncOp::Copy(copy)) if copy.ignore_source.is_some() => Some((7, 5)),
        Op::Async(AsyncOp::Mbarrier { action: MbarrierAction::Arrive(arrival), .. })
            if arrival.count.is_some() && !arrival.never_completes =>
        {
            Some((7, 8))
        }
        Op::Async(AsyncOp::Mbarrier { action: MbarrierAction::Arrive(arrival), .. }) if arrival.state.is_none() => {
            Some((7, 1))
        }
        _ => None,
    }
}

/// The target and the version that a special register needs.
fn needs_of_register(special: Special) -> (Option<u32>, Option<Version>) {
    use Special::*;
    match special {
        ThreadIndex(_) | BlockSize(_) | BlockIndex(_) | GridSize(_) | Zero => (None, None),
        LaneId | WarpId | MultiprocessorId | GridId | Clock | DynamicSharedSize | Environment(_) => (None, None),
        WarpCount | MultiprocessorCount | Clock64 => (None, Some((2, 0))),
        LaneMaskEqual | LaneMaskLess | LaneMaskLessEqual | LaneMaskGreater | LaneMaskGreaterEqual => {
            (None, Some((2, 0)))
        }
        GlobalTimer | GlobalTimerLow | GlobalTimerHigh => (None, Some((3, 1))),
        PerformanceCounter { wide: false, .. } => (None, None),
        PerformanceCounter { wide: true, .. } => (None, Some((4, 0))),
        TotalSharedSize => (None, Some((4, 1))),
        ClockHigh => (None, Some((5, 0))),
        ReservedSharedBegin | ReservedSharedEnd | ReservedSharedSize | ReservedShared0 | ReservedShared1 => {
            (Some(80), Some((7, 6)))
        }
        CurrentGraph => (None, Some((8, 0))),
        ClusterIndex(_) | ClusterCount(_) | BlockIndexInCluster(_) | ClusterSize(_) => (Some(90), None),
        BlockRankInCluster | ClusterBlocks | IsExplicitCluster => (Some(90), None),
        AggregateSharedSize => (Some(90), Some((8, 1))),
    }
}
