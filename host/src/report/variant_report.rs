//! The result of a row: its parameters, comparison, times and counters. Plain data.

use device::{Counters, GpuOccupancy};
use picture::TileOrder;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value};
use simt::requests::ArrayCounts;
use simt::transfers::Schedule;

use super::predicted::{Hottest, RowPrediction};
use crate::faults::{Fault, Findings};
use crate::lines::Lines;
use crate::timing::Timing;

/// A parameter of a variant: its block, its offset, and so on.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Its name, with underscores.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
    /// Whether it is an axis of a sweep, and thus a column of every table.
    pub axis: bool,
}

/// One variant's result.
#[derive(Clone, Debug, Default)]
pub struct VariantReport {
    /// The variant's name, as in its flag.
    pub name: String,
    /// Its group: it is compared with the first variant of the same group.
    pub group: String,
    /// The kernels that it launches.
    pub kernels: Vec<&'static str>,
    /// Whether another size or device has another kernel, so that people want to know which this
    /// was.
    pub one_of_several: bool,
    /// Its parameters: offset, block, grid, pitch.
    pub facts: Vec<Fact>,
    /// The comparison with the reference; `None` if a fault stopped the kernel, or there is no
    /// reference.
    pub comparison: Option<Comparison>,
    /// The tiles that its blocks take, for a picture.
    pub tiles: Option<TileOrder>,
    /// Bytes that the task itself reads and writes.
    pub useful_bytes: u64,
    /// Floating-point operations that the task itself requires; 0 in labs about memory only.
    pub operations: u64,
    /// The times with nothing useful in the level-2 cache, from which the rates follow; `None` on
    /// the simulator.
    pub timing: Option<Timing>,
    /// The times of launches back to back, if the level-2 cache helps the next one.
    pub warm_timing: Option<Timing>,
    /// Useful bytes in GB/s (10^9 bytes).
    pub gbps: Option<f64>,
    /// The same in percent of the device's own copy.
    pub percent_of_copy: Option<f64>,
    /// The same in percent of the memory bus's peak.
    pub percent_of_memory_limit: Option<f64>,
    /// Operations in GFLOP/s (10^9 operations).
    pub gflops: Option<f64>,
    /// The same in percent of the multiprocessors' peak in f32 at the measured clock.
    pub percent_of_arithmetic_limit: Option<f64>,
    /// How many times as fast as the first variant of its group.
    pub speedup: Option<f64>,
    /// How long a GPU would take, as the simulator predicts.
    pub predicted: Option<RowPrediction>,
    /// Which of its launches are not predicted, because they are small; `None`: none.
    pub small: Option<Small>,
    /// When its copies and kernels run, by the same prediction, if it has streams.
    pub schedule: Option<Schedule>,
    /// Where its warps would wait longest.
    pub hottest: Option<Hottest>,
    /// The counters of all its launches together.
    pub counters: Option<Counters>,
    /// The counters of each launch, with the kernel's name.
    pub launches: Vec<(&'static str, Counters)>,
    /// How often each word of global memory is loaded or updated, if that was counted.
    pub arrays: Vec<ArrayCounts>,
    /// The GPU's occupancy with its first launch.
    pub occupancy: Option<GpuOccupancy>,
    /// The counts of each line of the kernels, if requested.
    pub lines: Option<Lines>,
    /// The same with every access, if there is to be a page.
    pub on_page: Option<Lines>,
    /// How often it ran again, and was wrong, if the lab counts that.
    pub again: Option<RanAgain>,
    /// The sanitizer's findings, if requested.
    pub findings: Option<Findings>,
    /// The fault that stopped the kernel.
    pub stopped: Option<Fault>,
}

/// What the runs of a row show that follow the one that is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RanAgain {
    /// How many there were.
    pub times: u32,
    /// How many had a wrong result.
    pub wrong: u32,
    /// Whether they ran on the simulator in drawn orders, and not on a GPU.
    pub in_drawn_orders: bool,
}

/// Which launches of a row fill less than half of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Small {
    /// Some of them.
    Some,
    /// Every one.
    All,
}

/// What limits the speed of a variant on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// The bandwidth of the memory bus.
    Memory,
    /// The rate of fused multiply-adds of f32.
    Arithmetic,
}

/// The comparison of an output with the reference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Elements of the result.
    pub elements: u64,
    /// How many of them were compared with a reference, if only a sample was. Of the others only
    /// the magnitude was checked.
    pub sample: Option<u64>,
    /// Elements that are wrong.
    pub wrong: u64,
    /// Whether the simulator computes it more exactly than a GPU does, so that its error says
    /// nothing.
    pub too_exact: bool,
    /// The largest difference from the reference; NaN or infinite if one of the two is.
    pub max_error: f64,
    /// The first wrong element.
    pub first: Option<Mismatch>,
    /// The allowed error, unless results must be equal.
    pub tolerance: Option<Tolerated>,
}

/// The allowed distance from the reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tolerance {
    /// The error of f32 arithmetic that rounds this many times on the way to an element, in any
    /// order: each rounding adds at most 2^-24 of the magnitude of what is rounded (N. Higham,
    /// Accuracy and Stability of Numerical Algorithms, section 4.2).
    Roundings(u64),
    /// This many floats on either side of the nearest one.
    Ulps(u32),
    /// This absolute error.
    Absolute(f64),
}

/// The error of a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tolerated {
    /// The allowed error.
    pub tolerance: Tolerance,
    /// The largest error relative to the allowed error: up to 1 is right.
    pub worst_part: f64,
}

/// A wrong element.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mismatch {
    /// Its index: row and column, or one number.
    pub index: Vec<u64>,
    /// The reference's value.
    pub expected: f64,
    /// The device's value, or the poison if nothing was written.
    pub found: f64,
}

impl Comparison {
    /// Whether every element was right.
    pub fn correct(&self) -> bool {
        self.wrong == 0
    }
}

impl VariantReport {
    /// Its name, and the model's where rows differ by that: `best on g80`.
    pub(super) fn name_on_model(&self) -> String {
        match self.fact("model").and_then(Value::as_str) {
            Some(model) => format!("{} on {model}", self.name),
            None => self.name.clone(),
        }
    }

    /// The value of this fact.
    pub fn fact(&self, name: &str) -> Option<&Value> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| &fact.value)
    }

    /// Whether every element was right; `None` if a fault stopped the kernel, or there is nothing
    /// to compare with.
    pub fn correct(&self) -> Option<bool> {
        self.comparison.as_ref().map(Comparison::correct)
    }

    /// The limit that the variant is closest to, and the percentage of it that was reached.
    pub fn limit(&self) -> Option<(Limit, f64)> {
        let memory = self.percent_of_memory_limit.map(|percent| (Limit::Memory, percent));
        let arithmetic = self.percent_of_arithmetic_limit.map(|percent| (Limit::Arithmetic, percent));
        memory.into_iter().chain(arithmetic).max_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// All faults of the kernels.
    pub fn faults(&self) -> Vec<Fault> {
        self.findings.iter().flat_map(Findings::faults).chain(self.stopped.clone()).collect()
    }
}

impl Serialize for VariantReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let timing = self.timing.as_ref();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("kernels", &self.kernels)?;
        let facts: Map<_, _> = self.facts.iter().map(|fact| (fact.name.to_owned(), fact.value.clone())).collect();
        map.serialize_entry("parameters", &facts)?;
        let comparison = self.comparison.as_ref();
        map.serialize_entry("correct", &self.correct())?;
        map.serialize_entry("max_error", &comparison.map(|comparison| comparison.max_error))?;
        map.serialize_entry("wrong_elements", &comparison.map(|comparison| comparison.wrong))?;
        if let Some(comparison) = comparison.filter(|comparison| comparison.sample.is_some()) {
            map.serialize_entry("elements", &comparison.elements)?;
            map.serialize_entry("compared_elements", &comparison.sample)?;
        }
        map.serialize_entry("first_wrong", &comparison.and_then(|comparison| comparison.first.as_ref()))?;
        if let Some(tolerance) = comparison.and_then(|comparison| comparison.tolerance.as_ref()) {
            map.serialize_entry("tolerance", tolerance)?;
        }
        map.serialize_entry("useful_bytes", &self.useful_bytes)?;
        if self.operations > 0 {
            map.serialize_entry("operations", &self.operations)?;
            map.serialize_entry("gflops", &self.gflops)?;
        }
        map.serialize_entry("time_ms", &timing.map(|timing| timing.median_ms))?;
        map.serialize_entry("warm_time_ms", &self.warm_timing.map(|timing| timing.median_ms))?;
        map.serialize_entry("gbps", &self.gbps)?;
        map.serialize_entry("percent_of_copy", &self.percent_of_copy)?;
        map.serialize_entry("percent_of_limit", &self.limit().map(|(_, percent)| percent))?;
        map.serialize_entry("limit", &self.limit().map(|(limit, _)| limit))?;
        map.serialize_entry("percent_of_memory_limit", &self.percent_of_memory_limit)?;
        map.serialize_entry("percent_of_arithmetic_limit", &self.percent_of_arithmetic_limit)?;
        map.serialize_entry("speedup", &self.speedup)?;
        map.serialize_entry("timing", &timing)?;
        map.serialize_entry("warm_timing", &self.warm_timing)?;
        if let Some(occupancy) = &self.occupancy {
            map.serialize_entry("occupancy", occupancy)?;
        }
        if let Some(predicted) = &self.predicted {
            map.serialize_entry("predicted", predicted)?;
        }
        if let Some(schedule) = &self.schedule {
            map.serialize_entry("predicted_engines", &super::engines::data(schedule))?;
        }
        map.serialize_entry("counters", &self.counters.as_ref().map(Metrics))?;
        if let Some(lines) = &self.lines {
            map.serialize_entry("lines", lines)?;
        }
        if let Some(again) = &self.again {
            map.serialize_entry("again", again)?;
        }
        map.serialize_entry("faults", &self.faults())?;
        map.end()
    }
}

/// Counters as a map from Nsight Compute's names to numbers.
pub(crate) struct Metrics<'a>(pub &'a Counters);

impl Serialize for Metrics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for metric in self.0.metrics() {
            match metric.value {
                simt::counts::MetricValue::Count(count) => map.serialize_entry(metric.name, &count)?,
                simt::counts::MetricValue::Ratio(ratio) => map.serialize_entry(metric.name, &ratio)?,
            }
        }
        map.end()
    }
}

/// A parameter's value as text.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null => "none".to_owned(),
        Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(" x "),
        other => other.to_string(),
    }
}
