//! What the solution counts, recorded for a copy of the course that has no solutions:
//! `solution.json`. [`crate::export`] writes it, and [`crate::counts`] compares with it. A copy has
//! the counts for a few seeds, so its students' sizes and values are drawn from these.

use std::collections::BTreeMap;
use std::fs;

use exercise::Exercise;
use exercise::data::some_seed;
use goals::goal::Goal;
use goals::metric::{Launched, Metric};
use serde::{Deserialize, Serialize};
use simt::Model;

use crate::error::{Error, Result};

/// The contents of `solution.json`: figures by seed.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Recorded {
    pub seeds: BTreeMap<u64, Vec<Figures>>,
}

/// The metrics of the launches of one kernel, or of all, on a model.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Figures {
    /// The model's name; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kernel: Option<String>,
    pub launches: usize,
    /// Values by metric, without zeros and without metrics that counted nothing.
    #[serde(default)]
    values: BTreeMap<String, f64>,
    /// Metrics whose value is 0.
    #[serde(default)]
    zero: Vec<String>,
}

impl Figures {
    /// Of the launches of `kernel`, or of all.
    pub fn of(model: Option<&Model>, kernel: Option<&str>, launches: &[Launched]) -> Self {
        let launches: Vec<&Launched> =
            launches.iter().filter(|launched| kernel.is_none_or(|kernel| launched.kernel == kernel)).collect();
        let values: Vec<(String, f64)> =
            Metric::all().filter_map(|metric| Some((metric.name.to_owned(), metric.value(&launches)?))).collect();
        let (zero, values): (Vec<_>, Vec<_>) = values.into_iter().partition(|(_, value)| *value == 0.0);
        Self {
            model: model.map(|model| model.name.to_owned()).unwrap_or_default(),
            kernel: kernel.map(str::to_owned),
            launches: launches.len(),
            values: values.into_iter().collect(),
            zero: zero.into_iter().map(|(name, _)| name).collect(),
        }
    }

    /// Whether they are of this kernel, or of all, on this model.
    pub fn are_of(&self, model: Option<&Model>, kernel: Option<&str>) -> bool {
        self.model == model.map_or("", |model| model.name) && self.kernel.as_deref() == kernel
    }

    /// The value of a metric; `None` if nothing was counted for it.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        let is_zero = || self.zero.iter().any(|name| name == metric.name);
        self.values.get(metric.name).copied().or_else(|| is_zero().then_some(0.0))
    }
}

impl Recorded {
    /// The counts of an exercise in a copy for students; `None` where the solution is there.
    ///
    /// # Errors
    ///
    /// [`Error::File`], and [`Error::Exercise`] if the file was changed.
    pub fn read(exercise: &Exercise) -> Result<Option<Self>> {
        let file = exercise.solution_counts_file();
        if !file.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&file).map_err(Error::reading(&file))?;
        let recorded = serde_json::from_str(&text).map_err(|error| Error::exercise(&file, error))?;
        Ok(Some(recorded))
    }

    /// The figures for a seed.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] with the seeds that there are.
    pub fn at(mut self, seed: u64) -> Result<Vec<Figures>> {
        self.seeds.remove(&seed).ok_or_else(|| {
            let seeds: Vec<String> = self.seeds.keys().map(u64::to_string).collect();
            Error::Usage(format!(
                "--seed {seed}: this copy of the course compares with the solution for these seeds only: {}",
                seeds.join(", ")
            ))
        })
    }

    /// That a goal asks for figures that are not there.
    pub fn lacks(goal: &Goal) -> String {
        format!("`{goal}`: solution.json has no counts for it")
    }
}

/// A seed for which a verdict is possible: any, or one of those recorded.
///
/// # Errors
///
/// Those of [`Recorded::read`].
pub fn some_seed_of(exercise: &Exercise) -> Result<u64> {
    let any = some_seed();
    let seeds: Vec<u64> = Recorded::read(exercise)?.into_iter().flat_map(|it| it.seeds.into_keys()).collect();
    match seeds.len() {
        0 => Ok(any),
        count => Ok(seeds[(any % count as u64) as usize]),
    }
}
