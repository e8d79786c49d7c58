//! `--compare-models`: predicts the times of a lab's variants on every model, from the oldest to
//! the newest, so that one table shows how GPUs changed. [`super`] calls it instead of
//! [`flow::run`].
//!
//! Times are predicted alone, at the sizes for a GPU, and the inputs are made once. A row is a
//! variant on a model; the table has a line for each variant and a column for each model. Speed-ups
//! are over the first variant on the same model, so they compare what a change of the kernel gains,
//! not the GPUs. A variant alone has its time on each model instead.

use device::{Device, Error, LoadCaching, Model, Result};
use picture::Scale;
use serde_json::Value;

use super::flow;
use super::lab::{Lab, Plan};
use super::settings::Settings;
use crate::built_in;
use crate::predicted::PredictFlags;
use crate::report::measures::{PREDICTED_TIME, SPEEDUP_ON_MODEL};
use crate::report::{self, Best, Fact, Grid, LabReport, Measure, RowPrediction, Rows, Sweep, VariantReport};
use crate::units;

/// The facts that say which variant and which model a row is.
const VARIANT: &str = "variant";
const MODEL: &str = "model";

/// The picture: how much faster each variant is, on one model after the other.
const SPEEDUPS: &[Sweep] = &[sweep(&SPEEDUP_ON_MODEL)];

/// The picture of a variant alone, which has no speed-up over another: its time on each model.
const TIMES: &[Sweep] = &[sweep(&PREDICTED_TIME)];

const fn sweep(measure: &'static Measure) -> Sweep {
    Sweep {
        x: MODEL,
        title: "model",
        scale: Scale::Names,
        series: &[VARIANT],
        rows: Rows::All,
        timed: (measure, Scale::Linear),
        counted: (&[], Scale::Linear),
    }
}

/// Predicts the lab's variants on all models.
///
/// # Errors
///
/// As [`flow::run`]. A variant that a model cannot run is in the report, with the reason.
pub(super) fn run<L: Lab>(device: &Device, options: L::Options, settings: &Settings) -> Result<LabReport> {
    flow::check_files(settings)?;
    check(device, settings)?;
    let settings = &Settings { predicted: PredictFlags { predict: true, ..settings.predicted }, ..settings.clone() };
    let progress = &settings.progress;
    let simulator = device.simulator()?.predicting_only()?.shaped_for(settings.shape.multiprocessors);
    progress.begin(|| format!("{}: preparing the data", L::NAME));
    let lab = L::new(&simulator, options, settings)?;
    built_in::notes(&simulator).for_each(|note| progress.note_once(&note));
    let mut report = flow::empty_report(&lab, &simulator, settings);
    progress.add_steps(Model::all().len());
    for model in Model::all() {
        progress.begin(|| format!("{}: {}", L::NAME, model.chip));
        let on_model = simulator.as_model(model, LoadCaching::Default)?;
        on_model.watch(progress.of_launch());
        run_on(&lab, &on_model, model, settings, &mut report)?;
        on_model.watch(None);
        progress.done();
    }
    let alone = report.variants.windows(2).all(|rows| rows[0].name == rows[1].name);
    let (what, measures): (_, &[_]) = match alone {
        true => ("times on every model", &[&PREDICTED_TIME]),
        false => ("speed-ups on every model, over its first row", &[&SPEEDUP_ON_MODEL]),
    };
    report.instead_of_table = Some(Grid {
        title: format!("predicted {what}; {} models", Model::all().len()),
        // A variant alone is a column: its times are read one below the other.
        rows: if alone { MODEL } else { VARIANT },
        columns: if alone { VARIANT } else { MODEL },
        group: String::new(),
        best: Best::Unmarked,
        measures,
    });
    report.sweeps = if alone { TIMES } else { SPEEDUPS };
    report.roofline = false;
    if !alone {
        report.conclusions.extend(baseline(&report.variants));
    }
    if let Some(path) = &settings.report {
        report::write_page(&report, L::ABOUT, path)?;
    }
    Ok(report)
}

/// Fails if something is asked for that a comparison of models has not.
fn check(device: &Device, settings: &Settings) -> Result<()> {
    let refuse =
        |flag: &str| Err(Error::request("--compare-models", format!("it only predicts times; leave out {flag}")));
    if let Some(model) = device.properties().simulates {
        let problem = format!("it runs on all models, not on {model} alone; give --device sim");
        return Err(Error::request("--compare-models", problem));
    }
    let others = [
        ("--output", settings.output.is_some()),
        ("--check", settings.checks().any()),
        ("--lines and --picture", settings.lines.given()),
        ("--counters", settings.counters),
        ("--schedules and --schedule", settings.orders.any()),
        ("--peer", settings.peer.peer),
    ];
    others.iter().find(|(_, given)| *given).map_or(Ok(()), |(flag, _)| refuse(flag))
}

/// Predicts the variants on one model.
fn run_on<L: Lab>(
    lab: &L,
    device: &Device,
    model: &'static Model,
    settings: &Settings,
    report: &mut LabReport,
) -> Result<()> {
    // Planned as for counts: what is swept only for times would take minutes here.
    let Plan { mut data, variants, .. } = lab.plan(device)?;
    // A variant with a fixed model shows what only that model has.
    for variant in variants.iter().filter(|variant| variant.device.is_none()) {
        lab.reset(&mut data)?;
        let mut row = flow::nothing_known(variant);
        row.facts.retain(|fact| ![VARIANT, MODEL].contains(&fact.name));
        row.facts.iter_mut().for_each(|fact| fact.axis = false);
        let place = [(VARIANT, Value::from(row.name.clone())), (MODEL, model.name.into())];
        row.facts.extend(place.map(|(name, value)| Fact { name, value, axis: true }));
        row.group = format!("{}{}{}", model.name, if row.group.is_empty() { "" } else { ": " }, row.group);
        match flow::once(variant, &mut data, device, settings, &mut row) {
            // A fault of a kernel is the program's error.
            Err(error) if row.stopped.is_some() => return Err(error),
            Err(error) => row.predicted = Some(RowPrediction::Not(error.to_string().into())),
            Ok(()) if row.predicted.is_none() => {
                row.predicted = Some(RowPrediction::Not(why_not(model.timing().is_some()).into()))
            }
            Ok(()) => {}
        }
        row.rate_predicted(&report.variants);
        report.variants.push(row);
    }
    Ok(())
}

/// Why a row that ran has no predicted time.
fn why_not(has_parameters: bool) -> &'static str {
    match has_parameters {
        false => "the model has no time parameters",
        true => "no kernel is launched",
    }
}

/// How long the first variant takes on each model.
fn baseline(variants: &[VariantReport]) -> Option<String> {
    let first = &variants.first()?.name;
    let times = variants.iter().filter(|row| row.name == *first);
    let times: Vec<String> = times
        .filter_map(|row| {
            let time = row.predicted_time()?;
            Some(format!("{} on {}", units::milliseconds(time.time_ms), time.model.name))
        })
        .collect();
    (!times.is_empty()).then(|| format!("{first} takes {}.", times.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_a_time_has_a_reason() {
        let model = &Model::all()[0];
        assert_eq!(why_not(model.timing().is_some()), "no kernel is launched");
        assert_eq!(why_not(false), "the model has no time parameters");
    }
}
