//! What is kept of predictions and measurements, and how it is read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::program::{Error, Failed, file, json, list, text};

/// All predictions, by the arguments of the command.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Predictions {
    /// When the last of them was made.
    pub date: String,
    pub runs: BTreeMap<String, Vec<Row>>,
    /// Those of the kernels outside the labs, by model, in the order of their manifest.
    #[serde(default)]
    pub held_out: BTreeMap<String, Vec<Row>>,
    /// Those of published measurements, by title of the study.
    #[serde(default)]
    pub history: BTreeMap<String, Vec<Row>>,
    /// Those of the profiled launches, by run.
    #[serde(default)]
    pub profiled: BTreeMap<String, Vec<Row>>,
}

/// A row's predicted time.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Row {
    pub name: String,
    /// `None`: not predicted.
    pub time_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_time_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limiter: Option<String>,
    /// Why not, if the program says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_predicted: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occupancy_percent: Option<f64>,
}

/// The measurements, as far as they are compared.
#[derive(Debug, Deserialize)]
pub(super) struct Measurements {
    pub runs: BTreeMap<String, MeasuredRun>,
}

#[derive(Debug, Deserialize)]
pub(super) struct MeasuredRun {
    pub variants: Vec<MeasuredRow>,
}

#[derive(Debug, Deserialize)]
pub(super) struct MeasuredRow {
    pub name: String,
    pub time_ms: f64,
    pub occupancy: Option<f64>,
}

impl Row {
    /// What to keep of a report's `predicted`.
    pub fn of(name: String, predicted: &Value) -> Self {
        Self {
            name,
            time_ms: predicted["time_ms"].as_f64(),
            warm_time_ms: None,
            limiter: predicted["limiter"].as_str().map(str::to_owned),
            not_predicted: predicted["not_predicted"].as_str().map(str::to_owned),
            occupancy_percent: predicted["occupancy_percent"].as_f64(),
        }
    }
}

/// The report of a command of the program, with its predictions on a model; it runs in the
/// workspace's root.
pub(super) fn report(host: &Path, root: &Path, arguments: &str, model: &str) -> Result<Value, Failed> {
    let mut command = Command::new(host);
    command.current_dir(root).args(arguments.split_whitespace());
    json(command.args(["--device", &format!("sim:{model}"), "--predict", "--format", "json"]))
}

/// The rows of a lab's report.
pub(super) fn rows(report: &Value) -> impl Iterator<Item = Row> {
    list(&report["variants"]).iter().map(|variant| Row::of(text(&variant["name"]), &variant["predicted"]))
}

/// Reads a file of TOML.
pub(super) fn toml<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = fs::read_to_string(path).map_err(|problem| file(path, problem))?;
    toml::from_str(&text).map_err(|problem| file(path, problem))
}
