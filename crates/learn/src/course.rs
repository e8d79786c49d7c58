//! Reads `course.toml`: the chapters and exercises in order, and their points. Also finds an exercise by name. Every
//! command starts with it. Only reads.

use std::path::{Path, PathBuf};

use exercise::Exercise;
use exercise::files::{Chapter, CourseFile};
use exercise::points::Points;

use crate::error::{Error, Result};

/// A course.
#[derive(Clone, Debug)]
pub struct Course {
    /// The root of the clone.
    pub root: PathBuf,
    /// The folder of the exercises.
    pub folder: PathBuf,
    /// Its chapters.
    pub chapters: Vec<Chapter>,
    /// The points of its exercises.
    pub points: Points,
}

impl Course {
    /// The course in `folder`, or the one of the clone that contains `start`.
    ///
    /// # Errors
    ///
    /// [`Error::NoClone`], [`Error::NoCourse`], and [`Error::Exercise`] if `course.toml` is wrong.
    pub fn find(start: &Path, folder: Option<&Path>) -> Result<Self> {
        let root = start.ancestors().find(|folder| folder.join("crates/cuda_std/Cargo.toml").is_file());
        let root = root.ok_or_else(|| Error::NoClone(start.to_owned()))?.to_owned();
        let folder = folder.map_or_else(|| root.join("exercises"), Path::to_owned);
        // An absolute path, because a judge works in another folder.
        let folder = std::path::absolute(&folder).map_err(Error::reading(&folder))?;
        let file = folder.join("course.toml");
        if !file.is_file() {
            return Err(Error::NoCourse(folder));
        }
        let CourseFile { chapters, points } = CourseFile::read(&file)?;
        Ok(Self { root, folder, chapters, points })
    }

    /// The course in `folder`, or the one of the clone around the current folder.
    ///
    /// # Errors
    ///
    /// As [`Course::find`].
    pub fn here(folder: Option<&Path>) -> Result<Self> {
        Self::find(&std::env::current_dir().map_err(Error::reading("."))?, folder)
    }

    /// The names of the exercises, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.chapters.iter().flat_map(|chapter| chapter.exercises.iter().map(String::as_str))
    }

    /// Refuses a copy for students, in which there is nothing to check or to mark by.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`].
    pub fn must_have_solutions(&self, names: &[&str]) -> Result<()> {
        let is_copy = |name: &&&str| self.exercise(name).is_ok_and(|exercise| exercise.is_for_students());
        match names.iter().find(is_copy) {
            None => Ok(()),
            Some(_) => Err(Error::Usage(
                "this copy of the course is for students and has no solutions: use the teacher's clone; \
                 `cargo learn run` judges a file here"
                    .to_owned(),
            )),
        }
    }

    /// The exercise of this name.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchExercise`], [`Error::Exercise`] if `course.toml` does not list it, and those
    /// of [`Exercise::read`].
    pub fn exercise(&self, name: &str) -> Result<Exercise> {
        // Also accept the folder's path, as the shell completes it.
        let name = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
        if !self.names().any(|known| known == name) {
            // As `cargo learn new` leaves it.
            if self.folder.join(name).join("goals.toml").is_file() {
                let problem = format!("exercise '{name}' is not listed: add it to a chapter");
                return Err(Error::exercise(&self.folder.join("course.toml"), problem));
            }
            let closest = self.names().map(|known| (distance(known, name), known)).min();
            let closest = closest.filter(|(distance, _)| *distance <= 3).map(|(_, known)| known.to_owned());
            return Err(Error::NoSuchExercise { name: name.to_owned(), closest });
        }
        Ok(Exercise::read(&self.folder.join(name))?)
    }
}

/// The Levenshtein distance.
pub fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        assert_eq!(distance("guard", "guard"), 0);
        assert_eq!(distance("guard", "gaurd"), 2);
        assert_eq!(distance("", "abc"), 3);
    }
}
