//! Finds this workspace. All chores start with it. Only reads.

use std::env;
use std::path::{Path, PathBuf};

/// No workspace was found.
#[derive(Debug, thiserror::Error)]
#[error("this is not the kernels' workspace: run `cargo xtask` in one of its folders")]
pub struct NotInWorkspace;

/// The root folder: the parent of this package when cargo runs it, else the nearest folder that
/// contains the crate of kernels.
pub fn root() -> Result<PathBuf, NotInWorkspace> {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let current = env::current_dir().ok();
    let starts = package.iter().chain(&current);
    starts.flat_map(|start| start.ancestors()).find(|folder| is_root(folder)).map(Path::to_owned).ok_or(NotInWorkspace)
}

fn is_root(folder: &Path) -> bool {
    folder.join("kernels/Cargo.toml").is_file() && folder.join("xtask/Cargo.toml").is_file()
}
