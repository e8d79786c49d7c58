//! Counts what goals are about: in the student's kernels, and in the solution's and the starter's
//! if a goal compares with them. Predicts times, too. [`crate::judge`] calls it after the results
//! were right.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use device::random::Random;
use exercise::SOURCE;
use exercise::data::{self, Buffers, Sizes};
use exercise::goals_file::GoalPlan;
use exercise::metric::{self, Launched};
use exercise::questions::of_kernel;
use exercise::run::{Kernels, Outcome};
use exercise::seen::Seen;
use simt::{Checks, Model};

use crate::error::Result;
use crate::goals::{implied_goals, of_solution};
use crate::runs::{Judge, Judged};
use crate::verdict::{Gain, GoalResult, Verdict};

/// The sizes and values of runs that are counted.
pub struct Setting {
    pub sizes: Sizes,
    pub values: Buffers,
    /// The right results.
    pub right: Outcome,
    /// Whether times are predicted.
    pub timed: bool,
}

/// What is counted in one setting: the student's kernels, and what goals compare them with.
pub struct Measured<'a> {
    pub setting: &'a Setting,
    pub student: Counts,
    pub solution: Option<Counts>,
    /// If times are predicted.
    pub starter: Option<Counts>,
}

/// Someone's PTX, and its counts on each model.
pub struct Counts {
    ptx: PathBuf,
    /// Whether its results are to be checked, as only the student's are.
    checked: bool,
    by_model: HashMap<&'static str, Vec<Launched>>,
}

impl Counts {
    fn of(ptx: PathBuf) -> Self {
        Self { ptx, checked: false, by_model: HashMap::new() }
    }

    /// Of the student's kernels, without a model: counted in the run that was checked, since a
    /// kernel may notice that there is another.
    pub fn of_student(ptx: &Path, counted: Vec<Launched>) -> Self {
        Self { ptx: ptx.to_owned(), checked: true, by_model: HashMap::from([("", counted)]) }
    }
}

impl Judge<'_> {
    /// The setting in which times are predicted, if there is one, and the starter's counts there.
    /// Its results are the right ones: the reference, in one thread, would take too long.
    pub fn timed_setting(&self, measured: &Sizes) -> Result<Option<(Setting, Counts)>> {
        let goals = &self.exercise.goals;
        if goals.predicted.is_empty() {
            return Ok(None);
        }
        let mut random = Random::new(self.judging.seed);
        let sizes = data::instead(&goals.predicted, measured, &mut random);
        let values = self.values(&sizes, &mut random)?;
        let ptx = self.own(&self.exercise.starter_file())?;
        let starter = self.simulated(&ptx, None)?.predicting();
        let outcome = starter.run(self.exercise, &sizes, &values, Kernels::Student, Checks::NONE);
        let mut right = self.of_exercise("the starter", outcome.map_err(|problem| self.stopped_by(problem, &sizes)))?;
        let by_model = HashMap::from([("", std::mem::take(&mut right.launches))]);
        Ok(Some((Setting { sizes, values, right, timed: true }, Counts { by_model, ..Counts::of(ptx) })))
    }

    /// Predicts the time of the student's kernels, in a run that is checked as any other.
    pub fn timed<'m>(
        &self,
        ptx: &Path,
        setting: &'m Setting,
        starter: Counts,
        verdict: &mut Verdict,
    ) -> Judged<Measured<'m>> {
        let Setting { sizes, values, right, .. } = setting;
        let module = self.simulated(ptx, None)?.predicting();
        let counted = self.checked_run(&module, right, sizes, values)?;
        let time = |launches: &[Launched]| metric::predicted(&launches.iter().collect::<Vec<_>>());
        let starters = match time(&starter.by_model[""]) {
            Some(Ok(time)) if !time.is_of_too_little => time,
            Some(Err(what)) => return Err(self.wrong_exercise(format!("[predicted]: not predicted: {what}")).into()),
            _ => {
                return Err(self
                    .wrong_exercise("[predicted]: too little work to predict the time of an H200".to_owned())
                    .into());
            }
        };
        verdict.gain = time(&counted).map(|student| Gain { sizes: sizes.clone(), student, starter: starters });
        let student = Counts::of_student(ptx, counted);
        Ok(Measured { setting, student, solution: None, starter: Some(starter) })
    }

    /// Counts what the goals are about in the student's kernels and, if a goal compares with it, in
    /// the solution's and the starter's.
    pub fn goals<'m>(
        &self,
        mut measured: Measured<'m>,
        mut timed: Option<Measured<'m>>,
        verdict: &mut Verdict,
    ) -> Judged {
        let own = &self.exercise.goals.goal;
        let implied = implied_goals(self.exercise.goals.task);
        for (plan, is_implied) in own.iter().map(|goal| (goal, false)).chain(implied.iter().map(|goal| (goal, true))) {
            let GoalPlan { that, why, also } = plan;
            let metric = that.counted.metric;
            let compared = that.bound.uses(&|name| of_solution(name, metric).is_some());
            let at = if metric.is_speedup() { timed.as_mut() } else { Some(&mut measured) };
            let Measured { setting, student, solution, starter } = at.expect("checked when it was read");
            if compared && solution.is_none() {
                *solution = Some(Counts::of(self.own(&self.exercise.solution_file())?));
            }
            let launches = self.launches(setting, student, that.model)?;
            let relevant = of_kernel(&that.counted, launches);
            let starters = match starter {
                Some(starter) => {
                    let launches = self.launches(setting, starter, that.model);
                    of_kernel(&that.counted, self.of_exercise("the starter", launches)?)
                }
                None => Vec::new(),
            };
            let value = metric.value_beside(&relevant, &starters);
            let limiter = metric.limiter(&relevant);
            let blamed = metric.blame(&relevant, SOURCE, that.operator.wants_more());
            let solutions = match solution.as_mut().filter(|_| compared) {
                Some(solution) => {
                    let launches = self.launches(setting, solution, that.model);
                    of_kernel(&that.counted, self.of_exercise("the solution", launches)?)
                }
                None => Vec::new(),
            };
            let sizes = data::lookup(&setting.sizes);
            let bound = that.bound.evaluate(&|name| match of_solution(name, metric) {
                Some(of_solution) => of_solution.value_beside(&solutions, &starters),
                None => sizes(name),
            });
            let bound = bound.map_err(|problem| self.wrong_exercise(problem))?;
            // Something that never happened counts as 0.
            let met = that.operator.holds(value.unwrap_or(0.0), bound);
            if met && is_implied {
                continue;
            }
            let blamed = blamed.filter(|_| !met);
            let worst = |launches: &[&Launched], line| Seen::worst(metric, launches, SOURCE, line).filter(|_| !met);
            let seen = worst(&relevant, blamed.as_ref().map(|blamed| blamed.line));
            let solution_seen = worst(&solutions, None).filter(|_| seen.is_some());
            verdict.goals.push(GoalResult {
                goal: that.clone(),
                value,
                bound,
                met,
                blamed,
                seen,
                solution_seen,
                limiter,
                why: why.clone(),
                also: *also,
            });
        }
        Ok(())
    }

    /// The kernels' counts on this model. They run once for each model, and a student's must be
    /// right and free of faults each time: otherwise a kernel could skip work or barriers in the
    /// run that is counted.
    fn launches<'m>(
        &self,
        setting: &Setting,
        counts: &'m mut Counts,
        model: Option<&'static Model>,
    ) -> Judged<&'m [Launched]> {
        let name = model.map_or("", |model| model.name);
        let Setting { sizes, values, right, timed } = setting;
        let Counts { ptx, checked, by_model } = counts;
        if !by_model.contains_key(name) {
            let module = self.simulated(ptx, model)?;
            let module = if *timed { module.predicting() } else { module };
            let launches = match checked {
                true => self.checked_run(&module, right, sizes, values)?,
                false => {
                    let outcome = module.run(self.exercise, sizes, values, Kernels::Student, Checks::NONE);
                    outcome.map_err(|problem| self.stopped_by(problem, sizes))?.launches
                }
            };
            by_model.insert(name, launches);
        }
        Ok(&by_model[name])
    }
}
