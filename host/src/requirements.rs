//! What kernels must do: `--require` and `--goals` of `host run` and of the program `coalesce`. The
//! language is that of the crate `goals`; here are the flags, and what is said of the outcome.
//!
//! As JSON, in `"goals"`: `{"goal", "kernel", "met", "value", "bound", "line", "why"}` of each;
//! `"kernel"` if it is one of several that the goal names, `"line"` (`{"file", "line", "value"}`)
//! if it is missed and a line is to blame; `"value"` is a reason if there is no value.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use device::{Error, Result};
use goals::requirement::{Judged, Kernel, Machine, Requirement, of_file};
use picture::access_text;
use serde_json::{Value, json};
use wording::{WIDTH, printable, several, wrapped};

use crate::terminal;

/// The flags.
#[derive(Args, Clone, Debug, Default)]
pub struct RequireFlags {
    /// Fail unless the launches meet this goal, METRIC [of KERNEL] OPERATOR BOUND, as in
    /// "shared.bank_conflicts of transpose == 0"; may be repeated
    #[arg(long, value_name = "GOAL", value_parser = Requirement::new)]
    pub require: Vec<Requirement>,
    /// Fail unless the launches meet the goals of this TOML file, an array `goal` of tables with
    /// that = "GOAL" and why = "TEXT"; may be repeated
    #[arg(long, value_name = "FILE.toml")]
    pub goals: Vec<PathBuf>,
}

/// The goals that launches must meet.
#[derive(Clone, Debug, Default)]
pub struct Requirements(Vec<Requirement>);

impl RequireFlags {
    /// Whether there are any.
    pub fn any(&self) -> bool {
        self.flag().is_some()
    }

    /// The flag that is given.
    pub fn flag(&self) -> Option<&'static str> {
        match (self.require.is_empty(), self.goals.is_empty()) {
            (false, _) => Some("--require"),
            (_, false) => Some("--goals"),
            _ => None,
        }
    }

    /// Reads the files, before anything runs.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] if a file cannot be read, or if launches on this machine say nothing
    /// about a goal.
    pub fn read(&self, machine: Machine) -> Result<Requirements> {
        let mut all = Vec::new();
        let named = |flag: &str, requirement: &Requirement| {
            let failed = |why| Error::request(flag, format!("{}: {why}", printable(&requirement.that.to_string())));
            requirement.check(machine).map_err(failed)
        };
        for requirement in &self.require {
            named("--require", requirement)?;
            all.push(requirement.clone());
        }
        for file in &self.goals {
            let failed = |why: String| Error::request("--goals", format!("{}: {}", file.display(), printable(&why)));
            let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
            let goals = of_file(&text).map_err(failed)?;
            if goals.is_empty() {
                return Err(failed("there is no [[goal]]".to_owned()));
            }
            goals.iter().try_for_each(|goal| named("--goals", goal))?;
            all.extend(goals);
        }
        Ok(Requirements(all))
    }
}

impl Requirements {
    /// Whether times have to be predicted.
    pub fn predict(&self) -> bool {
        self.0.iter().any(Requirement::predicts)
    }

    /// Whether requests have to be kept, for pictures.
    pub fn watch(&self) -> bool {
        self.0.iter().any(Requirement::is_drawn)
    }

    /// What became of them.
    pub fn judge(&self, kernels: &[Kernel<'_>]) -> Verdict {
        Verdict(self.0.iter().flat_map(|requirement| requirement.judge(kernels)).collect())
    }
}

/// What became of the goals.
#[derive(Clone, Debug, Default)]
pub struct Verdict(Vec<Judged>);

impl Verdict {
    /// The goals that are missed.
    fn missed(&self) -> impl Iterator<Item = &Judged> {
        self.0.iter().filter(|judged| !judged.met)
    }

    /// Whether all are met.
    pub fn met(&self) -> bool {
        self.missed().next().is_none()
    }

    /// Each goal, and of those that are missed the access that costs most, as a picture.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for judged in &self.0 {
            let first = if judged.met { "   ok   " } else { " missed " };
            text += &wrapped(&printable(&judged.text()), WIDTH, first, "        ");
            text.push('\n');
            if let Some(seen) = judged.seen.as_ref().filter(|_| !judged.met) {
                let ([x, y, z], warp) = (seen.block, seen.warp);
                writeln!(text, "\n        {} (block {x}, {y}, {z}, warp {warp}):", printable(&seen.scene.title))
                    .expect("a text takes everything");
                text += &access_text(&seen.scene, WIDTH, terminal::paint());
                text.push('\n');
            }
        }
        text
    }

    /// The error of goals that are missed: in a sentence below a table, which has the goals, else
    /// with each of them.
    pub fn error(&self, is_table: bool) -> Option<String> {
        let count = self.missed().count();
        if count == 0 {
            return None;
        }
        let heading = format!("error: {count} of {} missed\n", several(self.0.len(), "goal"));
        let each = |judged: &Judged| format!("error: missed: {}\n", printable(&judged.text()));
        Some(if is_table { heading } else { self.missed().map(each).collect() })
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let line = |judged: &Judged| {
            let line = judged.blamed.as_ref()?;
            Some(json!({"file": line.file, "line": line.line, "value": line.value}))
        };
        let each = self.0.iter().map(|judged| {
            json!({
                "goal": judged.goal,
                "kernel": judged.kernel,
                "met": judged.met,
                "value": match &judged.value {
                    Ok(value) => Value::from(*value),
                    Err(why) => Value::from(why.as_str()),
                },
                "bound": judged.bound,
                "line": line(judged),
                "why": judged.why,
            })
        });
        Value::Array(each.collect())
    }

    /// Names and values, for rows: the goal, and `met` or `missed`.
    pub fn rows(&self) -> impl Iterator<Item = [String; 2]> {
        self.0.iter().map(|judged| {
            let kernel = judged.kernel.as_ref().map(|kernel| format!(" ({kernel})")).unwrap_or_default();
            [format!("{}{kernel}", judged.goal), if judged.met { "met" } else { "missed" }.to_owned()]
        })
    }
}
