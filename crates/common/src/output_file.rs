//! Writes files whole or not at all. `npy`, the flow of labs and `host run` write through it; `cli`
//! calls [`remove_unfinished`] when a signal ends the program.
//!
//! The data goes to a temporary file in the same folder, which replaces the named file when
//! everything is written. An error or an interrupt removes the temporary file
//! ([`remove_unfinished`]). A symbolic link stays: the file that it points to is replaced.
//!
//! Devices and pipes, such as `/dev/null`, cannot be replaced: the data is written into them.
//!
//! A symbolic link that leads nowhere is refused.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use tempfile::NamedTempFile;

use device::{Error, Result};

/// Temporary files that are being written, to be removed if the program ends early.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Removes the temporary files of all unfinished writes. For the handler of an interrupt (Ctrl-C),
/// which then ends the program.
pub fn remove_unfinished() {
    remove_unfinished_where(|_| true);
}

fn remove_unfinished_where(chosen: impl Fn(&Path) -> bool) {
    for path in unfinished().extract_if(.., |path| chosen(path)) {
        // If it cannot be removed, there is nowhere left to report that.
        let _ = std::fs::remove_file(path);
    }
}

/// Checks that an output file can probably be written: `path` names a file in an existing, writable
/// folder. Called before long work whose result would be lost.
///
/// # Errors
///
/// [`Error::File`].
pub fn check(path: &Path) -> Result<()> {
    match target(path)? {
        Target::File(file) => begin(path, &file).map(drop),
        Target::Stream => Ok(()),
    }
}

/// A key that is equal for two names of one file, which need not exist yet.
pub fn identity(path: &Path) -> PathBuf {
    let folder = std::fs::canonicalize(folder_of(path)).unwrap_or_else(|_| folder_of(path).to_owned());
    let name = folder.join(path.file_name().unwrap_or_default());
    std::fs::canonicalize(&name).unwrap_or(name)
}

/// Where an output goes.
enum Target {
    /// A file, existing or new, with symbolic links resolved.
    File(PathBuf),
    /// A device, a pipe or a socket.
    Stream,
}

fn target(path: &Path) -> Result<Target> {
    let cannot = |problem: String| Err(cannot(path, &problem));
    if path.file_name().is_none() || path.is_dir() {
        return cannot("it is a folder; give a file".to_owned());
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        return cannot(format!("there is no folder {}", folder.display()));
    }
    if path.is_symlink() && std::fs::metadata(path).is_err() {
        return cannot("it is a symbolic link to nothing".to_owned());
    }
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => Ok(Target::Stream),
        _ => Ok(Target::File(std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()))),
    }
}

fn cannot(path: &Path, problem: &dyn Display) -> Error {
    Error::file(path, format!("cannot be written: {problem}"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes the file `path` with the output of `write`, whole or not at all.
///
/// An existing file is replaced, and kept as it was if anything fails.
///
/// # Errors
///
/// [`Error::File`] when the folder is missing or the file cannot be written.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let failed = |error: std::io::Error| cannot(path, &error);
    let file = match target(path)? {
        Target::File(file) => file,
        Target::Stream => {
            let mut stream = BufWriter::new(OpenOptions::new().write(true).open(path).map_err(failed)?);
            return write(&mut stream).and_then(|()| stream.flush()).map_err(failed);
        }
    };
    let (temporary, _entry) = begin(path, &file)?;
    let mut writer = BufWriter::with_capacity(1 << 20, temporary);
    write(&mut writer).map_err(failed)?;
    let temporary = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    temporary.as_file().sync_all().map_err(failed)?;
    temporary.persist(&file).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Creates the temporary file for `file`, which the user named `path`, and its entry in
/// [`UNFINISHED`].
fn begin(path: &Path, file: &Path) -> Result<(NamedTempFile<File>, Unfinished)> {
    let mut entry = Unfinished(None);
    let temporary = tempfile::Builder::new()
        .prefix(".unfinished-")
        .make_in(folder_of(file), |temporary| {
            // Registered before it is created, so that an interrupt at any moment finds it.
            entry.register(temporary);
            OpenOptions::new().write(true).create_new(true).open(temporary)
        })
        .map_err(|error| cannot(path, &error))?;
    Ok((temporary, entry))
}

/// The entry of one write in [`UNFINISHED`], removed when the write ends in any way.
struct Unfinished(Option<PathBuf>);

impl Unfinished {
    fn register(&mut self, path: &Path) {
        self.unregister();
        unfinished().push(path.to_owned());
        self.0 = Some(path.to_owned());
    }

    fn unregister(&mut self) {
        if let Some(path) = self.0.take() {
            unfinished().retain(|other| *other != path);
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.unregister();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of unfinished files is the process's, so these tests take turns.
    static TURN: Mutex<()> = Mutex::new(());

    fn turn() -> MutexGuard<'static, ()> {
        TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_keeps_the_old_file_and_leaves_nothing() {
        let _turn = turn();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("T.npy");
        write_whole(&path, |out| out.write_all(b"old")).unwrap();
        let error = write_whole(&path, |out| {
            out.write_all(b"half of the new")?;
            Err(std::io::Error::other("the disk is full"))
        })
        .unwrap_err();
        assert_eq!(error.to_string(), format!("{}: cannot be written: the disk is full", path.display()));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["T.npy"]);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let _turn = turn();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere").join("T.npy");
        let error = write_whole(&path, |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("there is no folder"), "{error}");
        let error = write_whole(folder.path(), |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("it is a folder"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_its_file_is_replaced() {
        let _turn = turn();
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("T.npy"), folder.path().join("link.npy"));
        std::fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink("T.npy", &link).unwrap();
        write_whole(&link, |out| out.write_all(b"new")).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["T.npy", "link.npy"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_refused() {
        let _turn = turn();
        let folder = tempfile::tempdir().unwrap();
        for (link, target) in [("lost", "missing.npy"), ("here", "there"), ("there", "here")] {
            let link = folder.path().join(link);
            std::os::unix::fs::symlink(target, &link).unwrap();
            let error = write_whole(&link, |_| Ok(())).unwrap_err().to_string();
            // The third link turns the second into a cycle.
            assert!(error.contains("a symbolic link to nothing"), "{error}");
        }
        assert_eq!(names(folder.path()), ["here", "lost", "there"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_has_one_identity() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("T.npy");
        let link = folder.path().join("link.npy");
        std::os::unix::fs::symlink("T.npy", &link).unwrap();
        assert_eq!(identity(&file), identity(&folder.path().join(".").join("T.npy")));
        assert_ne!(identity(&file), identity(&folder.path().join("U.npy")));
        std::fs::write(&file, b"").unwrap();
        assert_eq!(identity(&file), identity(&link));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_is_written_into_and_not_replaced() {
        use std::io::Read;
        use std::os::fd::AsRawFd;
        let (mut reader, writer) = std::io::pipe().unwrap();
        let path = PathBuf::from(format!("/proc/self/fd/{}", writer.as_raw_fd()));
        write_whole(&path, |out| out.write_all(b"new")).unwrap();
        drop(writer);
        let mut written = Vec::new();
        reader.read_to_end(&mut written).unwrap();
        assert_eq!(written, b"new");
    }

    #[test]
    fn an_interruption_removes_what_is_unfinished() {
        let _turn = turn();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("T.npy");
        let result = write_whole(&path, |out| {
            out.write_all(b"half")?;
            assert_eq!(names(folder.path()).len(), 1);
            // Other tests write files at the same time.
            remove_unfinished_where(|path| path.starts_with(folder.path()));
            assert_eq!(names(folder.path()).len(), 0);
            Ok(())
        });
        assert!(result.is_err());
        assert!(!path.exists());
    }
}
