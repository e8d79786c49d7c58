//! The errors of `cargo learn`. A mistake in a student's kernel is not an error but a
//! [`crate::verdict::Verdict`]. Every fallible function of this crate returns one, and `cli` prints
//! it.

use std::path::{Path, PathBuf};

use cuda_builder::CudaBuilderError;

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder cannot be read or written.
    #[error("{}: cannot be {action}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What was attempted: `read`, `written`.
        action: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// The exercise itself is wrong, or one of its files cannot be read.
    #[error(transparent)]
    Exercise(#[from] exercise::Error),
    /// There is no such exercise.
    #[error("there is no exercise '{}'{}; `cargo learn list` shows them all", wording::printable(name), closest.as_ref().map(|name| format!("; did you mean '{name}'?")).unwrap_or_default())]
    NoSuchExercise {
        /// The requested name.
        name: String,
        /// A similar name.
        closest: Option<String>,
    },
    /// The folder is not within the repository, which has the device library.
    #[error("{}: this folder is in no clone, and kernels need its device library: run this in a clone of Coalesce", .0.display())]
    NoClone(PathBuf),
    /// There is no course in the folder.
    #[error("{}: there is no course.toml: name the folder of a course with --course", .0.display())]
    NoCourse(PathBuf),
    /// The device compiler is missing, or fails through no fault of the student.
    #[error("{0}{advice}", advice = if .0.is_of_the_compiler() && has_chores() { "; `cargo xtask setup` does it" } else { "" })]
    Compiler(#[from] CudaBuilderError),
    /// The device cannot be used, or an output cannot be written.
    #[error(transparent)]
    Device(#[from] device::Error),
    /// The standard output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(#[source] std::io::Error),
    /// The student asks for something that cannot be done.
    #[error("{0}")]
    Usage(String),
}

#[cfg(feature = "class")]
impl From<class::Error> for Error {
    fn from(error: class::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

/// Whether this is a clone, with its chores, and no copy for students.
fn has_chores() -> bool {
    std::env::current_dir().is_ok_and(|here| here.ancestors().any(|folder| folder.join("xtask/Cargo.toml").is_file()))
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// For `map_err`: the error of a file that cannot be read.
    pub fn reading(path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::File { path, action: "read", source }
    }

    /// For `map_err`: the error of a file that cannot be written.
    pub fn writing(path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::File { path, action: "written", source }
    }

    /// The error of a wrong file of an exercise.
    pub fn exercise(file: &Path, problem: impl ToString) -> Self {
        exercise::Error::wrong(file, problem).into()
    }
}
