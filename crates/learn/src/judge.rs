//! Judges a student's file: compiles it, runs it at several sizes under all checks, compares the
//! results with the reference, and counts what the goals are about. The result is a
//! [`crate::verdict::Verdict`]. `student`, `watch`, `check` and `grade` call it. [`crate::runs`]
//! runs for it, [`crate::counts`] counts.

use std::fs;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use common::random::Random;
use device::DeviceChoice;
use exercise::Exercise;
use exercise::SOURCE;
use exercise::data::{self, Buffers, Sizes};
use exercise::fault::Problem;
use exercise::questions::{Given, PredictionResult};
use exercise::run::{Kernels, Module, Outcome};
use simt::Checks;

use crate::comparison::compare;
use crate::compile::{Compiled, Compiler};
use crate::counts::{Counts, Measured, Settings};
use crate::error::{Error, Result};
use crate::given;
use crate::guard::{self, Objection};
use crate::lines::Lines;
use crate::orders::RightRun;
use crate::predictions::read_predictions;
use crate::rating::model_or_usual;
use crate::runs::{Judge, Judged, Judging, Setting, Step, Stop};
use crate::verdict::{Failure, Times, Verdict};

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
        gain: None,
        times: None,
        rating: None,
        lines: None,
    };
    let judge = Judge { exercise, compiler, judging };
    let judged = match String::from_utf8(bytes) {
        Ok(text) if exercise.is_predicted() => judge.predictions(&text, &mut verdict),
        Ok(text) if exercise.is_host() => judge.host_code(&text, &mut verdict),
        Ok(text) if exercise.is_open() => judge.open(&text, &mut verdict),
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

fn not_utf8(error: &FromUtf8Error) -> Failure {
    let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    Failure::Refused(format!("line {line}: this is not UTF-8; save the file as UTF-8"))
}

/// Refuses a text that the guard refuses.
fn guarded(text: &str) -> std::result::Result<(), Failure> {
    guard::check(text).map_err(|objection| match objection {
        Objection::Refused(why) => Failure::Refused(why),
        Objection::NotRust(message) => Failure::DoesNotCompile(message),
    })
}

impl Judge<'_> {
    /// Judges kernels whose launches are the student's.
    fn open(&self, text: &str, verdict: &mut Verdict) -> Judged {
        // Its length is bounded before its launches are read.
        guarded(text)?;
        let exercise = self.launched_by(text).map_err(Failure::Signature)?;
        Judge { exercise: &exercise, ..*self }.kernels(text, verdict)
    }

    /// The exercise with the launches that a text asks for, if it is an open one.
    fn launched_by(&self, text: &str) -> std::result::Result<Exercise, String> {
        self.exercise.with_launches(text, model_or_usual(self.judging.model).multiprocessors)
    }

    fn kernels(&self, text: &str, verdict: &mut Verdict) -> Judged {
        guarded(text)?;
        let tell = self.judging.tell;
        tell(Step::Compiling);
        let ptx = match self.compiler.compile(text)? {
            Compiled::Ptx(ptx) => ptx,
            Compiled::Rejected(messages) => return Err(Failure::DoesNotCompile(messages).into()),
        };
        let reference = self.reference()?;
        let mut random = Random::new(self.judging.seed);
        let module = Module::simulated(&ptx, None, self.judging.limits)
            .map_err(|error| self.stopped_by(Problem::Device(error), &Sizes::new()))?;
        let reference = self.simulated(&reference, None)?;
        // The data of a size, which the student's kernels get right.
        let right_run = |sizes: Sizes, random: &mut Random| -> Judged<RightRun> {
            tell(Step::Running(&sizes));
            let values = self.values(&sizes, random)?;
            let right = self.right(&reference, &sizes, &values)?;
            let launches = self.checked_run(&module, &right, &sizes, &values)?;
            Ok(RightRun { sizes, values, right, launches })
        };
        let mut right_runs = Vec::new();
        for sizes in data::tried(&self.exercise.goals, &mut random) {
            let run = right_run(sizes, &mut random)?;
            verdict.right_at.push(run.sizes.clone());
            right_runs.push(run);
        }
        // From a separate generator, so that the sizes and values of a seed do not depend on this
        // run.
        let mut others = Random::new(self.judging.seed.wrapping_add(1));
        let large = data::large(&self.exercise.goals, &mut others);
        let large = large.map(|sizes| right_run(sizes, &mut others)).transpose()?;
        verdict.right_at.extend(large.iter().map(|run| run.sizes.clone()));
        let measured = right_run(data::measured(&self.exercise.goals, &mut random), &mut random)?;
        let costly: Vec<_> = large.iter().chain([&measured]).collect();
        tell(Step::OtherOrders);
        self.in_other_orders(&ptx, &right_runs, &costly)?;
        let RightRun { sizes, values, right, launches: counted } = measured;
        verdict.lines = self.judging.lines.then(|| Lines::of(&counted, SOURCE));
        tell(Step::Goals);
        if self.exercise.is_open() {
            return self.graded(text, &ptx, &reference, (right, sizes, values), verdict);
        }
        let setting = Setting { sizes, values, right, timed: false };
        let student = Counts::of_student(&ptx, counted);
        let measured = Measured { setting: &setting, student, solution: None, starter: None };
        let (timed, starter) = self.timed_setting(&setting.sizes)?.unzip();
        let timed = match timed.as_ref().zip(starter) {
            Some((setting, starter)) => Some(self.timed(&ptx, setting, starter, verdict)?),
            None => None,
        };
        let timed_sizes = timed.as_ref().map(|timed| timed.setting.sizes.clone());
        self.goals(Settings { measured, timed }, text, verdict)?;
        if let Some(gpu) = self.judging.gpu {
            let Setting { sizes, values, right, .. } = &setting;
            verdict.times = self.on_gpu(gpu, &ptx, right, sizes, values)?;
        }
        verdict.right_at.extend(std::iter::once(setting.sizes).chain(timed_sizes));
        match verdict.goals.iter().all(|goal| goal.met) {
            true => Ok(()),
            false => Err(Failure::Goals.into()),
        }
    }

    /// Grades the kernels of an open exercise by their time, after all runs were right: the last one
    /// with these sizes and values.
    fn graded(
        &self,
        text: &str,
        ptx: &Path,
        reference: &Module,
        (right, sizes, values): (Outcome, Sizes, Buffers),
        verdict: &mut Verdict,
    ) -> Judged {
        let rating = self.rated(text, ptx, reference)?;
        verdict.right_at.extend([sizes.clone(), rating.sizes.clone()]);
        let has_grade = rating.grade().is_some();
        verdict.rating = Some(rating);
        if let Some(gpu) = self.judging.gpu {
            verdict.times = self.on_gpu(gpu, ptx, &right, &sizes, &values)?;
        }
        if has_grade { Ok(()) } else { Err(Failure::Goals.into()) }
    }

    fn of_given<T>(&self, ran: std::result::Result<T, Problem>) -> Result<T> {
        self.of_exercise("given.rs", ran.map_err(|problem| self.stopped_by(problem, &Sizes::new())))
    }

    /// Runs on a GPU: the results again, and the time beside the solution's.
    fn on_gpu(&self, gpu: u32, ptx: &Path, right: &Outcome, sizes: &Sizes, values: &Buffers) -> Judged<Option<Times>> {
        let open = |ptx: &Path| Module::open(ptx, DeviceChoice::Gpu(gpu), self.judging.limits);
        let student = open(ptx)?;
        let outcome = student.run(self.exercise, sizes, values, Kernels::Student, Checks::NONE);
        let outcome = outcome.map_err(|problem| self.stopped_by(problem, sizes))?;
        compare(self.exercise, &outcome, right, values, sizes.clone())?;
        if self.exercise.is_for_students() {
            // There is no solution to time beside it.
            return Ok(None);
        }
        let file = self.exercise.solution_file();
        let solution = open(&self.own(&file)?)?;
        // With launches of its own.
        let text = fs::read_to_string(&file).map_err(Error::reading(&file))?;
        let of_solution = self.launched_by(&text).map_err(|problem| Error::exercise(&file, problem))?;
        let mut random = Random::new(self.judging.seed);
        let timed = data::instead(&self.exercise.goals.timed, sizes, &mut random);
        let values = self.values(&timed, &mut random)?;
        let time = |module: &Module, exercise: &Exercise| match module.time(exercise, &timed, &values) {
            Ok(time) => Ok(time),
            Err(problem) => Err(self.wrong_exercise(format!("on the GPU: {problem:?}"))),
        };
        let (student, solution) = (time(&student, self.exercise)?, time(&solution, &of_solution)?);
        let both = student.zip(solution);
        Ok(both.map(|(student, solution)| Times { sizes: timed, student, solution }))
    }

    fn predictions(&self, text: &str, verdict: &mut Verdict) -> Judged {
        let predicted = read_predictions(text, self.exercise).map_err(Failure::Unreadable)?;
        let ptx = self.given()?;
        (self.judging.tell)(Step::Goals);
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

    #[cfg(not(target_os = "linux"))]
    fn host_code(&self, _text: &str, _verdict: &mut Verdict) -> Judged {
        let why = "host exercises run on the simulator's driver, which is for Linux: skip this one, or use Linux";
        Err(Error::Usage(why.to_owned()).into())
    }

    /// The PTX of the reference.
    pub fn reference(&self) -> Result<PathBuf> {
        let ptx = self.exercise.reference_ptx_file();
        if ptx.exists() { Ok(ptx) } else { self.own(&self.exercise.reference_file()) }
    }

    /// The PTX of the given kernels: the exercise's own, unless `given.rs` is newer, as while an
    /// author writes it.
    pub fn given(&self) -> Result<PathBuf> {
        match given::ptx(self.exercise)? {
            Some(ptx) => Ok(ptx),
            None => self.own(&self.exercise.given_file()),
        }
    }
}
