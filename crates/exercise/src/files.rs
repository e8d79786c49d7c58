//! An exercise: the files of its folder, and the check of `goals.toml`, whose contents are in
//! [`crate::goals_file`].
//!
//! | file | contents |
//! | --- | --- |
//! | `goals.toml` | [`Goals`]: sizes, data, launches, and when the exercise counts as solved |
//! | `starter.rs` | the student's starting point |
//! | `kernel.rs` | the student's own file: a copy of the starter, not in git |
//! | `solution.rs` | a solution that passes everything |
//! | `reference.rs` | the right results, computed in plain sequential Rust by one thread |
//! | `hints.md` | hints, from a nudge to nearly the answer, between lines of `---` |
//! | `wrong/` | plausible wrong solutions ([`crate::wrong`]) |
//! | `variants.toml` | what differs from class to class ([`crate::variant`]) |
//!
//! In an exercise to *explain*, the kernels are given (`given.rs`, and their PTX, `given.ptx`), and
//! the student's file is `predict.toml`, a copy of `starter.toml`, and the solution is
//! `solution.toml`.
//!
//! In a *host* exercise, the student's file is `host.rs`, host code for given kernels, and
//! `main.rs` calls it.
//!
//! In an *open* exercise, the student's file also says how its kernels are launched
//! ([`crate::launches`]).
//!
//! A copy for students, as `cargo learn export` makes it, has `reference.ptx`, `solution.json`
//! (what the solution counts) and `goals.obfuscated` in place of the texts that give answers away.

use std::fs;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::Deserialize;

use crate::data::{self, Sizes};
use crate::error::{Error, Result};
use crate::goals_file::{Data, Element, Goals, Open, Size, Task};
use crate::obfuscation::reveal;
use crate::points::Points;

/// The file of an exercise to explain that has its `goals.toml`, in a copy for students.
pub const OBFUSCATED_GOALS: &str = "goals.obfuscated";

/// A chapter of a course: a title and the names of its exercises.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    /// Its title.
    pub title: String,
    /// Its exercises.
    pub exercises: Vec<String>,
}

/// What `course.toml` says of a course.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CourseFile {
    /// Its chapters.
    #[serde(rename = "chapter")]
    pub chapters: Vec<Chapter>,
    /// The points of its exercises.
    #[serde(default)]
    pub points: Points,
}

impl CourseFile {
    /// Reads the file. No exercise is in two chapters.
    ///
    /// # Errors
    ///
    /// [`Error`] with file and reason.
    pub fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).map_err(Error::reading(file))?;
        let course: Self = toml::from_str(&text).map_err(|error| Error::wrong(file, error))?;
        let names: Vec<&String> = course.chapters.iter().flat_map(|chapter| &chapter.exercises).collect();
        if let Some(name) = names.iter().enumerate().find_map(|(at, name)| names[..at].contains(name).then_some(name)) {
            return Err(Error::wrong(file, format!("exercise '{name}' is listed twice")));
        }
        course.points.check(&names).map_err(|problem| Error::wrong(file, problem))?;
        Ok(course)
    }
}

/// The chapters of a course, from its `course.toml`.
///
/// # Errors
///
/// Those of [`CourseFile::read`].
pub fn chapters(file: &Path) -> Result<Vec<Chapter>> {
    CourseFile::read(file).map(|course| course.chapters)
}

/// An exercise.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// The name of its folder.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// The contents of `goals.toml`.
    pub goals: Goals,
}

impl Exercise {
    /// Reads the exercise in a folder.
    ///
    /// # Errors
    ///
    /// [`Error`] with file and reason.
    pub fn read(folder: &Path) -> Result<Self> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (file, text) = Self::goals_text(folder)?;
        let goals: Goals = toml::from_str(&text).map_err(|error| Error::wrong(&file, error))?;
        let exercise = Self { name, folder: folder.to_owned(), goals };
        exercise.check().map_err(|problem| Error::wrong(&file, problem))?;
        Ok(exercise)
    }

    /// The file of the goals and its text. In a copy for students, the goals of an exercise to
    /// explain are obfuscated, because they contain the answers.
    fn goals_text(folder: &Path) -> Result<(PathBuf, String)> {
        let file = folder.join("goals.toml");
        let obfuscated = folder.join(OBFUSCATED_GOALS);
        if file.exists() || !obfuscated.exists() {
            let text = fs::read_to_string(&file).map_err(Error::reading(&file))?;
            return Ok((file, text));
        }
        let text = fs::read_to_string(&obfuscated).map_err(Error::reading(&obfuscated))?;
        match reveal(text.trim()) {
            Some(text) => Ok((obfuscated, text)),
            None => Err(Error::wrong(&obfuscated, "this file was changed: take it from the course again")),
        }
    }

    /// Checks the parts of the file against each other.
    fn check(&self) -> std::result::Result<(), String> {
        let Goals {
            sizes, measured, timed, predicted, large, data, launch, reference, goal, question, task, open, ..
        } = &self.goals;
        let large = large.clone().unwrap_or_default();
        for (name, size) in sizes.iter().chain(measured).chain(timed).chain(predicted).chain(&large) {
            if size.multiple_of == 0 || size.from == 0 || size.to < size.from.next_multiple_of(size.multiple_of) {
                return Err(format!("size '{name}': there is no value from {} to {}", size.from, size.to));
            }
        }
        for (table, sizes_there) in
            [("measured", measured), ("timed", timed), ("predicted", predicted), ("large", &large)]
        {
            if let Some(name) = sizes_there.keys().find(|name| !sizes.contains_key(*name)) {
                return Err(format!("[{table}] has a size '{name}' that [sizes] lacks"));
            }
        }
        check_data(data)?;
        self.check_timed()?;
        let (is_host, is_open) = (*task == Task::Host, *task == Task::Open);
        if launch.is_empty() != (is_host || is_open) {
            return Err(match (is_host, is_open) {
                (true, _) => "a host exercise has no [[launch]]: the student's program launches",
                (_, true) => "an open exercise has no [[launch]]: the student's file says how kernels are launched",
                _ => "there is no [[launch]]",
            }
            .to_owned());
        }
        if is_open != open.is_some() {
            return Err("a table [open] belongs to an exercise whose task is \"open\", which needs it".to_owned());
        }
        if let Some(open) = open {
            self.check_open(open)?;
        }
        let asked = || question.iter().filter_map(|question| Some((question, question.count.as_ref()?)));
        let counts = || goal.iter().map(|goal| &goal.that.counted).chain(asked().map(|(_, count)| count));
        if let Some(counted) = counts().find(|counted| counted.metric.is_of_program()) {
            return Err(format!("{counted} is for programs, and not for exercises"));
        }
        if let Some(goal) = goal.iter().find(|goal| goal.that.counted.metric.is_of_host() != is_host) {
            return Err(match is_host {
                true => format!("the goal `{}` is about kernels, and this exercise about host code", goal.that),
                false => format!("the goal `{}` is for exercises whose task is \"host\"", goal.that),
            });
        }
        if is_host && goal.iter().any(|goal| goal.that.model.is_some()) {
            return Err("goals about host code have no model".to_owned());
        }
        if !predicted.is_empty() && !matches!(task, Task::Fast | Task::Open) {
            return Err("[predicted] is for exercises whose task is \"fast\": their starters are right".to_owned());
        }
        if let Some(goal) = goal.iter().find(|goal| goal.that.counted.metric.is_speedup() && predicted.is_empty()) {
            return Err(format!("the goal `{}` needs [predicted], sizes at which times are predicted", goal.that));
        }
        if let Some((question, count)) = asked().find(|(_, count)| count.metric.is_speedup()) {
            return Err(format!("question '{}': {count} is for goals", question.name));
        }
        if let Some(other) = question.iter().find(|question| question.kinds() != 1) {
            return Err(format!("question '{}': give a count, a litmus test or transfers", other.name));
        }
        match (*task == Task::Predict, question.is_empty(), reference.is_none()) {
            (true, true, _) => Err("an exercise to explain needs a [[question]]".to_owned()),
            (true, ..) if !goal.is_empty() => Err("an exercise to explain has questions, not goals".to_owned()),
            (false, false, _) => Err("questions belong to exercises whose task is \"explain\"".to_owned()),
            (false, _, true) => Err("there is no [answer]".to_owned()),
            (false, ..) if self.goals.starter_fails.is_empty() && !self.is_for_students() => {
                Err("starter_fails is missing".to_owned())
            }
            (false, ..) if *task == Task::Fast && goal.is_empty() => {
                Err("an exercise to make fast needs a [[goal]]".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Checks that data has room at the sizes at which a GPU is timed, which no machine without one tries.
    fn check_timed(&self) -> std::result::Result<(), String> {
        let Goals { sizes, measured, timed, data, .. } = &self.goals;
        if timed.is_empty() {
            return Ok(());
        }
        let of = |(name, size): (&String, &Size)| {
            let size = timed.get(name).or(measured.get(name)).unwrap_or(size);
            (name.clone(), size.to)
        };
        let largest: Sizes = sizes.iter().map(of).collect();
        let shape = |(name, one)| {
            data::shape(one, &largest).map_err(|problem| format!("[timed]: data '{name}': {problem}")).map(drop)
        };
        data.iter().try_for_each(shape)
    }

    /// Checks what is given of an open exercise.
    fn check_open(&self, Open { launches, grades, .. }: &Open) -> std::result::Result<(), String> {
        let Goals { predicted, sizes, goal, .. } = &self.goals;
        let is_fixed = |name: &String| predicted.get(name).is_some_and(|size| size.from == size.to);
        if let Some(name) = sizes.keys().find(|name| !is_fixed(name)) {
            return Err(format!("an open exercise needs one size '{name}' in [predicted]: from = to"));
        }
        if !goal.is_empty() {
            return Err("an open exercise has grades, not goals".to_owned());
        }
        let falls = grades.values().zip(grades.values().skip(1)).all(|(one, next)| next < one);
        if grades.is_empty() || !falls || grades.values().any(|most| !most.is_finite() || *most <= 0.0) {
            return Err("grades: give one or more, each with a smaller number than the one before".to_owned());
        }
        if *launches == 0 {
            return Err("launches: there must be at least 1".to_owned());
        }
        Ok(())
    }

    /// Whether its counts are predicted, and no kernel is written.
    pub fn is_predicted(&self) -> bool {
        self.goals.task == Task::Predict
    }

    /// Whether the student writes host code, and kernels are given.
    pub fn is_host(&self) -> bool {
        self.goals.task == Task::Host
    }

    /// Whether kernels and launches are the student's.
    pub fn is_open(&self) -> bool {
        self.goals.task == Task::Open
    }

    /// Whether kernels are given.
    pub fn is_given(&self) -> bool {
        self.is_predicted() || self.is_host()
    }

    /// The program that calls the student's host code.
    pub fn main_file(&self) -> PathBuf {
        self.folder.join("main.rs")
    }

    /// Whether it is a copy for students, as `cargo learn export` makes it.
    pub fn is_for_students(&self) -> bool {
        let no_solution = || (self.is_host() || self.is_open()) && self.reference_ptx_file().exists();
        self.solution_counts_file().exists() || self.folder.join(OBFUSCATED_GOALS).exists() || no_solution()
    }

    /// The name of the file that the student edits.
    pub fn file_name(&self) -> &'static str {
        match self.goals.task {
            Task::Predict => "predict.toml",
            Task::Host => "host.rs",
            Task::Right | Task::Fast | Task::Open => "kernel.rs",
        }
    }

    /// The file that the student edits.
    pub fn student_file(&self) -> PathBuf {
        self.folder.join(self.file_name())
    }

    /// The starter that it is copied from.
    pub fn starter_file(&self) -> PathBuf {
        self.folder.join(if self.is_predicted() { "starter.toml" } else { "starter.rs" })
    }

    /// The solution.
    pub fn solution_file(&self) -> PathBuf {
        self.folder.join(if self.is_predicted() { "solution.toml" } else { "solution.rs" })
    }

    /// The given kernels, if the student's file has none.
    pub fn given_file(&self) -> PathBuf {
        self.folder.join("given.rs")
    }

    /// The PTX of the given kernels.
    pub fn given_ptx_file(&self) -> PathBuf {
        self.folder.join("given.ptx")
    }

    /// The reference.
    pub fn reference_file(&self) -> PathBuf {
        self.folder.join("reference.rs")
    }

    /// The PTX of the reference, in place of its text in a copy for students.
    pub fn reference_ptx_file(&self) -> PathBuf {
        self.folder.join("reference.ptx")
    }

    /// What the solution counts, in place of its text in a copy for students.
    pub fn solution_counts_file(&self) -> PathBuf {
        self.folder.join("solution.json")
    }

    /// The files that decide on a mark: hints and wrong solutions do not.
    pub fn deciding_files(&self) -> [PathBuf; 7] {
        [
            self.folder.join("goals.toml"),
            self.starter_file(),
            self.given_file(),
            self.given_ptx_file(),
            self.main_file(),
            self.reference_file(),
            self.solution_file(),
        ]
    }

    /// The hints, in order.
    pub fn hints(&self) -> Result<Vec<String>> {
        let file = self.folder.join("hints.md");
        let text = fs::read_to_string(&file).map_err(Error::reading(&file))?;
        let mut hints = vec![String::new()];
        for line in text.lines() {
            match line.trim() == "---" {
                true => hints.push(String::new()),
                false => {
                    let last = hints.last_mut().expect("there is a first hint");
                    last.push_str(line);
                    last.push('\n');
                }
            }
        }
        Ok(hints.into_iter().map(|hint| hint.trim().to_owned()).filter(|hint| !hint.is_empty()).collect())
    }
}

/// Checks the keys of data against each other.
fn check_data(data: &IndexMap<String, Data>) -> std::result::Result<(), String> {
    for (name, Data { length, rows, columns, pitched, texture, element, scratch, output, values }) in data {
        let matrix = rows.is_some() && columns.is_some();
        if length.is_some() == (rows.is_some() || columns.is_some()) || length.is_none() && !matrix {
            return Err(format!("data '{name}': give a length, or rows and columns"));
        }
        if (*pitched || texture.is_some()) && !matrix {
            return Err(format!("data '{name}': only data with rows and columns can be pitched or a texture"));
        }
        if *scratch && (*output || values.is_some() || texture.is_some()) {
            return Err(format!("data '{name}': scratch has no values, and is neither output nor texture"));
        }
        if texture.is_some() && *element != Element::F32 {
            return Err(format!("data '{name}': textures have the type f32"));
        }
    }
    Ok(())
}
