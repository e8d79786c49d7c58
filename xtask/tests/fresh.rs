//! Tests that what is checked in matches what it is made of: the PTX the kernels' sources, the
//! pictures of the documents the simulator's rules. Also that programs and tests share one build of
//! the simulator. No compiler for GPU kernels is needed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cuda_builder::{NvvmArch, SourceDigest, digest_of_crate};

#[test]
fn the_ptx_that_is_checked_in_is_made_of_the_sources_as_they_are() {
    for (folder, library) in [("kernels", "kernels"), ("kernels/best", "best_kernels")] {
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(folder), library);
    }
}

/// Checks the PTX of the crate of kernels in this folder.
fn check(kernels: &Path, library: &str) {
    let sources = digest_of_crate(kernels).unwrap();
    let mut files = 0;
    for entry in fs::read_dir(kernels.join("ptx")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let arch = name.strip_prefix(library).and_then(|rest| rest.strip_prefix('.')?.strip_suffix(".ptx"));
        let arch: NvvmArch = arch.unwrap_or_else(|| panic!("{name} is no {library}.ARCH.ptx")).parse().unwrap();
        let ptx = fs::read_to_string(&path).unwrap();
        assert_eq!(
            SourceDigest::in_ptx(&ptx).as_ref(),
            Some(&sources),
            "{name} is stale: rebuild it with `cargo xtask build-ptx --arch {arch}`"
        );
        assert!(ptx.contains(&format!("\n.target {arch}\n")), "{name} is for another architecture");
        files += 1;
    }
    assert!(files > 0, "there is no PTX");
}

#[test]
fn the_pictures_that_are_checked_in_are_as_they_would_be_drawn() {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["pictures", "--check"]).assert().success().stdout("");
}

/// Packages and their features, as `cargo tree` lists them with these arguments.
fn features(arguments: &[&str]) -> BTreeSet<String> {
    let mut command = assert_cmd::Command::new(env!("CARGO"));
    command.args(["tree", "--offline", "--prefix", "none", "--format", "{p} {f}"]).args(arguments);
    let output = command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).assert().success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    text.lines().map(|line| line.trim_end_matches(" (*)").trim_end().to_owned()).collect()
}

/// With other features of what a package depends on, cargo would compile the package again: the
/// simulator, and in programs what they share besides.
#[test]
fn programs_and_tests_share_the_simulator() {
    let package = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let tested = ["", "--workspace", "--workspace --features learn/class"]
        .map(|with| (with, features(&with.split_whitespace().collect::<Vec<_>>())));
    for (program, shared) in
        [("host", "common"), ("learn", "common"), ("coalesce", "common"), ("xtask", "coalesce-simt")]
    {
        let below: BTreeSet<String> =
            features(&["-p", shared, "-e", "no-dev"]).iter().map(|line| package(line)).collect();
        let built = features(&["-p", program, "-e", "no-dev"]);
        for (with, tests) in &tested {
            let other: Vec<_> = built.difference(tests).filter(|line| below.contains(&package(line))).collect();
            assert!(other.is_empty(), "`cargo test {with}` builds these of {program} with other features: {other:?}");
        }
    }
}
