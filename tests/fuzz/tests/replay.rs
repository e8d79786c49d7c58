//! Replays the kept inputs on stable Rust: the fuzzers' corpus, and former failures.
//!
//! `corpus/TARGET/` holds inputs that reach different code; `regressions/TARGET/` holds inputs that
//! once failed, each named after what was wrong.

use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.expect("the folder is read").path()).collect();
    files.sort();
    files
}

/// Checks every input that a target has. Returns how many there are.
fn replay(target: &str) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> =
        ["corpus", "regressions"].iter().flat_map(|kind| files(&folder.join(kind).join(target))).collect();
    for file in &files {
        let bytes = std::fs::read(file).expect("the file is read");
        if std::panic::catch_unwind(|| coalesce_fuzz::check(target, &bytes)).is_err() {
            panic!("{target}: {} fails; `cargo run -p coalesce-fuzz --bin {target} {0}` does it again", file.display());
        }
    }
    files.len()
}

#[test]
fn every_kept_input_holds() {
    for (target, _) in coalesce_fuzz::TARGETS {
        assert!(replay(target) > 20, "{target} has lost its inputs");
    }
}

#[test]
fn the_corpus_stays_small() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["corpus", "regressions"].iter().flat_map(|kind| files(&folder.join(kind)));
    let bytes: u64 =
        folders.flat_map(|folder| files(&folder)).map(|file| file.metadata().expect("it is there").len()).sum();
    assert!(bytes < 300_000, "{bytes} bytes");
}
