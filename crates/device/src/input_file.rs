//! Reads texts that users name, whole, such as PTX: [`PtxFile`](crate::PtxFile) reads with it.
//!
//! A pipe is read to its end, so that `<(COMMAND)` can stand for a file. Folders and devices are
//! refused: some devices never end.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};
use crate::memory;

/// How many bytes of a stream to read between checks of the text.
pub const CHUNK: usize = 1 << 20;

/// A kind of text.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Its name in messages: `PTX`.
    pub name: &'static str,
    /// Why a stream that begins with these bytes is something else, if it is. Called after each
    /// chunk, whose bytes begin at the index. A file that is not text may never end.
    pub refuses: fn(&[u8], usize) -> Option<&'static str>,
    /// What a file that begins with these bytes is, if it is something else that users confuse with
    /// it, and what to do.
    pub other: fn(&[u8]) -> Option<&'static str>,
}

impl Kind {
    /// Reads a file or a pipe.
    ///
    /// # Errors
    ///
    /// [`Error::File`] when it cannot be read or is not text, [`Error::OutOfMemory`].
    pub fn read(self, path: &Path) -> Result<String> {
        let cannot_read = |error: std::io::Error| Error::file(path, format!("cannot be read: {error}"));
        let name = path.display().to_string();
        let there = std::fs::metadata(path).map_err(cannot_read)?;
        if there.is_file() {
            memory::check_host(&format!("reading {name}"), there.len())?;
            self.text(&name, std::fs::read(path).map_err(cannot_read)?)
        } else if is_pipe(&there) {
            self.read_stream(&name, File::open(path).map_err(cannot_read)?)
        } else {
            Err(self.error(&name, "it is a folder or a device"))
        }
    }

    /// Reads a stream of unknown length, up to the available memory.
    ///
    /// # Errors
    ///
    /// As [`Kind::read`].
    pub fn read_stream(self, name: &str, mut stream: impl Read) -> Result<String> {
        let mut bytes = Vec::new();
        let mut zero = None;
        loop {
            let before = bytes.len();
            memory::check_host(&format!("reading {name}"), before.max(CHUNK) as u64)?;
            let read = stream.by_ref().take(CHUNK as u64).read_to_end(&mut bytes);
            read.map_err(|error| Error::file(name, format!("cannot be read: {error}")))?;
            if bytes.len() == before {
                return self.text(name, bytes);
            }
            if let Some(other) = (self.other)(&bytes).filter(|_| before == 0) {
                return Err(self.error(name, other));
            }
            // Text may end with one, but does not go on after it.
            zero = zero.or_else(|| Some(before + bytes[before..].iter().position(|&byte| byte == 0)?));
            if zero.is_some_and(|zero| zero == 0 || !bytes[zero + 1..].trim_ascii().is_empty()) {
                return Err(self.error(name, "it contains a zero byte"));
            }
            if let Some(problem) = (self.refuses)(&bytes, before) {
                return Err(self.error(name, problem));
            }
        }
    }

    fn text(self, name: &str, bytes: Vec<u8>) -> Result<String> {
        if let Some(other) = (self.other)(&bytes) {
            return Err(self.error(name, other));
        }
        if bytes.starts_with(b"\xef\xbb\xbf") {
            return Err(self.error(name, "it begins with a byte order mark; save it as UTF-8 without one"));
        }
        let mut text = String::from_utf8(bytes).map_err(|_| self.error(name, "it is not a text file"))?;
        // Some programs save the zero byte at the end of a C string, too.
        if let Some(end) = text.trim_ascii_end().strip_suffix('\0').map(str::len).filter(|&end| end > 0) {
            text.truncate(end);
        }
        Ok(text)
    }

    fn error(self, name: &str, problem: &str) -> Error {
        Error::file(name, format!("is not {}: {problem}", self.name))
    }
}

#[cfg(unix)]
fn is_pipe(there: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    there.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_there: &std::fs::Metadata) -> bool {
    false
}
