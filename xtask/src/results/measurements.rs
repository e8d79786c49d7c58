//! What `measurements/h200.json` holds. `measure` makes it, `labs` and `page` read it. Plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::program::Machine;

/// All measurements.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Results {
    /// The machine, the tools and the date.
    pub(super) machine: Machine,
    /// When each lab was measured last; the machine's date is that of the last measurement of all.
    #[serde(default)]
    pub(super) dates: BTreeMap<String, String>,
    /// The result of each command of [`plan`](super::plan), by its arguments.
    pub(super) runs: BTreeMap<String, Run>,
    /// Ours beside nvcc's kernels, by the arguments of the command.
    pub(super) twins: BTreeMap<String, Vec<Twin>>,
}

/// The result of one command.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Run {
    /// The bandwidth of the device's own copy, in GB/s.
    pub(super) copy_gbps: Option<f64>,
    pub(super) conclusions: Vec<String>,
    pub(super) variants: Vec<Variant>,
}

/// One variant of a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Variant {
    pub(super) name: String,
    /// The cold time, from which the rates follow.
    pub(super) time_ms: f64,
    /// The warm time, if the level-2 cache helps.
    #[serde(default)]
    pub(super) warm_time_ms: Option<f64>,
    pub(super) spread_percent: f64,
    pub(super) gbps: Option<f64>,
    pub(super) percent_of_copy: Option<f64>,
    /// Percent of the peak of memory or arithmetic, whichever is closer.
    #[serde(default)]
    pub(super) percent_of_limit: Option<f64>,
    pub(super) gflops: Option<f64>,
    pub(super) speedup: Option<f64>,
    /// The occupancy: percent of the warps that a multiprocessor can hold.
    #[serde(default)]
    pub(super) occupancy: Option<f64>,
    /// Bytes that the threads of a multiprocessor have in flight, in labs about that.
    #[serde(default)]
    pub(super) bytes_in_flight: Option<f64>,
}

/// One variant, timed with our kernels and with nvcc's.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Twin {
    pub(super) variant: String,
    pub(super) kernel: String,
    /// The medians of all rounds, in milliseconds.
    pub(super) rust_ms: Vec<f64>,
    pub(super) nvcc_ms: Vec<f64>,
}

impl Results {
    /// The labs that were measured before the machine's date, and when.
    pub(super) fn earlier(&self) -> impl Iterator<Item = (&String, &String)> {
        self.dates.iter().filter(|(_, date)| **date != self.machine.date)
    }
}
