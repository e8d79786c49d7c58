//! Finds and reads what students handed in: one file for each student and exercise.
//! [`crate::grade`] calls it. It only reads.
//!
//! A submission is its author's, who may change it while it is graded. So a file is opened once,
//! without following links or waiting for a pipe's writer, and what is checked and read is what was
//! opened. A file in none of its places is looked for in the same way, from one opened folder to
//! the next: a folder that becomes a link in the meantime leads nowhere. [`crate::misplaced`] says
//! what was meant by what is found.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use exercise::Exercise;

use crate::error::{Error, Result};
use crate::guard;
use crate::misplaced;

/// What a student handed in for an exercise.
#[derive(Debug, PartialEq, Eq)]
pub enum Submission {
    /// The file's contents.
    File(Vec<u8>),
    /// Nothing: why.
    Missing(String),
    /// Something that is not read: why.
    Refused(String),
    /// Something that cannot be read, through no fault of the student: why.
    Unreadable(String),
}

/// How many entries of a student's folder are looked at for a file that is in none of the right
/// places.
const LOOKED_AT: usize = 5000;

/// How deep folders in it are looked into.
#[cfg(unix)]
const DEEPEST: usize = 32;

/// The students' folders, sorted by name, and the entries that are not folders. Hidden entries are
/// skipped.
///
/// # Errors
///
/// [`Error::File`] if the folder cannot be read, [`Error::Usage`] if there is no student's folder
/// in it.
pub fn students(submissions: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let entries = fs::read_dir(submissions).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let paths = entries.map_err(Error::reading(submissions))?.into_iter().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| !hidden(path)).collect();
    paths.sort();
    let (folders, others): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    match folders.is_empty() {
        true => Err(Error::Usage(format!("{}: there is no student's folder in it", submissions.display()))),
        false => Ok((folders, others)),
    }
}

/// Reads a student's submission for an exercise, of these.
pub fn read(student: &Path, exercise: &Exercise, exercises: &[&str]) -> Submission {
    if student.is_symlink() {
        return Submission::Refused("the student's folder is a link: put the folder there".to_owned());
    }
    let name = exercise.file_name();
    let places =
        [PathBuf::from(&exercise.name), Path::new("exercises").join(&exercise.name)].map(|place| place.join(name));
    for place in &places {
        let shown = place.display();
        match open(student, place).and_then(|opened| opened.map(contents).transpose()) {
            Ok(Some(Some(bytes))) if bytes.len() <= guard::LONGEST => return Submission::File(bytes),
            Ok(Some(Some(_))) => {
                return Submission::Refused(format!(
                    "{shown} has more than the {} bytes that are allowed",
                    guard::LONGEST
                ));
            }
            Ok(Some(None)) => return Submission::Refused(format!("{shown} is not a file")),
            Ok(None) => {}
            Err(error) if is_hard_link(&error) => {
                return Submission::Refused(format!(
                    "{shown} has several names (hard links): hand in a copy of the file"
                ));
            }
            Err(error) if is_link(&error) => {
                return Submission::Refused(format!("{shown} is a link: hand in the file"));
            }
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                return Submission::Refused(format!("{shown} is not a file"));
            }
            Err(error) => return Submission::Unreadable(format!("{shown} cannot be read: {error}")),
        }
    }
    let found = files(student);
    match (misplaced::found(&found.files, &exercise.name, name, exercises), found.unreadable) {
        (Some(what), _) => Submission::Missing(what),
        (None, Some((folder, error))) => {
            Submission::Unreadable(format!("{} cannot be read: {error}", folder.display()))
        }
        (None, None) => Submission::Missing("no file was handed in".to_owned()),
    }
}

/// The contents of an opened file, or a bit more than what is allowed of them; `None` for what is
/// not a file.
fn contents(file: File) -> io::Result<Option<Vec<u8>>> {
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(guard::LONGEST as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Opens a file below a folder without following any link on the way; `None` if there is no such
/// file.
#[cfg(unix)]
fn open(folder: &Path, path: &Path) -> io::Result<Option<File>> {
    use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
    // Without waiting for the writer of a pipe.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let mut at = openat(CWD, folder, flags | OFlags::DIRECTORY, Mode::empty())?;
    let parts: Vec<_> = path.components().collect();
    for (index, part) in parts.iter().enumerate() {
        let is_folder = index + 1 < parts.len();
        let flags = if is_folder { flags | OFlags::DIRECTORY } else { flags };
        at = match openat(&at, part.as_os_str(), flags, Mode::empty()) {
            // Its other name may be in a folder of somebody who does not know of this one.
            Ok(opened) if !is_folder && fstat(&opened)?.st_nlink > 1 && is_file(&fstat(&opened)?) => {
                return Err(rustix::io::Errno::MLINK.into());
            }
            Ok(opened) => opened,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            // A link, too, is no folder.
            Err(rustix::io::Errno::NOTDIR) if !is_link_at(&at, part) => return Ok(None),
            Err(rustix::io::Errno::NOTDIR) => return Err(rustix::io::Errno::LOOP.into()),
            // A socket cannot be opened.
            Err(rustix::io::Errno::NXIO) => return Err(ErrorKind::InvalidInput.into()),
            Err(error) => return Err(error.into()),
        };
    }
    Ok(Some(at.into()))
}

#[cfg(unix)]
fn is_file(status: &rustix::fs::Stat) -> bool {
    rustix::fs::FileType::from_raw_mode(status.st_mode) == rustix::fs::FileType::RegularFile
}

#[cfg(unix)]
fn is_link_at(folder: &std::os::fd::OwnedFd, part: &std::path::Component<'_>) -> bool {
    use rustix::fs::{AtFlags, FileType, statat};
    let status = statat(folder, part.as_os_str(), AtFlags::SYMLINK_NOFOLLOW);
    status.is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::Symlink)
}

#[cfg(unix)]
fn is_link(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP)
}

#[cfg(unix)]
fn is_hard_link(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::MLINK)
}

/// Opens a file below a folder, if nothing on the way is a link; `None` if there is no such file.
#[cfg(not(unix))]
fn open(folder: &Path, path: &Path) -> io::Result<Option<File>> {
    let mut at = folder.to_owned();
    for part in path.components() {
        at.push(part);
        match fs::symlink_metadata(&at) {
            Ok(meta) if meta.is_symlink() => return Err(ErrorKind::TooManyLinks.into()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    File::open(at).map(Some)
}

#[cfg(not(unix))]
fn is_link(error: &io::Error) -> bool {
    error.kind() == ErrorKind::TooManyLinks
}

#[cfg(not(unix))]
fn is_hard_link(_error: &io::Error) -> bool {
    false
}

/// The files in a student's folder, as far as they are looked at.
#[derive(Default)]
struct Found {
    /// Their paths in it.
    files: Vec<PathBuf>,
    /// The first folder that cannot be read. The file may be in it.
    unreadable: Option<(PathBuf, io::Error)>,
    looked_at: usize,
}

/// The files in a student's folder.
#[cfg(unix)]
fn files(student: &Path) -> Found {
    let mut found = Found::default();
    match rustix::fs::openat(rustix::fs::CWD, student, FOLDER, rustix::fs::Mode::empty()) {
        Ok(folder) => found.look_in(&folder, Path::new(""), 0),
        Err(error) => found.unreadable = Some((PathBuf::from("."), error.into())),
    }
    found
}

/// How a folder is opened: not through a link.
#[cfg(unix)]
const FOLDER: rustix::fs::OFlags = {
    use rustix::fs::OFlags;
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC)
};

#[cfg(unix)]
impl Found {
    /// Adds the files of an opened folder, and of those in it.
    fn look_in(&mut self, folder: &std::os::fd::OwnedFd, path: &Path, depth: usize) {
        use std::os::unix::ffi::OsStrExt as _;

        use rustix::fs::{Dir, FileType, Mode, openat};
        use rustix::io::Errno;
        let entries = match Dir::read_from(folder) {
            Ok(entries) => entries,
            Err(error) => return self.cannot_read(path, error),
        };
        for entry in entries.flatten() {
            let name = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            self.looked_at += 1;
            if self.looked_at > LOOKED_AT {
                return;
            }
            let within = path.join(name);
            match entry.file_type() {
                FileType::RegularFile => self.files.push(within),
                FileType::Directory | FileType::Unknown if depth < DEEPEST => {
                    match openat(folder, name, FOLDER, Mode::empty()) {
                        Ok(folder) => self.look_in(&folder, &within, depth + 1),
                        // It is a link, or none, by now, or was no folder.
                        Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::NXIO) => {}
                        Err(error) => self.cannot_read(&within, error),
                    }
                }
                _ => {}
            }
        }
    }

    fn cannot_read(&mut self, path: &Path, error: rustix::io::Errno) {
        if self.unreadable.is_none() {
            self.unreadable = Some((path.to_owned(), error.into()));
        }
    }
}

/// The files in a student's folder.
#[cfg(not(unix))]
fn files(student: &Path) -> Found {
    let mut found = Found::default();
    let mut open = vec![student.to_owned()];
    let within = |path: &Path| path.strip_prefix(student).unwrap_or(path).to_owned();
    while let Some(folder) = open.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            // Deeper than a path can say, or gone by now.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidFilename | ErrorKind::NotFound) => continue,
            Err(error) => {
                found.unreadable.get_or_insert((within(&folder), error));
                continue;
            }
        };
        for entry in entries.flatten() {
            found.looked_at += 1;
            if found.looked_at > LOOKED_AT {
                return found;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => found.files.push(within(&entry.path())),
                _ => {}
            }
        }
    }
    found
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    fn opened(folder: &Path, name: &str) -> io::Result<Option<Option<Vec<u8>>>> {
        open(folder, Path::new(name)).and_then(|opened| opened.map(contents).transpose())
    }

    #[test]
    fn what_was_put_in_the_files_place_is_neither_followed_nor_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let read = |name: &str| opened(folder.path(), name);
        fs::create_dir_all(path("a/folder")).unwrap();
        fs::write(path("a/file"), "x").unwrap();
        assert_eq!(read("a/file").unwrap(), Some(Some(b"x".to_vec())));
        assert_eq!(read("a/missing").unwrap(), None);
        assert_eq!(read("a/file/inside").unwrap(), None);
        assert_eq!(read("a/folder").unwrap(), Some(None));
        symlink(path("a/file"), path("a/link")).unwrap();
        symlink(path("a"), path("b")).unwrap();
        for link in ["a/link", "b/file"] {
            assert!(is_link(&read(link).unwrap_err()), "{link}");
        }
        // A file of several names may be somebody else's.
        fs::hard_link(path("a/file"), path("a/second")).unwrap();
        for name in ["a/file", "a/second"] {
            let error = read(name).unwrap_err();
            assert!(is_hard_link(&error) && !is_link(&error), "{error}");
        }
        fs::remove_file(path("a/second")).unwrap();
        assert_eq!(read("a/file").unwrap(), Some(Some(b"x".to_vec())));
        // A pipe that nobody writes, and what cannot be opened at all.
        rustix::fs::mknodat(rustix::fs::CWD, path("a/pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
            .unwrap();
        assert_eq!(read("a/pipe").unwrap(), Some(None));
        let _listener = UnixListener::bind(path("a/socket")).unwrap();
        assert_eq!(read("a/socket").unwrap_err().kind(), ErrorKind::InvalidInput);
        // No more is read than what is allowed, and a byte.
        fs::write(path("a/long"), vec![b' '; 2 * guard::LONGEST]).unwrap();
        assert_eq!(read("a/long").unwrap().unwrap().unwrap().len(), guard::LONGEST + 1);
    }

    #[test]
    fn files_are_looked_for_without_following_links() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["anna/a/deep/file", "anna/b/file", "other/secret"] {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), "x").unwrap();
        }
        symlink(path("other"), path("anna/link")).unwrap();
        symlink(path("other/secret"), path("anna/link_to_file")).unwrap();
        symlink("..", path("anna/up")).unwrap();
        let found = |name: &str| {
            let mut found = files(&path(name));
            found.files.sort();
            found
        };
        let Found { files, unreadable, .. } = found("anna");
        assert_eq!(files, [PathBuf::from("a/deep/file"), "b/file".into()]);
        assert!(unreadable.is_none());
        // The student's folder itself.
        symlink(path("other"), path("link")).unwrap();
        assert!(found("link").files.is_empty() && found("link").unreadable.is_some());
        // No deeper, and no more, than somebody looks.
        let deep = path("anna").join(["d"; 60].join("/"));
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), "x").unwrap();
        assert_eq!(found("anna").files.len(), 2);
        for number in 0..LOOKED_AT + 10 {
            fs::write(path(&format!("other/{number}")), "").unwrap();
        }
        assert_eq!(found("other").files.len(), LOOKED_AT);
    }

    #[test]
    fn a_folder_that_becomes_a_link_while_it_is_looked_at_leads_nowhere() {
        use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["anna/n/guard/file", "other/kernel.rs"] {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), "x").unwrap();
        }
        symlink(path("other"), path("anna/n/link")).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (guard, link) = (path("anna/n/guard"), path("anna/n/link"));
            let done = &done;
            scope.spawn(move || {
                use rustix::fs::{CWD, RenameFlags, renameat_with};
                while !done.load(Relaxed) {
                    let _ = renameat_with(CWD, &guard, CWD, &link, RenameFlags::EXCHANGE);
                }
            });
            for _ in 0..2000 {
                let all = files(&path("anna")).files;
                assert!(all.iter().all(|file| !file.ends_with("kernel.rs")), "{all:?}");
            }
            done.store(true, Relaxed);
        });
    }
}
