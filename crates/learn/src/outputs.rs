//! Writes what `grade` makes for other programs: a text, or a folder with a file for each student,
//! whole or not at all. [`crate::grade`] and [`crate::similarity`] call it.
//!
//! *Invariant:* nothing is written outside the folder: no part of a path is a student's own name
//! ([`folder_names`]).

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use common::output_file;

use crate::cells;
use crate::error::{Error, Result};
use crate::formats::{Format, Writer};
use crate::marks::{Marks, Student};
use crate::terminal::write_out;

/// Where a format's text goes.
#[derive(Debug, PartialEq, Eq)]
pub enum Target {
    /// The standard output.
    Out,
    File(PathBuf),
    /// A folder with a folder for each student.
    Folder(PathBuf),
}

impl Target {
    /// The target of a format, for so many students: `--out`, or the standard output. Checks that
    /// it can be written, before long work whose result would be lost.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`], [`Error::Device`].
    pub fn of(format: Format, out: Option<&Path>, students: usize) -> Result<Self> {
        let per_student = matches!(format.writer(), Writer::Student(_));
        let several = format!("this format has one {} for each student, and there are {students}", format.file_name());
        let Some(path) = out else {
            return match per_student && students != 1 {
                true => Err(Error::Usage(format!("{several}: name a folder with --out DIR/"))),
                false => Ok(Self::Out),
            };
        };
        if per_student && (path.is_dir() || path.to_string_lossy().ends_with(std::path::is_separator)) {
            check_folder(path)?;
            return Ok(Self::Folder(path.to_owned()));
        }
        if per_student && students != 1 {
            let path = path.display();
            return Err(Error::Usage(format!("{path}: {several}: name a folder, as {path}/")));
        }
        output_file::check(path)?;
        Ok(Self::File(path.to_owned()))
    }

    /// Writes marks in a format.
    ///
    /// # Errors
    ///
    /// What cannot be written.
    pub fn write(&self, format: Format, marks: &Marks) -> Result<()> {
        let one = || match (format.writer(), marks.students.first()) {
            (Writer::Class(write), _) => write(marks),
            (Writer::Student(write), student) => student.map(write).unwrap_or_default(),
        };
        match (self, format.writer()) {
            (Self::Folder(folder), Writer::Student(write)) => {
                let names = folder_names(&marks.students);
                let file = |(name, student)| (Path::new(name).join(format.file_name()), write(student));
                let mut files: Vec<_> = names.iter().zip(&marks.students).map(file).collect();
                files.push((PathBuf::from(LIST), list(&names, &marks.students)));
                write_folder(folder, &files)
            }
            (Self::File(path) | Self::Folder(path), _) => {
                Ok(output_file::write_whole(path, |out| out.write_all(one().as_bytes()))?)
            }
            (Self::Out, _) => write_out(&one()),
        }
    }
}

/// The file that says whose folder is whose.
pub const LIST: &str = "students.csv";

/// Which folder is whose.
pub fn list(names: &[String], students: &[Student]) -> String {
    let rows = names.iter().zip(students).map(|(name, student)| cells::row([name.clone(), cells::text(&student.name)]));
    cells::row(["folder", "student"].map(str::to_owned)) + &rows.collect::<String>()
}

/// Names for the students' folders that any system and any shell takes for one folder in here:
/// letters, digits, `.`, `_` and `-`, no two alike.
pub fn folder_names(students: &[Student]) -> Vec<String> {
    const LONGEST: usize = 48;
    let mut taken = HashSet::from([LIST.to_owned()]);
    let mut name = |student: &Student| {
        let safe = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let mut name: String = student.name.chars().map(safe).take(LONGEST).collect();
        // Hidden, an option, the folder above, a device of Windows, or an end that Windows drops.
        if name.is_empty() || name.starts_with(['.', '-']) || name.ends_with('.') || is_device(&stem(&name)) {
            name = format!("_{}_", name.trim_matches('.'));
        }
        let first = name.clone();
        let mut number = 2;
        // Some systems do not tell cases apart.
        while !taken.insert(name.to_lowercase()) {
            name = format!("{first}-{number}");
            number += 1;
        }
        name
    };
    students.iter().map(&mut name).collect()
}

/// A name without what follows its first dot, in lower case.
fn stem(name: &str) -> String {
    name.split('.').next().unwrap_or_default().to_lowercase()
}

/// Whether Windows takes a file of this name for a device.
fn is_device(stem: &str) -> bool {
    let numbered = |of: &str| stem.strip_prefix(of).is_some_and(|rest| rest.chars().count() == 1);
    ["con", "prn", "aux", "nul"].contains(&stem) || numbered("com") || numbered("lpt")
}

/// Checks that a folder can be made: new or empty, in a folder that is there.
///
/// # Errors
///
/// [`Error::Usage`], or [`Error::File`].
pub fn check_folder(folder: &Path) -> Result<()> {
    let wrong = |problem: &str| Err(Error::Usage(format!("{}: {problem}", folder.display())));
    match fs::symlink_metadata(trimmed(folder)) {
        Ok(meta) if meta.is_dir() => match fs::read_dir(folder).map_err(Error::reading(folder))?.next() {
            Some(_) => wrong("is not empty; name a new or an empty folder"),
            None => Ok(()),
        },
        Ok(_) => wrong("is not a folder; name a new or an empty folder"),
        Err(_) if !parent(folder).is_dir() => wrong("the folder above it is not there; make that first"),
        Err(_) => Ok(()),
    }
}

/// The path without the separator at its end, which follows a link.
fn trimmed(folder: &Path) -> PathBuf {
    folder.components().collect()
}

fn parent(folder: &Path) -> PathBuf {
    let parent = trimmed(folder).parent().map(Path::to_owned).unwrap_or_default();
    if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent }
}

/// A folder that is being written, beside the one that is meant.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Removes what is being written, before a signal ends the program.
pub fn remove_unfinished() {
    output_file::remove_unfinished();
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = &*unfinished {
        // If it cannot be removed, there is nowhere left to report that.
        let _ = fs::remove_dir_all(folder);
    }
    // Nothing is written any more.
    std::mem::forget(unfinished);
}

/// Writes files into a new folder, or into an empty one: all of them, or none.
///
/// # Errors
///
/// [`Error::File`].
pub fn write_folder(folder: &Path, files: &[(PathBuf, String)]) -> Result<()> {
    check_folder(folder)?;
    let folder = trimmed(folder);
    let at = || UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    // A signal that comes before the folder is known waits until it is.
    let mut unfinished = at();
    let beside = tempfile::Builder::new().prefix(".unfinished-").tempdir_in(parent(&folder));
    let beside = beside.map_err(Error::writing(&folder))?;
    *unfinished = Some(beside.path().to_owned());
    drop(unfinished);
    // With the permissions that a new folder has, which a temporary one has not.
    let whole = beside.path().join("folder");
    fs::create_dir(&whole).map_err(Error::writing(&folder))?;
    for (name, text) in files {
        let path = whole.join(name);
        let write = || {
            let _writing = at();
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            let mut file = fs::File::create_new(&path)?;
            file.write_all(text.as_bytes())
        };
        write().map_err(Error::writing(folder.join(name)))?;
    }
    let mut unfinished = at();
    if folder.exists() {
        // It was empty when it was checked; this fails if it no longer is.
        fs::remove_dir(&folder).map_err(Error::writing(&folder))?;
    }
    fs::rename(&whole, &folder).map_err(Error::writing(&folder))?;
    *unfinished = None;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<String> {
        let student = |name: &&str| Student { name: (*name).to_owned(), marks: vec![] };
        folder_names(&names.iter().map(student).collect::<Vec<_>>())
    }

    #[test]
    fn ordinary_names_stay() {
        assert_eq!(named(&["anna", "Zo\u{eb}.M-1_b", "ben"]), ["anna", "Zo\u{eb}.M-1_b", "ben"]);
    }

    #[test]
    fn no_name_leaves_the_folder_or_is_taken_for_something_else() {
        let hostile = [
            "..",
            ".",
            "",
            "...",
            "../../etc/passwd",
            "/etc",
            "C:\\x",
            "a\0b",
            "-rf",
            "~",
            "$(touch x)",
            "a b\n",
            ".git",
            "con",
            "NUL.txt",
            "COM1",
            "lpt9.a.b",
            "end.",
            "students.csv",
            "\u{202e}a",
            &"x".repeat(400),
        ];
        let names = named(&hostile);
        for (name, hostile) in names.iter().zip(hostile) {
            let mut parts = Path::new(name).components();
            assert!(matches!(parts.next(), Some(std::path::Component::Normal(_))), "{hostile:?}: {name:?}");
            assert_eq!(parts.next(), None, "{hostile:?}: {name:?}");
            let plain = name.chars().all(|c| c.is_alphanumeric() || "._-".contains(c));
            assert!(plain && !name.starts_with(['.', '-']) && !name.ends_with('.'), "{hostile:?}: {name:?}");
            assert!(name.chars().count() <= 52 && !is_device(&stem(name)), "{hostile:?}: {name:?}");
        }
        let different: HashSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(different.len(), hostile.len(), "{names:?}");
    }

    #[test]
    fn no_two_students_share_a_folder() {
        assert_eq!(named(&["a b", "a/b", "A_B", "a_b-2"]), ["a_b", "a_b-2", "A_B-3", "a_b-2-2"]);
    }

    #[test]
    fn a_folder_is_written_whole_or_not_at_all() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("out");
        let file = |name: &str| (PathBuf::from(name), "x".to_owned());
        // The second cannot be written: its folder is the first file.
        let error = write_folder(&folder, &[file("a"), file("a/b")]).unwrap_err();
        assert!(error.to_string().contains("out/a/b: cannot be written"), "{error}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
        write_folder(&folder, &[file("a/b"), file("c")]).unwrap();
        assert_eq!(fs::read_to_string(folder.join("a/b")).unwrap(), "x");
        let error = write_folder(&folder, &[file("d")]).unwrap_err();
        assert!(error.to_string().ends_with("out: is not empty; name a new or an empty folder"), "{error}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
        let error = check_folder(&parent.path().join("no/out/")).unwrap_err();
        assert!(error.to_string().ends_with("the folder above it is not there; make that first"), "{error}");
        assert!(check_folder(&folder.join("c")).unwrap_err().to_string().contains("is not a folder"));
    }

    #[test]
    fn where_a_format_goes() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("x");
        let folder = PathBuf::from(format!("{}/", file.display()));
        for format in [Format::CanvasCsv, Format::Junit] {
            assert_eq!(Target::of(format, None, 3).unwrap(), Target::Out);
            assert_eq!(Target::of(format, Some(&file), 3).unwrap(), Target::File(file.clone()));
        }
        for format in [Format::Gradescope, Format::Prairielearn, Format::Autolab, Format::GithubClassroom] {
            assert_eq!(Target::of(format, None, 1).unwrap(), Target::Out);
            assert_eq!(Target::of(format, Some(&file), 1).unwrap(), Target::File(file.clone()));
            assert_eq!(Target::of(format, Some(&folder), 3).unwrap(), Target::Folder(folder.clone()));
            for out in [None, Some(file.as_path())] {
                let error = Target::of(format, out, 3).unwrap_err().to_string();
                assert!(error.contains("for each student, and there are 3: name a folder"), "{error}");
            }
        }
    }
}
