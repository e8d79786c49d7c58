//! A row's predicted time: what the simulator says a GPU would take, beside what limits it. It is
//! never shown as if it were measured: its columns, its fields in data and its sentences say
//! "predicted". Pure.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use simt::Model;
use simt::prediction::{Bound, Predicted, Prediction, Queue};

use super::variant_report::{Small, VariantReport};
use crate::units::gigabytes_per_second;

/// How the launches of a row are timed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// Each queued behind the one before.
    Queued,
    /// Each alone, and their times added up: with flushed caches, or, if `warm`, with its data in
    /// the level-2 cache.
    Added {
        /// Whether the data is in the cache, if it fits.
        warm: bool,
    },
}

/// The predicted time of all launches of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedTime {
    /// The GPU.
    pub model: &'static Model,
    /// Milliseconds with nothing useful in the level-2 cache.
    pub time_ms: f64,
    /// Milliseconds with what the launch before left there, if that is useful.
    pub warm_time_ms: Option<f64>,
    /// What limits its longest launch.
    pub limit: Bound,
    /// How its launches are timed together.
    pub together: Together,
    /// Whether it says little about the kernels.
    pub(super) is_of_too_little: bool,
    /// Useful bytes in GB/s; `None` for products, which have more operations than bytes.
    pub gbps: Option<f64>,
    /// Operations in GFLOP/s.
    pub gflops: Option<f64>,
    /// The predicted time over the measured one, if there is one.
    pub over_measured: Option<f64>,
    /// How many times as fast as the first row of its group.
    pub speedup: Option<f64>,
    /// Each launch, with the kernel's name.
    pub launches: Vec<(String, Prediction)>,
}

/// The line of the program that waits longest: where it is, and its part of all waiting.
#[derive(Clone, Debug, PartialEq)]
pub struct Hottest {
    /// File and line.
    pub place: String,
    /// Its part of the waiting.
    pub part: f64,
}

/// A row's predicted time, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum RowPrediction {
    /// Its time.
    Time(PredictedTime),
    /// Why it has none: it uses something that is not modelled, or the model cannot run it.
    Not(Cow<'static, str>),
}

impl RowPrediction {
    /// The prediction for a row of these launches, which are queued one behind the other. `None`
    /// without any.
    pub(crate) fn of<'k>(
        launches: impl IntoIterator<Item = (&'k str, &'k Predicted)>,
        useful_bytes: u64,
        operations: u64,
    ) -> Option<Self> {
        let launches: Vec<_> = launches.into_iter().collect();
        let queue = match Queue::of(launches.iter().map(|(_, predicted)| *predicted))? {
            Ok(queue) => queue,
            Err(what) => return Some(Self::Not(what.into())),
        };
        let time_ms = queue.cold_us / 1e3;
        Some(Self::Time(PredictedTime {
            model: queue.model,
            time_ms,
            warm_time_ms: queue.warm_us.map(|warm| warm / 1e3),
            limit: queue.bound,
            together: Together::Queued,
            is_of_too_little: queue.is_of_too_little,
            gbps: (useful_bytes > operations).then(|| gigabytes_per_second(useful_bytes, time_ms)),
            gflops: (operations > 0).then(|| operations as f64 / time_ms / 1e6),
            over_measured: None,
            speedup: None,
            launches: launches_of(launches.into_iter()),
        }))
    }
}

/// The launches that have a time.
fn launches_of<'k>(launches: impl Iterator<Item = (&'k str, &'k Predicted)>) -> Vec<(String, Prediction)> {
    let times = launches.filter_map(|(name, predicted)| match predicted {
        Predicted::Time(time) => Some((name.to_owned(), (**time).clone())),
        Predicted::Not(_) => None,
    });
    times.collect()
}

impl Small {
    /// Which of these launches are not predicted, because they are small.
    pub(crate) fn of<'p>(launches: impl Iterator<Item = &'p Predicted> + Clone) -> Option<Self> {
        let small = launches.clone().filter(|launch| **launch == Predicted::TOO_SMALL).count();
        match small {
            0 => None,
            all if all == launches.count() => Some(Self::All),
            _ => Some(Self::Some),
        }
    }
}

impl RowPrediction {
    /// The time of launches of which only the sum and what limits the longest are known.
    pub(crate) fn of_sum(model: &'static Model, time_ms: f64, limit: Bound, together: Together) -> Self {
        Self::Time(PredictedTime {
            model,
            time_ms,
            warm_time_ms: None,
            limit,
            together,
            is_of_too_little: false,
            gbps: None,
            gflops: None,
            over_measured: None,
            speedup: None,
            launches: Vec::new(),
        })
    }

    /// No time, for this reason.
    pub(crate) fn not(why: &'static str) -> Self {
        Self::Not(why.into())
    }

    /// The time of copies and kernels on streams.
    pub(crate) fn of_schedule(
        model: &'static Model,
        time_ms: f64,
        limit: Bound,
        useful_bytes: u64,
        launches: &[(&'static str, Predicted)],
    ) -> Self {
        let mut row = Self::of_sum(model, time_ms, limit, Together::Queued);
        if let Self::Time(time) = &mut row {
            time.gbps = Some(gigabytes_per_second(useful_bytes, time_ms));
            time.launches = launches_of(launches.iter().map(|(name, predicted)| (*name, predicted)));
        }
        row
    }

    /// The same beside a measured time of so many milliseconds.
    pub(crate) fn beside(mut self, measured_ms: Option<f64>) -> Self {
        if let Self::Time(time) = &mut self {
            time.over_measured = measured_ms.map(|measured| time.time_ms / measured);
        }
        self
    }
}

impl VariantReport {
    /// Its predicted time, if it has one.
    pub fn predicted_time(&self) -> Option<&PredictedTime> {
        match self.predicted.as_ref()? {
            RowPrediction::Time(time) => Some(time),
            RowPrediction::Not(_) => None,
        }
    }

    /// Compares its predicted time with that of the first row of its group on the same model, which
    /// is among the earlier ones unless it is this.
    pub(crate) fn rate_predicted(&mut self, earlier: &[VariantReport]) {
        let model = |variant: &VariantReport| variant.predicted_time().map(|time| time.model.name);
        let first = earlier.iter().find(|variant| {
            // A row without a time stands for any model: the first one's may be that.
            variant.group == self.group && (model(variant).is_none() || model(variant) == model(self))
        });
        let baseline = match first {
            Some(first) => first.predicted_time().map(|time| time.time_ms),
            None => self.predicted_time().map(|time| time.time_ms),
        };
        self.predicted = self.predicted.take().map(|it| it.beside(self.timing.map(|measured| measured.median_ms)));
        if let Some(RowPrediction::Time(time)) = &mut self.predicted {
            time.speedup = baseline.map(|baseline| baseline / time.time_ms);
        }
    }
}

impl Serialize for RowPrediction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Time(time) => {
                map.serialize_entry("model", time.model.name)?;
                map.serialize_entry("time_ms", &time.time_ms)?;
                map.serialize_entry("warm_time_ms", &time.warm_time_ms)?;
                map.serialize_entry("limiter", time.limit.name())?;
                map.serialize_entry("gbps", &time.gbps)?;
                if let Some(gflops) = time.gflops {
                    map.serialize_entry("gflops", &gflops)?;
                }
                map.serialize_entry("speedup", &time.speedup)?;
                if let Some(ratio) = time.over_measured {
                    map.serialize_entry("over_measured", &ratio)?;
                }
                if let [(_, launch)] = time.launches.as_slice() {
                    map.serialize_entry("registers", &launch.registers)?;
                    map.serialize_entry(
                        "occupancy_percent",
                        &(100.0 * f64::from(launch.warps.0) / f64::from(launch.warps.1)),
                    )?;
                }
            }
            Self::Not(what) => {
                map.serialize_entry("time_ms", &None::<f64>)?;
                map.serialize_entry("not_predicted", what)?;
            }
        }
        map.end()
    }
}
