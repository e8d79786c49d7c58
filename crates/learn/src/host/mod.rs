//! Host exercises: the student writes the host code, with `cust`, for kernels that are given. It
//! runs as a program on the simulator's driver, and is judged by its results and by the driver's
//! record of what it did ([`coalesce_driver::host`]). [`crate::judge`] calls it.
//!
//! | file | contents |
//! | --- | --- |
//! | [`library`] | `cust`, and the crate around the student's code, compiled once |
//! | [`program`] | the student's program: compiled, run, and what it leaves |
//! | [`figures`] | the metrics of a record |
//! | `task.rs` | the crate around the student's code |

mod figures;
pub mod library;
pub mod program;

use common::random::Random;
use exercise::data::{self, Buffers, Sizes};
use exercise::run::Outcome;

use self::program::{Program, Ran};
use crate::comparison::compare;
use crate::guard::{self, Objection};
use crate::runs::{Judge, Judged, Step, Stop};
use crate::verdict::{Ended, Failure, GoalResult, Position, Verdict, Wrong};

impl Judge<'_> {
    /// Judges host code.
    pub fn host_code(&self, text: &str, verdict: &mut Verdict) -> Judged {
        guard::check_host(text).map_err(|objection| match objection {
            Objection::Refused(why) => Failure::Refused(why),
            Objection::NotRust(message) => Failure::DoesNotCompile(message),
        })?;
        let (given, reference) = (self.given()?, self.reference()?);
        // Another `cargo learn` may use the folder. Nothing else is compiled from here on.
        let _lock = self.compiler.lock_folder()?;
        (self.judging.tell)(Step::Compiling);
        let program = Program::compile(self.exercise, self.compiler, (text, given))?;
        let program = program.map_err(Failure::DoesNotCompile)?;
        let reference = self.simulated(&reference, None)?;
        let mut random = Random::new(self.judging.seed);
        let mut run = |sizes: Sizes, random: &mut Random| -> Judged<_> {
            (self.judging.tell)(Step::Running(&sizes));
            let values = self.values(&sizes, random)?;
            let right = self.right(&reference, &sizes, &values)?;
            let stopped = || self.judging.limits.cancel.is_some_and(|it| it.load(std::sync::atomic::Ordering::Relaxed));
            let record = match program.run(&sizes, &values, self.judging.limits.steps, &stopped)? {
                Ran::TooLong => return Err(Failure::OutOfTime(sizes, Vec::new()).into()),
                Ran::Badly { what, said } => return Err(ended(sizes, what, said)),
                Ran::Well { record, said, .. } if !record.faulty.is_empty() && !self.exercise.goals.driver.faults => {
                    let what = format!("kernel `{}` has a fault", record.faulty[0]);
                    return Err(ended(sizes, what, said));
                }
                Ran::Well { results, record, .. } => {
                    self.host_results(&results, &right, &values, &sizes)?;
                    record
                }
            };
            verdict.right_at.push(sizes.clone());
            Ok((sizes, record))
        };
        for sizes in data::tried(&self.exercise.goals, &mut random) {
            run(sizes, &mut random)?;
        }
        // From a separate generator, so that the sizes and values of a seed do not depend on this
        // run.
        let mut others = Random::new(self.judging.seed.wrapping_add(1));
        if let Some(sizes) = data::large(&self.exercise.goals, &mut others) {
            run(sizes, &mut others)?;
        }
        let (sizes, record) = run(data::measured(&self.exercise.goals, &mut random), &mut random)?;
        (self.judging.tell)(Step::Goals);
        for plan in &self.exercise.goals.goal {
            let goal = &plan.that;
            let value = figures::value(&record, &goal.counted);
            let bound = goal.bound.evaluate(&data::lookup(&sizes)).map_err(|problem| self.wrong_exercise(problem))?;
            let met = value.is_some_and(|value| goal.operator.holds(value, bound));
            verdict.goals.push(GoalResult {
                goal: goal.clone(),
                value,
                avoided: None,
                bound,
                met,
                blamed: None,
                seen: None,
                solution_seen: None,
                limiter: None,
                why: plan.why.clone(),
                also: plan.also,
            });
        }
        match verdict.goals.iter().all(|goal| goal.met) {
            true => Ok(()),
            false => Err(Failure::Goals.into()),
        }
    }

    /// Compares what a program handed in with the reference's results.
    fn host_results(&self, results: &Buffers, right: &Outcome, values: &Buffers, sizes: &Sizes) -> Judged {
        let mut outcome = Outcome { buffers: values.clone(), ..Outcome::default() };
        for (name, _) in self.exercise.goals.data.iter().filter(|(_, plan)| plan.output) {
            let element = self.exercise.goals.data[name].element.bytes();
            let of = right.buffers[name].len() / element;
            match results.get(name) {
                Some(result) if result.len() == of * element => {
                    outcome.buffers.insert(name.clone(), result.clone());
                }
                result => {
                    let length = result.map_or(0, Vec::len) / element;
                    let first = Position { buffer: format!("the length of {name}"), row: None, column: 0 };
                    let wrong = Wrong {
                        first,
                        is: Some(length.to_string()),
                        should_be: of.to_string(),
                        count: 1,
                        unwritten: 0,
                        of: 1,
                    };
                    return Err(Failure::Wrong(sizes.clone(), Box::new(wrong)).into());
                }
            }
        }
        Ok(compare(self.exercise, &outcome, right, values, sizes.clone())?)
    }
}

fn ended(sizes: Sizes, what: String, said: String) -> Stop {
    Failure::Program(sizes, Box::new(Ended { what, said })).into()
}
