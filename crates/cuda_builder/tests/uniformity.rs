//! Tests of the check of barriers and phases: kernels in `uniformity/`, in which `//~ text` behind a line says what is
//! wrong there. They need the device compiler, and are skipped without it unless `COALESCE_REQUIRE_DEVICE_COMPILER` is 1.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cuda_builder::toolchain::DeviceCompiler;
use cuda_builder::{CudaBuilder, CudaBuilderError};

/// Makes a crate of all programs, and returns its builder.
fn programs(root: &Path) -> CudaBuilder {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = root.join("src");
    fs::create_dir_all(&source).unwrap();
    let mut library = "#![no_std]\n#![feature(abi_ptx)]\n".to_owned();
    for name in names() {
        library += &format!("pub mod {name};\n");
        fs::copy(here.join(format!("tests/uniformity/{name}.rs")), source.join(format!("{name}.rs"))).unwrap();
    }
    fs::write(source.join("lib.rs"), library).unwrap();
    let cuda_std = here.parent().unwrap().join("cuda_std");
    let manifest = format!(
        "[package]\nname = \"uniformity\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [dependencies]\ncuda_std = {{ package = 'coalesce-cuda-std', path = '{}' }}\n[workspace]\n",
        cuda_std.display()
    );
    fs::write(root.join("Cargo.toml"), manifest).unwrap();
    CudaBuilder::new(root).target_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("cuda-builder"))
}

/// The names of the programs.
fn names() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/uniformity");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(".rs").map(str::to_owned)).collect()
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn programs_are_refused_where_they_say_it() {
    if let Err(error) = DeviceCompiler::find() {
        let required = std::env::var_os("COALESCE_REQUIRE_DEVICE_COMPILER").is_some_and(|value| value == "1");
        assert!(!required, "the compiler for devices is required here: {error}");
        return;
    }
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("uniformity");
    let error = programs(&root).build().unwrap_err();
    let CudaBuilderError::Uniformity { findings } = &error else { panic!("{error}") };
    let mut found: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let mut missing = Vec::new();
    for name in names() {
        let source = fs::read_to_string(root.join(format!("src/{name}.rs"))).unwrap();
        for (index, line) in source.lines().enumerate() {
            let Some((_, expected)) = line.split_once("//~ ") else { continue };
            let place = format!("src/{name}.rs:{}: ", index + 1);
            match found.iter().position(|text| text.starts_with(&place) && text.contains(expected)) {
                Some(at) => _ = found.remove(at),
                None => missing.push(format!("{place}{expected}")),
            }
        }
    }
    assert!(missing.is_empty() && found.is_empty(), "missing: {missing:#?}\nnot expected: {found:#?}");
}
