//! The report as a table for people, at most 100 columns wide. [`super`] calls it; it asks the terminal for nothing but its
//! width.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use device::{Counters, Properties};
use wording::WIDTH;

use super::columns::{self, Column, Section};
use super::lab_report::{Comparison, LabReport, VariantReport, plain};
use super::launch_times::LaunchTimes;
use super::legend;
use super::subject::Subject;
use crate::timing::{Cache, Timing};
use crate::{terminal, units};

/// The maximum length of a kernel's name in a table: a mangled name may have hundreds of characters.
const LONGEST_NAME: usize = 24;

/// The report as text.
pub(super) fn render(report: &LabReport) -> String {
    let mut text = heading(report).join("\n") + "\n";
    let faultless = report.correct() && report.findings().list.is_empty();
    // The texts whose terms the legend explains.
    let mut shown = report.conclusions.clone();
    if report.compact && faultless && report.grids.iter().any(|grid| grid.texts(report).is_some()) {
        let count = report.variants.len();
        text += &format!("\nAll {count} variants are right. --format csv and --format json have each of them.\n");
    } else {
        let columns = columns::of(&report.variants, report.subjects);
        shown.extend(columns.iter().map(Column::text));
        for (index, columns) in tables(columns).iter().enumerate() {
            text.push('\n');
            text += &lay_out(columns, index == 0);
        }
    }
    for line in wrong(report) {
        text += &(line + "\n");
    }
    for grid in &report.grids {
        if let Some(cells) = grid.texts(report) {
            let heading = grid.heading(&cells);
            shown.push(heading.clone());
            text += &format!("\n{}", legend::wrapped(&[heading]));
            for part in parts(&cells) {
                text += &lay_out_rows(&part);
            }
        }
    }
    let legend = [legend::of(&report.variants, &shown), legend::of_times(&report.variants, &report.device)].concat();
    for sentences in [&legend, &report.conclusions] {
        if !sentences.is_empty() {
            text.push('\n');
            text += &legend::wrapped(sentences);
        }
    }
    for variant in &report.variants {
        if let Some(lines) = &variant.lines {
            text += &format!("\n{}, {}:\n{}", variant.name, lines.heading(), lines.text(terminal::width()));
        }
    }
    if let Some(lines) = report.variants.iter().find_map(|variant| variant.lines.as_ref()) {
        text += &format!("\n{}", lines.legend(terminal::width()));
    }
    text
}

/// The times and counters of one launch, in the labs' columns for its accesses, with their
/// explanation.
pub(super) fn of_launch(
    kernel: &str,
    counters: Option<&Counters>,
    times: Option<&LaunchTimes>,
    device: &Properties,
) -> String {
    let subjects = counters.map(Subject::of).unwrap_or_default();
    let name = match kernel.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}...", &kernel[..end]),
        None => kernel.to_owned(),
    };
    let timed = times.map(LaunchTimes::variant).unwrap_or_default();
    let variants = [VariantReport { name, counters: counters.copied(), ..timed }];
    let mut columns = columns::of(&variants, &subjects);
    if let Some(names) = columns.first_mut() {
        names.title = vec!["kernel".to_owned()];
    }
    let shown: Vec<_> = columns.iter().map(Column::text).collect();
    let mut parts: Vec<String> = tables(columns).iter().map(|columns| lay_out(columns, true)).collect();
    parts.push(legend::wrapped(&[legend::of(&variants, &shown), legend::of_times(&variants, device)].concat()));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Columns as tables that each fit the width and begin with what names the variants. Groups of columns stay together if they fit, and a
/// model's counters have tables of their own.
fn tables(columns: Vec<Column>) -> Vec<Vec<Column>> {
    let (names, columns): (Vec<_>, Vec<_>) = columns.into_iter().partition(|column| column.section == Section::Name);
    let mut sections: Vec<Vec<Column>> = Vec::new();
    for column in columns {
        let joins = |before: Section| match (before, column.section) {
            // Show once whether it was right, with the times if there are any.
            (Section::Axis, Section::Axis | Section::Comparison)
            | (Section::Comparison, Section::Comparison | Section::Time) => true,
            (before, section) => before == section,
        };
        match sections.last_mut().filter(|section| section.last().is_some_and(|last| joins(last.section))) {
            Some(section) => section.push(column),
            None => sections.push(vec![column]),
        }
    }
    let mut tables: Vec<Vec<Column>> = vec![names.clone()];
    let width_of = |columns: &[Column]| columns.iter().map(|column| width(column) + 1).sum::<usize>().saturating_sub(1);
    for section in sections {
        let begins_anew = |table: &[Column]| {
            let apart = table.iter().any(|column| column.section == Section::Time)
                && section.iter().all(|column| column.section == Section::Counter)
                || section.iter().all(|column| column.section == Section::Model);
            table.len() > names.len() && (apart || width_of(table) + 1 + width_of(&section) > WIDTH)
        };
        if tables.last().is_some_and(|table| begins_anew(table)) {
            tables.push(names.clone());
        }
        for column in section {
            let full = |table: &Vec<Column>| table.len() > names.len() && width_of(table) + 1 + width(&column) > WIDTH;
            if tables.last().is_some_and(full) {
                tables.push(names.clone());
            }
            if let Some(table) = tables.last_mut() {
                table.push(column);
            }
        }
    }
    tables
}

/// A grid as grids that each fit the width and begin with its first column.
fn parts(rows: &[Vec<String>]) -> Vec<Vec<Vec<String>>> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count() + 1).max().unwrap_or(0);
    let mut parts: Vec<Vec<usize>> = vec![vec![0]];
    for column in 1..rows[0].len() {
        let full = |part: &Vec<usize>| {
            part.len() > 1 && part.iter().map(|&column| width(column)).sum::<usize>() + width(column) > WIDTH
        };
        if parts.last().is_some_and(full) {
            parts.push(vec![0]);
        }
        if let Some(part) = parts.last_mut() {
            part.push(column);
        }
    }
    let of =
        |part: &Vec<usize>| rows.iter().map(|row| part.iter().map(|&column| row[column].clone()).collect()).collect();
    parts.iter().map(of).collect()
}

/// The widest line of a column.
fn width(column: &Column) -> usize {
    column.title.iter().chain(&column.cells).map(|text| text.chars().count()).max().unwrap_or(0)
}

/// Columns as a table, with titles aligned to the bottom of the head. Variants without any value are omitted, unless `all` is set.
fn lay_out(columns: &[Column], all: bool) -> String {
    let height = columns.iter().map(|column| column.title.len()).max().unwrap_or(0);
    let title = |column: &Column| "\n".repeat(height - column.title.len()) + &column.title.join("\n");
    let variants = columns.first().map_or(0, |column| column.cells.len());
    let row = |index: usize| columns.iter().map(|column| column.cells[index].clone()).collect();
    let values = || columns.iter().filter(|column| column.section != Section::Name);
    let known = |index: &usize| all || values().any(|column| column.cells[*index] != "-");
    let head = columns.iter().map(title).collect();
    let rows = (0..variants).filter(known).map(row);
    lay_out_rows(&std::iter::once(head).chain(rows).collect::<Vec<Vec<String>>>())
}

/// Rows as a table whose first row is its head: the first column aligned to the left, the others to the right.
fn lay_out_rows(rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let mut rows = rows.iter();
    if let Some(head) = rows.next() {
        table.set_header(head);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for row in rows {
        table.add_row(row);
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The lines above the table: the lab and its parameters, the device, the yardstick, and notes on the numbers.
pub(super) fn heading(report: &LabReport) -> Vec<String> {
    let device = &report.device;
    let own = report.parameters.iter().map(|(name, value)| format!("{} {}", name.replace('_', " "), plain(value)));
    let common = columns::common_axes(&report.variants);
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
    } else {
        lines.push(format!("on the {}: counts, no times", device.name));
    }
    if let Some(copy) = &report.device_copy {
        lines.push(format!(
            "the device's own copy of {}: {} GB/s",
            units::bytes(copy.bytes),
            units::three_digits(copy.gbps)
        ));
    }
    lines.extend(timed(&report.variants.iter().filter_map(|variant| variant.timing).collect::<Vec<_>>()));
    if device.is_gpu() && report.counters_from.is_some() {
        lines.push("counters: from the simulator, the same launches".to_owned());
    }
    lines
}

/// How launches were timed, in a line for each kind of these first series.
pub(super) fn timed(timings: &[Timing]) -> Vec<String> {
    let mut lines = Vec::new();
    for (cache, words) in [
        (Cache::Exceeded, "the data is far larger than the level-2 cache"),
        (Cache::Flushed, "cold (level-2 cache flushed before each launch) and warm (back to back)"),
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

/// The variants that are wrong or did not end, one line each.
pub(super) fn wrong(report: &LabReport) -> Vec<String> {
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
