//! The text of kernels' sources, found by the file names in the PTX's line information. Findings
//! and `--lines` look lines up in it. It reads files of up to 16 MiB and keeps their text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Longer files are not read.
const LONGEST_FILE: u64 = 16 << 20;

/// What to do about PTX that names no source lines.
pub(crate) const LINES_BY_COMPILERS: &str =
    "The PTX names no lines of its source: nvcc writes them with -lineinfo, clang with -gline-tables-only.";

/// The workspace that this program was built in.
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The lines of a file by their numbers.
type Lines = BTreeMap<u32, String>;

/// Source files, each read once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sources {
    /// `None` if the file was not found.
    files: BTreeMap<String, Option<Lines>>,
}

impl Sources {
    /// Looks for a file that the PTX file `ptx` names.
    pub fn find(&mut self, file: &str, ptx: &str) {
        if !self.files.contains_key(file) {
            self.files.insert(file.to_owned(), read(Path::new(file), Path::new(ptx)));
        }
    }

    /// Uses this text for the file.
    pub fn insert(&mut self, file: &str, lines: Lines) {
        self.files.insert(file.to_owned(), Some(lines));
    }

    /// A line of a file that was found.
    pub fn line(&self, file: &str, line: u32) -> Option<&str> {
        self.files.get(file)?.as_ref()?.get(&line).map(String::as_str)
    }

    /// The files that were not found.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter(|(_, lines)| lines.is_none()).map(|(file, _)| file.as_str())
    }
}

/// The lines of a source file. A relative path starts at the workspace in which the PTX was
/// compiled. That is searched for above the PTX file, above the current folder and above the
/// program, and last in the workspace that this program was built in.
fn read(path: &Path, ptx: &Path) -> Option<Lines> {
    #[cfg(target_family = "wasm")]
    if let Some(text) = device::given::text(&path.to_string_lossy()) {
        return Some(numbered(&text));
    }
    let ptx = ptx.is_file().then(|| std::path::absolute(ptx).ok()).flatten();
    let starts = [ptx, std::env::current_dir().ok(), std::env::current_exe().ok()];
    let above = |start: PathBuf| start.ancestors().map(Path::to_owned).collect::<Vec<_>>();
    let folders = starts.into_iter().flatten().flat_map(above).chain([PathBuf::from(WORKSPACE)]);
    let there =
        |file: &PathBuf| std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= LONGEST_FILE);
    let file = folders.map(|folder| folder.join(path)).find(there)?;
    let bytes = std::fs::read(file).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(numbered(&text))
}

fn numbered(text: &str) -> Lines {
    (1..).zip(text.lines().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_found_above_the_current_folder() {
        let mut sources = Sources::default();
        for file in ["host/src/sources.rs", "host/src/no-such.rs", "host/src"] {
            sources.find(file, "the built-in PTX");
        }
        assert!(
            sources.line("host/src/sources.rs", 1).is_some_and(|line| line.starts_with("//! The text of kernels'"))
        );
        assert_eq!(sources.line("host/src/sources.rs", 0), None);
        assert_eq!(sources.missing().collect::<Vec<_>>(), ["host/src", "host/src/no-such.rs"]);
    }

    #[test]
    fn sources_are_found_above_the_ptx() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("target/ptx")).unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        let ptx = folder.path().join("target/ptx/k.ptx");
        std::fs::write(&ptx, "").unwrap();
        std::fs::write(folder.path().join("src/only_here.rs"), "fn k() {}\n").unwrap();
        let mut sources = Sources::default();
        sources.find("src/only_here.rs", ptx.to_str().unwrap());
        assert_eq!(sources.line("src/only_here.rs", 1), Some("fn k() {}"));
    }
}
