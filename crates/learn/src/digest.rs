//! Digests that stand for contents: of cached PTX, and of what a mark depends on. SHA-256, because
//! strangers choose the contents.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};

/// The contents of files as parts of a digest. One that is not there has none.
///
/// # Errors
///
/// [`Error::File`].
pub fn contents(files: &[PathBuf]) -> Result<Vec<Vec<u8>>> {
    let read = |file: &PathBuf| match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(Error::reading(file)),
    };
    files.iter().map(read).collect()
}

/// The digest of several parts, in hexadecimal. Where one part ends and the next begins counts,
/// too.
pub fn of(parts: &[&[u8]]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_apart() {
        assert_eq!(of(&[]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
        assert_ne!(of(&[b"a", b""]), of(&[b"a"]));
    }
}
