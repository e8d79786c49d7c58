//! Computes the digest of the kernels' sources, so that the program can report that its built-in PTX was compiled from
//! others. Cargo runs it before the library; it reads the kernels' crate and the device library, and writes only its output
//! for `env!`.

use std::path::Path;

use source_digest::SourceDigest;

/// The crate of kernels and its path dependencies. A test compares this list with cargo's.
const KERNELS: [&str; 3] = ["kernels", "crates/cuda_std", "crates/cuda_std_macros"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = KERNELS.map(|folder| root.join(folder));
    for folder in &folders {
        println!("cargo::rerun-if-changed={}", folder.join("Cargo.toml").display());
        println!("cargo::rerun-if-changed={}", folder.join("src").display());
    }
    match SourceDigest::of_packages(&root, &folders) {
        Ok(digest) => println!("cargo::rustc-env=COALESCE_KERNEL_SOURCES={digest}"),
        Err(unreadable) => println!("cargo::error=cannot read {}: {}", unreadable.path.display(), unreadable.source),
    }
}
