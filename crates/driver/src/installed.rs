//! Where this library's file is, for programs that have others load it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The library's name where cargo builds it.
pub const DRIVER: &str = "libcoalesce_driver";

/// This library beside a program that depends on it, or where `COALESCE_LIBRARY` says.
pub fn library(program: &Path) -> Option<PathBuf> {
    let beside = program.parent().unwrap_or(Path::new(""));
    let file = match std::env::var_os("COALESCE_LIBRARY") {
        Some(named) => Some(PathBuf::from(named)).filter(|file| file.is_file()),
        // cargo builds the libraries that a program depends on, but copies them only on demand.
        None => newest(DRIVER, &[beside.join("deps"), beside.to_owned()]),
    };
    file.and_then(|file| file.canonicalize().ok())
}

/// The first of these folders that has the library decides; of several builds there, the newest.
pub fn newest(library: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let is_library = |name: &OsStr| {
        let name = name.to_string_lossy();
        let rest = name.strip_prefix(library).and_then(|rest| rest.strip_suffix(".so"));
        rest.is_some_and(|hash| hash.is_empty() || hash.starts_with('-'))
    };
    folders.iter().find_map(|folder| {
        let files = std::fs::read_dir(folder).ok()?.flatten().filter(|file| is_library(&file.file_name()));
        let modified =
            |file: &std::fs::DirEntry| file.metadata().and_then(|it| it.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        files.max_by_key(modified).map(|file| file.path())
    })
}
