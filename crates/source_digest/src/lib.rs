//! The digest of the sources that PTX was compiled from, which reveals stale PTX without a device compiler.
//!
//! `cuda_builder` writes it into the PTX. A program's build script computes it anew, as
//! `host/build.rs` does, and the program prints a note if the two differ.
//!
//! It is the hash XXH3, 128 bits of it, over the manifest (`Cargo.toml`) and all of `src` of a
//! crate of kernels and of every crate that it depends on by path, as (path relative to the
//! workspace, text with `\n` as line end), sorted by path.
//!
//! The digest covers the sources, not the compiler. Another compiler may make different PTX from
//! the same sources, and continuous integration tests that PTX too.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

/// The prefix of the header line with the digest.
const HEADER: &str = "// coalesce: sources xxh3 ";

/// A digest of sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceDigest(String);

impl SourceDigest {
    /// Computes the digest over the packages in `folders`, each below `root`.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] names the source.
    pub fn of_packages(root: &Path, folders: &[PathBuf]) -> Result<Self, Unreadable> {
        let mut files = Vec::new();
        for folder in folders {
            files.push(folder.join("Cargo.toml"));
            gather(&folder.join("src"), &mut files)?;
        }
        let mut named: Vec<(String, PathBuf)> =
            files.into_iter().map(|file| (portable_name(root, &file), file)).collect();
        named.sort();
        named.dedup();

        let mut hash = Xxh3::new();
        for (name, file) in named {
            let text = fs::read(&file).map_err(Unreadable::of(&file))?;
            let text = normalise_line_ends(&text);
            hash.update(format!("{name}\n{}\n", text.len()).as_bytes());
            hash.update(&text);
        }
        Ok(SourceDigest(format!("{:032x}", hash.digest128())))
    }

    /// The digest in a PTX file's header.
    pub fn in_ptx(ptx: &str) -> Option<Self> {
        let header = ptx.lines().take_while(|line| line.starts_with("//"));
        let digest = header.filter_map(|line| line.strip_prefix(HEADER)).next()?.trim();
        let is_digest = digest.len() == 32 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest.then(|| SourceDigest(digest.to_owned()))
    }

    /// The header line with the digest.
    pub fn header(&self) -> String {
        format!("{HEADER}{self}")
    }
}

impl fmt::Display for SourceDigest {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A source that cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// The file, or the folder.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

impl Unreadable {
    /// For `map_err`.
    fn of(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { path, source }
    }
}

/// Every source file in `folder`, without editors' backup files.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Unreadable> {
    for entry in fs::read_dir(folder).map_err(Unreadable::of(folder))? {
        let entry = entry.map_err(Unreadable::of(folder))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') || name.ends_with('~') {
            continue;
        }
        let path = entry.path();
        if path.is_dir() {
            gather(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// The path relative to the workspace, with `/` on every system.
fn portable_name(root: &Path, file: &Path) -> String {
    let relative = file.strip_prefix(root).unwrap_or(file);
    let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Git may check text out with `\r\n`; the digest must be the same.
fn normalise_line_ends(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (index, &byte) in text.iter().enumerate() {
        if !(byte == b'\r' && text.get(index + 1) == Some(&b'\n')) {
            out.push(byte);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace with one package `k` of the given files.
    fn digest(files: &[(&str, &str)]) -> SourceDigest {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join("k").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        SourceDigest::of_packages(root.path(), &[root.path().join("k")]).unwrap()
    }

    const MANIFEST: (&str, &str) = ("Cargo.toml", "[package]\n");

    #[test]
    fn it_is_the_same_everywhere() {
        // Pinned: another value would make every checked-in PTX file stale.
        assert_eq!(
            digest(&[MANIFEST, ("src/lib.rs", "fn a() {}\n"), ("src/b/c.rs", "\n")]).to_string(),
            "892ceb72567f24ec7948c6b0f82582bf"
        );
    }

    #[test]
    fn line_ends_and_editors_leavings_do_not_count() {
        let plain = digest(&[MANIFEST, ("src/lib.rs", "a\nb\n")]);
        assert_eq!(plain, digest(&[MANIFEST, ("src/lib.rs", "a\r\nb\r\n")]));
        assert_eq!(
            plain,
            digest(&[MANIFEST, ("src/lib.rs", "a\nb\n"), ("src/lib.rs~", "x"), ("src/.lib.rs.swp", "x")])
        );
        assert_eq!(plain, digest(&[MANIFEST, ("src/lib.rs", "a\nb\n"), ("README.md", "x"), ("ptx/k.ptx", "x")]));
    }

    #[test]
    fn names_and_contents_count() {
        let plain = digest(&[MANIFEST, ("src/lib.rs", "a\n"), ("src/b.rs", "")]);
        assert_ne!(plain, digest(&[MANIFEST, ("src/lib.rs", "b\n"), ("src/b.rs", "")]));
        assert_ne!(plain, digest(&[MANIFEST, ("src/lib.rs", "a\n"), ("src/c.rs", "")]));
        assert_ne!(plain, digest(&[MANIFEST, ("src/lib.rs", "a\n")]));
        assert_ne!(plain, digest(&[("Cargo.toml", "[package]"), ("src/lib.rs", "a\n"), ("src/b.rs", "")]));
        assert_ne!(plain, digest(&[MANIFEST, ("src/lib.rs", ""), ("src/b.rs", "a\n")]));
    }

    #[test]
    fn a_file_bears_it_in_its_header_only() {
        let digest = digest(&[MANIFEST, ("src/lib.rs", "")]);
        let header = digest.header();
        assert_eq!(SourceDigest::in_ptx(&format!("{header}\n// more\n.version 6.3\n")), Some(digest.clone()));
        assert_eq!(SourceDigest::in_ptx(&format!("// other\r\n{header}\r\n.version 6.3\n")), Some(digest));
        assert_eq!(SourceDigest::in_ptx(&format!(".version 6.3\n{header}\n")), None);
        assert_eq!(SourceDigest::in_ptx("// coalesce: sources xxh3 12\n"), None);
        assert_eq!(SourceDigest::in_ptx(""), None);
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let Unreadable { path, source } =
            SourceDigest::of_packages(root.path(), &[root.path().join("none")]).unwrap_err();
        assert!(path.ends_with("none/src") && source.kind() == io::ErrorKind::NotFound, "{path:?}: {source}");
    }
}
