//! The report as CSV (RFC 4180, with plain line feeds): a header, then one line for each variant.
//! Names are those of the JSON report; each parameter and counter has its own column. [`super`]
//! calls it.

use serde_json::Value;

use super::lab_report::LabReport;
use super::predicted::RowPrediction;

/// Columns of results, by their names in the JSON report.
const RESULTS: [&str; 14] = [
    "correct",
    "max_error",
    "wrong_elements",
    "faults",
    "useful_bytes",
    "time_ms",
    "warm_time_ms",
    "gbps",
    "percent_of_copy",
    "percent_of_limit",
    "limit",
    "percent_of_memory_limit",
    "percent_of_arithmetic_limit",
    "speedup",
];

/// Columns of a series of times, by their names in the JSON report; those of the warm one begin
/// with `warm_`.
pub(super) const TIMING: [&str; 9] = [
    "time_lower_quartile_ms",
    "time_upper_quartile_ms",
    "samples",
    "launches_per_sample",
    "cache",
    "steady",
    "sm_clock_mhz",
    "throttled_by",
    "dropped_samples",
];

/// The same for labs that count operations.
const COMPUTE_RESULTS: [&str; 2] = ["operations", "gflops"];

/// The same for predicted times, by their names in the JSON report: see [`predicted_name`].
const PREDICTED: [&str; 7] = ["time_ms", "warm_time_ms", "limiter", "gbps", "gflops", "over_measured", "not_predicted"];

/// The name of a value of a prediction, where it stands beside measured ones.
fn predicted_name(name: &str) -> String {
    match name {
        "not_predicted" => name.to_owned(),
        _ => format!("predicted_{name}"),
    }
}

/// A prediction's names and values, for formats of lines.
pub(crate) fn predicted_rows(prediction: &RowPrediction) -> Vec<[String; 2]> {
    // Numbers and texts can be serialized, so this cannot fail.
    let all = serde_json::to_value(prediction).unwrap_or_default();
    let rows = all.as_object().into_iter().flatten().map(|(name, value)| [predicted_name(name), cell(value)]);
    rows.filter(|[_, value]| !value.is_empty()).collect()
}

/// The report as text.
pub(super) fn render(report: &LabReport) -> String {
    let variants: Vec<Value> = report
        .variants
        .iter()
        // Every part of a report can be serialized, so this cannot fail.
        .map(|variant| serde_json::to_value(variant).unwrap_or_default())
        .collect();
    let parameters = names(&variants, "parameters");
    let counters = names(&variants, "counters");
    let warm_timing = TIMING.map(|name| format!("warm_{name}"));

    let computes = report.variants.iter().any(|variant| variant.operations > 0);
    let results: Vec<&str> = RESULTS.into_iter().chain(COMPUTE_RESULTS.into_iter().filter(|_| computes)).collect();

    let predicts = report.variants.iter().any(|variant| variant.predicted.is_some());
    let predicted: Vec<&str> = PREDICTED.into_iter().filter(|_| predicts).collect();
    let predicted_names: Vec<String> = predicted.iter().map(|name| predicted_name(name)).collect();

    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header = vec!["lab", "device", "name"];
    header.extend(report.parameters.keys().map(String::as_str));
    header.extend(parameters.iter().map(String::as_str));
    header.extend(&results);
    header.extend(TIMING);
    header.extend(warm_timing.iter().map(String::as_str));
    header.extend(predicted_names.iter().map(String::as_str));
    header.extend(counters.iter().map(String::as_str));
    write(&mut writer, header.iter().map(|name| (*name).to_owned()));

    for variant in &variants {
        let mut row = vec![report.lab.to_owned(), report.device.name.clone(), cell(&variant["name"])];
        row.extend(report.parameters.values().map(cell));
        row.extend(parameters.iter().map(|name| cell(&variant["parameters"][name])));
        row.extend(results.iter().map(|name| cell(&variant[name])));
        row.extend(TIMING.iter().map(|name| cell(&variant["timing"][name])));
        row.extend(TIMING.iter().map(|name| cell(&variant["warm_timing"][name])));
        row.extend(predicted.iter().map(|name| cell(&variant["predicted"][name])));
        row.extend(counters.iter().map(|name| cell(&variant["counters"][name])));
        write(&mut writer, row.into_iter());
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Writes one line. Into memory, and with as many cells as the header, this cannot fail.
fn write(writer: &mut csv::Writer<Vec<u8>>, row: impl Iterator<Item = String>) {
    let written = writer.write_record(row);
    debug_assert!(written.is_ok());
}

/// The names in the variants' maps called `field`, each once, in order of appearance.
fn names(variants: &[Value], field: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for map in variants.iter().filter_map(|variant| variant[field].as_object()) {
        for name in map.keys() {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

/// A value as a cell: empty for null, the elements joined by `x` for a list (as in 32x8), but the
/// number of faults.
pub(super) fn cell(value: &Value) -> String {
    match value {
        Value::Array(list) if list.is_empty() || list.iter().any(Value::is_object) => list.len().to_string(),
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(cell).collect::<Vec<_>>().join("x"),
        other => other.to_string(),
    }
}
