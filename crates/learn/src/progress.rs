//! A student's progress, kept in `exercises/progress.toml`. Deleting the file starts over.
//! `student`, `watch` and `serve` read and write it.
//!
//! *Invariant:* a change is made to what the file has then, under the lock `progress.lock`: another
//! process may have changed it since it was read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

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
        Self::of(&course.folder.join("progress.toml"))
    }

    fn of(file: &Path) -> Result<Self> {
        if !file.exists() {
            return Ok(Self { file: file.to_owned(), ..Self::default() });
        }
        let text = fs::read_to_string(file).map_err(Error::reading(file))?;
        let progress: Self = toml::from_str(&text).map_err(|error| {
            Error::exercise(file, format!("{}; correct it, or delete it to start over", error.message()))
        })?;
        Ok(Self { file: file.to_owned(), ..progress })
    }

    /// Makes a change to what the file has now.
    fn change(&mut self, change: impl FnOnce(&mut Self)) -> Result<()> {
        let path = self.file.with_extension("lock");
        let lock = File::create(&path).map_err(Error::writing(&path))?;
        lock.lock().map_err(Error::writing(&path))?;
        *self = Self::of(&self.file)?;
        change(self);
        self.write()
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
        let name = &exercise.name;
        self.change(|now| {
            // It keeps its place among the others.
            if now.is_solved(name) != solved {
                now.solved.retain(|known| known != name);
                now.solved.extend(solved.then(|| name.clone()));
            }
        })
    }

    /// The number of hints of an exercise that were read.
    pub fn hints(&self, name: &str) -> usize {
        self.hints.get(name).copied().unwrap_or(0)
    }

    /// Records that number.
    pub fn set_hints(&mut self, name: &str, count: usize) -> Result<()> {
        self.change(|now| _ = now.hints.insert(name.to_owned(), count))
    }

    /// The number of failed runs of an exercise.
    pub fn tries(&self, name: &str) -> usize {
        self.tries.get(name).copied().unwrap_or(0)
    }

    /// Records another failed run.
    pub fn add_try(&mut self, name: &str) -> Result<()> {
        self.change(|now| *now.tries.entry(name.to_owned()).or_default() += 1)
    }

    /// Forgets an exercise.
    pub fn forget(&mut self, name: &str) -> Result<()> {
        self.change(|now| {
            now.hints.remove(name);
            now.tries.remove(name);
            now.solved.retain(|solved| solved != name);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_keeps_what_others_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("progress.toml");
        let [mut one, mut other] = [Progress::of(&file).unwrap(), Progress::of(&file).unwrap()];
        one.set_hints("guard", 1).unwrap();
        other.add_try("predict_banks").unwrap();
        one.set_hints("padding", 2).unwrap();
        let now = Progress::of(&file).unwrap();
        assert_eq!((now.hints("guard"), now.hints("padding"), now.tries("predict_banks")), (1, 2, 1));
        // Many at once, each through a file of its own.
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut progress = Progress::of(&file).unwrap();
                    (0..10).for_each(|_| progress.add_try("guard").unwrap());
                });
            }
        });
        assert_eq!(Progress::of(&file).unwrap().tries("guard"), 80);
    }
}
