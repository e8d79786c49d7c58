//! Predicts the time of a launch that runs without a model. After the launch, memory is set back,
//! and a sample of its blocks runs on the model whose time is wanted. The report has that time;
//! memory, findings, output and counters are those of the launch itself. A launch that is too small
//! for its time to say much is predicted only if that is wished for. The sample has a copy of lent
//! memory, without what its owner writes during the launch: a kernel that waits for that ends by a
//! limit of steps, and has no time.

use super::dry_run::snapshot;
use super::validate::count;
use crate::machine::Placement;
use crate::timing::{Predicted, Timed, fills_half};
use crate::trap::TrapKind;
use crate::{Checks, InvalidLaunch, Launch, LaunchError, Memory, Report};

/// Memory beyond this is not copied, and the launch has no predicted time.
const MOST_COPIED: u64 = 1 << 29;

/// With lent memory, the sample counts as waiting for its owner after so many more warp
/// instructions than the whole launch, or after this many.
const MORE_STEPS: u64 = 1 << 20;
const MOST_STEPS: u64 = 1 << 28;

/// Runs `launch` with `run`, and a sample of it with `time` on a model, where `place` says how it
/// runs.
pub(super) fn with_predicted_time(
    memory: &Memory,
    launch: &Launch,
    run: impl FnOnce(&Launch) -> Result<Report, LaunchError>,
    place: impl Fn(&Launch) -> Result<Option<Placement>, InvalidLaunch>,
    time: impl FnOnce(&Launch) -> Result<Report, LaunchError>,
) -> Result<Report, LaunchError> {
    let on_model = Launch {
        model: launch.predicts,
        time_only: true,
        checks: Checks::NONE,
        progress: None,
        output: None,
        watch: None,
        counts_words: false,
        ..launch.clone()
    };
    if launch.time_only {
        return time(&on_model);
    }
    let plain = Launch { predicts: None, ..launch.clone() };
    if launch.predicts_if_full
        && let Ok(Some(Placement { model, timed: Some(Timed { resident, .. }), .. })) = place(&on_model)
        && !fills_half(model, count(&launch.grid), resident)
    {
        return Ok(Report { prediction: Some(Predicted::TOO_SMALL), ..run(&plain)? });
    }
    if memory.used() > MOST_COPIED {
        let prediction = Some(Predicted::Not("launches beyond 512 MiB, unless only their time is asked for"));
        return Ok(Report { prediction, ..run(&plain)? });
    }
    let before = snapshot(memory, launch)?;
    let report = run(&plain)?;
    let after = snapshot(memory, launch)?;
    memory.rewind(&before);
    let (has_lent, steps) = (memory.has_lent(), report.counters().instructions_executed);
    let enough = if has_lent { steps.saturating_add(MORE_STEPS).min(MOST_STEPS) } else { u64::MAX };
    let on_model = Launch { step_limit: on_model.step_limit.min(enough), ..on_model };
    // A launch that faults only on the model needs more than the model has.
    let timed = time(&on_model);
    memory.restore(&after);
    let prediction = match timed {
        Ok(timed) => timed.prediction,
        Err(LaunchError::Trap(trap)) if has_lent && waits(&trap.kind) => Some(Predicted::WAITS_FOR_HOST),
        Err(_) => Some(Predicted::Not("launches that this GPU cannot run")),
    };
    Ok(Report { prediction, ..report })
}

/// Whether a launch ended because it waited.
fn waits(kind: &TrapKind) -> bool {
    matches!(kind, TrapKind::StepLimit { .. } | TrapKind::NoProgress { .. })
}
