//! Checks a folder outside this repository that a program is to make, before anything is written.
//! `cargo xtask new-kernels` and `cargo learn export` use it. Only reads.

use std::fs;
use std::io;
use std::path::{self, Component, Path, PathBuf};

/// Why a folder cannot be made.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages say it.
pub enum Error {
    #[error("{}: is not empty; name a new or an empty folder", .0.display())]
    NotEmpty(PathBuf),
    #[error("{}: is not a folder; name a new or an empty folder", .0.display())]
    NotFolder(PathBuf),
    #[error("{}: is inside this repository, {}; name a folder outside of it", .folder.display(), .root.display())]
    Inside { folder: PathBuf, root: PathBuf },
    #[error("{}: there is no folder {}; make it first", .folder.display(), .parent.display())]
    NoParent { folder: PathBuf, parent: PathBuf },
    #[error("{}: has no name; name the folder to make", .0.display())]
    NoName(PathBuf),
    #[error("{}: cannot be used: {source}", .path.display())]
    Unusable { path: PathBuf, source: io::Error },
    #[error("{0:?}: this path cannot stand in a Cargo.toml: it has control characters or is not UTF-8; use another")]
    NotText(PathBuf),
}

/// The path of this clone without links, and as text.
///
/// # Errors
///
/// A path that cannot be read, or is not text.
pub fn of_clone(root: &Path) -> Result<(PathBuf, String), Error> {
    let root = fs::canonicalize(root).map_err(unusable(root))?;
    let text = text(&root)?.to_owned();
    Ok((root, text))
}

/// The absolute path, without links, of a folder that is new or empty and outside `root`.
///
/// # Errors
///
/// Why it cannot be made.
pub fn for_new(folder: &Path, root: &Path) -> Result<PathBuf, Error> {
    let shown = || folder.to_owned();
    let full = path::absolute(folder).map_err(unusable(folder))?;
    let real = match fs::symlink_metadata(&full) {
        Ok(_) => {
            let real = fs::canonicalize(&full).map_err(unusable(folder))?;
            if !real.is_dir() {
                return Err(Error::NotFolder(shown()));
            }
            real
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            let (Some(Component::Normal(name)), Some(parent)) = (full.components().next_back(), full.parent()) else {
                return Err(Error::NoName(shown()));
            };
            let real = fs::canonicalize(parent).ok().filter(|real| real.is_dir());
            real.ok_or_else(|| Error::NoParent { folder: shown(), parent: parent.to_owned() })?.join(name)
        }
        Err(error) => return Err(unusable(folder)(error)),
    };
    // Checked before its contents: inside a clone, that it is inside is the better reason to refuse
    // it.
    if real.starts_with(root) {
        return Err(Error::Inside { folder: shown(), root: root.to_owned() });
    }
    if real.exists() && fs::read_dir(&real).map_err(unusable(folder))?.next().is_some() {
        return Err(Error::NotEmpty(shown()));
    }
    text(&real)?;
    Ok(real)
}

/// A path as text for a manifest or a message.
fn text(path: &Path) -> Result<&str, Error> {
    path.to_str().filter(|text| !text.contains(char::is_control)).ok_or_else(|| Error::NotText(path.to_owned()))
}

/// For `map_err`.
fn unusable(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Unusable { path, source }
}
