//! The time of a launch without a model: it runs as ever, and then a part of it runs again on the
//! model whose time is asked for, on what memory held before. Memory, findings, output and counters
//! are those of the launch itself.

use super::rehearsal::snapshot;
use crate::timing::Predicted;
use crate::{Checks, Launch, LaunchError, Memory, Report};

/// Memory beyond this is not copied, and the launch has no predicted time.
const MOST_COPIED: u64 = 1 << 29;

/// Runs `launch`, with the first function, and a part of it on a model, with the second.
pub(super) fn predicted_beside(
    memory: &Memory,
    launch: &Launch,
    run: impl FnOnce(&Launch) -> Result<Report, LaunchError>,
    time: impl FnOnce(&Launch) -> Result<Report, LaunchError>,
) -> Result<Report, LaunchError> {
    let on_model = Launch {
        model: launch.predicts,
        time_only: true,
        checks: Checks::NONE,
        progress: None,
        output: None,
        watch: None,
        counts_loads: false,
        ..launch.clone()
    };
    if launch.time_only {
        return time(&on_model);
    }
    let plain = Launch { predicts: None, ..launch.clone() };
    if memory.used() > MOST_COPIED {
        let prediction = Some(Predicted::Not("launches beyond 512 MiB, unless only their time is asked for"));
        return Ok(Report { prediction, ..run(&plain)? });
    }
    let before = snapshot(memory, launch)?;
    let report = run(&plain)?;
    let after = snapshot(memory, launch)?;
    memory.restore(&before);
    // A launch that faults on the model alone does not fit there.
    let timed = time(&on_model);
    memory.restore(&after);
    let prediction = match timed {
        Ok(timed) => timed.prediction,
        Err(_) => Some(Predicted::Not("launches that this GPU cannot run")),
    };
    Ok(Report { prediction, ..report })
}
