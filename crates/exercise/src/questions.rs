//! What a student predicts of given kernels, and what the simulator counts there, PTX's memory
//! model allows, or the rules of streams give. `cargo learn` and the site judge with it.

use std::collections::HashMap;
use std::path::Path;

use approx::abs_diff_eq;
use common::random::Random;
use litmus::Outcomes;
use simt::{Checks, Model};

use crate::SOURCE;
use crate::data::{self, Buffers, Sizes};
use crate::fault::Problem;
use crate::files::Exercise;
use crate::goals_file::Question;
use crate::run::{Kernels, LaunchLimits, Module, draw_values};
use goals::goal::{Counted, model_named};
use goals::metric::Launched;
use goals::seen::Seen;

/// The given kernels of an exercise to explain. They run once on each model that a question is
/// about.
pub struct Given<'e> {
    exercise: &'e Exercise,
    ptx: &'e Path,
    limits: LaunchLimits,
    sizes: Sizes,
    values: Buffers,
    by_model: HashMap<&'static str, Vec<Launched>>,
}

impl<'e> Given<'e> {
    /// The kernels in this PTX, with sizes and values drawn from a seed.
    ///
    /// # Errors
    ///
    /// [`Problem::Exercise`].
    pub fn new(exercise: &'e Exercise, ptx: &'e Path, seed: u64, limits: LaunchLimits) -> Result<Self, Problem> {
        let mut random = Random::new(seed);
        let sizes = data::measured(&exercise.goals, &mut random);
        let values = draw_values(exercise, &sizes, &mut random).map_err(Problem::Exercise)?;
        Ok(Self { exercise, ptx, limits, sizes, values, by_model: HashMap::new() })
    }

    /// What the launches counted on a model, or on none.
    ///
    /// # Errors
    ///
    /// As [`Module::run`].
    pub fn launches(&mut self, model: Option<&'static Model>) -> Result<&[Launched], Problem> {
        let Self { exercise, ptx, limits, sizes, values, by_model } = self;
        let name = model.map_or("", |model| model.name);
        if !by_model.contains_key(name) {
            let module = Module::simulated(ptx, model, *limits).map_err(Problem::Device)?;
            let outcome = module.run(exercise, sizes, values, Kernels::Student, Checks::NONE)?;
            by_model.insert(name, outcome.launches);
        }
        Ok(&by_model[name])
    }

    /// Judges what a student predicts for a question; nothing yet is not right.
    ///
    /// # Errors
    ///
    /// As [`Given::launches`], and [`Problem::Exercise`] if there is nothing to count.
    pub fn judge(&mut self, question: &Question, predicted: Option<f64>) -> Result<PredictionResult, Problem> {
        let wrong = |problem: String| Problem::Exercise(format!("question '{}': {problem}", question.name));
        let (counted, seen) = match (&question.litmus, &question.transfers, &question.count) {
            (Some(test), ..) => (allowed(test).map_err(wrong)?, None),
            (None, Some(transfers), _) => (transfers.us(), None),
            (None, None, count) => {
                let count = count.as_ref().ok_or_else(|| wrong("there is no count".to_owned()))?;
                let model = question.on.as_deref().map(model_named).transpose().map_err(Problem::Exercise)?;
                let relevant = of_kernel(count, self.launches(model)?);
                let counted = count.metric.value(&relevant);
                let counted = counted.ok_or_else(|| wrong("there is nothing to count".to_owned()))?;
                (counted, Seen::worst(count.metric, &relevant, SOURCE, None))
            }
        };
        Ok(PredictionResult {
            name: question.name.clone(),
            ask: question.ask.clone(),
            predicted,
            counted,
            by: match (&question.litmus, &question.transfers) {
                (Some(_), _) => "PTX's memory model says",
                (None, Some(_)) => "By the rules it is",
                (None, None) => "The simulator counts",
            },
            seen,
            why: question.why.clone(),
        })
    }
}

/// How many of the outcomes that a litmus test asks for are allowed.
fn allowed(test: &str) -> Result<f64, String> {
    let program = litmus::read("litmus", test).map_err(|error| error.to_string())?;
    let outcomes = Outcomes::of(&program).map_err(|error| error.to_string())?;
    Ok(program.questions.iter().filter(|question| outcomes.allows(question)).count() as f64)
}

/// The launches that are counted.
pub fn of_kernel<'a>(counted: &Counted, launches: &'a [Launched]) -> Vec<&'a Launched> {
    let is_meant = |launched: &&Launched| counted.kernel.as_ref().is_none_or(|kernel| *kernel == launched.kernel);
    launches.iter().filter(is_meant).collect()
}

/// The result of a prediction.
#[derive(Clone, Debug)]
pub struct PredictionResult {
    /// The question's name.
    pub name: String,
    /// The question.
    pub ask: String,
    /// The student's number; `None` if there is none yet.
    pub predicted: Option<f64>,
    /// What was counted.
    pub counted: f64,
    /// Who says so, as the beginning of a sentence that ends with the number.
    pub by: &'static str,
    /// The costliest access that is counted, if there is one.
    pub seen: Option<Seen>,
    /// The explanation.
    pub why: String,
}

impl PredictionResult {
    /// The access in question: with its cost once the answer is known, before that only what the
    /// lanes ask for.
    pub fn drawn(&self, explain: bool) -> Option<Seen> {
        let seen = self.seen.as_ref()?;
        let known = self.right() || explain && self.predicted.is_some();
        Some(if known { seen.clone() } else { Seen { scene: seen.scene.without_cost(), ..seen.clone() } })
    }

    /// Whether it is right, to three digits.
    pub fn right(&self) -> bool {
        self.predicted.is_some_and(|predicted| {
            abs_diff_eq!(predicted, self.counted, epsilon = 0.005 * (1.0 + self.counted.abs())) && {
                // Integers must be exact.
                self.counted.fract() != 0.0 || predicted == self.counted
            }
        })
    }
}
