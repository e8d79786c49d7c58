//! Computes the digest of the kernels' sources, so that the program can report that its built-in
//! PTX was compiled from others. Cargo runs it before the library; it reads the kernels' crate and
//! the device library, and writes only its output for `env!`.

use std::path::Path;

use source_digest::SourceDigest;

/// The crates of kernels, each with its path dependencies and the variable for its digest. A test
/// compares these with cargo's.
const CRATES: [(&str, &str); 2] =
    [("kernels", "COALESCE_KERNEL_SOURCES"), ("kernels/best", "COALESCE_BEST_KERNEL_SOURCES")];
const DEPENDENCIES: [&str; 2] = ["crates/cuda_std", "crates/cuda_std_macros"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (kernels, variable) in CRATES {
        let folders =
            [&[kernels], DEPENDENCIES.as_slice()].concat().iter().map(|folder| root.join(folder)).collect::<Vec<_>>();
        for folder in &folders {
            println!("cargo::rerun-if-changed={}", folder.join("Cargo.toml").display());
            println!("cargo::rerun-if-changed={}", folder.join("src").display());
        }
        match SourceDigest::of_packages(&root, &folders) {
            Ok(digest) => println!("cargo::rustc-env={variable}={digest}"),
            Err(unreadable) => {
                println!("cargo::error=cannot read {}: {}", unreadable.path.display(), unreadable.source)
            }
        }
    }
}
