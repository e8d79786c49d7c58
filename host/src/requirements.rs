//! What kernels must do: `--require` and `--goals` of `host run` and of the program `coalesce`, and
//! with [`crate::baselines`] `--baseline`. The language is that of the crate `goals`; here are the
//! flags, and what is said of the outcome.
//!
//! As JSON, in `"goals"`: `{"goal", "kernel", "met", "value", "bound", "line", "why"}` of each;
//! `"kernel"` if it is one of several that the goal names, `"line"` (`{"file", "line", "value"}`)
//! if it is missed and a line is to blame; `"value"` is a reason if there is no value.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use baseline::Baseline;
use clap::Args;
use common::output_file;
use device::input_file::Kind;
use device::{Error, Result, names};
use goals::requirement::{Judged, Kernel, Machine, Requirement, of_file};
use goals::seen::Seen;
use picture::access_text;
use serde_json::{Value, json};
use wording::{WIDTH, printable, several, wrapped};

use crate::baselines::{Against, BaselineFlags, Outcome};
use crate::ci::{Case, Problem};
use crate::{recorded, registers, terminal};

/// The most bytes of a file with goals.
const LONGEST: usize = 1 << 20;

/// How many accesses are drawn that are worse than in a baseline, of one kernel each.
const MOST_DRAWN: usize = 3;

/// A file with goals, from a pipe, too.
const GOALS: Kind = Kind {
    name: "a file with goals",
    refuses: |bytes, _| (bytes.len() > LONGEST).then_some("it is longer than 1 MiB"),
    other: |_| None,
};

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
    #[command(flatten)]
    baselines: BaselineFlags,
}

/// What launches must meet.
#[derive(Clone, Debug)]
pub struct Requirements {
    goals: Vec<Requirement>,
    against: Option<Against>,
    save: Option<PathBuf>,
    machine: Machine,
}

impl RequireFlags {
    /// Whether there are any.
    pub fn any(&self) -> bool {
        self.flag().is_some()
    }

    /// The file of the new baseline, if one is to be written.
    pub fn saved(&self) -> Option<&Path> {
        self.baselines.save_baseline.as_deref()
    }

    /// The flag that is given.
    pub fn flag(&self) -> Option<&'static str> {
        let BaselineFlags { baseline, save_baseline, .. } = &self.baselines;
        let given = [
            ("--require", !self.require.is_empty()),
            ("--goals", !self.goals.is_empty()),
            ("--baseline", baseline.is_some()),
            ("--save-baseline", save_baseline.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
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
            let goals = of_file(&GOALS.read(file)?).map_err(failed)?;
            if goals.is_empty() {
                return Err(failed("there is no [[goal]]".to_owned()));
            }
            goals.iter().try_for_each(|goal| named("--goals", goal))?;
            all.extend(goals);
        }
        let against = self.baselines.read(&device(machine))?;
        Ok(Requirements { goals: all, against, save: self.baselines.save_baseline.clone(), machine })
    }
}

/// What counts, as `--device` names it.
fn device(machine: Machine) -> String {
    machine.counts.map_or("sim".to_owned(), |model| format!("sim:{}", model.name))
}

impl Requirements {
    /// Whether times have to be predicted.
    pub fn predict(&self) -> bool {
        self.goals.iter().any(Requirement::predicts) || self.against.as_ref().is_some_and(Against::predicts)
    }

    /// The registers of a module's kernels, if a goal is about them.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] if `ptxas` does not take the module.
    pub fn registers(&self, module: &str) -> Result<HashMap<String, u32>> {
        match self.goals.iter().any(Requirement::is_of_registers) {
            true => registers::of_module(module, self.machine.predicts),
            false => Ok(HashMap::new()),
        }
    }

    /// Whether requests have to be kept, for pictures.
    pub fn watch(&self) -> bool {
        self.against.is_some() || self.goals.iter().any(Requirement::is_drawn)
    }

    /// What became of them.
    pub fn judge(&self, kernels: &[Kernel<'_>]) -> Verdict {
        let goals = self.goals.iter().flat_map(|requirement| requirement.judge(kernels)).collect();
        let mut verdict = Verdict { goals, outcome: None, seen: Vec::new(), save: None };
        if self.against.is_some() || self.save.is_some() {
            let here = std::env::current_dir().unwrap_or_default();
            let file = |path: &str| {
                let path = Path::new(path);
                path.strip_prefix(&here).unwrap_or(path).display().to_string()
            };
            let counted = (&*device(self.machine), self.machine.predicts.name);
            let after = Baseline::of(kernels, counted, &|name| names::shown(name).into_owned(), &file);
            verdict.outcome = self.against.as_ref().map(|against| against.compare(&after));
            verdict.seen = verdict.outcome.iter().flat_map(|outcome| worse_accesses(outcome, kernels)).collect();
            verdict.save = self.save.clone().map(|path| (path, after));
        }
        verdict
    }
}

/// Of each kernel that is worse than in a baseline, the access that costs most, and where it is.
fn worse_accesses(outcome: &Outcome, kernels: &[Kernel<'_>]) -> Vec<(String, Seen)> {
    let mut seen: Vec<(String, Seen)> = Vec::new();
    let mut known: Vec<&str> = Vec::new();
    for change in outcome.worse().filter(|change| change.after > change.before) {
        let Some(place) = change.lines.first() else { continue };
        let named = kernels.iter().filter(|kernel| recorded::short(&change.kernel) == kernel.name);
        let line = place.place().map(|(_, line)| line);
        let found = named.filter_map(|kernel| kernel.costliest(&change.counter, line)).next();
        if let Some(found) = found.filter(|_| !known.contains(&&*change.kernel) && known.len() < MOST_DRAWN) {
            known.push(&change.kernel);
            seen.push((format!("{}, {}", recorded::short(&change.kernel), place.at), found));
        }
    }
    seen
}

/// What became of the goals, and how the counters compare with a baseline.
#[derive(Clone, Debug)]
pub struct Verdict {
    goals: Vec<Judged>,
    outcome: Option<Outcome>,
    /// Accesses that are worse, with where they are.
    seen: Vec<(String, Seen)>,
    save: Option<(PathBuf, Baseline)>,
}

/// An access as a picture, below a heading.
fn drawn(seen: &Seen, place: &str, indent: &str) -> String {
    let Seen { scene, block: [x, y, z], warp } = seen;
    let heading = format!("{place}{} (block {x}, {y}, {z}, warp {warp}):", scene.title);
    let heading = wrapped(&printable(&heading), WIDTH, indent, indent);
    format!("{heading}\n{}\n", access_text(scene, WIDTH, terminal::paint()))
}

impl Verdict {
    /// The goals that are missed.
    fn missed(&self) -> impl Iterator<Item = &Judged> {
        self.goals.iter().filter(|judged| !judged.met)
    }

    /// Whether all are met, and nothing is worse than is allowed.
    pub fn met(&self) -> bool {
        self.missed().next().is_none() && self.outcome.as_ref().is_none_or(Outcome::met)
    }

    /// Writes the new baseline, if one is wanted.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn save(&self) -> Result<()> {
        let Some((path, baseline)) = &self.save else { return Ok(()) };
        output_file::write_whole(path, |out| std::io::Write::write_all(out, baseline.text().as_bytes()))
    }

    /// Goals and comparison, each under a heading.
    pub fn text(&self) -> String {
        let goals = if self.goals.is_empty() { String::new() } else { format!("\nGoals:\n{}", self.goals_text()) };
        let Some(outcome) = &self.outcome else { return goals };
        let drawn = self.seen.iter().map(|(place, seen)| format!("\n{}", drawn(seen, &format!("{place}: "), "")));
        format!("{goals}\nBaseline:\n{}{}", outcome.text(), drawn.collect::<String>())
    }

    /// Each goal, and of those that are missed the access that costs most, as a picture.
    fn goals_text(&self) -> String {
        let mut text = String::new();
        for judged in &self.goals {
            let first = if judged.met { "   ok   " } else { " missed " };
            text += &wrapped(&printable(&judged.text()), WIDTH, first, "        ");
            text.push('\n');
            if let Some(seen) = judged.seen.as_ref().filter(|_| !judged.met) {
                text += &format!("\n{}", drawn(seen, "", "        "));
            }
        }
        text
    }

    /// The error of goals that are missed and of what is worse: in a sentence below a table, which
    /// has them, else with each of them.
    pub fn error(&self, is_table: bool) -> Option<String> {
        let count = self.missed().count();
        let each = |judged: &Judged| format!("error: missed: {}\n", printable(&judged.text()));
        let missed = match (count, is_table) {
            (0, _) => String::new(),
            (_, true) => format!("error: {count} of {} missed\n", several(self.goals.len(), "goal")),
            (_, false) => self.missed().map(each).collect(),
        };
        let worse = self.outcome.as_ref().and_then(|outcome| outcome.error(is_table)).unwrap_or_default();
        Some(missed + &worse).filter(|text| !text.is_empty())
    }

    /// The goals and the comparison, for CI systems.
    pub fn cases(&self) -> Vec<Case> {
        let goal = |judged: &Judged| {
            let kernel = judged.kernel.clone().unwrap_or_default();
            let problem = || Problem {
                rule: "goal".to_owned(),
                kernel: kernel.clone(),
                text: format!("missed: {}", judged.text()),
                place: judged.blamed.as_ref().map(|line| (line.file.clone(), line.line)),
            };
            let about = if kernel.is_empty() { "goals".to_owned() } else { kernel.clone() };
            let problems = if judged.met { Vec::new() } else { vec![problem()] };
            Case { about, name: judged.goal.clone(), problems }
        };
        self.goals.iter().map(goal).chain(self.outcome.as_ref().map(Outcome::case)).collect()
    }

    /// The comparison with a baseline as JSON.
    pub fn baseline_json(&self) -> Option<Value> {
        self.outcome.as_ref().map(Outcome::json)
    }

    /// The goals as JSON, if there are any.
    pub fn goals_json(&self) -> Option<Value> {
        (!self.goals.is_empty()).then(|| self.json())
    }

    fn json(&self) -> Value {
        let line = |judged: &Judged| {
            let line = judged.blamed.as_ref()?;
            Some(json!({"file": line.file, "line": line.line, "value": line.value}))
        };
        let each = self.goals.iter().map(|judged| {
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

    /// Names and values, for rows: the goal, and `met` or `missed`; what changed.
    pub fn rows(&self) -> impl Iterator<Item = [String; 2]> {
        let goals = self.goals.iter().map(|judged| {
            let kernel = judged.kernel.as_ref().map(|kernel| format!(" ({kernel})")).unwrap_or_default();
            [format!("{}{kernel}", judged.goal), if judged.met { "met" } else { "missed" }.to_owned()]
        });
        goals.chain(self.outcome.iter().flat_map(Outcome::rows))
    }
}
