//! A PTX text that a user names: a file, a pipe, or `-` for the standard input. `check` and `run` make it from the command
//! line and hand it to the devices.
//!
//! The text is read once, when it is first needed, and kept: a pipe cannot be read twice, and one run needs the text several times
//! (for the kernels' signatures, the GPU, and the simulator beside it).

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::image::Image;
use crate::error::{Error, Result};
use crate::memory;

/// The standard input's name on the command line and in messages.
const STDIN: &str = "-";
const STDIN_NAME: &str = "standard input";

/// How many bytes of a stream to read between checks of the text.
const CHUNK: u64 = 1 << 20;

/// A PTX text that a user names. Clones share the text.
#[derive(Clone)]
pub struct PtxFile {
    path: PathBuf,
    text: Arc<OnceLock<String>>,
}

impl From<PathBuf> for PtxFile {
    fn from(path: PathBuf) -> Self {
        Self { path, text: Arc::default() }
    }
}

impl fmt::Debug for PtxFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.fmt(f)
    }
}

impl PtxFile {
    /// Its name in messages.
    pub fn name(&self) -> String {
        if self.is_stdin() { STDIN_NAME.to_owned() } else { self.path.display().to_string() }
    }

    /// The file, if it is one that an output could overwrite.
    pub fn path(&self) -> Option<&Path> {
        (!self.is_stdin()).then_some(&self.path)
    }

    /// The text, which need not be valid PTX.
    ///
    /// # Errors
    ///
    /// [`Error::File`] when it cannot be read or is not text, [`Error::OutOfMemory`].
    pub fn text(&self) -> Result<&str> {
        if let Some(text) = self.text.get() {
            return Ok(text);
        }
        let text = self.read()?;
        Ok(self.text.get_or_init(|| text))
    }

    /// The text as a typed module.
    ///
    /// # Errors
    ///
    /// As [`PtxFile::text`], and [`Error::Ptx`] with the first error when it is rejected.
    pub fn module(&self) -> Result<ptx::Module> {
        Image::from_file(self)?.parse()
    }

    fn is_stdin(&self) -> bool {
        self.path.as_os_str() == STDIN
    }

    fn error(&self, problem: impl Into<String>) -> Error {
        Error::file(self.name(), problem)
    }

    fn read(&self) -> Result<String> {
        let cannot_read = |error: std::io::Error| self.error(format!("cannot be read: {error}"));
        let bytes = if self.is_stdin() {
            self.read_stream(std::io::stdin().lock())?
        } else {
            let there = std::fs::metadata(&self.path).map_err(cannot_read)?;
            if there.is_file() {
                memory::check_host(&format!("reading {}", self.name()), there.len())?;
                std::fs::read(&self.path).map_err(cannot_read)?
            } else if is_pipe(&there) {
                self.read_stream(File::open(&self.path).map_err(cannot_read)?)?
            } else {
                // Some devices never end.
                return Err(self.error("is not PTX: it is a folder or a device"));
            }
        };
        if bytes.starts_with(b"\xef\xbb\xbf") {
            return Err(self.error("is not PTX: it begins with a byte order mark; save it as UTF-8 without one"));
        }
        String::from_utf8(bytes).map_err(|_| self.error("is not PTX: it is not a text file"))
    }

    /// Reads a stream of unknown length, up to the available memory and the maximum length of PTX.
    fn read_stream(&self, mut stream: impl Read) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let before = bytes.len();
            memory::check_host(&format!("reading {}", self.name()), before.max(CHUNK as usize) as u64)?;
            let read = stream.by_ref().take(CHUNK).read_to_end(&mut bytes);
            read.map_err(|error| self.error(format!("cannot be read: {error}")))?;
            let new = &bytes[before..];
            if new.is_empty() {
                return Ok(bytes);
            }
            // A file that is not text may never end.
            if new.contains(&0) {
                return Err(self.error("is not PTX: it contains a zero byte"));
            }
            if before == 0 && bytes.len() as u64 >= CHUNK && !bytes.windows(8).any(|word| word == b".version") {
                return Err(self.error("is not PTX: it has no .version directive in its first 1 MiB"));
            }
            if bytes.len() > u32::MAX as usize {
                return Err(self.error("is not PTX: it is longer than 4 GiB"));
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_read_to_its_end_or_refused() {
        let file = PtxFile::from(PathBuf::from("-"));
        let text = format!(".version 8.0\n{}", "x".repeat(3 << 20));
        assert_eq!(file.read_stream(text.as_bytes()).unwrap().len(), text.len());
        let error = file.read_stream(std::io::repeat(0)).unwrap_err().to_string();
        assert_eq!(error, "standard input: is not PTX: it contains a zero byte");
        let error = file.read_stream(std::io::repeat(b'y')).unwrap_err().to_string();
        assert_eq!(error, "standard input: is not PTX: it has no .version directive in its first 1 MiB");
    }
}
