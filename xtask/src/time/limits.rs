//! What limits a launch: as predicted, and as Nsight Compute says on an H100. Pure, but for reading
//! the profiles.
//!
//! The rule was fixed before the profiles were seen: the unit that is used most limits a launch if
//! that is 60 % or more of the time; otherwise nothing but latency does, which is what warps wait
//! for with no unit busy.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;
use wording::paragraph;

use super::data::Row;
use super::errors::percent;
use crate::program::Error;
use crate::records;

/// The profiles, as a script took them from the tool's tables.
const PROFILES: &str = "measurements/h100_limits.json";
/// The model of the GPU that they are of.
pub(super) const MODEL: &str = "h100";
/// From this use on, in percent, a unit limits a launch.
const LIMITS: f64 = 60.0;
/// The predicted limits that are no unit's.
const NO_UNIT: [&str; 4] = ["latency", "barriers", "dependences", "launch"];

/// Profiles of the labs' launches.
#[derive(Debug, Deserialize)]
pub(super) struct Profiles {
    machine: String,
    launches: Vec<Profile>,
}

/// One of them.
#[derive(Debug, Deserialize)]
struct Profile {
    run: String,
    name: String,
    /// The use of each unit in percent.
    uses: BTreeMap<String, f64>,
}

impl Profiles {
    pub fn read(root: &Path) -> Result<Self, Error> {
        records::read(&root.join(PROFILES))
    }

    /// The runs that they are of.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        let mut runs: Vec<&str> = self.launches.iter().map(|launch| launch.run.as_str()).collect();
        runs.dedup();
        runs.into_iter()
    }
}

impl Profile {
    /// The unit that is used most, and how much. The load-store unit's work is shared memory's if
    /// that is most of it.
    fn busiest(&self) -> (&str, f64) {
        let shared = self.uses.get("shared memory").copied().unwrap_or(0.0);
        let counts = |(name, part): &(&String, &f64)| match name.as_str() {
            "LSU" => shared < **part / 2.0,
            _ => true,
        };
        let all = self.uses.iter().filter(counts).map(|(name, &part)| (name.as_str(), part));
        all.max_by(|(_, one), (_, other)| one.total_cmp(other)).unwrap_or(("nothing", 0.0))
    }

    /// What limits it.
    fn limit(&self) -> &str {
        match self.busiest() {
            (unit, part) if part >= LIMITS => unit,
            _ => "latency",
        }
    }
}

/// Writes the comparison. `predicted` has the runs' rows on [`MODEL`].
pub(super) fn write(text: &mut String, predicted: &BTreeMap<String, Vec<Row>>, profiles: &Profiles) {
    let (mut all, mut same) = (0, 0);
    for profile in &profiles.launches {
        let rows = predicted.get(&profile.run).map_or(&[][..], Vec::as_slice);
        let row = rows.iter().find(|row| row.name == profile.name);
        let Some(limiter) = row.and_then(|row| row.limiter.as_deref()) else { continue };
        let predicted = if NO_UNIT.contains(&limiter) { "latency" } else { limiter };
        all += 1;
        same += u32::from(predicted == profile.limit());
    }
    let sentence = format!(
        "Of {all} launches of the labs, {same} ({}) are limited on `sim:{MODEL}` by what limits them by Nsight Compute: the unit \
         that is used most, from 60 % on; else latency ({}).",
        percent(f64::from(same) / f64::from(all.max(1))),
        profiles.machine
    );
    let _ = writeln!(text, "## What limits a launch\n\n{}\n", paragraph(&sentence));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_limits_from_60_percent_on_and_most_of_the_load_store_unit_may_be_shared_memory() {
        let of = |uses: &[(&str, f64)]| Profile {
            run: "r".into(),
            name: "a".into(),
            uses: uses.iter().map(|&(name, part)| (name.to_owned(), part)).collect(),
        };
        assert_eq!(of(&[("DRAM", 59.9), ("L2", 20.0)]).limit(), "latency");
        assert_eq!(of(&[("DRAM", 60.0), ("L2", 20.0)]).limit(), "DRAM");
        assert_eq!(of(&[("LSU", 90.0), ("shared memory", 88.0)]).limit(), "shared memory");
        assert_eq!(of(&[("LSU", 90.0), ("shared memory", 8.0)]).limit(), "LSU");
    }
}
