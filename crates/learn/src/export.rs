//! `cargo learn export`: the course as students get it, in a new folder. For teachers. `cli` calls
//! it. It compiles and runs solutions and references, and writes one folder, or nothing.
//!
//! | in the course | in the copy |
//! | --- | --- |
//! | `starter`, `hints.md`, `given.rs`, `given.ptx`, `main.rs`, `course.toml` | the same |
//! | `goals.toml` | without comments and `starter_fails`; obfuscated if it contains answers |
//! | `reference.rs` | `reference.ptx` |
//! | `solution.rs` | `solution.json`: what it counts, for a few seeds ([`crate::recorded`]) |
//! | `solution.toml`, `wrong/`, `variants.toml`, what students made | nothing |
//!
//! Beside them is what `cargo learn` is compiled from ([`crate::workspace_copy`]).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::Args;
use common::{new_folder, signals};
use exercise::Exercise;
use exercise::files::OBFUSCATED_GOALS;
use exercise::obfuscation::obfuscate;
use tempfile::TempDir;
use wording::{WIDTH, several, wrapped, wrapped_code};

use crate::compile::Compiler;
use crate::course::Course;
use crate::error::{Error, Result};
use crate::given;
use crate::recorded::Recorded;
use crate::runs::{Judge, Judging};
use crate::terminal::{note, show_line};
use crate::variant::{self, Variant};
use crate::workspace_copy::{self, write_text};

/// The seeds that a copy has the solution's counts for.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=8;

/// Options of `export`.
#[derive(Args, Debug)]
pub struct Options {
    /// The folder to make, outside this repository. If it exists, it must be empty
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    variant: Variant,
}

/// Writes the copy.
pub fn export(course: &Course, options: &Options) -> Result<bool> {
    let names: Vec<&str> = course.names().collect();
    course.must_have_solutions(&names)?;
    let usage = |error: new_folder::Error| Error::Usage(error.to_string());
    let (root, _) = new_folder::of_clone(&course.root).map_err(usage)?;
    let folder = new_folder::for_new(&options.folder, &root).map_err(usage)?;
    let (course, given) = (&options.variant.of(course)?, course);
    // A temporary folder beside it is renamed at the end: the result is a whole copy, or none.
    let parent = folder.parent().unwrap_or(&folder);
    let beside = removed_by_signals(parent).map_err(Error::writing(&folder))?;
    let whole = beside.path().join("course");
    workspace_copy::write(&root, &whole)?;
    let exercises = whole.join("exercises");
    let compiler = Compiler::new(&course.root, 0, false)?.announcing();
    if names.len() > 5 {
        note!("{}: their solutions are compiled and run, which takes minutes.", several(names.len(), "exercise"));
    }
    for name in &names {
        copy(&course.exercise(name)?, &exercises.join(name), &compiler)?;
    }
    let list = course.folder.join("course.toml");
    write_text(&exercises.join("course.toml"), &fs::read_to_string(&list).map_err(Error::reading(&list))?)?;
    write_text(&whole.join("README.md"), include_str!("student.md"))?;
    write_text(
        &whole.join(".gitignore"),
        "/target\n/exercises/*/*.before*\n/exercises/progress.toml\n/exercises/leaderboard.*\n",
    )?;
    let writing = workspace_copy::writing();
    if folder.exists() {
        // It was empty when it was checked; this fails if it no longer is.
        fs::remove_dir(&folder).map_err(Error::writing(&folder))?;
    }
    fs::rename(&whole, &folder).map_err(Error::writing(&folder))?;
    drop((beside, writing));
    let made = format!(
        "made {}: {}, without solutions. Give this folder to students; mark their files with `cargo learn grade` here.",
        folder.display(),
        several(names.len(), "exercise")
    );
    show_line!("{}", wrapped(&made, WIDTH, "", ""))?;
    if let Some(seed) = options.variant.variant {
        variant::report(given)?;
        let (solutions, grade) = (course.folder.display(), format!("cargo learn grade --variant {seed}"));
        let keep = format!("Mark with `{grade}`. The solutions of this variant are in {solutions}.");
        show_line!("{}", wrapped_code(&keep, WIDTH, "", ""))?;
    }
    Ok(true)
}

/// A temporary folder in `parent`, which a signal removes before it ends the program.
fn removed_by_signals(parent: &Path) -> std::io::Result<TempDir> {
    // A signal that comes before the folder is known waits until it is.
    let _writing = workspace_copy::writing();
    let made = Arc::new(OnceLock::new());
    let known = Arc::clone(&made);
    signals::on_each(move |signal| {
        // Nothing is written any more.
        let _writing = workspace_copy::writing();
        let _ = known.get().map(fs::remove_dir_all::<&PathBuf>);
        std::process::exit(128 + signal);
    });
    let folder = tempfile::Builder::new().prefix(".export-").tempdir_in(parent)?;
    let _ = made.set(folder.path().to_owned());
    Ok(folder)
}

/// Writes an exercise as students get it.
fn copy(exercise: &Exercise, to: &Path, compiler: &Compiler) -> Result<()> {
    let read = |file: &Path| fs::read_to_string(file).map_err(Error::reading(file));
    let same = |file: &Path| write_text(&to.join(file.file_name().unwrap_or_default()), &read(file)?);
    same(&exercise.starter_file())?;
    same(&exercise.folder.join("hints.md"))?;
    let goals = without_notes(&read(&exercise.folder.join("goals.toml"))?);
    if exercise.is_predicted() {
        same(&exercise.given_file())?;
        if given::ptx(exercise)?.is_none() {
            let problem = "given.ptx is not of this given.rs: run `cargo learn check --write-ptx`";
            return Err(Error::exercise(&exercise.folder, problem));
        }
        same(&exercise.given_ptx_file())?;
        return write_text(&to.join(OBFUSCATED_GOALS), &obfuscate(&goals));
    }
    write_text(&to.join("goals.toml"), &goals)?;
    if exercise.is_host() {
        same(&exercise.main_file())?;
        same(&exercise.given_file())?;
        if given::ptx(exercise)?.is_none() {
            let problem = "given.ptx is not of this given.rs: run `cargo learn check --write-ptx`";
            return Err(Error::exercise(&exercise.folder, problem));
        }
        same(&exercise.given_ptx_file())?;
    }
    let judge = |seed| Judge { exercise, compiler, judging: Judging::seeded(seed) };
    let reference = judge(0).own(&exercise.reference_file())?;
    write_text(&to.join("reference.ptx"), &read(&reference)?)?;
    if exercise.is_host() || exercise.is_open() {
        // Nothing is compared with the solution's.
        return Ok(());
    }
    let compares = |that: &goals::goal::Goal| that.bound.uses(&|name| name.starts_with(goals::goal::SOLUTION));
    if exercise.goals.goal.iter().any(|plan| plan.that.counted.metric.is_speedup() && compares(&plan.that)) {
        let problem = "a goal compares a predicted time with the solution's, which a copy does not have";
        return Err(Error::exercise(&exercise.folder.join("goals.toml"), problem));
    }
    let solution = judge(0).own(&exercise.solution_file())?;
    let seeds = SEEDS.map(|seed| Ok((seed, judge(seed).figures(&solution)?))).collect::<Result<_>>()?;
    let text = serde_json::to_string(&Recorded { seeds }).expect("names and numbers can be written");
    write_text(&to.join("solution.json"), &text)
}

/// `goals.toml` without what is meant for teachers: comments, and how the starter fails.
fn without_notes(goals: &str) -> String {
    let is_note = |line: &&str| line.starts_with('#') || line.starts_with("starter_fails");
    let mut lines: Vec<&str> = goals.lines().filter(|line| !is_note(line)).collect();
    lines.dedup_by(|one, other| one.is_empty() && other.is_empty());
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_copied_without_notes() {
        let goals = "# For teachers\ntitle = \"A\"\nstarter_fails = \"trap\"\n\n# Why 8\n\n[sizes]\n";
        assert_eq!(without_notes(goals), "title = \"A\"\n\n[sizes]\n");
    }
}
