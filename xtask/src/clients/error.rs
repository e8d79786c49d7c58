//! What can go wrong with clients.

use std::path::{Path, PathBuf};

use crate::program::Failed;
use crate::workspace::NotInWorkspace;

/// Why the programs did not run, or what differs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    NotInWorkspace(#[from] NotInWorkspace),
    #[error(transparent)]
    Run(#[from] Failed),
    #[error(transparent)]
    Write(#[from] cuda_builder::CudaBuilderError),
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: String },
    #[error("there is no client {name}; there are {names}")]
    NoClient { name: String, names: String },
    #[error("{0} differ from tests/clients/counts.json: see above")]
    Differs(String),
}

impl Error {
    /// The error of a file.
    pub fn file(path: &Path, problem: impl ToString) -> Self {
        Self::File { path: path.to_owned(), problem: problem.to_string() }
    }
}
