//! The errors of an exercise's files.

use std::path::{Path, PathBuf};

/// Why there is no exercise.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file is wrong.
    #[error("{}: {problem}", file.display())]
    Wrong {
        /// The file.
        file: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
}

/// A result of reading an exercise.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// For `map_err`: the error of a file that cannot be read.
    pub(crate) fn reading(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Unreadable { path, source }
    }

    /// The error of a wrong file of an exercise.
    pub fn wrong(file: &Path, problem: impl ToString) -> Self {
        Self::Wrong { file: file.to_owned(), problem: problem.to_string().trim_end().to_owned() }
    }
}
