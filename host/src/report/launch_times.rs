//! The times of a launch that is not a lab's, and the rate that follows from them: what `host run`
//! reports of a GPU, under the names of the labs' reports. Plain data.

use device::Properties;
use serde::Serialize;
use serde_json::Value;

use super::csv::{TIMING, cell};
use super::page;
use super::variant_report::VariantReport;
use crate::timing::{Times, Timing};
use crate::units::gigabytes_per_second;

/// The times of a launch, in JSON as in a lab's variant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct LaunchTimes {
    /// Bytes that the kernel has to move, if the user said so.
    useful_bytes: Option<u64>,
    time_ms: f64,
    warm_time_ms: Option<f64>,
    /// These bytes in GB/s (10^9 bytes), by the cold time.
    gbps: Option<f64>,
    /// The same in percent of the memory bus's peak.
    percent_of_memory_limit: Option<f64>,
    timing: Timing,
    warm_timing: Option<Timing>,
}

impl LaunchTimes {
    /// The times of a launch that has to move so many bytes, on a device.
    pub(crate) fn new(Times { cold, warm }: Times, useful_bytes: Option<u64>, device: &Properties) -> Self {
        let gbps = useful_bytes.map(|bytes| gigabytes_per_second(bytes, cold.median_ms));
        Self {
            useful_bytes,
            time_ms: cold.median_ms,
            warm_time_ms: warm.map(|warm| warm.median_ms),
            gbps,
            percent_of_memory_limit: gbps.zip(device.peak_gbps).map(|(gbps, peak)| gbps / peak * 100.0),
            timing: cold,
            warm_timing: warm,
        }
    }

    /// The cold time in milliseconds.
    pub(crate) fn time_ms(&self) -> f64 {
        self.time_ms
    }

    /// How the launch was timed, in a line.
    pub(crate) fn how(&self) -> String {
        page::timed(&[self.timing]).join(" ")
    }

    /// Names and values, for formats of lines: those of the labs' CSV.
    pub(crate) fn rows(&self) -> Vec<[String; 2]> {
        // Numbers and texts can be serialized, so this cannot fail.
        let all = serde_json::to_value(self).unwrap_or_default();
        let results = ["useful_bytes", "time_ms", "warm_time_ms", "gbps", "percent_of_memory_limit"];
        let results = results.map(|name| [name.to_owned(), cell(&all[name])]);
        let series = |prefix: &str, timing: &Value| TIMING.map(|name| [format!("{prefix}{name}"), cell(&timing[name])]);
        let series = [series("", &all["timing"]), series("warm_", &all["warm_timing"])].concat();
        results.into_iter().chain(series).filter(|[_, value]| !value.is_empty()).collect()
    }

    /// As a variant, for the labs' columns.
    pub(crate) fn variant(&self) -> VariantReport {
        VariantReport {
            useful_bytes: self.useful_bytes.unwrap_or(0),
            timing: Some(self.timing),
            warm_timing: self.warm_timing,
            gbps: self.gbps,
            percent_of_memory_limit: self.percent_of_memory_limit,
            ..VariantReport::default()
        }
    }
}
