//! Finds and reads what students handed in: one file for each student and exercise.
//! [`crate::grade`] calls it. It only reads.
//!
//! A submission is its author's, who may change it while it is graded. So a file is opened once,
//! without following links or waiting for a pipe's writer, and what is checked and read is what was
//! opened.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use exercise::Exercise;

use crate::error::{Error, Result};
use crate::guard;

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

/// How many entries of a student's folder are looked at for a file that is in none of the right places.
const LOOKED_AT: usize = 5000;

/// The students' folders, sorted by name, and the entries that are not folders. Hidden entries are skipped.
///
/// # Errors
///
/// [`Error::File`] if the folder cannot be read, [`Error::Usage`] if there is no student's folder in it.
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

/// Reads a student's submission for an exercise.
pub fn read(student: &Path, exercise: &Exercise) -> Submission {
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
            Err(error) if is_link(&error) => {
                return Submission::Refused(format!("{shown} is a link: hand in the file"));
            }
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                return Submission::Refused(format!("{shown} is not a file"));
            }
            Err(error) => return Submission::Unreadable(format!("{shown} cannot be read: {error}")),
        }
    }
    match elsewhere(student, &exercise.name, name) {
        Ok(Some(found)) => {
            Submission::Missing(format!("there is {}, which belongs in {}", found.display(), places[0].display()))
        }
        Ok(None) => Submission::Missing("no file was handed in".to_owned()),
        Err((folder, error)) => Submission::Unreadable(format!("{} cannot be read: {error}", folder.display())),
    }
}

/// The contents of an opened file, or a bit more than what is allowed of them; `None` for what is not a file.
fn contents(file: File) -> io::Result<Option<Vec<u8>>> {
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(guard::LONGEST as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Opens a file below a folder without following any link on the way; `None` if there is no such file.
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
            Ok(opened) if !is_folder && is_borrowed(&fstat(&opened)?, &fstat(&at)?) => {
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

/// Whether a file has been put in somebody's folder by a hard link to a file of somebody else, who need not know of it.
#[cfg(unix)]
fn is_borrowed(file: &rustix::fs::Stat, folder: &rustix::fs::Stat) -> bool {
    file.st_nlink > 1 && file.st_uid != folder.st_uid
}

#[cfg(unix)]
fn is_link_at(folder: &std::os::fd::OwnedFd, part: &std::path::Component<'_>) -> bool {
    use rustix::fs::{AtFlags, FileType, statat};
    let status = statat(folder, part.as_os_str(), AtFlags::SYMLINK_NOFOLLOW);
    status.is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::Symlink)
}

#[cfg(unix)]
fn is_link(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::LOOP | Errno::MLINK))
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

/// A file for the exercise elsewhere in the student's folder, such as in `Guard/` or in a whole
/// clone. If no file is found, a folder that cannot be read is an error, since the file may be in
/// it.
fn elsewhere(student: &Path, exercise: &str, file: &str) -> std::result::Result<Option<PathBuf>, (PathBuf, io::Error)> {
    let within = |path: &Path| path.strip_prefix(student).unwrap_or(path).to_owned();
    let lower = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let mut open = vec![student.to_owned()];
    let (mut looked_at, mut unreadable) = (0, None);
    while let Some(folder) = open.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            // Deeper than a path can say, or gone by now.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidFilename | ErrorKind::NotFound) => continue,
            Err(error) => {
                unreadable = unreadable.or(Some((within(&folder), error)));
                continue;
            }
        };
        for entry in entries.flatten() {
            looked_at += 1;
            if looked_at > LOOKED_AT {
                return Ok(None);
            }
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            } else if lower(&path) == file && lower(&folder) == exercise.to_lowercase() {
                return Ok(Some(within(&path)));
            }
        }
    }
    unreadable.map_or(Ok(None), Err)
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
        // One's own file may have several names, and another's may not have one here. Only root can make it another's.
        fs::hard_link(path("a/file"), path("a/second")).unwrap();
        assert_eq!(read("a/second").unwrap(), Some(Some(b"x".to_vec())));
        if std::os::unix::fs::chown(path("a/file"), Some(12345), None).is_ok() {
            assert!(is_link(&read("a/second").unwrap_err()));
            fs::remove_file(path("a/file")).unwrap();
            assert_eq!(read("a/second").unwrap(), Some(Some(b"x".to_vec())));
        }
        let mut stats = [&path("a/folder"), &path("a")].map(|path| rustix::fs::stat(path).unwrap());
        for (links, owner, borrowed) in [(1, 1, false), (2, 0, false), (2, 1, true)] {
            (stats[0].st_nlink, stats[0].st_uid, stats[1].st_uid) = (links, owner, 0);
            assert_eq!(is_borrowed(&stats[0], &stats[1]), borrowed);
        }
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
}
