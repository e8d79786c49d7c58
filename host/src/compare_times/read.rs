//! Reads reports that `host LAB --format json` wrote. [`super`] calls it. Reads the files that it
//! is given and nothing else.

use std::path::Path;

use device::input_file::Kind;
use device::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value};
use wording::{one_line, printable};

/// The longest report that is read from a stream, which may never end. A lab's report has some
/// kilobytes.
const LONGEST: usize = 256 << 20;

const JSON: Kind = Kind {
    name: "JSON",
    refuses: |bytes, _| (bytes.len() > LONGEST).then_some("it is longer than 256 MiB"),
    other: |_| None,
};

/// The part of a lab's report that a comparison needs. Its fields are those of
/// [`crate::report::LabReport`] as JSON.
#[derive(Debug, Deserialize)]
pub(super) struct Report {
    pub lab: String,
    pub device: Device,
    pub parameters: Map<String, Value>,
    pub variants: Vec<Variant>,
}

/// The device that a report is of.
#[derive(Debug, Deserialize)]
pub(super) struct Device {
    pub name: String,
    pub driver: Option<String>,
}

/// A variant of a report.
#[derive(Debug, Deserialize)]
pub(super) struct Variant {
    pub name: String,
    pub correct: Option<bool>,
    timing: Option<Series>,
    warm_timing: Option<Series>,
}

/// A series of times.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Series {
    pub time_ms: f64,
    pub time_lower_quartile_ms: f64,
    pub time_upper_quartile_ms: f64,
    pub samples: usize,
    pub cache: String,
    #[serde(default = "yes")]
    pub steady: bool,
    pub throttled_by: Option<String>,
}

fn yes() -> bool {
    true
}

/// What was in the level-2 cache: only times with equal values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Cold,
    Warm,
}

impl State {
    /// As text.
    pub fn words(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
        }
    }
}

impl Series {
    fn state(&self) -> State {
        if self.cache == "warm" { State::Warm } else { State::Cold }
    }

    /// Whether these numbers can be a median and its quartiles.
    fn is_possible(&self) -> bool {
        let times = [self.time_lower_quartile_ms, self.time_ms, self.time_upper_quartile_ms];
        self.samples > 0 && times[0] > 0.0 && times.is_sorted() && times[2].is_finite()
    }
}

impl Variant {
    /// The times in this state, if they were taken.
    pub fn series(&self, state: State) -> Option<&Series> {
        [&self.timing, &self.warm_timing].into_iter().flatten().find(|series| series.state() == state)
    }

    /// Whether it has any times.
    pub fn is_timed(&self) -> bool {
        self.timing.is_some()
    }
}

/// The reports in a file: one, or several one after another or in a list.
///
/// # Errors
///
/// [`Error::File`] if it cannot be read or holds something else.
pub(super) fn reports(path: &Path) -> Result<Vec<Report>> {
    let text = JSON.read(path)?;
    let mut reports = Vec::new();
    for value in serde_json::Deserializer::from_str(&text).into_iter() {
        let value: Value = value.map_err(|error| Error::file(path, format!("is not JSON: {error}")))?;
        match value {
            Value::Array(list) => {
                for value in list {
                    reports.push(report(path, value)?);
                }
            }
            value => reports.push(report(path, value)?),
        }
    }
    if reports.is_empty() {
        return Err(Error::file(path, "holds no report; `host LAB --format json` writes one"));
    }
    Ok(reports)
}

/// A report whose times are plausible.
fn report(path: &Path, value: Value) -> Result<Report> {
    if value.get("labs").is_some() {
        let problem =
            "is a report of `host course`, which has no times of variants; `host LAB --format json` writes them";
        return Err(Error::file(path, problem));
    }
    let report: Report = serde_json::from_value(value).map_err(|error| {
        let what = one_line(&error.to_string());
        Error::file(path, format!("is not a lab's report: {what}; `host LAB --format json` writes one"))
    })?;
    for variant in &report.variants {
        if let Some(series) = [&variant.timing, &variant.warm_timing].into_iter().flatten().find(|s| !s.is_possible()) {
            let Series { time_lower_quartile_ms: lower, time_ms, time_upper_quartile_ms: upper, samples, .. } = series;
            return Err(Error::file(
                path,
                format!(
                    "variant {}: {time_ms} ms cannot be the median of {samples} samples with quartiles of {lower} and {upper} ms",
                    printable(&variant.name)
                ),
            ));
        }
    }
    if !report.variants.iter().any(Variant::is_timed) {
        let of = printable(&report.device.name);
        return Err(Error::file(path, format!("has no times: it is a report of {of}; compare runs on a GPU")));
    }
    Ok(report)
}
