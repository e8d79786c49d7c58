//! Launches the kernels: makes the arguments' data, launches, and reads the outputs. [`super`]
//! calls it with a validated request. It changes the device; it writes no file.

use std::mem;

use cuda_std::launch::Arguments;
use device::{Counters, Device, Error, LaunchConfig, Report, Result, memory, names};
use ptx::Module;
use simt::prediction::Predicted;
use simt::requests::ArrayCounts;
use simt::{CountsDiffer, Printed};

use super::argument::{Argument, Data, Prepared};
use super::argument_id::ArgumentId;
use super::device_argument::{DeviceArgument, Parameter};
use super::fit;
use super::flags::Flags;
use super::structure::Part;
use super::times;
use super::validate::{Launch, Output, Source};
use super::value::Values;
use crate::faults::Findings;
use crate::limits;
use crate::lines::{LineCounts, Lines};
use crate::predicted::waits::Waits;
use crate::progress::Progress;
use crate::report::{Hottest, LaunchTimes};

/// A validated request, with its data.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) flags: &'a Flags,
    /// The PTX file's name in faults and counts by line.
    pub(super) file: &'a str,
    pub(super) launches: &'a [Launch<'a>],
    pub(super) configs: &'a [LaunchConfig],
    pub(super) outputs: &'a [Output],
    /// The arguments of each launch.
    pub(super) prepared: &'a [Vec<Prepared>],
    pub(super) module: &'a Module,
}

impl Plan<'_> {
    /// The name of an argument, for errors.
    fn name(&self, id: ArgumentId) -> String {
        format!("argument {}", self.launches[id.launch].flags.arguments[id.argument].text)
    }
}

/// Makes the arguments' data, if there is room for it and the output is within its limit.
pub(super) fn prepare(device: &Device, launches: &[Launch<'_>], outputs: &[Output]) -> Result<Vec<Vec<Prepared>>> {
    for argument in launches.iter().flat_map(|launch| &launch.flags.arguments) {
        if let Some(bytes) = argument.buffer_bytes() {
            device.check_room(&format!("argument {}", argument.text), bytes)?;
        }
    }
    let mut prepared: Vec<Vec<Prepared>> = Vec::new();
    for launch in launches {
        prepared.push(launch.flags.arguments.iter().map(Argument::prepare).collect::<Result<_>>()?);
        check_files(launch, prepared.last().map(Vec::as_slice).unwrap_or_default())?;
    }
    for launch in launches {
        for argument in &launch.flags.arguments {
            for (id, offset) in argument.references() {
                if let Some(data) = data_at(&prepared, id).filter(|data| offset > data.bytes()) {
                    return Err(Error::Launch {
                        kernel: launch.function.name.clone(),
                        problem: format!("argument {}: the buffer has {} bytes", argument.text, data.bytes()),
                    });
                }
            }
        }
    }
    let bytes_of = |output: &Output| match &output.source {
        Source::Argument(id) => prepared[id.launch][id.argument].data().map_or(0, Data::bytes),
        Source::Variable(variable, _) => variable.bytes,
    };
    let bytes = outputs.iter().map(bytes_of).fold(0, u64::saturating_add);
    limits::check_output(device.limits(), "what is to be saved and printed", bytes)?;
    Ok(prepared)
}

/// Fails if a file's numbers have another size than those that the kernel accesses.
fn check_files(launch: &Launch<'_>, prepared: &[Prepared]) -> Result<()> {
    let arguments = launch.flags.arguments.iter().zip(prepared).filter(|(argument, _)| argument.is_parameter);
    for (index, (argument, prepared)) in arguments.enumerate() {
        if let (true, Some(data)) = (argument.is_bare_file(), prepared.data()) {
            fit::check_file(launch.function, index, &argument.text, data.ty)
                .map_err(|problem| Error::Launch { kernel: launch.function.name.clone(), problem })?;
        }
    }
    Ok(())
}

/// The data of an argument, or of the earlier one that it refers to.
fn data_at(prepared: &[Vec<Prepared>], id: ArgumentId) -> Option<&Data> {
    match &prepared[id.launch][id.argument] {
        Prepared::Again(earlier, _) => data_at(prepared, *earlier),
        argument => argument.data(),
    }
}

/// The result of one launch.
#[derive(Default)]
pub(super) struct Launched {
    pub(super) counters: Option<Counters>,
    pub(super) times: Option<LaunchTimes>,
    /// How long a GPU would take, if asked for, and where warps would wait longest.
    pub(super) predicted: Option<Predicted>,
    /// How often each word is loaded, if that was counted.
    pub(super) arrays: Vec<ArrayCounts>,
    pub(super) hottest: Option<Hottest>,
    pub(super) findings: Findings,
    pub(super) lines: Option<Lines>,
    /// The same with every access, if there is to be a page.
    pub(super) on_page: Option<Lines>,
    /// What the kernel printed, if known.
    pub(super) printed: Option<Printed>,
    /// All that was counted, if there are goals.
    pub(super) report: Option<Report>,
}

/// The results of all launches.
pub(super) struct RunResult {
    /// The launches that completed, and the one that was stopped.
    pub(super) launches: Vec<Launched>,
    /// The fault that stopped the last launch.
    pub(super) fault: Option<Error>,
    /// The outputs, if there was no fault.
    pub(super) outputs: Vec<Elements>,
}

/// The elements of an output.
pub(super) struct Elements {
    pub(super) values: Values,
    /// Which of them nothing has written; nothing if all were, or if it is not known.
    pub(super) unwritten: Vec<bool>,
}

/// Launches the kernels, one after the other, and reads the outputs. A fault ends the run.
pub(super) fn run(device: &Device, progress: &Progress, plan: &Plan<'_>) -> Result<RunResult> {
    let only_predicted = plan.flags.predicted.predict;
    let beside = (plan.flags.counters || only_predicted) && device.properties().is_gpu();
    progress.add_steps(plan.launches.len() * if beside { 2 } else { 1 });
    let mut ran = run_on(device, progress, plan)?;
    if ran.fault.is_none() {
        let times = times::of_launches(device, progress, plan)?;
        ran.launches.iter_mut().zip(times).for_each(|(launched, times)| launched.times = times);
    }
    if beside && ran.fault.is_none() {
        // It has the device's options: to predict only, if that is asked for.
        let simulator = device.simulator()?;
        let counted = run_on(&simulator, progress, plan)?;
        // The simulator may find a fault that the GPU did not notice. It ends the run.
        ran.launches.truncate(counted.launches.len());
        for (launched, counted) in ran.launches.iter_mut().zip(counted.launches) {
            *launched = Launched { printed: launched.printed.take(), times: launched.times, ..counted };
        }
        // Only the simulator knows which elements were written.
        for (output, counted) in ran.outputs.iter_mut().zip(counted.outputs) {
            output.unwritten = counted.unwritten;
        }
        ran.fault = counted.fault;
    }
    Ok(ran)
}

fn run_on(device: &Device, progress: &Progress, plan: &Plan<'_>) -> Result<RunResult> {
    device.watch(progress.of_launch());
    let mut placed = place(device, plan)?;
    let mut ready = Ready::new(device, &mut placed, plan)?;
    let mut ran = RunResult { launches: Vec::new(), fault: None, outputs: Vec::new() };
    for (index, launch) in plan.launches.iter().enumerate() {
        let kernel = &launch.function.name;
        progress.begin(|| names::shown(kernel).into_owned());
        ready.prepare(index)?;
        let launched = ready.launch(index).and_then(|report| device.synchronize().map(|()| report));
        match launched {
            Ok(report) => {
                let notes = report.as_ref().map(notes_on_counts).unwrap_or_default();
                notes.iter().for_each(|note| progress.note(note));
                ran.launches.push(launched_of(report, device.take_printed(), device, plan));
            }
            Err(Error::Fault { kernel, fault, trap }) => {
                let findings = Findings::before(trap.as_deref());
                let printed = device.take_printed();
                let launched = Launched { findings, printed, ..Launched::default() };
                ran.launches.push(launched);
                ran.fault = Some(Error::Fault { kernel, fault, trap });
                return Ok(ran);
            }
            Err(error) => return Err(error),
        }
        progress.done();
    }
    device.watch(None);
    drop(ready);
    if plan.flags.checks().memory
        && let Some(last) = ran.launches.last_mut()
    {
        last.findings.list.extend(device.leaks());
    }
    // Nobody asks what was computed, or the GPU has read it.
    for output in plan.outputs.iter().filter(|_| !device.predicts_only()) {
        ran.outputs.push(elements(device, plan, &placed, output)?);
    }
    Ok(ran)
}

/// Reads an output after the launches.
pub(super) fn elements(
    device: &Device,
    plan: &Plan<'_>,
    placed: &[Vec<DeviceArgument>],
    output: &Output,
) -> Result<Elements> {
    Ok(match &output.source {
        Source::Argument(id) => {
            let placed = &placed[id.launch][id.argument];
            let data = plan.prepared[id.launch][id.argument].data();
            let read = data.map(|data| placed.read(data, &plan.name(*id))).transpose()?;
            // Only buffers are requested: see `validate::outputs`.
            let values = read.flatten().unwrap_or(Values::U8(Vec::new()));
            Elements { values, unwritten: data.map(|data| placed.unwritten(data)).unwrap_or_default() }
        }
        Source::Variable(variable, ty) => {
            memory::check_host("reading a variable", variable.bytes)?;
            let mut values = ty.zeros(variable.bytes as usize / ty.bytes());
            // SAFETY: it is read only.
            unsafe { device.variable_bytes(&variable.symbol, variable.bytes)? }.read_into(values.bytes_mut())?;
            // The module gives it a value, if only zero.
            Elements { values, unwritten: Vec::new() }
        }
    })
}

/// What a launch that ended has left. If only times are predicted, that is nothing else.
fn launched_of(report: Option<Report>, printed: Option<Printed>, device: &Device, plan: &Plan<'_>) -> Launched {
    let Some(report) = report else { return Launched { printed, ..Launched::default() } };
    let mut waits = Waits::default();
    waits.add(&report);
    let predicted =
        Launched { predicted: report.predicted().cloned(), hottest: waits.hottest(), ..Launched::default() };
    if device.predicts_only() {
        return predicted;
    }
    Launched {
        counters: Some(report.counters()),
        findings: Findings::of(&report),
        on_page: plan.flags.has_page().then(|| on_page(&report, plan)),
        arrays: report.arrays().to_vec(),
        lines: plan.flags.lines.of_launch(&report, plan.file, &plan.flags.sources),
        printed,
        report: plan.flags.goals.is_some().then_some(report),
        ..predicted
    }
}

/// What a GPU can count otherwise, and why: of each reason, the first place.
fn notes_on_counts(report: &Report) -> Vec<String> {
    let mut all: Vec<(CountsDiffer, String)> = Vec::new();
    for (one, why) in report.differing() {
        if all.iter().any(|&(known, _)| known == why) {
            continue;
        }
        let source = one.source.as_ref().map(|at| format!("{}:{}", names::shown(&at.file), at.line));
        let line = source.unwrap_or_else(|| format!("PTX line {}", one.ptx_line));
        let note = match why {
            CountsDiffer::Retried => {
                "a GPU makes this atomic operation in shared memory as a loop of a load and a compare-and-swap, as often as \
                 threads contend, so it counts more loads and atomic operations there"
            }
            CountsDiffer::Unrolled => {
                "lanes of a warp leave this loop after different numbers of iterations, and ptxas unrolls it by four, so a \
                 GPU can make one load of theirs in two copies, and count more loads"
            }
            CountsDiffer::Joined => {
                "lanes of a warp come to the same accesses by this condition and by the next, which ptxas can join, so a GPU \
                 can make these accesses at once, and count fewer"
            }
        };
        all.push((why, format!("{line}: {note}")));
    }
    all.into_iter().map(|(_, note)| note).collect()
}

/// The lines of a launch with all accesses.
fn on_page(report: &Report, plan: &Plan<'_>) -> Lines {
    let mut counts = LineCounts::stepping(plan.flags.steps);
    counts.add(report);
    Lines::all(counts, plan.file, &plan.flags.sources)
}

/// Makes and fills the arguments' memory.
pub(super) fn place(device: &Device, plan: &Plan<'_>) -> Result<Vec<Vec<DeviceArgument>>> {
    let of_launch = |(launch, prepared): (usize, &Vec<Prepared>)| {
        let place =
            |(argument, prepared)| DeviceArgument::new(device, prepared, &plan.name(ArgumentId { launch, argument }));
        prepared.iter().enumerate().map(place).collect()
    };
    plan.prepared.iter().enumerate().map(of_launch).collect()
}

/// The launches with their arguments on a device, ready to be started in order.
pub(super) struct Ready<'a> {
    device: &'a Device,
    plan: &'a Plan<'a>,
    parameters: Vec<Vec<Parameter<'a>>>,
    /// The buffers to free before each launch.
    freed: Vec<Vec<DeviceArgument>>,
}

impl<'a> Ready<'a> {
    /// The plan's launches, with the arguments that [`place`] made.
    pub(super) fn new(device: &'a Device, placed: &'a mut [Vec<DeviceArgument>], plan: &'a Plan<'_>) -> Result<Self> {
        let (mut parameters, mut freed) = (Vec::new(), Vec::new());
        for (placed, prepared) in placed.iter_mut().zip(plan.prepared) {
            let (own, to_be_freed) = parameters_of(device, placed, prepared, &parameters)?;
            parameters.push(own);
            freed.push(to_be_freed);
        }
        Ok(Self { device, plan, parameters, freed })
    }

    /// Frees the buffers and sets the variables that the launch wants freed and set before it.
    pub(super) fn prepare(&mut self, index: usize) -> Result<()> {
        // Only after all are allocated; otherwise the next buffer could get the address of a freed
        // one.
        self.freed[index].clear();
        for setting in &self.plan.launches[index].settings {
            // SAFETY: what the user sets before a launch of any PTX is that launch's input.
            unsafe { self.device.variable_bytes(&setting.variable.symbol, setting.variable.bytes)? }
                .write(&setting.bytes)?;
        }
        Ok(())
    }

    /// The parameters' values of a launch.
    pub(super) fn arguments(&self, index: usize) -> Arguments {
        let mut arguments = Arguments::new();
        let all = self.parameters[index].iter().zip(&self.plan.launches[index].flags.arguments);
        let passed = all.filter(|(_, argument)| argument.is_parameter);
        passed.for_each(|(parameter, _)| parameter.push(&mut arguments));
        arguments
    }

    /// Starts the launch.
    pub(super) fn launch(&self, index: usize) -> Result<Option<Report>> {
        let arguments = self.arguments(index);
        let kernel = &self.plan.launches[index].function.name;
        // SAFETY: it is the user's kernel, and whoever types `host run` answers for it: the
        // arguments fit the PTX, and the simulator checks the rest.
        unsafe { self.device.launch_untyped(kernel, &self.plan.configs[index], &arguments) }
    }
}

/// The parameters of a launch, and the buffers to free before it. `earlier` has the parameters of
/// the launches before it.
fn parameters_of<'a>(
    device: &Device,
    placed: &'a mut [DeviceArgument],
    prepared: &[Prepared],
    earlier: &[Vec<Parameter<'a>>],
) -> Result<(Vec<Parameter<'a>>, Vec<DeviceArgument>)> {
    let (mut own, mut freed) = (Vec::new(), Vec::new());
    for (placed, prepared) in placed.iter_mut().zip(prepared) {
        let parameter = match prepared {
            Prepared::Again(id, offset) => earlier.get(id.launch).unwrap_or(&own)[id.argument].again(*offset),
            Prepared::Struct(parts) => {
                let of_part = |part: &Part| match part {
                    Part::Bytes(bytes) => bytes.clone(),
                    Part::Address(id, offset) => {
                        let target = earlier.get(id.launch).unwrap_or(&own)[id.argument].again(*offset);
                        target.word().to_le_bytes().to_vec()
                    }
                };
                Parameter::Bytes(parts.iter().flat_map(of_part).collect(), 1)
            }
            Prepared::Buffer(data) if data.freed => {
                let parameter = placed.address(data.offset);
                freed.push(mem::replace(placed, DeviceArgument::Nothing));
                parameter
            }
            _ => placed.parameter(device, prepared)?,
        };
        own.push(parameter);
    }
    Ok((own, freed))
}
