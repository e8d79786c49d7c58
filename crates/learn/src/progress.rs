//! A student's progress, kept in `exercises/progress.toml`. Deleting the file starts over.
//! `student` and `watch` read and write it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use exercise::Exercise;
use serde::{Deserialize, Serialize};

use crate::course::Course;
use crate::error::{Error, Result};

/// A student's progress.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Progress {
    #[serde(skip)]
    file: PathBuf,
    /// The solved exercises, in the order in which they were solved.
    #[serde(default)]
    solved: Vec<String>,
    /// The number of hints read, by exercise.
    #[serde(default)]
    hints: BTreeMap<String, usize>,
    /// The number of failed runs, by exercise.
    #[serde(default)]
    tries: BTreeMap<String, usize>,
}

impl Progress {
    /// Reads the file. A missing file means no progress.
    ///
    /// # Errors
    ///
    /// [`Error::Exercise`] if the file is invalid.
    pub fn read(course: &Course) -> Result<Self> {
        let file = course.folder.join("progress.toml");
        if !file.exists() {
            return Ok(Self { file, ..Self::default() });
        }
        let text = fs::read_to_string(&file).map_err(Error::reading(&file))?;
        let progress: Self = toml::from_str(&text).map_err(|error| {
            Error::exercise(&file, format!("{}; correct it, or delete it to start over", error.message()))
        })?;
        Ok(Self { file, ..progress })
    }

    fn write(&self) -> Result<()> {
        let text = toml::to_string(self).expect("lists and numbers can be written");
        let text = format!("# What you have solved, written by `cargo learn`. Delete this file to start over.\n{text}");
        cuda_builder::write_whole(&self.file, &text)?;
        Ok(())
    }

    /// Whether an exercise is solved.
    pub fn is_solved(&self, name: &str) -> bool {
        self.solved.iter().any(|solved| solved == name)
    }

    /// How many of the course's exercises are solved.
    pub fn solved(&self, course: &Course) -> usize {
        course.names().filter(|name| self.is_solved(name)).count()
    }

    /// The first exercise that is not solved.
    pub fn next<'a>(&self, course: &'a Course) -> Option<&'a str> {
        course.names().find(|name| !self.is_solved(name))
    }

    /// Records whether an exercise is solved.
    pub fn set_solved(&mut self, exercise: &Exercise, solved: bool) -> Result<()> {
        if self.is_solved(&exercise.name) == solved {
            return Ok(());
        }
        self.solved.retain(|name| *name != exercise.name);
        if solved {
            self.solved.push(exercise.name.clone());
        }
        self.write()
    }

    /// The number of hints of an exercise that were read.
    pub fn hints(&self, name: &str) -> usize {
        self.hints.get(name).copied().unwrap_or(0)
    }

    /// Records that number.
    pub fn set_hints(&mut self, name: &str, count: usize) -> Result<()> {
        self.hints.insert(name.to_owned(), count);
        self.write()
    }

    /// The number of failed runs of an exercise.
    pub fn tries(&self, name: &str) -> usize {
        self.tries.get(name).copied().unwrap_or(0)
    }

    /// Records another failed run.
    pub fn add_try(&mut self, name: &str) -> Result<()> {
        *self.tries.entry(name.to_owned()).or_default() += 1;
        self.write()
    }

    /// Forgets an exercise.
    pub fn forget(&mut self, name: &str) -> Result<()> {
        self.hints.remove(name);
        self.tries.remove(name);
        self.solved.retain(|solved| solved != name);
        self.write()
    }
}
