//! Checks of a launch on a model: the launch runs twice.
//!
//! The sanitizer needs blocks one after another, but a model runs them side by side. So first there
//! is a dry run, with the checks but not the model. Its findings are kept, and its effects are
//! undone: memory is restored, and nothing is printed. Then the launch runs on the model as it
//! would without checks. The findings are those of a launch without a model; counters, memory and
//! output are those of a launch without checks.
//!
//! With lent memory, which its owner may write during the launch, it is the other way round: memory
//! and output are those of the run with the checks. The run on the model is for the counters alone,
//! on a copy of the lent memory. If the kernel waits for what the owner writes, that run ends at a
//! limit of steps, and the report has no counters of the model.
//!
//! A trap in the first run ends the launch: memory and output are as that run left them. A kernel
//! whose blocks wait for later ones traps there, although the model alone would run it.

use super::predicted::{more_steps, waits};
use crate::memory::Snapshot;
use crate::output::Output;
use crate::timing::Predicted;
use crate::{Checks, InvalidLaunch, Launch, LaunchError, Memory, Report};

/// Runs `launch` twice, with these two functions.
pub(super) fn checked_on_model(
    memory: &Memory,
    launch: &Launch,
    checked: impl FnOnce(&Launch) -> Result<Report, LaunchError>,
    on_model: impl FnOnce(&Launch) -> Result<Report, LaunchError>,
) -> Result<Report, LaunchError> {
    let report = |done, whole| {
        if let Some(progress) = launch.progress {
            progress(done, 2 * whole);
        }
    };
    let report_more = |done, whole| report(whole + done, whole);
    let first = Launch { progress: Some(&report), ..launch.clone() };
    let second = Launch { progress: Some(&report_more), ..launch.clone() };

    let before = snapshot(memory, launch)?;
    if memory.has_lent() {
        let kept = checked(&first)?;
        let after = snapshot(memory, launch)?;
        memory.rewind(&before);
        let step_limit = second.step_limit.min(more_steps(&kept));
        let result = on_model(&Launch { checks: left(launch, &kept), output: None, step_limit, ..second });
        memory.restore(&after);
        return match result {
            Err(LaunchError::Trap(trap)) if waits(&trap.kind) => {
                Ok(Report { prediction: Some(Predicted::WAITS_FOR_HOST), ..kept })
            }
            result => with_findings(result, kept),
        };
    }
    let printed = launch.output.map(|output| Output::new(output.limit()));
    let unseen = Launch { output: printed.as_ref(), watch: None, counts_words: false, ..first };
    let found = checked(&unseen).inspect_err(|_| {
        if let (Some(output), Some(printed)) = (launch.output, &printed) {
            output.add(&printed.take());
        }
    })?;
    memory.restore(&before);
    drop(before);
    with_findings(on_model(&Launch { checks: left(launch, &found), ..second }), found)
}

/// The checks of the second run: invalid accesses that were reported are skipped again. Otherwise
/// they would be traps.
fn left(launch: &Launch, first: &Report) -> Checks {
    let reported = first.findings_beyond > 0 || first.findings.iter().any(|finding| finding.kind.check() == "memory");
    Checks { memory: launch.checks.memory && reported, ..Checks::NONE }
}

/// The result of the second run, with the findings of the first.
fn with_findings(second: Result<Report, LaunchError>, first: Report) -> Result<Report, LaunchError> {
    let Report { findings, findings_beyond, .. } = first;
    match second {
        Ok(report) => Ok(Report { findings, findings_beyond, ..report }),
        Err(LaunchError::Trap(mut trap)) => {
            trap.findings = findings;
            Err(LaunchError::Trap(trap))
        }
        Err(other) => Err(other),
    }
}

/// A copy of memory, which a launch that runs twice restores.
pub(super) fn snapshot(memory: &Memory, launch: &Launch) -> Result<Snapshot, InvalidLaunch> {
    memory.snapshot().ok_or_else(|| no_room(memory, launch))
}

/// The host has no room for a copy.
pub(super) fn no_room(memory: &Memory, launch: &Launch) -> InvalidLaunch {
    InvalidLaunch::NoRoomForChecks { kernel: launch.kernel.into(), bytes: memory.used() }
}
