//! Checks of a launch on a model: the launch runs twice, the first time as a dry run.
//!
//! The sanitizer needs blocks one after another, but a model runs them side by side. So the
//! dry run has the checks but not the model. Its findings are kept, and its effects are undone:
//! memory is restored, and nothing is printed. Then the launch runs on the model as it
//! would without checks. The findings are those of a launch without a model; counters, memory and
//! output are those of a launch without checks.
//!
//! A trap in the dry run ends the launch: memory and output are as the dry run left them. A
//! kernel whose blocks wait for later ones traps there, although the model alone would run it. So does
//! one that waits for the owner of lent memory: the dry run has a copy of that.

use crate::memory::Snapshot;
use crate::output::Output;
use crate::{Checks, InvalidLaunch, Launch, LaunchError, Memory, Report};

/// Runs `launch` twice, with these two functions.
pub(super) fn checked_on_model(
    memory: &Memory,
    launch: &Launch,
    dry_run: impl FnOnce(&Launch) -> Result<Report, LaunchError>,
    run: impl FnOnce(&Launch) -> Result<Report, LaunchError>,
) -> Result<Report, LaunchError> {
    let before = snapshot(memory, launch)?;
    let report = |done, whole| {
        if let Some(progress) = launch.progress {
            progress(done, 2 * whole);
        }
    };
    let report_more = |done, whole| report(whole + done, whole);

    memory.set_apart(&before);
    let printed = launch.output.map(|output| Output::new(output.limit()));
    let unseen = Launch {
        progress: Some(&report),
        output: printed.as_ref(),
        watch: None,
        counts_words: false,
        ..launch.clone()
    };
    let Report { findings, findings_beyond, .. } = dry_run(&unseen).inspect_err(|_| {
        memory.publish(&before);
        if let (Some(output), Some(printed)) = (launch.output, &printed) {
            output.add(&printed.take());
        }
    })?;
    memory.restore(&before);
    drop(before);

    // Invalid accesses have been reported, and are skipped again. Otherwise they would be traps.
    let reported = findings_beyond > 0 || findings.iter().any(|finding| finding.kind.check() == "memory");
    let checks = Checks { memory: launch.checks.memory && reported, ..Checks::NONE };
    match run(&Launch { progress: Some(&report_more), checks, ..launch.clone() }) {
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
    let no_room = || InvalidLaunch::NoRoomForChecks { kernel: launch.kernel.into(), bytes: memory.used() };
    memory.snapshot().ok_or_else(no_room)
}
