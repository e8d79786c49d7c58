//! Runs kernels for a judge, and says whose fault it is if that fails: the student's, which is a
//! verdict, or the exercise's, the compiler's or the device's, which is an error. [`crate::judge`]
//! and [`crate::counts`] run with it. It compiles through [`crate::compile`] and runs on a device,
//! and it writes nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use common::random::Random;
use exercise::Exercise;
use exercise::data::{Buffers, Sizes};
use exercise::fault::{Fault, Problem};
use exercise::run::{Kernels, LaunchLimits, Module, Outcome, draw_values};
use goals::metric::Launched;
use simt::orders::DrawnOrder;
use simt::{Checks, Model};

use crate::comparison::compare;
use crate::compile::{Compiled, Compiler};
use crate::error::{Error, Result};
use crate::verdict::Failure;

/// The limit of warp instructions for a launch: a hundred times what an exercise's kernel takes.
pub const STEPS: u64 = 200_000_000;

/// What a judge is about to do, for people who wait.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// It compiles the file.
    Compiling,
    /// It runs the kernels at these sizes, under all checks.
    Running(&'a Sizes),
    /// It runs them in other orders of blocks and warps.
    OtherOrders,
    /// It compares the counts with the goals, or with predictions.
    Goals,
}

/// Options for judging a file.
#[derive(Clone, Copy, Debug)]
pub struct Judging {
    /// The seed of sizes and values.
    pub seed: u64,
    /// The GPU to run on as well, if any.
    pub gpu: Option<u32>,
    /// The model whose times are predicted in open exercises, if not the usual one.
    pub model: Option<&'static Model>,
    /// Whether to keep what each line did.
    pub lines: bool,
    /// In how many other orders of blocks and warps to run at each size; `None`: as many as take
    /// little time.
    pub schedules: Option<u32>,
    /// The only other order to run in.
    pub schedule: Option<DrawnOrder>,
    /// What a launch may take.
    pub limits: LaunchLimits,
    /// Is told of each step before it begins.
    pub tell: fn(Step<'_>),
}

impl Judging {
    /// On the simulator, with this seed.
    pub fn seeded(seed: u64) -> Self {
        Self {
            seed,
            gpu: None,
            model: None,
            lines: false,
            schedules: None,
            schedule: None,
            limits: LaunchLimits { steps: STEPS, faults: simt::limits::DEFAULT_FAULT_LIMIT, cancel: None },
            tell: |_| {},
        }
    }

    /// The same, stopped when this is set.
    pub fn stopped_by(self, stop: &'static AtomicBool) -> Self {
        Self { limits: LaunchLimits { cancel: Some(stop), ..self.limits }, ..self }
    }
}

/// The sizes and values of runs that are counted.
pub struct Setting {
    pub sizes: Sizes,
    pub values: Buffers,
    /// The right results.
    pub right: Outcome,
    /// Whether times are predicted.
    pub timed: bool,
}

/// Why judging ends early. What was found before is in the verdict.
pub enum Stop {
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
pub type Judged<T = ()> = std::result::Result<T, Stop>;

/// A judge of files for one exercise.
pub struct Judge<'a> {
    pub exercise: &'a Exercise,
    pub compiler: &'a Compiler,
    pub judging: Judging,
}

impl Judge<'_> {
    pub fn values(&self, sizes: &Sizes, random: &mut Random) -> Result<Buffers> {
        draw_values(self.exercise, sizes, random).map_err(|problem| self.wrong_exercise(problem))
    }

    /// Runs the student's kernels under all checks, and compares with the reference's results for
    /// the same values. Returns what the launches counted.
    pub fn checked_run(
        &self,
        student: &Module,
        right: &Outcome,
        sizes: &Sizes,
        values: &Buffers,
    ) -> Judged<Vec<Launched>> {
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
    pub fn right(&self, reference: &Module, sizes: &Sizes, values: &Buffers) -> Result<Outcome> {
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
    pub fn stopped_by(&self, problem: Problem, sizes: &Sizes) -> Stop {
        let failure = match problem {
            Problem::Signature(text) => Failure::Signature(text),
            Problem::Faults(faults) => Failure::Faults(sizes.clone(), once(faults), None),
            Problem::OutOfTime(faults) => Failure::OutOfTime(sizes.clone(), once(faults)),
            Problem::Exercise(text) => return self.wrong_exercise(text).into(),
            Problem::Device(device::Error::Ptx { problem, .. }) => Failure::DoesNotCompile(format!("error: {problem}")),
            // The kernel allocates too much memory: the exercise's own sufficed for the reference
            // before.
            Problem::Device(device::Error::Simulator { problem, .. }) => Failure::Signature(without_place(&problem)),
            // Too little memory on the host, among others.
            Problem::Device(error) => return error.into(),
        };
        failure.into()
    }

    /// A failure of the exercise's own kernels is the exercise's error.
    pub fn of_exercise<T>(&self, whose: &str, judged: Judged<T>) -> Result<T> {
        judged.map_err(|stop| match stop {
            Stop::Failure(failure) => self.wrong_exercise(format!("{whose}: {failure:?}")),
            Stop::Error(error) => error,
        })
    }

    pub fn wrong_exercise(&self, problem: String) -> Error {
        Error::exercise(&self.exercise.folder.join("goals.toml"), problem)
    }

    pub fn simulated(&self, ptx: &Path, model: Option<&'static Model>) -> Result<Module> {
        Ok(Module::simulated(ptx, model, self.judging.limits)?)
    }

    /// PTX of one of the exercise's own files.
    pub fn own(&self, file: &Path) -> Result<PathBuf> {
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
