//! `run --events`: what a run does, as lines of JSON on the standard output, for `cargo learn
//! serve`, which starts it as a process and relays the lines to a page. The last line has the
//! verdict, as a part of a page. It has the limits of a submission, and so has the compiler that it
//! starts. What keeps the run from a verdict is a line on the standard error,
//! as always.

use std::io::Write as _;

use exercise::Exercise;
use serde_json::{Value, json};

use crate::arguments::RunOptions;
use crate::compile::Compiler;
use crate::course::Course;
use crate::error::{Error, Result};
use crate::isolation::{self, Limits};
use crate::progress::Progress;
use crate::report::Report;
use crate::runs::{Judging, Step, shown};
use crate::student::{self, Tried};
use crate::verdict::Verdict;
use crate::{page, places};

/// Judges the student's file, and records the progress.
pub fn run(course: &Course, options: &RunOptions) -> Result<bool> {
    #[cfg(target_os = "linux")]
    if let Some(parent) = options.parent {
        crate::start::end_with(parent)?;
    }
    isolation::limit(Limits::default())?;
    let mut progress = Progress::read(course)?;
    let exercise = student::chosen(course, &progress, options.run.name.as_deref())?;
    let compiler = Compiler::new(&course.root, 0, false)?.announcing();
    let judging = Judging { lines: true, tell, ..Judging::seeded(0) };
    let tried = student::tried(course, &exercise, &compiler, &options.run, judging, &mut progress)?;
    let Tried { verdict: judged, explain } = &tried;
    let file = exercise.student_file();
    say(&verdict(&exercise, &Report { file: &file, explain: *explain }, judged, |html| html))?;
    Ok(judged.passed())
}

/// The verdict, whose part of a page `named` has changed.
pub fn verdict(exercise: &Exercise, report: &Report<'_>, verdict: &Verdict, named: impl Fn(String) -> String) -> Value {
    let html = named(page::main(exercise, report, verdict, true).into_string());
    json!({
        "event": "verdict", "solved": verdict.passed(), "seed": verdict.seed.to_string(), "html": html,
        "places": places::of(verdict),
    })
}

/// How the line of an event begins.
pub const EVENT: &str = "{\"event\":";

/// How the line of a verdict begins.
pub const VERDICT: &str = "{\"event\":\"verdict\"";

/// Says what begins.
pub fn tell(step: Step<'_>) {
    // The last line says it again if nobody can be told.
    let _ = say(&match step {
        Step::Compiling => json!({ "event": "compiling" }),
        Step::Running(sizes) => json!({ "event": "running", "sizes": shown(sizes) }),
        Step::OtherOrders => json!({ "event": "orders" }),
        Step::Goals => json!({ "event": "goals" }),
    });
}

/// Writes a line. A reader that has gone away is an error here: nobody waits for the rest.
pub fn say(line: &Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(Error::Output)
}
