//! The text of kernels' sources, found by the file names in the PTX's line information. Findings
//! and `--lines` look lines up in it. It reads files of up to 16 MiB and keeps their text.
//!
//! A PTX file may come from anybody and name any file. So only files are read that are below
//! certain folders once links are followed: the PTX file's, the current one, those of a program
//! that was started ([`also_beside`]), the projects that they are in, this program's, and those of
//! `--sources`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// Longer files are not read.
const LONGEST_FILE: u64 = 16 << 20;

/// What to do about PTX that names no source lines.
pub const LINES_BY_COMPILERS: &str = "The PTX names no lines of its source: nvcc writes them with -lineinfo, clang with -gline-tables-only, numba with \
     @cuda.jit(lineinfo=True).";

/// The workspace that this program was built in.
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The folders of a program that was started, such as a script.
static BESIDE: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Has sources looked for in these folders as in the current one: those of a program that was
/// started. Only the first call of a process counts.
pub fn also_beside(folders: Vec<PathBuf>) {
    let _ = BESIDE.set(folders);
}

/// What the folder of a project has.
const PROJECT: [&str; 2] = ["Cargo.toml", ".git"];

/// The lines of a file by their numbers.
type Lines = BTreeMap<u32, String>;

/// Source files, each read once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    /// Folders of `--sources`.
    folders: Vec<PathBuf>,
    /// `None` if the file was not found.
    files: BTreeMap<String, Option<Lines>>,
}

impl Sources {
    /// Sources that may also be in these folders.
    pub fn also_in(folders: &[PathBuf]) -> Self {
        Self { folders: folders.to_vec(), files: BTreeMap::new() }
    }

    /// Looks for a file that the PTX file `ptx` names.
    pub fn find(&mut self, file: &str, ptx: &str) {
        if !self.files.contains_key(file) {
            self.files.insert(file.to_owned(), self.read(Path::new(file), Path::new(ptx)));
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

    /// The lines of a source file.
    fn read(&self, path: &Path, ptx: &Path) -> Option<Lines> {
        #[cfg(target_family = "wasm")]
        if let Some(text) = device::given::text(&path.to_string_lossy()) {
            return Some(numbered(&text));
        }
        let nearby = || folders_nearby(ptx).into_iter().find_map(|folder| below(&folder, path, false));
        // The paths may be those of another machine: the ends of theirs count.
        let ends = || {
            std::iter::successors(Some(path), |path| Some(without_first(path))).take_while(|it| *it != Path::new(""))
        };
        let named = || self.folders.iter().find_map(|folder| ends().find_map(|end| below(folder, end, true)));
        text_of(&named().or_else(nearby)?).map(|text| numbered(&text))
    }
}

/// The folders in which sources are read without being asked to: the PTX file's, the current one,
/// those beside what was started, and the projects that these and the program are in; last, the
/// workspace of this program.
fn folders_nearby(ptx: &Path) -> Vec<PathBuf> {
    let of = |file: PathBuf| file.parent().map(Path::to_owned);
    let ptx = ptx.is_file().then(|| std::path::absolute(ptx).ok()).flatten().and_then(of);
    let here = std::env::current_dir().ok();
    let program = std::env::current_exe().ok().and_then(of);
    // A home folder that is in git is no project.
    let home = std::env::home_dir();
    let is_project =
        |folder: &&Path| PROJECT.iter().any(|name| folder.join(name).exists()) && home.as_deref() != Some(*folder);
    let projects = |start: &PathBuf| start.ancestors().filter(is_project).map(Path::to_owned).collect::<Vec<_>>();
    let beside = BESIDE.get().map_or(&[][..], Vec::as_slice);
    let around = ptx.iter().chain(&here).chain(beside).chain(&program).flat_map(projects);
    let near = ptx.iter().chain(&here).chain(beside).cloned();
    near.chain(around).chain([PathBuf::from(WORKSPACE)]).collect()
}

/// The file of this path, if it is in the folder, links followed. Where nobody has `named` the
/// folder, it must not be that of the whole system, and hidden files and folders are passed over:
/// they hold keys and settings.
fn below(folder: &Path, path: &Path, named: bool) -> Option<PathBuf> {
    let folder = std::fs::canonicalize(folder).ok()?;
    let file = std::fs::canonicalize(folder.join(path)).ok()?;
    let within = file.strip_prefix(&folder).ok()?;
    let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
    let allowed = named || folder.parent().is_some() && !within.components().any(is_hidden);
    let found = std::fs::symlink_metadata(&file).ok()?;
    (allowed && found.is_file() && found.len() <= LONGEST_FILE).then_some(file)
}

/// A path without its first part.
fn without_first(path: &Path) -> &Path {
    let mut parts = path.components();
    parts.next();
    parts.as_path()
}

/// A file's text. No more is read than it had when it was opened: what a system makes up when it is
/// read has no length.
fn text_of(file: &Path) -> Option<String> {
    let file = File::open(file).ok()?;
    let found = file.metadata().ok().filter(|found| found.is_file())?;
    let mut bytes = Vec::new();
    file.take(found.len().min(LONGEST_FILE)).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
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
        for file in ["crates/fault_text/src/sources.rs", "host/src/no-such.rs", "host/src"] {
            sources.find(file, "the built-in PTX");
        }
        assert!(
            sources
                .line("crates/fault_text/src/sources.rs", 1)
                .is_some_and(|line| line.starts_with("//! The text of kernels'"))
        );
        assert_eq!(sources.line("crates/fault_text/src/sources.rs", 0), None);
        assert_eq!(sources.missing().collect::<Vec<_>>(), ["host/src", "host/src/no-such.rs"]);
    }

    #[test]
    fn sources_are_found_above_the_ptx() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("target/ptx")).unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("Cargo.toml"), "").unwrap();
        let ptx = folder.path().join("target/ptx/k.ptx");
        std::fs::write(&ptx, "").unwrap();
        std::fs::write(folder.path().join("src/only_here.rs"), "fn k() {}\n").unwrap();
        let mut sources = Sources::default();
        sources.find("src/only_here.rs", ptx.to_str().unwrap());
        assert_eq!(sources.line("src/only_here.rs", 1), Some("fn k() {}"));
    }

    /// A folder with a PTX file in `project`, and files in and beside that.
    fn strange() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("project/k.ptx", ""),
            ("project/kernel.cu", "near\n"),
            ("project/.env", "SECRET=1\n"),
            ("project/.ssh/key", "SECRET\n"),
            ("elsewhere/src/other.cu", "other\n"),
            ("secret", "SECRET\n"),
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let ptx = folder.path().join("project/k.ptx");
        (folder, ptx)
    }

    #[test]
    fn only_files_below_known_folders_are_read() {
        let (folder, ptx) = strange();
        let ptx = ptx.to_str().unwrap();
        let absolute = |name: &str| folder.path().join(name).display().to_string();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path().join("secret"), folder.path().join("project/link.cu")).unwrap();
            std::os::unix::fs::symlink(folder.path(), folder.path().join("project/up")).unwrap();
            std::os::unix::fs::symlink("kernel.cu", folder.path().join("project/same.cu")).unwrap();
        }
        let first = |sources: &mut Sources, file: &str| {
            sources.find(file, ptx);
            sources.line(file, 1).map(str::to_owned)
        };
        let mut sources = Sources::default();
        for near in ["kernel.cu".to_owned(), absolute("project/kernel.cu"), "./up/../kernel.cu".to_owned()] {
            let found = first(&mut sources, &near);
            assert!(found.as_deref() == Some("near") || near.contains("up"), "{near}: {found:?}");
        }
        for file in [
            "/etc/passwd",
            "etc/passwd",
            "../../../../../../../../etc/passwd",
            "/proc/self/environ",
            "/proc/self/cwd/../../etc/passwd",
            "/dev/stdin",
            ".env",
            ".ssh/key",
            "../secret",
            "link.cu",
            "up/secret",
            "../elsewhere/src/other.cu",
            "",
            "/",
            ".",
            "\0",
        ] {
            assert_eq!(first(&mut sources, file), None, "{file}");
        }
        assert_eq!(first(&mut sources, &absolute("secret")), None);
        #[cfg(unix)]
        assert_eq!(first(&mut sources, "same.cu").as_deref(), Some("near"));
    }

    #[test]
    fn named_folders_hold_the_sources_of_other_machines() {
        let (folder, ptx) = strange();
        let mut sources = Sources::also_in(&[folder.path().join("elsewhere")]);
        for file in ["/build/agent/7/src/other.cu", "src/other.cu", "other.cu", "C:/x/src/other.cu"] {
            sources.find(file, ptx.to_str().unwrap());
        }
        assert_eq!(sources.line("/build/agent/7/src/other.cu", 1), Some("other"));
        assert_eq!(sources.line("src/other.cu", 1), Some("other"));
        assert_eq!(sources.line("C:/x/src/other.cu", 1), Some("other"));
        assert_eq!(sources.missing().collect::<Vec<_>>(), ["other.cu"]);
        sources.find("../secret", ptx.to_str().unwrap());
        assert_eq!(sources.line("../secret", 1), None);
    }
}
