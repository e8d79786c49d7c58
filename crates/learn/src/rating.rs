//! How fast the kernels of an open exercise are: their predicted time on a model beside that of a
//! copy of as many bytes. [`crate::judge`] asks for it after the results were right, `report` and
//! `page` show it, and [`crate::leaderboard`] keeps the best.
//!
//! *Invariant:* the time is that of a run that is checked as any other: all that a kernel leaves out
//! there is missing in its results. Only the blocks of one multiprocessor are timed; what the others
//! do beyond them counts, too ([`Prediction::unsampled`](simt::prediction::Prediction)).

use std::path::Path;

use common::random::Random;
use exercise::Exercise;
use exercise::SOURCE;
use exercise::data::{self, Sizes};
use exercise::fault::Problem;
use exercise::goals_file::Open;
use exercise::run::Module;
use goals::metric::{Blamed, Launched, Metric, predicted};
use indexmap::IndexMap;
use simt::Model;
use simt::prediction::{Bound, Predicted};
use wording::number;
use wording::units::{bytes, milliseconds, percent, three_digits};

use crate::digest;
use crate::runs::{Judge, Judged, Setting, shown};

/// The model whose times are predicted unless another one is asked for.
const USUAL: &str = "hopper";

/// The most that the blocks which are not timed may do, as a multiple of what those that are do.
const MOST_UNSAMPLED: f64 = 1.5;

/// The most bytes of statics that a timed file may have: with much more memory than L2 has, a launch
/// would be timed as one that finds no modified data there.
const MOST_STATICS: u64 = 1 << 20;

/// The counters that are shown beside a time.
const SHOWN: [&str; 4] =
    ["loads.sectors_per_request", "stores.sectors_per_request", "shared.bank_conflicts", "local.sectors"];

/// How fast the kernels are.
#[derive(Clone, Debug)]
pub struct Rating {
    /// The sizes.
    pub sizes: Sizes,
    /// The model.
    pub model: &'static Model,
    /// The kernels' time, or the reason why they have none.
    pub time: std::result::Result<Time, String>,
    /// The time that theirs is compared with.
    pub copy: CopyTime,
    /// The grades, and how many times as long as the copy the kernels may take.
    pub grades: IndexMap<String, f64>,
    /// Counters, by their names.
    figures: Vec<(&'static str, f64)>,
    /// Resident warps, in percent of the most, and what limits them.
    occupancy: Option<(f64, Option<String>)>,
    /// The line at which warps wait longest.
    pub waits: Option<Blamed>,
    /// The digest of the text.
    pub digest: String,
}

/// A predicted time.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// In microseconds.
    pub us: f64,
    /// What limits it.
    pub bound: Bound,
}

/// The time of a copy: of an empty launch, and of its bytes at DRAM's bandwidth.
#[derive(Clone, Copy, Debug)]
pub struct CopyTime {
    bytes: u64,
    empty_us: f64,
    gbps: f64,
}

impl CopyTime {
    /// Of the bytes of an open exercise, at the sizes at which its time is predicted; `None` on a
    /// model without times.
    ///
    /// # Errors
    ///
    /// A sentence that names the expression.
    pub fn of(open: &Open, sizes: &Sizes, model: &Model) -> std::result::Result<Option<Self>, String> {
        let bytes = open.bytes.whole(&data::lookup(sizes), 1 << 40)?;
        let both = model.empty_launch_us().zip(model.dram_gbps());
        Ok(both.map(|(empty_us, gbps)| Self { bytes, empty_us, gbps }))
    }

    /// In microseconds.
    pub fn us(self) -> f64 {
        self.empty_us + self.bytes as f64 / self.gbps / 1e3
    }
}

/// The model for `--device sim:MODEL`, or the usual one.
pub fn model_or_usual(model: Option<&'static Model>) -> &'static Model {
    model.or_else(|| Model::named(USUAL)).expect("the usual model is there")
}

/// The models that have times.
pub fn models() -> impl Iterator<Item = &'static Model> {
    Model::all().iter().filter(|model| model.dram_gbps().is_some())
}

/// The name of a model's GPU: `H200`.
pub fn gpu(model: &Model) -> &'static str {
    model.chip.split(" (").next().unwrap_or_default()
}

/// The sizes at which times are predicted, which are fixed.
pub fn sizes(exercise: &Exercise) -> Sizes {
    exercise.goals.predicted.iter().map(|(name, size)| (name.clone(), size.from)).collect()
}

/// The best grade that a ratio reaches.
pub fn grade(grades: &IndexMap<String, f64>, ratio: f64) -> Option<&str> {
    grades.iter().rev().find(|(_, most)| ratio <= **most).map(|(name, _)| name.as_str())
}

impl Judge<'_> {
    /// Rates the kernels on the model that was asked for.
    pub fn rated(&self, text: &str, ptx: &Path, reference: &Module) -> Judged<Rating> {
        let open = self.exercise.goals.open.as_ref().expect("an open exercise has it");
        let model = model_or_usual(self.judging.model);
        let sizes = sizes(self.exercise);
        let copy = CopyTime::of(open, &sizes, model).map_err(|problem| self.wrong_exercise(problem))?;
        let copy = copy.ok_or_else(|| self.wrong_exercise(format!("{} has no times", model.name)))?;
        let mut random = Random::new(self.judging.seed.wrapping_add(2));
        let values = self.values(&sizes, &mut random)?;
        let right = self.right(reference, &sizes, &values)?;
        let module = Module::simulated(ptx, Some(model), self.judging.limits);
        let module = module.map_err(|error| self.stopped_by(Problem::Device(error), &sizes))?.predicting();
        let counted = self.checked_run(&module, &right, &sizes, &values)?;
        let setting = Setting { sizes, values, right, timed: true };
        self.in_one_other_order(ptx, &setting, &counted)?;
        let launches: Vec<&Launched> = counted.iter().collect();
        let value = |name: &str| Metric::named(name).and_then(|metric| metric.value(&launches));
        let occupancy = Metric::named("occupancy").and_then(|metric| {
            let percent = metric.value(&launches)?;
            Some((percent, metric.limiter(&launches)))
        });
        let speed = Metric::named("predicted_speedup").expect("it is a metric");
        Ok(Rating {
            sizes: setting.sizes,
            model,
            time: match module.statics() {
                most if most > MOST_STATICS => {
                    Err(format!("its statics have {}; {} are allowed", bytes(most), bytes(MOST_STATICS)))
                }
                _ => time(&launches),
            },
            copy,
            grades: open.grades.clone(),
            figures: SHOWN.into_iter().filter_map(|name| Some((name, value(name)?))).collect(),
            occupancy,
            waits: speed.blame(&launches, SOURCE, false),
            digest: digest::of(&[text.as_bytes()]),
        })
    }
}

/// The time of all launches, with what the blocks that are not timed do beyond the others.
fn time(launches: &[&Launched]) -> std::result::Result<Time, String> {
    let queue = match predicted(launches) {
        Some(Ok(queue)) => queue,
        Some(Err(what)) => return Err(format!("not predicted: {what}")),
        None => return Err("no time was predicted".to_owned()),
    };
    let mut us = queue.cold_us;
    for launched in launches {
        if let Some(Predicted::Time(time)) = launched.report.predicted() {
            if time.unsampled > MOST_UNSAMPLED {
                return Err(format!(
                    "the blocks of one multiprocessor are timed, and the others do {} times as much work in `{}`",
                    three_digits(time.unsampled),
                    launched.kernel
                ));
            }
            us += (time.unsampled - 1.0) * (time.cold_us - time.empty_us);
        }
    }
    Ok(Time { us, bound: queue.bound })
}

impl Rating {
    /// How many times as long as the copy the kernels take.
    pub fn ratio(&self) -> Option<f64> {
        self.time.as_ref().ok().map(|time| time.us / self.copy.us())
    }

    /// The grade that they reach.
    pub fn grade(&self) -> Option<&str> {
        grade(&self.grades, self.ratio()?)
    }

    /// The first grade that they miss.
    fn next(&self) -> Option<(&str, f64)> {
        let next = |most: f64| self.ratio().is_none_or(|ratio| ratio > most);
        self.grades.iter().find(|(_, most)| next(**most)).map(|(name, most)| (name.as_str(), *most))
    }

    /// The time and the grade.
    pub fn said(&self) -> String {
        let place = format!("on {} ({}) at {}", self.model.name, gpu(self.model), shown(&self.sizes));
        let time = match &self.time {
            Ok(time) => time,
            Err(why) => return format!("no time {place}: {why}"),
        };
        let grade = self.grade().map_or("no grade yet".to_owned(), |grade| format!("grade: {grade}"));
        let ratio = three_digits(time.us / self.copy.us());
        format!("predicted {place}: {}, {ratio} times a copy's time; {grade}", milliseconds(time.us / 1e3))
    }

    /// What it is compared with, what holds it back, and what is next.
    pub fn details(&self) -> Vec<String> {
        let CopyTime { bytes: moved, empty_us, gbps } = self.copy;
        let mut all = vec![format!(
            "The copy: {} in an empty launch, and {} at {} GB/s: {}.",
            milliseconds(empty_us / 1e3),
            bytes(moved),
            number(gbps),
            milliseconds(self.copy.us() / 1e3)
        )];
        if let Ok(time) = &self.time {
            let mut held = format!("Limited by {}", time.bound.name());
            if let Some(Blamed { line, value }) = &self.waits {
                held += &format!("; warps wait longest on line {line}: {value:.0} % of all waiting");
            }
            let figures = self.figures.iter().filter(|(name, value)| *name != "local.sectors" || *value > 0.0);
            let mut figures: Vec<String> = figures.map(|(name, value)| format!("{name} {}", number(*value))).collect();
            if let Some((of, limiter)) = &self.occupancy {
                let limiter = limiter.as_ref().map(|limiter| format!(" ({limiter})")).unwrap_or_default();
                figures.push(format!("occupancy {}{limiter}", percent(*of)));
            }
            all.push(format!("{held}. Counted: {}.", figures.join(", ")));
        }
        if let Some((name, most)) = self.next() {
            let us = milliseconds(most * self.copy.us() / 1e3);
            all.push(format!("The next grade, {name}, takes at most {} times a copy's time: {us}.", number(most)));
        }
        all
    }
}
