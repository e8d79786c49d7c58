//! Documents that a chore makes from measurements: written, or compared with what is there.

use std::fs;
use std::path::Path;

use crate::program::{Error, file};

/// A document: its path in the repository, and its text as it should be.
pub struct Document {
    pub name: &'static str,
    pub text: String,
}

/// Writes the documents of a chore; with `check` only compares them with what is there.
pub fn finish(root: &Path, documents: &[Document], check: bool, chore: &'static str) -> Result<(), Error> {
    if check { self::check(root, documents, chore) } else { write(root, documents) }
}

/// Writes the documents, and prints their paths.
fn write(root: &Path, documents: &[Document]) -> Result<(), Error> {
    for Document { name, text } in documents {
        let path = root.join(name);
        cuda_builder::write_whole(&path, text)?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Fails if one of them differs from what the chore would write.
pub fn check(root: &Path, documents: &[Document], chore: &'static str) -> Result<(), Error> {
    for Document { name, text } in documents {
        let path = root.join(name);
        let current = fs::read_to_string(&path).map_err(|problem| file(&path, problem))?;
        if current != *text {
            return Err(Error::Stale { document: name, chore });
        }
    }
    Ok(())
}
