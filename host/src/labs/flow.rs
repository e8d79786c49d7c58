//! Runs a lab: launches, compares, times and reports each variant. [`super::run`] calls it. Data
//! goes one way; a lab never sees the report while it is made.
//!
//! For each variant, the outputs are poisoned, the variant is launched, its result is compared with
//! the reference, and on a GPU it is timed. On the simulator the first launch gives the counters.
//!
//! A wrong result is also saved, with a note on the standard error, because it is needed to find
//! the mistake. The result of a kernel that a fault stopped is not saved.

use std::path::{Path, PathBuf};

use common::output_file;
use device::{Device, Error, Predict, Result};
use serde_json::{Map, Value};
use simt::Model;

use super::lab::{Lab, Plan, Values, Variant};
use super::launcher::{Launcher, Record};
use super::settings::Settings;
use super::streams;
use crate::built_in;
use crate::faults::{Fault, Findings};
use crate::limits;
use crate::lines::{LineCounts, Lines};
use crate::predicted::why;
use crate::report::{
    self, Comparison, CounterSource, LabReport, RanAgain, RowPrediction, Small, Subject, VariantReport,
};
use crate::stopwatch::{Step, Stopwatch};
use crate::timing::{Times, Timing};
use crate::units::gigabytes_per_second;

/// Runs a lab.
///
/// With [`Settings::counters`] on a GPU, its variants run again on the simulator.
///
/// # Errors
///
/// [`Error::Request`], [`Error::File`] and [`Error::OutOfMemory`] before anything runs; the
/// device's errors after. Wrong results and faults of kernels are not errors: they are in the
/// report.
pub fn run<L: Lab>(device: &Device, options: L::Options, settings: &Settings) -> Result<LabReport> {
    let progress = &settings.progress;
    let name = L::NAME;
    check_files(settings)?;
    let counts_words =
        settings.lines.draws_elements() || settings.has_page() && L::SHOWCASE.elements.is_some() || L::COUNTS_WORDS;
    let draws_lanes = settings.has_page() && L::SUBJECTS.contains(&Subject::ActiveLanes);
    let settings = &Settings { counts_words, draws_lanes, ..settings.clone() };
    settings.peer.check(device, L::PEERS)?;
    settings.predicted.check(device, settings.counters)?;
    let is_gpu = device.properties().is_gpu();
    let alongside = is_gpu && (settings.counters || settings.predicted.predict);
    let simulated = settings.counters || !is_gpu;
    settings.lines.check_counted(simulated)?;
    settings.checks.check_simulated(simulated)?;
    settings.orders.check_simulated(simulated)?;
    settings.orders.check_alone(&[("--predict", settings.predicted.predict)])?;
    let device = if settings.predicted.predict { device.predicting_only()? } else { device.clone() };
    let device = &device.shaped_for(settings.shape.multiprocessors);
    progress.begin(|| format!("{name}: preparing the data"));
    device.watch(progress.of_launch());
    let lab = L::new(device, options, settings)?;
    let mut plan = lab.plan(device)?;
    let left_out = |variant: &Variant<'_, L::Data>| L::FIRST.leaves_out(&variant.name, &variant.facts);
    if settings.first_alone && !chooses_rows(&lab, device, settings) && !plan.variants.iter().all(left_out) {
        plan.variants.retain(|variant| !left_out(variant));
    }
    let own = plan.variants.len();
    let runs_again = plan.variants.iter().any(|variant| variant.again.is_some());
    settings.orders.check_some(plan.variants.iter().any(|variant| variant.device.is_none()))?;
    let peers = settings.peer.load(device, L::PEERS)?;
    if let Some(peers) = &peers {
        plan.variants.extend(lab.peers(device, peers, &plan.data)?);
    }
    check_output(&plan, device, settings)?;
    let rows = plan.variants.iter().map(|variant| (variant.group.as_str(), variant.facts.as_slice()));
    settings.lines.check_tiles(plan.variants.iter().any(|variant| variant.tiles.is_some()))?;
    settings.check_plot(L::SWEEPS, L::ROOFLINE, device, rows)?;
    check_predicted(&plan, device, settings)?;
    if settings.lines.draws_memory() {
        let rows = plan.variants.iter().map(|variant| variant.name.as_str());
        report::check_charted(rows, L::SHOWCASE.charted)?;
    }
    // Not earlier, so that a bad request prints only its one line.
    built_in::notes(device).for_each(|note| progress.note_once(&note));
    if let Some(peers) = &peers {
        settings.peer.note_missing(peers, L::PEERS, progress);
    }
    progress.add_steps(plan.variants.len() + if alongside { own } else { 0 });

    let mut report =
        LabReport { grids: plan.grids.clone(), compact: plan.compact, ..empty_report(&lab, device, settings) };
    let saved = run_variants(&lab, plan, device, settings, &mut report)?;
    if !device.properties().is_gpu() {
        report.counters_from = Some(CounterSource::Simulator);
        if let Some(model) = unasked(device, settings) {
            report.leave_out_launches(model);
        }
    } else if alongside && report.stopped.is_none() {
        count_alongside(&lab, device, settings, &mut report)?;
    }
    if runs_again && !is_gpu && !device.predicts_only() && report.correct() {
        super::orders::run_again(&lab, device, settings, &mut report)?;
    }
    if settings.orders.any() && report.correct() {
        super::orders::run(&lab, device, settings, &mut report)?;
    }
    // Remove the bar before the report is written.
    device.watch(None);
    if report.stopped.is_none() {
        let lines = report.variants.iter().filter_map(|variant| variant.lines.as_ref());
        settings.lines.check_pictured(lines)?;
    }
    save(saved, &report, settings)?;
    if report.correct() && !device.predicts_only() {
        report.conclude(L::CONCLUSIONS);
    }
    if settings.predicted.why {
        report.conclusions.extend(report.variants.iter().flat_map(why::of));
    }
    // A fault that stops a kernel is the program's error, and a page of half a run would look like
    // a whole one.
    if let (Some(path), None) = (&settings.report, &report.stopped) {
        report::write_page(&report, L::ABOUT, path)?;
    }
    Ok(report)
}

/// Fails unless the files of `--output` and `--report` can be written.
pub(super) fn check_files(settings: &Settings) -> Result<()> {
    if let Some(path) = &settings.output {
        output_file::check(path)?;
    }
    if let Some(path) = &settings.report {
        output_file::check(path)?;
        let same = |other: &PathBuf| output_file::identity(other) == output_file::identity(path);
        if settings.output.as_ref().is_some_and(same) {
            return Err(Error::request("--report", "--output writes the same file; give another"));
        }
    }
    Ok(())
}

/// Fails if `--predict` or `--why` cannot give what else is asked for.
fn check_predicted<D>(plan: &Plan<'_, D>, device: &Device, settings: &Settings) -> Result<()> {
    let predicted = &settings.predicted;
    let results = [("--output", settings.output.is_some()), ("--report", settings.report.is_some())];
    let counts = [
        ("--check", settings.checks().any()),
        ("--lines and --picture", settings.lines.given()),
        ("--counters", settings.counters && device.properties().is_gpu()),
    ];
    predicted.check_alone(device, &results, &counts)?;
    match (predicted.why, plan.variants.len()) {
        (true, rows) if rows != 1 => {
            Err(Error::request("--why", format!("it explains one row; {rows} would run, choose one")))
        }
        _ => Ok(()),
    }
}

/// The report of a lab before anything ran.
pub(super) fn empty_report<L: Lab>(lab: &L, device: &Device, settings: &Settings) -> LabReport {
    LabReport {
        lab: L::NAME,
        about: L::ABOUT,
        meanings: (L::MEANINGS)(),
        subjects: L::SUBJECTS,
        first: L::FIRST,
        every_row: chooses_rows(lab, device, settings),
        legend: settings.legend,
        why: settings.predicted.why,
        device: device.properties().clone(),
        parameters: parameters(lab, device, settings),
        device_copy: None,
        counters_from: None,
        variants: Vec::new(),
        too_small_to_predict: false,
        instead_of_table: None,
        grids: Vec::new(),
        compact: false,
        sweeps: L::SWEEPS,
        roofline: L::ROOFLINE,
        plot: settings.plot,
        plays: settings.play,
        charted: L::SHOWCASE.charted,
        chart: settings.lines.draws_memory(),
        elements: L::SHOWCASE.elements,
        maps: settings.lines.draws_elements(),
        tiles: settings.lines.draws_tiles(),
        conclusions: Vec::new(),
        concluded: Vec::new(),
        orders: Vec::new(),
        stopped: None,
    }
}

/// Whether every row is shown: flags choose rows, or times are taken.
fn chooses_rows<L: Lab>(lab: &L, device: &Device, settings: &Settings) -> bool {
    lab.chooses_rows() || settings.predicted.predict || device.properties().is_gpu()
}

/// What all variants have in common.
fn parameters<L: Lab>(lab: &L, device: &Device, settings: &Settings) -> Map<String, Value> {
    let mut parameters = match lab.parameters() {
        Value::Object(parameters) => parameters,
        _ => Map::new(),
    };
    parameters.retain(|_, value| !value.is_null());
    if L::SHAPED && !parameters.contains_key("multiprocessors") {
        parameters.insert("multiprocessors".into(), device.multiprocessors().into());
    }
    parameters.insert("seed".into(), settings.seed.into());
    if settings.checks().any() {
        parameters.insert("check".into(), settings.checks().to_string().into());
    }
    parameters
}

/// Fails unless `--output` is possible: all variants have the same result, and its size is within
/// the limit.
fn check_output<D>(plan: &Plan<'_, D>, device: &Device, settings: &Settings) -> Result<()> {
    if settings.output.is_none() {
        return Ok(());
    }
    let computed = |variant: &Variant<'_, D>| variant.computes.clone();
    let mut results: Vec<_> = plan.variants.iter().filter_map(computed).collect();
    results.dedup();
    let Some(first) = results.first() else {
        let names: Vec<_> = plan.variants.iter().map(|variant| variant.name.as_str()).collect();
        let problem = format!("{} has no result to write; choose another variant", names.join(", "));
        return Err(Error::request("--output", problem));
    };
    if let Some(second) = results.iter().find(|result| *result != first) {
        return Err(Error::request(
            "--output",
            format!("the variants have different results, such as {} and {}; choose one", first.what, second.what),
        ));
    }
    limits::check_output(device.limits(), &format!("{} for --output", first.what), first.bytes)
}

/// Runs and reports every variant. Also returns the last result, for `--output`.
fn run_variants<L: Lab>(
    lab: &L,
    plan: Plan<'_, L::Data>,
    device: &Device,
    settings: &Settings,
    report: &mut LabReport,
) -> Result<Option<Box<dyn Values>>> {
    let Plan { mut data, variants, .. } = plan;
    let progress = &settings.progress;
    let is_gpu = device.properties().is_gpu();
    let mut saved = None;
    let mut stopwatch = Stopwatch::new(device, settings.once, settings.time_limit)?;
    if let Some(stopwatch) = &mut stopwatch {
        let most = variants.iter().map(|variant| variant.useful_bytes).max().unwrap_or(0);
        report.device_copy = stopwatch.copy(most / 2)?;
    }
    let model = unasked(device, settings);
    let mut settings = settings.clone();
    settings.predicted.if_full = model.is_some();
    for variant in &variants {
        progress.begin(|| format!("{}: {}", L::NAME, variant.name));
        lab.reset(&mut data)?;
        let mut result = nothing_known(variant);
        match once(variant, &mut data, device, &settings, &mut result) {
            Err(error) if result.stopped.is_some() => {
                report.variants.push(result);
                report.stopped = Some(error);
                break;
            }
            launched => launched?,
        }
        if !device.predicts_only() {
            let outcome = (variant.outcome)(&mut data)?;
            let is_open = is_gpu && variant.again.is_some_and(|again| again.allowed);
            result.comparison = outcome.comparison.filter(|_| !is_open);
            if variant.computes.is_some() {
                saved = Some(outcome.values);
            }
        }
        if is_gpu
            && !settings.once
            && let Some(again) = variant.again
        {
            result.again = Some(launched_again(variant, &mut data, device, &settings, again.times)?);
        }
        result.rate_predicted(&report.variants);
        if let Some(stopwatch) = &mut stopwatch {
            let mut launcher = Launcher::new(device, &settings, variant.preferences, None)?;
            let Times { cold, warm } = match &variant.before {
                Some(before) => {
                    let launcher = &mut launcher;
                    stopwatch.measure_by_host(&mut |step| match step {
                        Step::Before => before(&mut data, launcher),
                        Step::Work => (variant.launch)(&mut data, launcher),
                    })?
                }
                None => stopwatch.measure(variant.useful_bytes, &mut || (variant.launch)(&mut data, &mut launcher))?,
            };
            (result.timing, result.warm_timing) = (Some(cold), warm);
            rate(&mut result, report);
        }
        report.variants.push(result);
        // Once a row's time says something, there are those of all rows.
        settings.predicted.if_full &= model.is_some_and(|model| report.is_large_enough(model) != Some(true));
        progress.done();
    }
    if model.is_some() && !settings.predicted.if_full && report.stopped.is_none() {
        for (row, variant) in variants.iter().enumerate() {
            if report.variants.get(row).is_some_and(|result| result.small.is_some()) {
                lab.reset(&mut data)?;
                once(variant, &mut data, device, &settings, &mut report.variants[row])?;
            }
        }
        for row in 0..report.variants.len() {
            let (earlier, rest) = report.variants.split_at_mut(row);
            rest[0].rate_predicted(earlier);
        }
    }
    Ok(saved)
}

/// The GPU whose times the simulator predicts unasked: of small data, it leaves them out.
fn unasked(device: &Device, settings: &Settings) -> Option<&'static Model> {
    let may = !device.properties().is_gpu() && device.properties().simulates.is_none();
    device.predicted_model().filter(|_| may && !settings.predicted.asked() && !settings.predicted.no_predict)
}

/// Launches a variant again on a GPU, and counts the wrong results.
fn launched_again<D>(
    variant: &Variant<'_, D>,
    data: &mut D,
    device: &Device,
    settings: &Settings,
    times: u32,
) -> Result<RanAgain> {
    let mut ran = RanAgain { times, wrong: 0, in_drawn_orders: false };
    let mut launcher = Launcher::new(device, settings, variant.preferences, None)?;
    for _ in 0..times {
        (variant.launch)(data, &mut launcher)?;
        let comparison = (variant.outcome)(data)?.comparison;
        ran.wrong += u32::from(!comparison.is_none_or(|comparison| comparison.correct()));
    }
    Ok(ran)
}

/// The report of a variant before it runs.
pub(super) fn nothing_known<D>(variant: &Variant<'_, D>) -> VariantReport {
    VariantReport {
        name: variant.name.clone(),
        group: variant.group.clone(),
        facts: variant.facts.clone(),
        tiles: variant.tiles.clone(),
        useful_bytes: variant.useful_bytes,
        operations: variant.operations,
        one_of_several: variant.one_of_several,
        ..VariantReport::default()
    }
}

/// Launches a variant once, to its end, and adds the result to the report, as well as the fault of
/// a kernel.
pub(super) fn once<D>(
    variant: &Variant<'_, D>,
    data: &mut D,
    device: &Device,
    settings: &Settings,
    result: &mut VariantReport,
) -> Result<()> {
    let device = variant.device.as_ref().unwrap_or(device);
    let mut record = Record { lines: LineCounts::stepping(settings.steps), ..Record::default() };
    let mut launcher = Launcher::new(device, settings, variant.preferences, Some(&mut record))?;
    let launched = (variant.launch)(data, &mut launcher).and_then(|()| device.synchronize());
    let checked = settings.checks().any() && !device.properties().is_gpu();
    for kernel in &record.kernels {
        if !result.kernels.contains(kernel) {
            result.kernels.push(kernel);
        }
    }
    result.occupancy = result.occupancy.or(record.occupancy);
    if let Err(error) = launched {
        if let Error::Fault { trap, .. } = &error {
            let mut findings = record.findings;
            findings.add(&Findings::before(trap.as_deref()));
            result.findings = Some(findings);
            result.stopped = Fault::of(&error);
        }
        return Err(error);
    }
    result.small = Small::of(record.predicted.iter().map(|(_, predicted)| predicted));
    result.predicted = {
        let predicted = record.predicted.iter().map(|(kernel, predicted)| (*kernel, predicted));
        RowPrediction::of(predicted, result.useful_bytes, result.operations)
    };
    if let Some(model) = device.predicted_model().filter(|_| settings.predicted.simulated() != Predict::Nothing)
        && let Some((prediction, schedule)) =
            streams::predicted(&record.given, &record.predicted, model, result.useful_bytes)
    {
        (result.small, result.predicted, result.schedule) = (None, Some(prediction), Some(schedule));
    }
    result.hottest = record.waits.hottest();
    if !device.properties().is_gpu() && !device.predicts_only() {
        result.counters = record.counters();
        if settings.has_page() {
            result.on_page = Some(Lines::all(record.lines.clone(), &ptx_name(device), &[]));
        }
        result.lines = settings.lines.of(record.lines, &ptx_name(device), &[]);
        result.launches = record.launches;
        result.arrays = record.arrays;
    }
    if checked {
        result.findings = Some(record.findings);
    }
    Ok(())
}

/// The name of the PTX, for faults in PTX without line information.
fn ptx_name(device: &Device) -> String {
    format!("PTX for {}", device.properties().ptx_target)
}

/// Fills in the rates, which follow from the cold time. `report` has the earlier variants.
fn rate(result: &mut VariantReport, report: &LabReport) {
    let Some(&Timing { median_ms: time, sm_clock_mhz, .. }) = result.timing.as_ref() else { return };
    if result.useful_bytes > 0 {
        let gbps = gigabytes_per_second(result.useful_bytes, time);
        result.gbps = Some(gbps);
        result.percent_of_copy = report.device_copy.as_ref().map(|copy| gbps / copy.gbps * 100.0);
        result.percent_of_memory_limit = report.device.peak_gbps.map(|peak| gbps / peak * 100.0);
    }
    if result.operations > 0 {
        let gflops = result.operations as f64 / time / 1e6;
        result.gflops = Some(gflops);
        // If the clock cannot be read, use the highest clock that the driver reports.
        let peak = sm_clock_mhz.or(report.device.clock_mhz).and_then(|clock| report.device.peak_gflops(clock));
        result.percent_of_arithmetic_limit = peak.map(|peak| gflops / peak * 100.0);
    }
    let first = report.variants.iter().find(|variant| variant.group == result.group);
    let baseline = match first {
        Some(first) => first.timing.as_ref().map(|timing| timing.median_ms),
        None => Some(time),
    };
    result.speedup = baseline.map(|baseline| baseline / time);
}

/// Runs the same variants on the simulator and copies its counters and predicted times. Its results
/// must be right, too, unless only times are predicted. The libraries' rows, which come last, have
/// none of these.
fn count_alongside<L: Lab>(lab: &L, device: &Device, settings: &Settings, report: &mut LabReport) -> Result<()> {
    let progress = &settings.progress;
    let simulator = device.simulator()?;
    let simulator = if settings.predicted.predict { simulator.predicting_only()? } else { simulator };
    simulator.watch(progress.of_launch());
    let Plan { mut data, variants, .. } = lab.plan(&simulator)?;
    let mut next = 0;
    for variant in &variants {
        // The simulator's plan can have rows that a GPU's has not, such as other models' addresses,
        // but none is missing.
        let Some(skipped) = report.variants[next..].iter().position(|row| row.name == variant.name) else { continue };
        let (earlier, rest) = report.variants.split_at_mut(next + skipped);
        next += skipped + 1;
        let Some(on_gpu) = rest.first_mut() else { break };
        progress.begin(|| format!("{}: {} on the simulator", L::NAME, variant.name));
        lab.reset(&mut data)?;
        match once(variant, &mut data, &simulator, settings, on_gpu) {
            Err(error) if on_gpu.stopped.is_some() => {
                report.stopped = Some(error);
                break;
            }
            launched => launched?,
        }
        on_gpu.rate_predicted(earlier);
        if !simulator.predicts_only() {
            let comparison = (variant.outcome)(&mut data)?.comparison;
            if !comparison.as_ref().is_none_or(Comparison::correct) {
                on_gpu.comparison = comparison;
            }
        }
        progress.done();
    }
    report.counters_from = Some(CounterSource::Simulator).filter(|_| !simulator.predicts_only());
    Ok(())
}

/// Writes a result for `--output`, unless a fault ended the run. A wrong result is written, too,
/// because it helps to find the mistake; a note says that it is wrong.
fn save(values: Option<Box<dyn Values>>, report: &LabReport, settings: &Settings) -> Result<()> {
    let (Some(path), Some(values), None) = (&settings.output, values, &report.stopped) else { return Ok(()) };
    let path: &Path = path;
    values.write(path)?;
    if !report.correct() {
        settings.progress.note(&format!("{} holds a wrong result", path.display()));
    }
    Ok(())
}
