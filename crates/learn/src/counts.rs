//! Counts what goals are about: in the student's kernels, and in the solution's and the starter's
//! if a goal compares with them. Predicts times, too. [`crate::judge`] calls it after the results
//! were right.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use common::random::Random;
use exercise::SOURCE;
use exercise::data::{self, Sizes};
use exercise::goals_file::GoalPlan;
use exercise::questions::of_kernel;
use exercise::run::Kernels;
use goals::metric::{self, Blamed, Launched, Metric};
use goals::seen::Seen;
use simt::{Checks, Model};

use crate::error::Result;
use crate::guard;
use crate::implied::{Implied, implied_goals, instead_of_average, of_solution};
use crate::recorded::{Figures, Recorded};
use crate::runs::{Judge, Judged, Setting};
use crate::verdict::{Gain, GoalResult, Verdict};

/// What is counted in one setting: the student's kernels, and what goals compare them with.
pub struct Measured<'a> {
    pub setting: &'a Setting,
    pub student: Counts,
    pub solution: Option<Solution>,
    /// If times are predicted.
    pub starter: Option<Counts>,
}

/// Where goals are counted.
pub struct Settings<'a> {
    pub measured: Measured<'a>,
    /// Where times are predicted, if they are.
    pub timed: Option<Measured<'a>>,
}

/// Someone's PTX, and its counts on each model.
pub struct Counts {
    ptx: PathBuf,
    /// Whether its results are to be checked, as only the student's are.
    checked: bool,
    by_model: HashMap<&'static str, Vec<Launched>>,
}

/// What the solution counts: it is run, or, in a copy for students, it was.
pub enum Solution {
    Run(Counts),
    Recorded(Vec<Figures>),
}

/// The solution's part in one goal.
enum OfSolution<'a> {
    Launches(Vec<&'a Launched>),
    Figures(&'a Figures),
}

impl OfSolution<'_> {
    fn value(&self, metric: Metric, starters: &[&Launched]) -> Option<f64> {
        match self {
            Self::Launches(launches) => metric.value_beside(launches, starters),
            Self::Figures(figures) => figures.value(metric),
        }
    }

    fn is_absent(&self) -> bool {
        match self {
            Self::Launches(launches) => launches.is_empty(),
            Self::Figures(figures) => figures.launches == 0,
        }
    }

    /// The launches, if there are more than figures.
    fn launches(&self) -> &[&Launched] {
        match self {
            Self::Launches(launches) => launches,
            Self::Figures(_) => &[],
        }
    }
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
        self.in_one_other_order(ptx, setting, &counted)?;
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

    /// Counts what the goals are about in the student's kernels, whose text this is, and, if a goal
    /// compares with it, in the solution's and the starter's.
    pub fn goals(&self, mut at: Settings<'_>, text: &str, verdict: &mut Verdict) -> Judged {
        for plan in &self.exercise.goals.goal {
            let mut result = self.goal(plan, &mut at, text)?;
            if result.as_ref().is_some_and(|result| !result.met && result.avoided.is_none()) {
                result = self.without_average(plan, &mut at, text)?.or(result);
            }
            verdict.goals.extend(result);
        }
        let own = verdict.goals.len();
        for Implied { plan, or, guards } in implied_goals(&self.exercise.goals) {
            // What is to be said was said.
            let is_missed = |result: &GoalResult| !result.met && guards.as_deref() == Some(&*result.goal.to_string());
            if verdict.goals[own..].iter().any(|result| result.why == plan.why)
                || verdict.goals[..own].iter().any(is_missed)
            {
                continue;
            }
            let missed = self.goal(&plan, &mut at, text)?.filter(|result| !result.met);
            let as_good = match (&missed, or) {
                (Some(_), Some(that)) => self.goal(&GoalPlan { that, ..plan }, &mut at, text)?.is_none_or(|it| it.met),
                _ => false,
            };
            verdict.goals.extend(missed.filter(|_| !as_good));
        }
        Ok(())
    }

    /// The result of what is as good as a goal about an average, if that is met.
    fn without_average(&self, plan: &GoalPlan, at: &mut Settings<'_>, text: &str) -> Judged<Option<GoalResult>> {
        let Some([total, requests]) = instead_of_average(&plan.that) else { return Ok(None) };
        let mut met = |that| Ok(self.goal(&GoalPlan { that, ..plan.clone() }, at, text)?.filter(|result| result.met));
        match met(requests)? {
            Some(_) => met(total),
            None => Ok(None),
        }
    }

    /// The result of a goal; `None` if it is about a kernel that is not there, or that the solution
    /// does without.
    fn goal(&self, plan: &GoalPlan, at: &mut Settings<'_>, text: &str) -> Judged<Option<GoalResult>> {
        let GoalPlan { that, why, also } = plan;
        let metric = that.counted.metric;
        if metric.is_of_text() {
            return Ok(Some(self.of_text(plan, text)?));
        }
        let compared = that.bound.uses(&|name| of_solution(name, metric).is_some());
        let at = if metric.is_speedup() { at.timed.as_mut() } else { Some(&mut at.measured) };
        let Measured { setting, student, solution, starter } = at.expect("checked when it was read");
        let launches = self.launches(setting, student, that.model)?;
        let relevant = of_kernel(&that.counted, launches);
        let is_empty = |value: Option<f64>, of: &dyn Fn(Metric) -> Option<f64>| {
            value.is_none() || metric.base().is_some_and(|base| of(base) == Some(0.0))
        };
        let starters = match starter {
            Some(starter) => {
                let launches = self.launches(setting, starter, that.model);
                of_kernel(&that.counted, self.of_exercise("the starter", launches)?)
            }
            None => Vec::new(),
        };
        let value = metric.value_beside(&relevant, &starters);
        let nothing = !metric.is_speedup() && is_empty(value, &|base| base.value(&relevant));
        if (compared || nothing) && solution.is_none() {
            *solution = Some(self.solution()?);
        }
        let solutions = match solution.as_mut().filter(|_| compared || nothing) {
            Some(Solution::Run(solution)) => {
                let launches = self.launches(setting, solution, that.model);
                OfSolution::Launches(of_kernel(&that.counted, self.of_exercise("the solution", launches)?))
            }
            Some(Solution::Recorded(all)) => {
                let at = all.iter().find(|figures| figures.are_of(that.model, that.counted.kernel.as_deref()));
                OfSolution::Figures(at.ok_or_else(|| self.wrong_exercise(Recorded::lacks(that)))?)
            }
            None => OfSolution::Launches(Vec::new()),
        };
        let of_kernels = that.counted.kernel.is_some();
        if of_kernels && (relevant.is_empty() || compared && solutions.is_absent()) {
            return Ok(None);
        }
        let sizes = data::lookup(&setting.sizes);
        let bound = that.bound.evaluate(&|name| match of_solution(name, metric) {
            // Something that never happened counts as 0.
            Some(of_solution) => Some(solutions.value(of_solution, &starters).unwrap_or(0.0)),
            None => sizes(name),
        });
        let bound = bound.map_err(|problem| self.wrong_exercise(problem))?;
        // A goal is not met by doing nothing, unless the solution does nothing, too.
        let of_solution = nothing.then(|| solutions.value(metric, &starters)).flatten();
        let avoided = of_solution.filter(|_| !is_empty(of_solution, &|base| solutions.value(base, &starters)));
        let met = avoided.is_none() && that.operator.holds(value.unwrap_or(0.0), bound);
        let blamed = metric.blame(&relevant, SOURCE, that.operator.wants_more()).filter(|_| !met);
        let worst = |launches: &[&Launched], line| Seen::worst(metric, launches, SOURCE, line).filter(|_| !met);
        let seen = worst(&relevant, blamed.as_ref().map(|blamed| blamed.line));
        let solution_seen = worst(solutions.launches(), None).filter(|_| seen.is_some());
        Ok(Some(GoalResult {
            goal: that.clone(),
            value: value.filter(|_| !nothing),
            avoided,
            bound,
            met,
            blamed,
            seen,
            solution_seen,
            limiter: metric.limiter(&relevant),
            why: why.clone(),
            also: *also,
        }))
    }

    /// The solution, to be run, or what it counts.
    fn solution(&self) -> Result<Solution> {
        match Recorded::read(self.exercise)? {
            Some(recorded) => Ok(Solution::Recorded(recorded.at(self.judging.seed)?)),
            None => Ok(Solution::Run(Counts::of(self.own(&self.exercise.solution_file())?))),
        }
    }

    /// What the solution counts in the runs of this seed, in all that goals may ask for.
    ///
    /// # Errors
    ///
    /// Those of [`Judge::own`], and of an exercise whose solution does not run.
    pub fn figures(&self, solution: &Path) -> Result<Vec<Figures>> {
        let goals = &self.exercise.goals;
        let mut random = Random::new(self.judging.seed);
        // As many random numbers as a judge draws before.
        for sizes in data::tried(goals, &mut random) {
            self.values(&sizes, &mut random)?;
        }
        let sizes = data::measured(goals, &mut random);
        let values = self.values(&sizes, &mut random)?;
        let mut models = vec![None];
        for plan in &goals.goal {
            if !models.iter().any(|model: &Option<&Model>| model.map(|it| it.name) == plan.that.model.map(|it| it.name))
            {
                models.push(plan.that.model);
            }
        }
        let mut all = Vec::new();
        for model in models {
            let module = self.simulated(solution, model)?;
            let outcome = module.run(self.exercise, &sizes, &values, Kernels::Student, Checks::NONE);
            let ran = outcome.map_err(|problem| self.stopped_by(problem, &sizes));
            let launches = self.of_exercise("the solution", ran)?.launches;
            let kernels = goals.kernels().map(Some);
            all.extend(std::iter::once(None).chain(kernels).map(|kernel| Figures::of(model, kernel, &launches)));
        }
        Ok(all)
    }

    /// The result of a goal about the text.
    fn of_text(&self, plan: &GoalPlan, text: &str) -> Result<GoalResult> {
        let GoalPlan { that, why, also } = plan;
        let lines = guard::unsafe_lines(text, that.counted.kernel.as_deref());
        let sizes = |_: &str| None;
        let bound = that.bound.evaluate(&sizes).map_err(|problem| self.wrong_exercise(problem))?;
        let value = lines.len() as f64;
        let met = that.operator.holds(value, bound);
        let blamed = lines.first().filter(|_| !met).map(|&line| Blamed { line, value });
        let (goal, why, also) = (that.clone(), why.clone(), *also);
        let value = Some(value);
        let (avoided, limiter, seen, solution_seen) = (None, None, None, None);
        Ok(GoalResult { goal, value, avoided, bound, met, blamed, seen, solution_seen, limiter, why, also })
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
