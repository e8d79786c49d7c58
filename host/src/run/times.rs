//! Times the launches of `host run` on a GPU, as the labs' are timed. [`super::launch`] calls it
//! after the outputs were read.
//!
//! Each launch finds what it found the first time: the arguments' memory is made anew, and the
//! launches before it run once. Then it is launched again and again without anything being
//! restored, since a copy between two launches would be timed, or would change what the caches
//! hold.

use std::collections::HashSet;

use device::{Device, Error, Result, names};
use ptx::{Callee, ControlOp, Function, Handle, Module, Op};

use super::launch::{Plan, Ready, place};
use crate::progress::Progress;
use crate::report::LaunchTimes;
use crate::stopwatch::Stopwatch;

/// The times of each launch; `None` where it is not timed. On the simulator there are none.
pub(super) fn of_launches(device: &Device, progress: &Progress, plan: &Plan<'_>) -> Result<Vec<Option<LaunchTimes>>> {
    if !device.properties().is_gpu() || plan.flags.once {
        return Ok(Vec::new());
    }
    let mut times = Vec::new();
    for (index, launch) in plan.launches.iter().enumerate() {
        let name = names::shown(&launch.function.name);
        if prints(plan.module, launch.function) {
            progress.note(&format!("{name} prints, so it is launched once, and not timed"));
            times.push(None);
            continue;
        }
        progress.begin(|| format!("{name}: timing"));
        times.push(match of_launch(device, plan, index) {
            Ok(times) => times,
            Err(error @ Error::OutOfMemory { .. }) => {
                progress.note(&format!("{name} is not timed: {error}"));
                None
            }
            Err(error) => return Err(advise(error)),
        });
    }
    Ok(times)
}

/// The times of a launch.
fn of_launch(device: &Device, plan: &Plan<'_>, index: usize) -> Result<Option<LaunchTimes>> {
    let mut placed = place(device, plan)?;
    let mut ready = Ready::new(device, &mut placed, plan)?;
    let Some(mut stopwatch) = Stopwatch::new(device, plan.flags.once, plan.flags.time_limit)? else { return Ok(None) };
    for earlier in 0..index {
        ready.prepare(earlier)?;
        ready.launch(earlier)?;
    }
    ready.prepare(index)?;
    device.synchronize()?;
    let bytes = plan.launches[index].flags.bytes;
    // Without it nobody knows what the kernel touches, so both series are taken.
    let times = stopwatch.measure(bytes.unwrap_or(0), &mut || ready.launch(index).map(drop))?;
    Ok(Some(LaunchTimes::new(times, bytes, device.properties())))
}

/// The first launch had no fault. A later one finds what the one before it left.
fn advise(mut error: Error) -> Error {
    if let Error::Fault { fault, .. } = &mut error {
        fault.push_str("; this was a later launch, to time it: --once launches once");
    }
    error
}

/// Whether the kernel can print. Its lines would come once for each timed launch.
fn prints(module: &Module, kernel: &Function) -> bool {
    let mut seen: HashSet<Handle<Function>> = HashSet::new();
    let mut left = callees(kernel);
    while let Some(handle) = left.pop() {
        if seen.insert(handle) {
            let function = &module.functions[handle];
            if function.name == "vprintf" {
                return true;
            }
            left.extend(callees(function));
        }
    }
    false
}

/// The functions that a function calls, or may call.
fn callees(function: &Function) -> Vec<Handle<Function>> {
    let called = |op: &Op| match op {
        Op::Control(ControlOp::Call { callee: Callee::Direct(function), .. }) => vec![*function],
        Op::Control(ControlOp::Call { callee: Callee::Indirect { candidates, .. }, .. }) => candidates.clone(),
        _ => Vec::new(),
    };
    function.body.iter().flatten().flat_map(|instruction| called(&instruction.op)).collect()
}
