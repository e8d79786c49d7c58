//! A PTX text that a user names: a file, a pipe, or `-` for the standard input.
//!
//! The text is read once, when it is first needed, and kept: a pipe cannot be read twice, and one
//! run needs the text several times (for the kernels' signatures, the GPU, and the simulator beside
//! it).

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::image::Image;
use crate::error::Result;
use crate::input_file::{CHUNK, Kind};

/// The standard input's name on the command line and in messages.
const STDIN: &str = "-";
const STDIN_NAME: &str = "standard input";

/// PTX from a stream names its version early, and the parser counts its bytes in 32 bits.
const PTX: Kind = Kind {
    name: "PTX",
    refuses: |bytes, before| {
        if before == 0 && bytes.len() >= CHUNK && !bytes.windows(8).any(|word| word == b".version") {
            return Some("it has no .version directive in its first 1 MiB");
        }
        (bytes.len() > u32::MAX as usize).then_some("it is longer than 4 GiB")
    },
    other: other_output,
};

/// What else a compiler of CUDA reads or writes, by the first bytes, and how to come to PTX.
fn other_output(bytes: &[u8]) -> Option<&'static str> {
    // The machine of an ELF file is at byte 18; this one is a GPU.
    const GPU: [u8; 2] = [190, 0];
    let begins = |with: &[u8]| bytes.starts_with(with);
    if begins(b"\x7fELF") && bytes.get(18..20) == Some(&GPU) {
        return Some("it is a cubin, with the instructions of one GPU; `nvcc -ptx -lineinfo k.cu` makes PTX");
    }
    if begins(b"\x50\xed\x55\xba") {
        return Some(
            "it is a fatbin; `cuobjdump -ptx FILE` prints its PTX if it has any, and `nvcc -ptx -lineinfo k.cu` makes PTX",
        );
    }
    if begins(b"\x7fELF") || begins(b"!<arch>\n") {
        return Some(
            "it is an object file, a library or a program; `cuobjdump -ptx FILE` prints its PTX if it has any, and \
             `nvcc -ptx -lineinfo k.cu` makes PTX",
        );
    }
    if begins(b"BC\xc0\xde") {
        return Some("it is LLVM bitcode; `llc -march=nvptx64 -mcpu=sm_75` makes PTX");
    }
    // The standard library's search is optimised where this crate is not.
    let is_source = |text: &str| text.contains("__global__") && !text.contains(".version");
    let is_source = std::str::from_utf8(bytes).is_ok_and(is_source);
    is_source.then_some("it is CUDA C++; `nvcc -ptx -lineinfo FILE` makes PTX")
}

/// A PTX text that a user names. Clones share the text.
#[derive(Clone)]
pub struct PtxFile {
    path: PathBuf,
    text: Arc<OnceLock<String>>,
    trusted: bool,
}

impl From<PathBuf> for PtxFile {
    fn from(path: PathBuf) -> Self {
        Self { path, text: Arc::default(), trusted: false }
    }
}

impl fmt::Debug for PtxFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.fmt(f)
    }
}

impl PtxFile {
    /// A text that is in no file; the name is for messages.
    pub fn of_text(name: &str, text: String) -> Self {
        Self { path: PathBuf::from(name), text: Arc::new(OnceLock::from(text)), trusted: false }
    }

    /// This file, whose kernels may be launched by typed handles whether or not it says what it
    /// takes their parameters for. `cuda_builder` writes it into the PTX; other compilers, such as
    /// nvcc, do not. Of such a file's kernels only the number and sizes of the parameters are
    /// compared with a handle.
    ///
    /// # Safety
    ///
    /// Each kernel that is launched by a handle takes what the handle's types say, element types
    /// included, keeps to the launches that the handle allows, and, for a
    /// [`SafeKernel`](cuda_std::launch::SafeKernel), has no undefined behaviour in any of them.
    #[must_use]
    pub unsafe fn trusted(self) -> Self {
        Self { trusted: true, ..self }
    }

    /// Whether somebody has promised that its kernels are what handles say.
    pub(crate) fn is_trusted(&self) -> bool {
        self.trusted
    }

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
    /// [`Error::File`](crate::error::Error::File) when it cannot be read or is not text,
    /// [`Error::OutOfMemory`](crate::error::Error::OutOfMemory).
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
    /// As [`PtxFile::text`], and [`Error::Ptx`](crate::error::Error::Ptx) with the first error when
    /// it is rejected.
    pub fn module(&self) -> Result<ptx::Module> {
        Image::from_file(self)?.parse()
    }

    fn is_stdin(&self) -> bool {
        self.path.as_os_str() == STDIN
    }

    fn read(&self) -> Result<String> {
        #[cfg(target_family = "wasm")]
        if let Some(text) = crate::given::text(&self.path.to_string_lossy()) {
            return PTX.read_stream(&self.name(), text.as_bytes());
        }
        match self.is_stdin() {
            true => PTX.read_stream(STDIN_NAME, std::io::stdin().lock()),
            false => PTX.read(&self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_else_compilers_write_is_named_with_the_way_to_ptx() {
        let elf = |machine: u8| [&b"\x7fELF\x02\x01\x01"[..], &[0; 11], &[machine, 0], &[0; 44]].concat();
        for (bytes, what, advice) in [
            (elf(190), "a cubin", "`nvcc -ptx -lineinfo k.cu`"),
            (elf(62), "an object file", "`cuobjdump -ptx FILE`"),
            (b"!<arch>\nk.o/".to_vec(), "a library", "`cuobjdump -ptx FILE`"),
            (b"\x50\xed\x55\xba\x01\0\x10\0".to_vec(), "a fatbin", "`cuobjdump -ptx FILE`"),
            (b"BC\xc0\xde5\x14".to_vec(), "LLVM bitcode", "`llc -march=nvptx64"),
            (b"__global__ void k() {}\n".to_vec(), "CUDA C++", "`nvcc -ptx -lineinfo FILE`"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("k");
            std::fs::write(&file, &bytes).unwrap();
            for error in [PTX.read(&file), PTX.read_stream("k", &*bytes)] {
                let error = error.unwrap_err().to_string();
                assert!(error.contains("k: is not PTX: it is ") && error.contains(what), "{error}");
                assert!(error.contains(advice) && error.lines().count() == 1, "{error}");
            }
        }
        assert_eq!(other_output(b".version 8.0\n// __global__ void k()\n"), None);
    }

    #[test]
    fn a_stream_is_read_to_its_end_or_refused() {
        let text = format!(".version 8.0\n{}", "x".repeat(3 << 20));
        assert_eq!(PTX.read_stream("it", text.as_bytes()).unwrap().len(), text.len());
        assert_eq!(PTX.read_stream("it", &b".version 8.0\n\0\n"[..]).unwrap(), ".version 8.0\n");
        let error = PTX.read_stream("it", &b".version 8.0\n\0\n.target sm_75\n"[..]).unwrap_err().to_string();
        assert_eq!(error, "it: is not PTX: it contains a zero byte");
        let error = PTX.read_stream("it", std::io::repeat(0)).unwrap_err().to_string();
        assert_eq!(error, "it: is not PTX: it contains a zero byte");
        let error = PTX.read_stream("it", std::io::repeat(b'y')).unwrap_err().to_string();
        assert_eq!(error, "it: is not PTX: it has no .version directive in its first 1 MiB");
    }
}
