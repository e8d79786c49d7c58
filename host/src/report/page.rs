//! A report as people read it, as data: the heading, the table, the grids, the legend and the
//! sentences. The formats for people write a page and look at nothing else; JSON has its tables.
//! Pure.

use serde::Serialize;

use device::{Model, Properties};
use picture::{EngineChart, LaneChart, OccupancyChart};
use simt::prediction::Bound;

use wording::WIDTH;

use super::engines;
use super::explanations;
use super::first::{self, FirstScreen, Meaning, SENTENCE_LINES};
use super::grid;
use super::lab_report::LabReport;
use super::lanes;
use super::measure::{Explanation, Measure, Section, Shown};
use super::occupancy;
use super::table::{self, Table};
use super::variant_report::{Comparison, VariantReport, plain};
use crate::timing::{Cache, Timing};
use crate::units;

/// A report as people read it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// The lines above: the lab and its parameters, the device, the reference, and notes on the
    /// numbers.
    pub heading: Vec<String>,
    /// What the names of the rows mean, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meanings: Vec<Meaning>,
    /// The table.
    pub table: Table,
    /// Why a terminal leaves the table out: the grids show all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead_of_table: Option<String>,
    /// The rows that are wrong or did not end, a line each.
    pub wrong: Vec<String>,
    /// Which kernels rows launched, where other devices and sizes have others.
    pub kernels: Vec<String>,
    /// The sweeps.
    pub grids: Vec<Table>,
    /// Blocks on a multiprocessor, if the rows are about them.
    #[serde(skip)]
    pub occupancy: Option<OccupancyChart>,
    /// When copies and kernels run, if the rows have streams.
    #[serde(skip)]
    pub engines: Option<EngineChart>,
    /// The active lanes of reductions, if the rows are about them.
    #[serde(skip)]
    pub lanes: Option<LaneChart>,
    /// What the columns mean, each term once.
    pub legend: Vec<String>,
    /// What the numbers show.
    pub conclusions: Vec<String>,
}

impl Page {
    /// The page of a report; `every_row` also shows a table that the grids stand for.
    pub fn of(report: &LabReport, every_row: bool) -> Self {
        let shown = Shown { variants: &report.variants, device: &report.device };
        let grids: Vec<Table> = report.grids.iter().filter_map(|grid| grid.table(shown)).collect();
        let faultless = report.correct() && report.findings().list.is_empty();
        let compact = report.compact && faultless && !grids.is_empty() && !every_row;
        let instead_of_table = compact.then(|| {
            let count = report.variants.len();
            let compared = report.variants.iter().any(|variant| variant.comparison.is_some());
            let right = if compared { format!("All {count} variants are right. ") } else { String::new() };
            format!("{right}--format csv lists each.")
        });
        let across = report.instead_of_table.as_ref().and_then(|grid| Some((grid, grid.table(shown)?)));
        let mut measures = Vec::new();
        if let Some((grid, _)) = &across {
            measures.extend(grid.known(&report.variants));
        } else if !compact {
            measures.extend(table::measures(shown, report.subjects));
        }
        let in_grids = report.grids.iter().filter(|grid| grid.table(shown).is_some());
        measures.extend(in_grids.flat_map(|grid| grid.known(&report.variants)));
        measures.extend(&report.concluded);
        let table = across.map_or_else(|| table::of(shown, report.subjects), |(_, table)| table);
        let unknown = (!compact && table.has_unknown()) || grids.iter().any(Table::has_unknown);
        let dashes = if unknown { explanations::dashes() } else { Vec::new() };
        Self {
            heading: heading(report),
            kernels: kernels(&report.variants, &table),
            meanings: meanings(report),
            table,
            instead_of_table,
            wrong: wrong(report),
            grids,
            occupancy: occupancy::chart(report),
            engines: engines::chart(&report.variants),
            lanes: lanes::chart(report),
            legend: explained(&measures, shown, dashes),
            conclusions: report.conclusions.iter().cloned().chain(report.right_in_orders()).collect(),
        }
    }

    /// What a terminal shows first: one table, the sentences with the result, and what casts doubt
    /// on the numbers.
    pub(super) fn first(report: &LabReport) -> Self {
        let faultless = report.correct() && report.findings().list.is_empty();
        let left_out = |variant: &VariantReport| report.first.leaves_out(&variant.name, &variant.facts);
        let mut variants = report.variants.clone();
        if faultless && !report.every_row {
            variants.retain(|variant| !left_out(variant));
        }
        let shown = Shown { variants: &variants, device: &report.device };
        let mut page = Self::of(report, false);
        if report.instead_of_table.is_none() {
            page.table = table::first(shown, report.subjects, report.first, !faultless);
            page.grids = report.grids.iter().filter_map(|grid| grid.table(shown)).take(1).collect();
            page.grids.iter_mut().for_each(|grid| worded(grid, report.first));
        }
        if page.instead_of_table.is_some() {
            page.instead_of_table = Some(String::new()); // The grid is the table.
        } else if report.instead_of_table.is_none() {
            page.grids.clear();
        }
        if !report.why {
            page.conclusions = few(&report.conclusions);
            page.conclusions.extend(table::alike(&variants).map(|times| same_times(times, &variants)));
            page.conclusions.extend(report.right_in_orders());
        }
        page.legend = explanations::not_verified(shown);
        page.legend.extend(explanations::doubts(shown.variants, shown.device));
        page.meanings.clear();
        page.kernels.clear();
        page
    }
}

/// The first sentences, in a few lines.
fn few(sentences: &[String]) -> Vec<String> {
    let lines = |sentence: &String| wording::wrapped(sentence, WIDTH, "", "").lines().count();
    let mut used = 0;
    let fits = |sentence: &&String| {
        let first = used == 0;
        used += lines(sentence);
        first || used <= SENTENCE_LINES
    };
    sentences.iter().take_while(fits).cloned().collect()
}

/// The names of a grid's rows and columns with the words for them.
fn worded(grid: &mut Table, first: FirstScreen) {
    let Some((names, columns)) = grid.columns.split_first_mut() else { return };
    names.title = vec![grid::words(&names.key)];
    for cell in names.cells.iter_mut().flatten() {
        cell.text = first.named(&cell.text);
    }
    for column in columns {
        column.title.extend(column.title.first().and_then(|name| first.words(name)).map(str::to_owned));
    }
}

/// What is said of predicted times that are about the same.
fn same_times([least, most]: [f64; 2], variants: &[VariantReport]) -> String {
    let [least, most] = [least, most].map(units::milliseconds);
    match least == most {
        true => format!("All rows are predicted to take {least}."),
        false if variants.iter().filter_map(VariantReport::predicted_time).all(|time| time.limit == Bound::Launch) => {
            format!("The predicted times, {least} to {most}, are alike: the launch takes most of each.")
        }
        false => format!("The predicted times, {least} to {most}, do not differ enough to say which is shorter."),
    }
}

/// What these measures mean, each term once: first what was counted, then errors, then times.
pub(super) fn legend(measures: &[&Measure], shown: Shown<'_>) -> Vec<String> {
    explained(measures, shown, Vec::new())
}

/// The same, and what else there is to explain.
fn explained(measures: &[&Measure], shown: Shown<'_>, others: Vec<Explanation>) -> Vec<String> {
    let order = |measure: &&&Measure| match measure.section {
        Section::Counter => 0,
        Section::Model | Section::Name | Section::Axis => 1,
        Section::Comparison => 2,
        Section::Predicted => 3,
        Section::Time => 4,
    };
    let mut measures: Vec<_> = measures.iter().collect();
    measures.sort_by_key(order);
    let mut terms = Vec::new();
    let mut sentences = Vec::new();
    for explanation in measures.iter().flat_map(|measure| measure.explanations(shown)).chain(others) {
        if !terms.contains(&explanation.term) {
            terms.push(explanation.term);
            sentences.push(explanation.text);
        }
    }
    sentences.extend(explanations::doubts(shown.variants, shown.device));
    sentences
}

/// Whether a row has this name, or is at this position.
fn has(variant: &VariantReport, name: &str) -> bool {
    first::names(name, &variant.name, &variant.facts)
}

/// What the names of the rows that are shown mean.
fn meanings(report: &LabReport) -> Vec<Meaning> {
    let shown = |(name, _): &&Meaning| report.variants.iter().any(|variant| has(variant, name));
    report.meanings.iter().filter(shown).copied().collect()
}

/// The lines above the table.
fn heading(report: &LabReport) -> Vec<String> {
    let device = &report.device;
    let own = report.parameters.iter().map(|(name, value)| format!("{} {}", name.replace('_', " "), plain(value)));
    let common = table::common_axes(&report.variants);
    let common = common.into_iter().filter(|(name, _)| !report.parameters.contains_key(name));
    let parameters: Vec<_> = own.chain(common.map(|(name, value)| format!("{name} {value}"))).collect();
    let mut lines = vec![format!("{}: {}", report.lab, parameters.join(", "))];
    if device.is_gpu() {
        let mut line = format!("on {}, compute capability {}", device.name, device.compute_capability);
        if let Some(driver) = &device.driver {
            line += &format!(", driver {driver}");
        }
        if let Some(version) = &device.cuda_version {
            line += &format!(", CUDA {version}");
        }
        lines.push(line);
    } else if let Some(grid) = &report.instead_of_table {
        lines.push(format!("on the {}: {}", device.name, grid.title));
    } else if report.too_small_to_predict {
        lines.push(format!("on the {}: counts", device.name));
    } else {
        let mut predicted = report.variants.iter().filter_map(|variant| Some(variant.predicted_time()?.model));
        let first = predicted.next();
        lines.push(match first {
            Some(first) if predicted.any(|model| model.name != first.name) => {
                format!("on the {}: counts; times are predicted, each for the model of its row", device.name)
            }
            _ => on_simulator(device, first),
        });
    }
    if let Some(copy) = &report.device_copy {
        let (bytes, gbps) = (units::bytes(copy.bytes), units::three_digits(copy.gbps));
        lines.push(format!("the device's own copy of {bytes}: {gbps} GB/s"));
    }
    lines.extend(timed(&report.variants.iter().filter_map(|variant| variant.timing).collect::<Vec<_>>()));
    if device.is_gpu() && report.counters_from.is_some() {
        lines.push("counters: from the simulator, the same launches".to_owned());
    }
    let predicted = report.variants.iter().find_map(|variant| variant.predicted_time());
    lines.extend(predicted.filter(|_| device.is_gpu()).map(|time| beside(time.model)));
    lines
}

/// The line of a report that says what the simulator did.
pub(crate) fn on_simulator(device: &Properties, predicted: Option<&Model>) -> String {
    match predicted {
        None => format!("on the {}: counts, no times", device.name),
        Some(model) if device.simulates == Some(model.name) => {
            format!("on the {}: counts; times are predicted", device.name)
        }
        Some(model) => format!("on the {}: counts; times are predicted for: {}", device.name, model.chip),
    }
}

/// The line of a GPU's report that has predicted times.
pub(crate) fn beside(model: &Model) -> String {
    format!("predicted: by the simulator, the same launches on: {}", model.chip)
}

/// How launches were timed, in a line for each kind of these first series.
pub(super) fn timed(timings: &[Timing]) -> Vec<String> {
    let mut lines = Vec::new();
    for (cache, words) in [
        (Cache::Exceeded, "the data is far larger than the level-2 cache"),
        (Cache::Flushed, "cold (level-2 cache flushed before each launch) and warm (back to back)"),
        (Cache::Any, "by the host's clock, from the first call until all work has ended"),
        (Cache::Warm, "back to back; the driver does not say how large the level-2 cache is"),
    ] {
        let count = timings.iter().filter(|timing| timing.cache == cache).count();
        if count > 0 {
            let whose = match count == timings.len() {
                true => String::new(),
                false => format!(" ({count} of {} variants)", timings.len()),
            };
            lines.push(format!("timed: {words}{whose}"));
        }
    }
    lines
}

/// More rows than this are left to JSON.
const MOST_KERNELS: usize = 4;

/// The kernels of the rows that have several.
fn kernels(variants: &[VariantReport], table: &Table) -> Vec<String> {
    let rows = variants.iter().enumerate();
    let several: Vec<_> = rows.filter(|(_, it)| it.one_of_several && !it.kernels.is_empty()).collect();
    if several.len() > MOST_KERNELS {
        return Vec::new();
    }
    let line = |&(row, variant): &(usize, &VariantReport)| {
        let name = if table.rows() == variants.len() { table.row_name(row) } else { variant.name.clone() };
        let kernels = variant.kernels.iter().map(|kernel| format!("`{kernel}`")).collect::<Vec<_>>();
        format!(
            "Here {name} launches {}, chosen for its time and not its counts; other sizes and GPUs get other kernels.",
            kernels.join(" and ")
        )
    };
    several.iter().map(line).collect()
}

/// The variants that are wrong or did not end, one line each.
fn wrong(report: &LabReport) -> Vec<String> {
    let line = |variant: &VariantReport| {
        if variant.stopped.is_some() {
            return Some(format!("{} was stopped by a fault", variant.name));
        }
        let comparison = variant.comparison.as_ref().filter(|comparison| !comparison.correct())?;
        Some(wrong_variant(variant, comparison))
    };
    report.variants.iter().filter_map(line).collect()
}

/// How a variant is wrong, in one line.
fn wrong_variant(variant: &VariantReport, comparison: &Comparison) -> String {
    let mut text = format!("{} is wrong: {} of {} elements", variant.name, comparison.wrong, comparison.elements);
    if let Some(first) = &comparison.first {
        if !first.index.is_empty() {
            let index: Vec<_> = first.index.iter().map(u64::to_string).collect();
            text += &format!(", the first at [{}]", index.join(", "));
        }
        text += &format!(": {} instead of {}", number(first.found), number(first.expected));
    }
    text
}

/// A number in full precision, in the shorter notation.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        magnitude if !(1e-4..1e7).contains(&magnitude) && value.is_finite() => format!("{value:e}"),
        _ => value.to_string(),
    }
}
