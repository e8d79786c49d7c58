//! `cargo xtask new-kernels`: makes a crate of kernels outside this repository, with a program that
//! launches them.
//!
//! The files come from `template/`, in which placeholders stand for the name and for where Coalesce
//! comes from ([`source`]). The new crate gets this clone's `Cargo.lock`, so that it uses libraries
//! that have been downloaded already. Everything is written to a temporary folder that is renamed
//! at the end, so the result is a whole crate or none.

mod source;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use common::new_folder as place;
use cuda_builder::toolchain::DeviceCompiler;

use crate::exit_code::{FAILED, WRONG_ARGUMENTS};
use crate::shell;
use crate::workspace::{self, NotInWorkspace};
use source::Source;

/// Options of `new-kernels`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The folder to make, outside this repository. If it exists, it must be empty.
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// The prefix of the crates' names, instead of the folder's name.
    #[arg(long)]
    name: Option<String>,

    /// Take Coalesce from this git repository, instead of from this clone by its path.
    #[arg(long, value_name = "URL", conflicts_with = "published")]
    git: Option<String>,

    /// Take Coalesce's published packages of this version, such as 0.1: for the simulator alone,
    /// until the manifest has the replacements that a GPU needs.
    #[arg(long, value_name = "VERSION")]
    published: Option<String>,
}

/// Why `new-kernels` failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Workspace(#[from] NotInWorkspace),
    #[error(transparent)]
    Place(#[from] place::Error),
    #[error(
        "`{0}` cannot name a crate: use lowercase words of letters and digits, joined by - or _, with a letter first; --name gives \
         another name than the folder's"
    )]
    Name(String),
    #[error(transparent)]
    Source(#[from] source::Unusable),
    #[error("{path}: cannot be written: {source}", path = path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl Error {
    /// The program's exit code for this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Place(_) | Self::Name(_) | Self::Source(_) => WRONG_ARGUMENTS,
            _ => FAILED,
        }
    }
}

/// Cargo's configuration, which names this clone's chores.
const CONFIG: &str = ".cargo/config.toml";

/// The files of the new crate, and their templates.
const FILES: [(&str, &str); 10] = [
    (CONFIG, include_str!("template/config.toml")),
    (".github/workflows/test.yml", include_str!("template/test.yml")),
    (".gitignore", include_str!("template/gitignore")),
    ("Cargo.toml", include_str!("template/workspace.toml")),
    ("README.md", include_str!("template/README.md")),
    ("host/Cargo.toml", include_str!("template/host.toml")),
    ("host/build.rs", include_str!("template/build.rs")),
    ("host/src/main.rs", include_str!("template/main.rs")),
    ("kernels/Cargo.toml", include_str!("template/kernels.toml")),
    ("kernels/src/lib.rs", include_str!("template/kernels.rs")),
];

/// Files that are copied from this clone.
const COPIES: [&str; 2] = ["Cargo.lock", "rust-toolchain.toml"];

/// The maximum length of a name: cargo makes longer file names from it.
const LONGEST_NAME: usize = 64;

/// Runs the chore.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let (root, clone) = place::of_clone(&root)?;
    let folder = place::for_new(&options.folder, &root)?;
    let named = match &options.name {
        Some(name) => name.clone(),
        None => folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    if !is_name(&named) {
        return Err(Error::Name(named));
    }
    let source = Source::of(clone, options.git.as_deref(), options.published.as_deref())?;
    let files: Vec<_> = FILES.into_iter().filter(|(name, _)| source.is_clone() || *name != CONFIG).collect();
    write(&folder, &root, &files, |text| source.fill(text).replace("@NAME@", &named))?;

    if DeviceCompiler::find().is_err() {
        eprintln!("note: the build needs the compiler for GPU kernels; `cargo xtask setup` installs it");
    }
    println!("made {}: the kernels are in kernels/src/lib.rs, the program in host/src/main.rs", folder.display());
    println!("next: cd {} && cargo test && cargo run", shell::word(&folder.display().to_string()));
    Ok(())
}

/// Whether this can name a crate: snake case with `-` for `_`, as rustc requires.
fn is_name(name: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.split(['-', '_']).all(is_word)
}

/// Writes the crate to a temporary folder beside `folder`, and renames that when it is complete.
fn write(folder: &Path, root: &Path, files: &[(&str, &str)], fill: impl Fn(&str) -> String) -> Result<(), Error> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Write { path, source }
    };
    let parent = folder.parent().unwrap_or(folder);
    let beside = tempfile::Builder::new().prefix(".new-kernels-").tempdir_in(parent).map_err(failed(folder))?;
    // Temporary folders are private; the folder inside has the usual permissions.
    let whole = beside.path().join("crate");
    for &(name, text) in files {
        let path = whole.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&whole)).map_err(failed(folder))?;
        fs::write(&path, fill(text)).map_err(failed(folder))?;
    }
    for name in COPIES {
        let from = root.join(name);
        match fs::read(&from) {
            Ok(text) => fs::write(whole.join(name), text).map_err(failed(folder))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&from)(error)),
        }
    }
    if folder.exists() {
        // It was empty when it was checked; this fails if it no longer is.
        fs::remove_dir(folder).map_err(failed(folder))?;
    }
    fs::rename(&whole, folder).map_err(failed(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_snake_case() {
        for name in ["a", "axpy", "my-kernels", "my_kernels2", "x1-2"] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(LONGEST_NAME + 1);
        for name in ["", "-", "a-", "-a", "a--b", "a__b", "1a", "A", "a b", "a.b", "ä", "a\n", &long] {
            assert!(!is_name(name), "{name}");
        }
    }
}
