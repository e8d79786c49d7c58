//! Judges a student's file: compiles it, runs it at several sizes under all checks, compares the results with the
//! reference, and counts what the goals are about. The result is a [`crate::verdict::Verdict`]. `student`, `watch`, `check`
//! and `grade` call it. It compiles through [`crate::compile`] and runs on a device, and it writes nothing else.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;
use std::sync::atomic::AtomicBool;

use device::DeviceChoice;
use device::random::Random;
use exercise::Exercise;
use exercise::SOURCE;
use exercise::data::{self, Buffers, Sizes};
use exercise::fault::{Fault, Problem};
use exercise::goals_file::GoalPlan;
use exercise::metric::Launched;
use exercise::questions::{Given, PredictionResult, of_kernel};
use exercise::run::{Kernels, LaunchLimits, Module, Outcome, draw_values};
use exercise::seen::Seen;
use simt::{Checks, Model};

use crate::comparison::compare;
use crate::compile::{Compiled, Compiler};
use crate::error::{Error, Result};
use crate::given;
use crate::goals::{implied_goals, of_solution};
use crate::guard::{self, Objection};
use crate::lines::Lines;
use crate::predictions::read_predictions;
use crate::verdict::{Failure, GoalResult, Times, Verdict};

/// The limit of warp instructions for a launch: a hundred times what an exercise's kernel takes.
pub const STEPS: u64 = 200_000_000;

/// Options for judging a file.
#[derive(Clone, Copy, Debug)]
pub struct Judging {
    /// The seed of sizes and values.
    pub seed: u64,
    /// The GPU to run on as well, if any.
    pub gpu: Option<u32>,
    /// Whether to keep what each line did.
    pub lines: bool,
    /// What a launch may take.
    pub limits: LaunchLimits,
}

impl Judging {
    /// On the simulator, with this seed.
    pub fn seeded(seed: u64) -> Self {
        Self {
            seed,
            gpu: None,
            lines: false,
            limits: LaunchLimits { steps: STEPS, faults: simt::DEFAULT_FAULT_LIMIT, cancel: None },
        }
    }

    /// The same, stopped when this is set.
    pub fn stopped_by(self, stop: &'static AtomicBool) -> Self {
        Self { limits: LaunchLimits { cancel: Some(stop), ..self.limits }, ..self }
    }
}

/// Judges `file` as the student's file of the exercise.
///
/// # Errors
///
/// Failures that are not the student's fault: of the exercise, the compiler or the device.
pub fn judge(exercise: &Exercise, file: &Path, compiler: &Compiler, judging: Judging) -> Result<Verdict> {
    let bytes = fs::read(file).map_err(Error::reading(file))?;
    let mut verdict = Verdict {
        failure: None,
        right_at: Vec::new(),
        goals: Vec::new(),
        predictions: Vec::new(),
        seed: judging.seed,
        times: None,
        lines: None,
    };
    let judge = Judge { exercise, compiler, judging };
    let judged = match String::from_utf8(bytes) {
        Ok(text) if exercise.is_predicted() => judge.predictions(&text, &mut verdict),
        Ok(text) => judge.kernels(&text, &mut verdict),
        Err(error) => Err(not_utf8(&error).into()),
    };
    match judged {
        Ok(()) => {}
        Err(Stop::Failure(failure)) => verdict.failure = Some(failure),
        Err(Stop::Error(error)) => return Err(error),
    }
    Ok(verdict)
}

/// Why judging ends early. What was found before is in the verdict.
enum Stop {
    /// The student's file fails.
    Failure(Failure),
    /// It is not the student's fault.
    Error(Error),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// A step of judging.
type Judged<T = ()> = std::result::Result<T, Stop>;

fn not_utf8(error: &FromUtf8Error) -> Failure {
    let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    Failure::Refused(format!("line {line}: this is not UTF-8; save the file as UTF-8"))
}

struct Judge<'a> {
    exercise: &'a Exercise,
    compiler: &'a Compiler,
    judging: Judging,
}

/// A student's or the solution's PTX, and its counts on each model.
struct Measured<'a> {
    ptx: PathBuf,
    sizes: &'a Sizes,
    values: &'a Buffers,
    /// The right results; `None` for the solution, whose results are trusted.
    right: Option<&'a Outcome>,
    by_model: HashMap<&'static str, Vec<Launched>>,
}

impl Judge<'_> {
    fn kernels(&self, text: &str, verdict: &mut Verdict) -> Judged {
        guard::check(text).map_err(|objection| match objection {
            Objection::Refused(why) => Failure::Refused(why),
            Objection::NotRust(message) => Failure::DoesNotCompile(message),
        })?;
        let ptx = match self.compiler.compile(text)? {
            Compiled::Ptx(ptx) => ptx,
            Compiled::Rejected(messages) => return Err(Failure::DoesNotCompile(messages).into()),
        };
        let reference = self.own(&self.exercise.reference_file())?;
        let mut random = Random::new(self.judging.seed);
        let module = Module::simulated(&ptx, None, self.judging.limits)
            .map_err(|error| self.stopped_by(Problem::Device(error), &Sizes::new()))?;
        let reference = self.simulated(&reference, None)?;
        for sizes in data::tried(&self.exercise.goals, &mut random) {
            let values = self.values(&sizes, &mut random)?;
            let right = self.right(&reference, &sizes, &values)?;
            self.checked_run(&module, &right, &sizes, &values)?;
            verdict.right_at.push(sizes);
        }
        let sizes = data::measured(&self.exercise.goals, &mut random);
        let values = self.values(&sizes, &mut random)?;
        let right = self.right(&reference, &sizes, &values)?;
        let counted = self.checked_run(&module, &right, &sizes, &values)?;
        verdict.lines = self.judging.lines.then(|| Lines::of(&counted, SOURCE));
        let measured = |ptx| Measured { ptx, sizes: &sizes, values: &values, right: None, by_model: HashMap::new() };
        // Counted in the run that was checked: a kernel may notice that there is another.
        let by_model = HashMap::from([("", counted)]);
        let student = Measured { right: Some(&right), by_model, ..measured(ptx.clone()) };
        self.goals(student, measured, verdict)?;
        if let Some(gpu) = self.judging.gpu {
            verdict.times = self.on_gpu(gpu, &ptx, &right, &sizes, &values)?;
        }
        verdict.right_at.push(sizes.clone());
        match verdict.goals.iter().all(|goal| goal.met) {
            true => Ok(()),
            false => Err(Failure::Goals.into()),
        }
    }

    fn values(&self, sizes: &Sizes, random: &mut Random) -> Result<Buffers> {
        draw_values(self.exercise, sizes, random).map_err(|problem| self.wrong_exercise(problem))
    }

    /// Runs the student's kernels under all checks, and compares with the reference's results for the same values. Returns what the
    /// launches counted.
    fn checked_run(&self, student: &Module, right: &Outcome, sizes: &Sizes, values: &Buffers) -> Judged<Vec<Launched>> {
        let checks = Checks { strict: self.exercise.goals.strict, ..Checks::ALL };
        let outcome = student.run(self.exercise, sizes, values, Kernels::Student, checks);
        let outcome = outcome.map_err(|problem| self.stopped_by(problem, sizes))?;
        let compared = compare(self.exercise, &outcome, right, values, sizes.clone());
        if outcome.faults.is_empty() {
            compared?;
            return Ok(outcome.launches);
        }
        let wrong = match compared {
            Err(Failure::Wrong(_, wrong)) => Some(wrong),
            _ => None,
        };
        Err(Failure::Faults(sizes.clone(), once(outcome.faults), wrong).into())
    }

    /// The reference's results for these values.
    fn right(&self, reference: &Module, sizes: &Sizes, values: &Buffers) -> Result<Outcome> {
        let file = self.exercise.reference_file();
        let launch = self.exercise.goals.reference.as_ref().expect("checked when it was read");
        let wrong = |problem: &str| Error::exercise(&file, problem);
        let outcome = reference.run(self.exercise, sizes, values, Kernels::Reference(launch), Checks::ALL);
        let outcome = outcome.map_err(|problem| match problem {
            Problem::Device(error) => error.into(),
            Problem::Signature(text) | Problem::Exercise(text) => wrong(&text),
            Problem::Faults(faults) | Problem::OutOfTime(faults) => {
                let messages: Vec<String> = faults.into_iter().map(|fault| fault.message).collect();
                wrong(&format!("at {}: {}", shown(sizes), messages.join("; ")))
            }
        })?;
        match outcome.faults.first() {
            Some(fault) => Err(wrong(&format!("at {}: {}", shown(sizes), fault.message))),
            None => Ok(outcome),
        }
    }

    /// The student's failure, or the exercise's error.
    fn stopped_by(&self, problem: Problem, sizes: &Sizes) -> Stop {
        let failure = match problem {
            Problem::Signature(text) => Failure::Signature(text),
            Problem::Faults(faults) => Failure::Faults(sizes.clone(), once(faults), None),
            Problem::OutOfTime(faults) => Failure::OutOfTime(sizes.clone(), once(faults)),
            Problem::Exercise(text) => return self.wrong_exercise(text).into(),
            Problem::Device(device::Error::Ptx { problem, .. }) => Failure::DoesNotCompile(format!("error: {problem}")),
            // The kernel allocates too much memory: the exercise's own sufficed for the reference before.
            Problem::Device(device::Error::Simulator { problem, .. }) => Failure::Signature(without_place(&problem)),
            // Too little memory on the host, among others.
            Problem::Device(error) => return error.into(),
        };
        failure.into()
    }

    /// A failure of the exercise's own kernels is the exercise's error.
    fn of_exercise<T>(&self, whose: &str, judged: Judged<T>) -> Result<T> {
        judged.map_err(|stop| match stop {
            Stop::Failure(failure) => self.wrong_exercise(format!("{whose}: {failure:?}")),
            Stop::Error(error) => error,
        })
    }

    fn of_given<T>(&self, ran: std::result::Result<T, Problem>) -> Result<T> {
        self.of_exercise("given.rs", ran.map_err(|problem| self.stopped_by(problem, &Sizes::new())))
    }

    fn wrong_exercise(&self, problem: String) -> Error {
        Error::exercise(&self.exercise.folder.join("goals.toml"), problem)
    }

    /// Counts what the goals are about in the student's kernels and, if a goal compares with it, in the solution's.
    fn goals<'m>(
        &self,
        mut student: Measured<'m>,
        measured: impl Fn(PathBuf) -> Measured<'m>,
        verdict: &mut Verdict,
    ) -> Judged {
        let own = &self.exercise.goals.goal;
        let implied = implied_goals(self.exercise.goals.task);
        let sizes = student.sizes;
        let mut solution = None;
        for (plan, is_implied) in own.iter().map(|goal| (goal, false)).chain(implied.iter().map(|goal| (goal, true))) {
            let GoalPlan { that, why, also } = plan;
            let metric = that.counted.metric;
            let compared = that.bound.uses(&|name| of_solution(name, metric).is_some());
            if compared && solution.is_none() {
                solution = Some(measured(self.own(&self.exercise.solution_file())?));
            }
            let launches = self.launches(&mut student, that.model)?;
            let relevant = of_kernel(&that.counted, launches);
            let value = metric.value(&relevant);
            let limiter = metric.limiter(&relevant);
            let blamed = metric.blame(&relevant, SOURCE, that.operator.wants_more());
            let solutions = match solution.as_mut().filter(|_| compared) {
                Some(solution) => {
                    let launches = self.launches(solution, that.model);
                    of_kernel(&that.counted, self.of_exercise("the solution", launches)?)
                }
                None => Vec::new(),
            };
            let sizes = data::lookup(sizes);
            let bound = that.bound.evaluate(&|name| match of_solution(name, metric) {
                Some(of_solution) => of_solution.value(&solutions),
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

    /// The kernels' counts on this model. They run once for each model, and a student's must be right and free of faults each time:
    /// otherwise a kernel could skip work or barriers in the run that is counted.
    fn launches<'m>(&self, measured: &'m mut Measured<'_>, model: Option<&'static Model>) -> Judged<&'m [Launched]> {
        let name = model.map_or("", |model| model.name);
        let Measured { ptx, sizes, values, right, by_model } = measured;
        if !by_model.contains_key(name) {
            let module = self.simulated(ptx, model)?;
            let launches = match right {
                Some(right) => self.checked_run(&module, right, sizes, values)?,
                None => {
                    let outcome = module.run(self.exercise, sizes, values, Kernels::Student, Checks::NONE);
                    outcome.map_err(|problem| self.stopped_by(problem, sizes))?.launches
                }
            };
            by_model.insert(name, launches);
        }
        Ok(&by_model[name])
    }

    /// Runs on a GPU: the results again, and the time beside the solution's.
    fn on_gpu(&self, gpu: u32, ptx: &Path, right: &Outcome, sizes: &Sizes, values: &Buffers) -> Judged<Option<Times>> {
        let open = |ptx: &Path| Module::open(ptx, DeviceChoice::Gpu(gpu), self.judging.limits);
        let student = open(ptx)?;
        let outcome = student.run(self.exercise, sizes, values, Kernels::Student, Checks::NONE);
        let outcome = outcome.map_err(|problem| self.stopped_by(problem, sizes))?;
        compare(self.exercise, &outcome, right, values, sizes.clone())?;
        let solution = open(&self.own(&self.exercise.solution_file())?)?;
        let mut random = Random::new(self.judging.seed);
        let timed = data::timed(&self.exercise.goals, sizes, &mut random);
        let values = self.values(&timed, &mut random)?;
        let time = |module: &Module| match module.time(self.exercise, &timed, &values) {
            Ok(time) => Ok(time),
            Err(problem) => Err(self.wrong_exercise(format!("on the GPU: {problem:?}"))),
        };
        let (student, solution) = (time(&student)?, time(&solution)?);
        let both = student.zip(solution);
        Ok(both.map(|(student, solution)| Times { sizes: timed, student, solution }))
    }

    fn predictions(&self, text: &str, verdict: &mut Verdict) -> Judged {
        let predicted = read_predictions(text, self.exercise).map_err(Failure::Unreadable)?;
        let ptx = self.given()?;
        let given = Given::new(self.exercise, &ptx, self.judging.seed, self.judging.limits);
        let mut given = self.of_given(given)?;
        for question in &self.exercise.goals.question {
            let result = self.of_given(given.judge(question, predicted[&question.name]))?;
            verdict.predictions.push(result);
        }
        if self.judging.lines {
            verdict.lines = Some(Lines::of(self.of_given(given.launches(None))?, SOURCE));
        }
        match verdict.predictions.iter().all(PredictionResult::right) {
            true => Ok(()),
            false => Err(Failure::Predictions.into()),
        }
    }

    fn simulated(&self, ptx: &Path, model: Option<&'static Model>) -> Result<Module> {
        Ok(Module::simulated(ptx, model, self.judging.limits)?)
    }

    /// The PTX of the given kernels: the exercise's own, unless `given.rs` is newer, as while an author writes it.
    fn given(&self) -> Result<PathBuf> {
        match given::ptx(self.exercise)? {
            Some(ptx) => Ok(ptx),
            None => self.own(&self.exercise.given_file()),
        }
    }

    /// PTX of one of the exercise's own files.
    fn own(&self, file: &Path) -> Result<PathBuf> {
        let text = fs::read_to_string(file).map_err(Error::reading(file))?;
        match self.compiler.compile(&text)? {
            Compiled::Ptx(ptx) => Ok(ptx),
            Compiled::Rejected(messages) => Err(Error::exercise(file, format!("it does not compile\n{messages}"))),
        }
    }
}

/// A message without its position in the PTX, which the student did not write.
fn without_place(message: &str) -> String {
    message.split_once(".ptx:").and_then(|(_, rest)| rest.split_once(": ")).map_or(message, |(_, rest)| rest).to_owned()
}

/// Merges the faults of several launches: one that occurs in several counts once.
fn once(faults: Vec<Fault>) -> Vec<Fault> {
    let mut all: Vec<Fault> = Vec::new();
    for fault in faults {
        let lines = |fault: &Fault| fault.sites.iter().map(|(line, _)| *line).collect::<Vec<_>>();
        match all.iter_mut().find(|known| known.kind == fault.kind && lines(known) == lines(&fault)) {
            Some(known) => known.count += fault.count,
            None => all.push(fault),
        }
    }
    all
}

/// Sizes as text: `rows = 3, cols = 70`.
pub fn shown(sizes: &Sizes) -> String {
    match sizes.is_empty() {
        true => "its fixed size".to_owned(),
        false => sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect::<Vec<_>>().join(", "),
    }
}
