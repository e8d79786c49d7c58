//! Asks cargo about a crate of kernels that the user names. `build-ptx --crate` calls it. Only
//! reads.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Why a folder is not a crate of kernels.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}: there is no crate here (no Cargo.toml): name the folder of a crate of kernels", .0.display())]
    NoCrate(PathBuf),
    #[error("{}: this is a workspace, not a crate: name {members}", .folder.display())]
    OnlyWorkspace { folder: PathBuf, members: String },
    #[error("{}: this crate has no library: kernels are functions of a library, src/lib.rs", .0.display())]
    NoLibrary(PathBuf),
    #[error("{}: cargo cannot read it: {problem}", .manifest.display())]
    Manifest { manifest: PathBuf, problem: String },
}

/// The name of the library of the crate in `folder`.
pub fn library(folder: &Path) -> Result<String, Error> {
    let manifest = folder.join("Cargo.toml");
    let real = std::fs::canonicalize(&manifest).ok().filter(|real| real.is_file());
    let real = real.ok_or_else(|| Error::NoCrate(folder.to_owned()))?;

    let unreadable = |problem: String| Error::Manifest { manifest: manifest.clone(), problem };
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
        .arg(&real)
        .output()
        .map_err(|error| unreadable(error.to_string()))?;
    if !output.status.success() {
        let problem = wording::one_line(&String::from_utf8_lossy(&output.stderr));
        return Err(unreadable(problem.trim_start_matches("error: ").to_owned()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| unreadable(error.to_string()))?;
    library_in(&metadata, folder, &real)
}

fn library_in(metadata: &Value, folder: &Path, manifest: &Path) -> Result<String, Error> {
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let manifest_of = |package: &Value| package["manifest_path"].as_str().map(PathBuf::from);
    let Some(package) = packages.iter().find(|package| manifest_of(package).as_deref() == Some(manifest)) else {
        let root = manifest.parent().unwrap_or(manifest);
        let folders = packages.iter().filter(|package| library_of(package).is_some()).filter_map(manifest_of);
        let relative = folders.filter_map(|path| path.parent()?.strip_prefix(root).ok().map(|path| folder.join(path)));
        let mut members: Vec<_> = relative.map(|path| path.display().to_string()).collect();
        members.sort();
        let members = match members.as_slice() {
            [] => "the folder of a crate of kernels".to_owned(),
            members => members.join(" or "),
        };
        return Err(Error::OnlyWorkspace { folder: folder.to_owned(), members });
    };
    library_of(package).map(str::to_owned).ok_or_else(|| Error::NoLibrary(folder.to_owned()))
}

/// The name of a package's library, if it has one that can be compiled to PTX.
fn library_of(package: &Value) -> Option<&str> {
    let is_library = |target: &&Value| {
        let kinds = target["kind"].as_array();
        kinds.is_some_and(|kinds| kinds.iter().any(|kind| matches!(kind.as_str(), Some("lib" | "rlib" | "cdylib"))))
    };
    package["targets"].as_array()?.iter().find(is_library)?["name"].as_str()
}
