//! `host run FILE.ptx KERNEL ...`: runs kernels of a PTX file from any compiler, on a GPU or the
//! simulator.
//!
//! Data goes one way: flags -> launches with their arguments ([`argument`]) -> a plan -> reports ->
//! a format. The request is validated against the module before a device is opened. The files of
//! `--save` are written after the last kernel, each whole or not at all.
//!
//! | file | contents |
//! | --- | --- |
//! | `flags` | the command line, divided into launches at `--then` |
//! | [`argument`], [`value`], [`structure`], [`texture`], [`tensor`] | arguments and their data |
//! | [`argument_id`], `variables` | what flags refer to: arguments of launches, variables of the module |
//! | `validate`, `fit` | whether the request can be run; notes on arguments of an unlikely type |
//! | `device_argument`, `launch`, `times` | arguments on a device, the launches, and their times on a GPU |
//! | `orders` | the same launches in other orders of blocks and warps, and how a result comes to depend on them |
//! | `unwritten` | elements that nothing has written |
//! | `output`, `sequence`, `page` | the report of one launch, and of several, and as a web page |

pub mod argument;
pub mod argument_id;
mod device_argument;
mod fit;
mod flags;
mod launch;
mod orders;
mod output;
mod page;
mod sequence;
pub mod structure;
pub mod tensor;
pub mod texture;
mod times;
mod unwritten;
mod validate;
pub mod value;
mod variables;

use cuda_std::launch::LaunchShape;
use device::limits::Limits;
use device::{Device, DeviceChoice, Error, LaunchConfig, PtxFile, Result, names};
use std::collections::HashMap;
use std::io::Write;
use wording::{WIDTH, one_line, printable};

use clap::{ArgMatches, FromArgMatches};
use goals::requirement::{Kernel, Machine, Shape};
use simt::{Checks, Model};

use flags::Flags;
use output::{Report, Shown};
use validate::{Launch, Source};

pub(crate) use flags::{command, sources};
pub(crate) use output::shape_of;

use crate::built_in;
use crate::ci::{Case, Problem};
use crate::faults::Fault;
use crate::limits::ADVICE;
use crate::orders::OrdersReport;
use crate::progress::Progress;
use crate::report::{Format, LaunchTimes, RowPrediction, RunView};
use crate::requirements::{self, Requirements};
use crate::{messages, recorded, registers, terminal};

/// Where the results of a run go.
pub(crate) enum Results<'r> {
    /// As text.
    Written(Format, &'r mut dyn Write),
    /// What a page shows of it, with this many requests of each access; also of a run that a fault
    /// stopped.
    Shown(u32, &'r mut Option<RunView>),
}

/// Runs the request on the device and writes its report. Returns whether all orders of blocks and
/// warps that ran give the same result.
///
/// # Errors
///
/// Those of devices and files; [`Error::Fault`] if a kernel had a fault, after the report with the
/// fault is written.
#[expect(clippy::too_many_lines, reason = "one step after another, without a part that has a name")]
pub(crate) fn main(matches: &ArgMatches, choice: DeviceChoice, limits: Limits, results: Results<'_>) -> Result<bool> {
    let mut flags =
        Flags::from_arg_matches(matches).map_err(|error| Error::request("run", one_line(&error.to_string())))?;
    let is_table = matches!(results, Results::Written(Format::Table, _));
    match results {
        Results::Written(format, _) => flags.lines.check_format(format)?,
        Results::Shown(steps, _) => flags.steps = steps,
    }
    let launches = flags.launches(matches)?;
    let file = PtxFile::from(flags.file.clone());
    let module = file.module()?;
    let launches = validate::launches(&module, &file, launches)?;
    let outputs = validate::outputs(&module, &flags, &launches)?;

    page::check(&flags)?;
    let written = [("--report", flags.report.as_deref()), ("--save-baseline", flags.required.saved())];
    let others = written.into_iter().filter_map(|(flag, file)| Some((flag, file?)));
    flags.ci.check(others.chain(flags.save.iter().map(|save| ("--save", save.file.as_path()))))?;
    flags.check_sources()?;

    let progress = Progress::on_terminal();
    progress.begin(|| "opening the device".to_owned());
    let predict_only = flags.predicted.predict;
    let options =
        device::Options { ptx: vec![file.clone()], limits, predict_only, advice: ADVICE, ..device::Options::default() };
    let device = device::open(choice, &options)?;
    let is_gpu = device.properties().is_gpu();
    let simulated = flags.counters || !is_gpu;
    flags.lines.check_counted(simulated)?;
    flags.lines.check_tiles(false)?;
    flags.checks.check_simulated(simulated)?;
    check_predicted(&flags, &device)?;
    check_orders(&flags, &device, launches.len())?;
    flags.goals = goals(&flags, &device)?;
    let registers = flags.goals.as_ref().map_or(Ok(HashMap::new()), |goals| goals.registers(&module.text))?;
    let configs: Vec<LaunchConfig> = launches.iter().map(|launch| config_of(launch, &flags)).collect();
    for (launch, config) in launches.iter().zip(&configs) {
        config.check(&launch.function.name, LaunchShape::default(), device.properties())?;
    }
    let prepared = launch::prepare(&device, &launches, &outputs)?;
    // Not earlier, so that a bad request prints only its one line.
    let unfit = launches.iter().flat_map(|launch| fit::notes(&module, launch.function, &launch.flags.arguments));
    built_in::notes(&device).chain(unfit).for_each(|note| progress.note(&note));
    let name = file.name();
    let plan = launch::Plan {
        flags: &flags,
        file: &name,
        launches: &launches,
        configs: &configs,
        outputs: &outputs,
        prepared: &prepared,
        module: &module,
    };
    let ran = launch::run(&device, &progress, &plan).and_then(|ran| {
        let counted: Vec<_> = ran.launches.iter().map(|launched| launched.counters).collect();
        let orders = if ran.fault.is_none() { orders::run(&device, &progress, &plan, &counted)? } else { None };
        Ok((ran, orders))
    });
    // Remove the bar before the report is written.
    drop(progress);
    let (mut ran, orders) = ran?;
    let orders_are_right = orders.as_ref().is_none_or(OrdersReport::right);
    let other_results = orders.as_ref().and_then(|orders| orders.error(terminal::width_of_messages().min(WIDTH)));
    if ran.fault.is_none() {
        flags.lines.check_pictured(ran.launches.iter().filter_map(|launched| launched.lines.as_ref()))?;
    }
    if let Some(fault) = &mut ran.fault {
        advise(fault, &module, &flags, ran.launches.len());
    }

    let named = ran.launches.iter().zip(&launches);
    let predicted = named.filter_map(|(ran, launch)| Some((&*launch.function.name, ran.predicted.as_ref()?)));
    let together = RowPrediction::of(predicted, 0, 0).filter(|_| launches.len() > 1 && ran.fault.is_none());
    let goals = flags.goals.as_ref().filter(|_| ran.fault.is_none());
    let verdict = goals.map(|goals| judge(goals, &mut ran.launches, &launches, (&name, &registers)));
    let (mut reports, mut findings, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let on_page: Vec<_> = ran.launches.iter_mut().map(|launched| launched.on_page.take()).collect();
    for ((launched, launch), config) in ran.launches.into_iter().zip(&launches).zip(&configs) {
        reports.push(Report {
            file: name.clone(),
            kernel: &launch.function.name,
            config,
            device: device.properties(),
            counters: launched.counters,
            times: launched.times,
            predicted: launched.predicted.as_ref().and_then(|predicted| {
                let name = names::shown(&launch.function.name);
                let row = RowPrediction::of([(&*name, predicted)], launch.flags.bytes.unwrap_or(0), 0)?;
                Some(row.beside(launched.times.as_ref().map(LaunchTimes::time_ms)))
            }),
            hottest: launched.hottest,
            why: flags.predicted.why,
            lines: launched.lines,
            chart: flags.lines.draws_memory(),
            arrays: launched.arrays,
            faults: launched.findings.faults(),
            stopped: false,
            printed: launched.printed,
            buffers: Vec::new(),
            orders: None,
            goals: None,
        });
        findings.push(launched.findings);
    }
    if let Some(last) = reports.last_mut() {
        last.faults.extend(ran.fault.as_ref().and_then(Fault::of));
        last.stopped = ran.fault.is_some();
        last.orders = orders;
        last.goals = verdict;
        if ran.fault.is_none() {
            for (output, launch::Elements { values, unwritten }) in outputs.iter().zip(ran.outputs) {
                let (title, shape) = match &output.source {
                    Source::Argument(id) => {
                        let data = prepared[id.launch][id.argument].data();
                        (format!("Argument {}", output.name), data.map(|data| data.shape.clone()).unwrap_or_default())
                    }
                    Source::Variable(variable, ty) => {
                        (format!("Variable {}", output.name), vec![variable.bytes as usize / ty.bytes()])
                    }
                };
                let what = format!("argument {}", output.name);
                notes.extend(unwritten::note(&what, &unwritten, output.file.as_deref()));
                match &output.file {
                    Some(file) => values.write(file, &shape)?,
                    None => last.buffers.push(Shown { name: output.name.clone(), title, values, unwritten }),
                }
            }
        }
    }
    let shown = if flags.has_page() { page::view(&reports, on_page, &findings) } else { None };
    match results {
        Results::Written(format, out) => {
            // A page of half a run would look like a whole one.
            if let (Some(path), None) = (&flags.report, &ran.fault) {
                page::write(&reports, shown, path)?;
            }
            sequence::write(&reports, together.as_ref(), launches.len(), format, out)?;
            sequence::print_findings(&findings, &launches, format, &flags.sources);
            notes.iter().for_each(|note| messages::write(&format!("note: {}\n", printable(note))));
        }
        Results::Shown(_, view) => *view = shown,
    }
    other_results.iter().for_each(|text| messages::write(text));
    let verdict = reports.last().and_then(|report| report.goals.as_ref());
    verdict.map_or(Ok(()), requirements::Verdict::save)?;
    if flags.ci.any() {
        let faults = reports.iter().map(case);
        let other = other_results.as_ref().map(|text| {
            let kernel = launches.last().map_or(String::new(), |launch| launch.function.name.clone());
            let text = text.trim_start_matches("error: ").lines().next().unwrap_or_default().to_owned();
            let problem = Problem { rule: "other_order".to_owned(), kernel: kernel.clone(), text, place: None };
            Case { about: kernel, name: "the same result in other orders".to_owned(), problems: vec![problem] }
        });
        flags.ci.write(&faults.chain(other).chain(verdict.iter().flat_map(|it| it.cases())).collect::<Vec<_>>())?;
    }
    let missed = verdict.and_then(|verdict| verdict.error(is_table));
    missed.iter().for_each(|text| messages::write(text));
    match ran.fault {
        Some(fault) => Err(sequence::with_launch(fault, reports.len(), launches.len())),
        None => sequence::error(&findings).map_or(Ok(orders_are_right && missed.is_none()), Err),
    }
}

/// The case that CI systems show: a launch has no faults.
fn case(report: &Report<'_>) -> Case {
    let kernel = recorded::short(&names::shown(report.kernel));
    let problem = |fault: &Fault| Problem {
        rule: fault.kind.to_owned(),
        kernel: kernel.clone(),
        text: fault.message.clone(),
        place: fault.file.clone().zip(fault.line),
    };
    Case::of_faults(&kernel, report.faults.iter().map(problem).collect())
}

/// The goals of the launches, if there are any.
fn goals(flags: &Flags, device: &Device) -> Result<Option<Requirements>> {
    let Some(flag) = flags.required.flag() else { return Ok(None) };
    let is_gpu = device.properties().is_gpu();
    if is_gpu && !flags.counters {
        return Err(Error::request(flag, "only the simulator counts; give --counters or --device sim"));
    }
    if flags.predicted.predict {
        return Err(Error::request(flag, "--predict runs a part of the blocks and counts nothing; leave it out"));
    }
    let named = |name: &str| Model::named(name);
    let counts = device.properties().simulates.filter(|_| !is_gpu).and_then(named);
    let Some(predicts) = device.predicted_model().or_else(|| named("hopper")) else { return Ok(None) };
    flags.required.read(Machine { counts, predicts, has_ptxas: registers::ptxas().is_some() }).map(Some)
}

/// What became of the goals. Takes the launches' reports.
fn judge(
    goals: &Requirements,
    launched: &mut [launch::Launched],
    launches: &[Launch<'_>],
    (module, registers): (&str, &HashMap<String, u32>),
) -> requirements::Verdict {
    let counted = launched.iter_mut().zip(launches).map(|(launched, launch)| {
        let report = launched.report.take()?;
        let kernel = launch.function.name.clone();
        Some(goals::metric::Launched { kernel, counters: report.counters(), report })
    });
    let counted: Vec<_> = counted.collect();
    let kernels = launched.iter().zip(launches).zip(&counted).map(|((launched, launch), counted)| Kernel {
        name: recorded::short(&names::shown(&launch.function.name)),
        module: module.to_owned(),
        launched: counted.as_ref(),
        launches: 1,
        shapes: vec![Shape { grid: launch.flags.grid, block: launch.flags.block, launches: 1 }],
        predicted_us: launched.predicted.as_ref().and_then(|predicted| {
            let row = RowPrediction::of([("", predicted)], 0, 0)?;
            if let RowPrediction::Time(time) = row { Some(1e3 * time.time_ms) } else { None }
        }),
        registers: registers.get(&launch.function.name).copied(),
        findings: launched.findings.list.len() as u64 + launched.findings.beyond,
    });
    goals.judge(&kernels.collect::<Vec<_>>())
}

/// Fails if a flag cannot be combined with those about predicted times.
fn check_predicted(flags: &Flags, device: &Device) -> Result<()> {
    if flags.predicted.compare_models {
        return Err(Error::request("--compare-models", "only labs have it; give --device sim:MODEL for each model"));
    }
    flags.predicted.check(device, flags.counters)?;
    let results = [
        ("--print", !flags.print.is_empty()),
        ("--save", !flags.save.is_empty()),
        ("--report", flags.report.is_some()),
    ];
    let counts = [
        ("--check", flags.checks.or(Checks::NONE).any()),
        ("--lines and --picture", flags.lines.given()),
        ("--counters", flags.counters && device.properties().is_gpu()),
    ];
    flags.predicted.check_alone(device, &results, &counts)
}

/// Fails if other orders are asked for where there are none.
fn check_orders(flags: &Flags, device: &Device, launches: usize) -> Result<()> {
    let properties = device.properties();
    flags.orders.check_simulated(flags.counters || !properties.is_gpu())?;
    let predicts = [("--predict", flags.predicted.predict)];
    flags.orders.check_alone(&predicts)?;
    if flags.exploring.explore {
        let problem = match () {
            () if !flags.counters && properties.is_gpu() => {
                "only the simulator runs other orders; give --device sim or --counters"
            }
            () if flags.predicted.predict => "results in other orders are not for --predict; leave one of them out",
            () if launches > 1 => "the orders of one launch are explored; leave out --then",
            () => return Ok(()),
        };
        return Err(Error::request("--explore", problem));
    }
    if flags.orders.schedule.is_some() {
        if properties.is_gpu() || properties.simulates.is_some() {
            let problem = "an order is for the simulator without a model; give --device sim";
            return Err(Error::request("--schedule", problem));
        }
        let others = [("--check", flags.checks.or(Checks::NONE).any()), ("predicted times", flags.predicted.asked())];
        flags.orders.check_alone(&others)?;
    }
    Ok(())
}

/// The configuration of a launch.
fn config_of(launch: &Launch<'_>, flags: &Flags) -> LaunchConfig {
    let asked = &launch.flags;
    LaunchConfig {
        // A kernel with .blocksareclusters has its own cluster size, and its grid is counted in
        // clusters.
        cluster: asked.cluster.filter(|_| !launch.function.grid_in_clusters),
        cooperative: flags.cooperative,
        dynamic_shared: asked.shared,
        checks: flags.checks(),
        carveout: asked.carveout,
        registers: asked.registers.or(flags.predicted.thread_registers),
        watch: if flags.lines.watches() || flags.has_page() || flags.goals.as_ref().is_some_and(Requirements::watch) {
            flags.steps.max(1)
        } else {
            0
        },
        counts_words: flags.lines.draws_elements(),
        predict: flags.predict(),
        order: flags.orders.schedule,
        ..LaunchConfig::new(asked.grid, asked.block)
    }
}

/// A GPU does not report why a kernel stopped. One that reads the grid's workspace stops if there
/// is none.
fn advise(error: &mut Error, module: &ptx::Module, flags: &Flags, launches: usize) {
    if let Error::Fault { fault, trap: None, .. } = error
        && !flags.cooperative
        && module.text.contains("%envreg1")
    {
        fault.push_str("; if it calls grid.sync(), give --cooperative");
    }
    if let Error::Fault { fault, .. } = error
        && flags.predicted.predict
        && launches > 1
    {
        fault.push_str("; with --predict the launches before it ran a part of their blocks: leave it out to run all");
    }
}
