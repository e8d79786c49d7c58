//! How a kernel is run, with the arguments that a caller gives.

use std::io::Write;
use std::time::Instant;

use simt::prediction::Predicted;
use simt::requests::Watch;
use simt::{InvalidLaunch, Launch, LaunchError, TrapKind};

use crate::boundary::{Done, In, Status, say, show};
use crate::module::{info, offsets};
use crate::objects::Function;
use crate::orders::{self, Again};
use crate::places::copy_registered;
use crate::record::Shape;
use crate::settings::SETTINGS;
use crate::state::State;
use crate::texture_references;
use crate::work::Kernel;
use crate::{report, running};

/// The requests that a picture needs: the first of each instruction and warp, of the first block.
const WATCH: Watch = Watch { blocks: 0..1, warps: 0..32, requests: 1 };

/// After this many warp instructions a launch counts as endless.
fn step_limit(shape: &Shape) -> u64 {
    let count = |extents: [u32; 3]| extents.into_iter().map(u64::from).fold(1, u64::saturating_mul);
    let warps = count(shape.grid).saturating_mul(count(shape.block).div_ceil(32));
    (1 << 31) + warps.saturating_mul(1 << 16).min(simt::limits::DEFAULT_STEP_LIMIT)
}

/// The bytes of each argument, from pointers to them or from one buffer.
pub fn arguments(function: &Function, pointers: In<In<u8>>, extra: In<In<u8>>) -> Done<Vec<Vec<u8>>> {
    let info = info(function)?;
    if !pointers.is_null() {
        let one = |(index, &(bytes, _)): (usize, &(u64, u32))| pointers.at(index).get()?.bytes(bytes as usize);
        return info.parameters.iter().enumerate().map(one).collect();
    }
    let (mut buffer, mut length) = (In::NULL, 0);
    let mut at = extra;
    // 0 ends the list; 1 comes before the buffer, 2 before a pointer to its length.
    while let Some(key) = at.optional().map(In::address).filter(|&key| key != 0) {
        let value = at.at(1).get()?;
        match key {
            1 => buffer = value,
            2 => length = value.cast::<usize>().get()?,
            _ => return Err(Status::INVALID_VALUE),
        }
        at = at.at(2);
    }
    let all = buffer.bytes(length)?;
    let one = |(start, bytes): (usize, usize)| all.get(start..start + bytes).map(<[u8]>::to_vec);
    offsets(info).into_iter().map(one).collect::<Option<_>>().ok_or(Status::INVALID_VALUE)
}

/// Runs a kernel to its end. Returns how long it takes, in microseconds: as predicted, or else as
/// long as its simulation took.
#[expect(clippy::too_many_lines, reason = "one step after another, without a part that has a name")]
pub fn run(state: &mut State, kernel: &Kernel) -> Done<f64> {
    let Kernel { function, shape, arguments, .. } = kernel;
    if state.pending.is_some() {
        // A GPU starts nothing after a fault, either; the next synchronisation reports it.
        return Ok(0.0);
    }
    let cancel = running::begin(state)?;
    let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
    let (gpu, settings) = (state.gpu(), state.settings.clone());
    let chosen = settings.only.as_ref().is_none_or(|only| is_named(&function.name, only));
    let predicts = chosen && settings.predict.unwrap_or(state.timed);
    let shared = &gpu.shared;
    let request = Launch {
        kernel: &function.name,
        grid: shape.grid,
        block: shape.block,
        cluster: shape.cluster,
        cooperative: shape.cooperative,
        dynamic_shared: shape.dynamic_shared,
        shared_limit: if function.dynamic_limit >= 0 { shared.per_block_opt_in } else { shared.per_block },
        arguments: &arguments,
        step_limit: settings.steps.unwrap_or_else(|| step_limit(shape)),
        checks: if chosen { settings.checks } else { settings.unchosen_checks },
        model: (chosen && settings.modelled).then_some(gpu),
        cancel: Some(cancel),
        carveout: u8::try_from(function.carveout).ok(),
        predicts: (predicts && gpu.timing().is_some()).then_some(gpu),
        watch: (chosen && settings.watches && state.recorder.is_first(function, gpu)).then_some(WATCH),
        ..Launch::default()
    };
    texture_references::bind(state)?;
    copy_registered(state, true);
    let orders = settings.orders.as_ref().filter(|_| chosen);
    let before = orders::before(&state.memory, orders).unwrap_or_else(|why| {
        say(why);
        None
    });
    let began = Instant::now();
    let request = Launch { output: Some(&state.output), ..request };
    let outcome = function.program.launch(&state.memory, &request);
    let seconds = began.elapsed().as_secs_f64();
    let compared = match (&outcome, before, orders) {
        (Ok(report), Some(before), Some(orders)) => {
            let State { memory, .. } = &*state;
            let sums_open = function.sums_open;
            let again = Again { program: &function.program, memory, launch: &request, before, sums_open };
            again.compare(orders, report)
        }
        _ => None,
    };
    copy_registered(state, false);
    print(&state.output.take().text());
    let mut took = seconds * 1e6;
    let lost = match outcome {
        Ok(done) => {
            if let Some(Predicted::Time(time)) = done.predicted() {
                took = time.of_caches(settings.warm).0;
            }
            if done.predicted() == Some(&Predicted::WAITS_FOR_HOST) {
                report::waits_for_host(&function.name);
            }
            let compared = compared.unwrap_or_default();
            if let Some(message) = compared.message(&function.name, SETTINGS.width) {
                show(&message);
            }
            if chosen {
                state.recorder.add((function, gpu), shape, (&done, settings.warm), (&compared, seconds));
            }
            state.host_recorder.stored(&function.name, &done);
            if !done.findings().is_empty() {
                state.host_recorder.faulty(&function.name);
            }
            report::findings(done.findings(), done.findings_beyond()).filter(|_| !settings.goes_on)
        }
        Err(LaunchError::Trap(trap)) if trap.kind == TrapKind::Cancelled => {
            state.recorder.stopped((function, gpu), shape, &trap);
            return Err(Status::CONTEXT_IS_DESTROYED);
        }
        Err(LaunchError::Trap(trap)) => {
            state.host_recorder.faulty(&function.name);
            state.recorder.stopped((function, gpu), shape, &trap);
            Some(report::trap(&trap))
        }
        Err(LaunchError::Invalid(invalid)) => {
            say(&invalid.to_string());
            return Err(match invalid {
                InvalidLaunch::CooperativeBeyondLimits { .. } | InvalidLaunch::CooperativeBeyondModel { .. } => {
                    Status::COOPERATIVE_TOO_LARGE
                }
                InvalidLaunch::DoesNotFit { .. } => Status::LAUNCH_OUT_OF_RESOURCES,
                InvalidLaunch::LocalMemory { .. } => Status::OUT_OF_MEMORY,
                _ => Status::INVALID_VALUE,
            });
        }
        Err(error) => {
            say(&error.to_string());
            return Err(Status::NOT_SUPPORTED);
        }
    };
    // As on a GPU, nothing works in this context from here on.
    if settings.defers {
        state.pending = lost;
        return Ok(took);
    }
    state.lost = lost;
    lost.map_or(Ok(took), Err)
}

/// Whether a kernel has this name: in the PTX, or in the source that a mangled name tells.
fn is_named(kernel: &str, name: &str) -> bool {
    kernel == name || kernel.starts_with("_Z") && kernel.contains(&format!("{}{name}", name.len()))
}

/// Writes what a kernel printed to the standard output, which may be closed.
fn print(text: &str) {
    if !text.is_empty() {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::is_named;

    #[test]
    fn kernels_are_named_as_in_the_ptx_or_the_source() {
        let mangled = "_ZN8__main__3addB2v1E5ArrayIf";
        assert!(is_named(mangled, mangled) && is_named(mangled, "add") && is_named("add", "add"));
        assert!(!is_named(mangled, "dd") && !is_named("k3add", "add") && !is_named("add2", "add"));
    }
}
