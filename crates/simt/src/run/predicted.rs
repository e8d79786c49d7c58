//! Predicts the time of a launch that runs without a model: a sample of its blocks also runs on the
//! model whose time is wanted, and what it wrote is undone. The report has that time; memory,
//! findings, output and counters are those of the launch itself. A launch that is too small for its
//! time to say much is predicted only if that is wished for.
//!
//! Lent memory is its owner's, who may write it during the launch. So the launch runs first, and the
//! sample has a copy: a kernel that waits for the owner ends there by a limit of steps, and has no
//! time.

use super::dry_run::{no_room, snapshot};
use super::validate::count;
use crate::machine::Placement;
use crate::timing::{Predicted, Timed, fills_half};
use crate::trap::TrapKind;
use crate::{Checks, InvalidLaunch, Launch, LaunchError, Memory, Report};

/// Beyond so many bytes of memory, which the sample could all write, a launch has no predicted time.
const MOST_COPIED: u64 = 1 << 29;

/// With lent memory, a launch that runs again counts as waiting for its owner after so many more
/// warp instructions than the first time.
const MORE_STEPS: u64 = 1 << 20;

/// Runs `launch` with `run`, and a sample of it with `time` on a model, where `place` says how it
/// runs. `writes`: whether it may change memory.
pub(super) fn with_predicted_time(
    (memory, writes): (&Memory, bool),
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
    if !writes && !memory.has_lent() {
        let prediction = Some(predicted(time(&on_model)));
        return Ok(Report { prediction, ..run(&plain)? });
    }
    if memory.used() > MOST_COPIED {
        let prediction = Some(Predicted::Not("launches beyond 512 MiB, unless only their time is asked for"));
        return Ok(Report { prediction, ..run(&plain)? });
    }
    if !memory.has_lent() {
        let timed = memory.undone(|| time(&on_model)).ok_or_else(|| no_room(memory, launch))?;
        return Ok(Report { prediction: Some(predicted(timed)), ..run(&plain)? });
    }
    let before = snapshot(memory, launch)?;
    let report = run(&plain)?;
    let after = snapshot(memory, launch)?;
    memory.rewind(&before);
    let timed = time(&Launch { step_limit: on_model.step_limit.min(more_steps(&report)), ..on_model });
    memory.restore(&after);
    let prediction = match timed {
        Err(LaunchError::Trap(trap)) if waits(&trap.kind) => Predicted::WAITS_FOR_HOST,
        timed => predicted(timed),
    };
    Ok(Report { prediction: Some(prediction), ..report })
}

/// What the sample says. A launch that faults only on the model needs more than the model has.
fn predicted(timed: Result<Report, LaunchError>) -> Predicted {
    const CANNOT: Predicted = Predicted::Not("launches that this GPU cannot run");
    timed.map_or(CANNOT, |timed| timed.prediction.unwrap_or(CANNOT))
}

/// The limit of steps for a launch that ran with this report, and runs again.
pub(super) fn more_steps(report: &Report) -> u64 {
    report.counters().instructions_executed.saturating_add(MORE_STEPS)
}

/// Whether a launch ended because it waited.
pub(super) fn waits(kind: &TrapKind) -> bool {
    matches!(kind, TrapKind::StepLimit { .. } | TrapKind::NoProgress { .. })
}
