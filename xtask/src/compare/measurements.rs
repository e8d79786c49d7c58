//! What `measurements/peers_h200.json` and `peers.toml` hold. `measure` makes it, `rows` reads it.
//! Plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::program::Machine;

/// Everything that was measured.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Results {
    /// The machine, the tools and the date of the last measurement of all.
    pub(super) machine: Machine,
    /// When each lab was measured last.
    #[serde(default)]
    pub(super) dates: BTreeMap<String, String>,
    /// In how many processes each lab ran at the last measurement. Where a process has its buffers
    /// moves cold times by some percent.
    #[serde(default = "one")]
    pub(super) processes: u32,
    /// What each run found, by its arguments.
    pub(super) runs: BTreeMap<String, Run>,
}

fn one() -> u32 {
    1
}

impl Results {
    /// When the labs were measured: most of them, and the others.
    pub(super) fn measured(&self) -> String {
        let of = |date: &String| self.dates.values().filter(|other| *other == date).count();
        let Some(most) = self.dates.values().max_by_key(|date| of(date)) else { return self.machine.date.clone() };
        let others = self.dates.iter().filter(|(_, date)| *date != most);
        others.fold(most.clone(), |text, (lab, date)| format!("{text}, {lab} on {date}"))
    }
}

/// What the runs with the same arguments found: their rows by their names.
pub(super) type Run = BTreeMap<String, Row>;

/// One row of a run; of several processes the middle one.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Row {
    /// The library with its version, if it is not ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) library: Option<String>,
    /// The median time in milliseconds, with nothing of use in the level-2 cache.
    pub(super) time_ms: f64,
    /// Half the distance between the quartiles, in percent.
    pub(super) spread_percent: f64,
    /// The median time back to back, where the cache holds the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) warm_time_ms: Option<f64>,
    /// Of what the device can do at most, in percent, and what bounds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) percent_of_limit: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) limit: Option<String>,
}

/// What is written by hand: what has changed since the measurement, and what limits the rows that
/// miss their target.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) since: Option<String>,
    #[serde(default)]
    pub(super) limits: Vec<Limit>,
}

/// What limits some rows of a goal.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limit {
    /// The goal's title.
    pub(super) of: String,
    /// The rows, by their first cells, or by their sizes for all rows of a size.
    pub(super) rows: Vec<String>,
    pub(super) words: String,
}
