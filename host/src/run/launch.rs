//! The launch itself: from arguments to what the kernel left in their buffers.

use std::collections::BTreeMap;

use cuda_std::launch::Arguments;
use simt::Checks;

use super::argument::{Argument, Data, Prepared};
use super::flags::Flags;
use super::placed::Placed;
use super::value::Values;
use crate::device::{Counters, Device, LaunchConfig};
use crate::error::Result;
use crate::faults::Findings;
use crate::lines::Lines;
use crate::progress::Progress;

/// Makes the arguments' data, once there is room for it. What is to be put out must be allowed.
pub(super) fn prepare(device: &Device, flags: &Flags) -> Result<Vec<Prepared>> {
    for argument in &flags.arguments {
        if let Some(bytes) = argument.buffer_bytes() {
            device.check_buffer(&format!("argument {}", argument.text), bytes)?;
        }
    }
    let prepared: Vec<Prepared> = flags.arguments.iter().map(Argument::prepare).collect::<Result<_>>()?;
    let bytes_of = |argument: usize| prepared[argument].data().map_or(0, Data::bytes);
    let put_out = flags.save.iter().map(|save| save.argument).chain(flags.print.iter().copied());
    let bytes = put_out.map(bytes_of).fold(0, u64::saturating_add);
    device.limits().check_output("what is to be saved and printed", bytes)?;
    Ok(prepared)
}

/// What a launch left.
pub(super) struct Launched {
    pub(super) counters: Option<Counters>,
    pub(super) findings: Findings,
    pub(super) lines: Option<Lines>,
    /// The buffers that are to be saved or printed, by the numbers of their arguments.
    pub(super) buffers: BTreeMap<usize, Values>,
}

/// Launches the kernel and reads the buffers that are wanted.
pub(super) fn launch(
    device: &Device,
    progress: &Progress,
    flags: &Flags,
    config: &LaunchConfig,
    prepared: &[Prepared],
) -> Result<Launched> {
    let mut launched = launch_on(device, progress, flags, config, prepared)?;
    if flags.counters && device.properties().is_gpu() {
        let counted = launch_on(&device.simulator()?, progress, flags, config, prepared)?;
        (launched.counters, launched.lines) = (counted.counters, counted.lines);
        launched.findings = counted.findings;
    }
    Ok(launched)
}

fn launch_on(
    device: &Device,
    progress: &Progress,
    flags: &Flags,
    config: &LaunchConfig,
    prepared: &[Prepared],
) -> Result<Launched> {
    device.watch(progress);
    let name = |index: usize| format!("argument {}", flags.arguments[index].text);
    let place = |(index, argument)| Placed::new(device, argument, &name(index));
    let mut placed: Vec<Placed> = prepared.iter().enumerate().map(place).collect::<Result<_>>()?;
    let mut arguments = Arguments::new();
    let mut handles = Vec::new();
    // Not before all are allocated: the next buffer would get the address of one that is freed.
    for ((argument, given), placed) in prepared.iter().zip(&flags.arguments).zip(&mut placed) {
        if given.is_freed() {
            placed.push(device, argument, &mut arguments)?;
            *placed = Placed::Nothing;
        } else {
            handles.extend(placed.push(device, argument, &mut arguments)?);
        }
    }
    let counters = device.launch_untyped(&flags.kernel, config, &arguments)?;
    device.synchronize()?;
    device.watch(&Progress::default());
    drop(handles);

    let mut wanted = BTreeMap::new();
    for (index, (argument, placed)) in prepared.iter().zip(&placed).enumerate() {
        let saved = flags.save.iter().any(|save| save.argument == index);
        if let Some(data) = argument.data()
            && (saved || flags.print.contains(&index))
            && let Some(values) = placed.read(data, &name(index))?
        {
            wanted.insert(index, values);
        }
    }
    let lines = flags.lines.of_last_launch(device, &flags.file.display().to_string());
    let mut findings = device.last_report().map(|report| Findings::of(&report)).unwrap_or_default();
    if flags.checks.or(Checks::ALL).memory {
        findings.list.extend(device.leaks());
    }
    Ok(Launched { counters, findings, lines, buffers: wanted })
}
