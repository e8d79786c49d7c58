//! The report as a table for people, at most 100 columns wide.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::Value;

use super::columns::{self, Column, Subject};
use super::{Check, LabReport, VariantReport};
use crate::timing::Cache;
use crate::units;

/// What the counters are at best.
const LEGEND: &str = "\
Sectors are 32 bytes: a warp that asks for 32 neighbouring floats needs 4. A warp has 32 lanes.
";

/// The same for shared memory.
const SHARED_LEGEND: &str = "\
Wavefronts are passes over the banks of shared memory: 1 without bank conflicts.
";

/// The same for a model's caches.
const CACHE_LEGEND: &str = "\
Transactions are as this GPU makes them, with the part of their bytes that was asked for. Both
caches are empty at the start; what waits in L2 at the end is not written.
";

/// The report as text.
pub(super) fn render(report: &LabReport) -> String {
    use Subject::{Cache, Check, Counter, Name, Time};
    let mut text = heading(report).join("\n") + "\n";
    let timed = report.variants.iter().any(|variant| variant.timing.is_some());
    let counted = report.variants.iter().any(|variant| variant.counters.is_some());
    let modelled =
        report.variants.iter().any(|variant| variant.counters.is_some_and(|counters| counters.model.is_some()));
    let checked = report.variants.iter().any(|variant| variant.findings.is_some());
    let mut tables: Vec<&[Subject]> = match (timed || checked, counted) {
        (true, true) => vec![&[Name, Check, Time], &[Name, Counter]],
        _ => vec![&[Name, Check, Time, Counter]],
    };
    if modelled {
        tables.push(&[Name, Cache]);
    }
    for subjects in &tables {
        text.push('\n');
        push_table(&mut text, &report.variants, &columns::of(report, subjects));
    }
    for variant in &report.variants {
        if let Some(check) = variant.check.as_ref().filter(|check| !check.correct()) {
            text.push_str(&wrong(variant, check));
        }
    }
    if counted {
        text.push('\n');
        text.push_str(LEGEND);
        let shared = |variant: &VariantReport| {
            variant.counters.is_some_and(|counters| counters.shared.load.requests + counters.shared.store.requests > 0)
        };
        if report.variants.iter().any(shared) {
            text.push_str(SHARED_LEGEND);
        }
        if modelled {
            text.push_str(CACHE_LEGEND);
        }
    }
    for variant in &report.variants {
        if let Some(lines) = &variant.lines {
            text += &format!("\n{}, line by line:\n{}", variant.name, lines.text());
        }
    }
    text
}

/// Writes a table with these columns. Titles stand at the foot of the head.
fn push_table(text: &mut String, variants: &[VariantReport], columns: &[&Column]) {
    let height = columns.iter().map(|column| column.title.len()).max().unwrap_or(0);
    let title = |column: &&Column| "\n".repeat(height - column.title.len()) + &column.title.join("\n");
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(columns.iter().map(title));
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for variant in variants {
        table.add_row(columns.iter().map(|column| column.cell(variant)));
    }
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// What stands above the table: the lab and its parameters, the device, the yardstick, what else to know about the numbers.
pub(super) fn heading(report: &LabReport) -> Vec<String> {
    let device = &report.device;
    let parameters: Vec<_> =
        report.parameters.iter().map(|(name, value)| format!("{} {}", name.replace('_', " "), plain(value))).collect();
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
    let timings: Vec<_> = report.variants.iter().filter_map(|v| v.timing.as_ref()).collect();
    for (cache, words) in [
        (Cache::Exceeded, "the data is large against the level-2 cache"),
        (Cache::Flushed, "the level-2 cache was flushed before each launch"),
        (Cache::Warm, "launches too short to flush the level-2 cache before each: it is warm"),
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
    if device.is_gpu() && report.counters_from.is_some() {
        lines.push("counters: from the simulator, the same launches".to_owned());
    }
    lines
}

/// What is wrong with a variant, in a line.
fn wrong(variant: &VariantReport, check: &Check) -> String {
    let mut text = format!("{} is wrong: {} of {} elements", variant.name, check.wrong, check.elements);
    if let Some(first) = &check.first {
        let index: Vec<_> = first.index.iter().map(u64::to_string).collect();
        text += &format!(
            ", the first at [{}]: {} instead of {}",
            index.join(", "),
            number(first.found),
            number(first.expected)
        );
    }
    text + "\n"
}

/// A number as it is, in the shorter notation.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        magnitude if !(1e-4..1e7).contains(&magnitude) && value.is_finite() => format!("{value:e}"),
        _ => value.to_string(),
    }
}

/// A parameter's value in words.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null => "none".to_owned(),
        Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(" x "),
        other => other.to_string(),
    }
}
