//! Safe code that must not compile for the device: the programs of `refused/`, in which `//~ TEXT` behind a line says
//! what the compiler says there. Each line without a mark has to compile. Needs the device compiler, and is skipped
//! without it unless `COALESCE_REQUIRE_DEVICE_COMPILER` is 1.

use std::fs;
use std::path::Path;

use cuda_builder::toolchain::DeviceCompiler;
use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch};

/// The line that an error is about, as `name.rs:12`, and its whole text.
fn place(error: &str) -> Option<(String, &str)> {
    let (_, place) = error.split_once("--> src/")?;
    let mut parts = place.split(':');
    Some((format!("{}:{}", parts.next()?, parts.next()?), error))
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn attacks_do_not_compile() {
    if let Err(error) = DeviceCompiler::find() {
        let required = std::env::var_os("COALESCE_REQUIRE_DEVICE_COMPILER").is_some_and(|value| value == "1");
        assert!(!required, "the compiler for devices is required here: {error}");
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("refused");
    let source = root.join("src");
    fs::create_dir_all(&source).unwrap();
    let mut library = "#![no_std]\n#![feature(abi_ptx)]\n#![allow(unused)]\n".to_owned();
    let mut expected = Vec::new();
    for entry in fs::read_dir(here.join("tests/refused")).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        library += &format!("pub mod {};\n", file.strip_suffix(".rs").unwrap());
        let text = fs::read_to_string(&path).unwrap();
        for (line, text) in (1..).zip(text.lines()) {
            let marks = text.split("//~ ").skip(1).map(|mark| mark.trim().to_owned());
            expected.extend(marks.map(|mark| (format!("{file}:{line}"), mark)));
        }
        fs::write(source.join(file), text).unwrap();
    }
    fs::write(source.join("lib.rs"), library).unwrap();
    let manifest = format!(
        "[package]\nname = \"refused\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [dependencies]\ncuda_std = {{ package = 'coalesce-cuda-std', path = '{}' }}\nbytemuck = \"1\"\n[workspace]\n",
        here.display()
    );
    fs::write(root.join("Cargo.toml"), manifest).unwrap();
    // Where `cuda_builder` builds the kernel of its README, with the same `core`.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("cuda-builder");
    let builder = CudaBuilder::new(&root).arch(NvvmArch::Compute80).target_dir(target);
    let error = builder.build().unwrap_err();
    let CudaBuilderError::BuildFailed { messages, .. } = error else { panic!("{error}") };
    let messages = format!("\n{messages}").replace("\nwarning", "\nerror");
    let mut found: Vec<_> = messages.split("\nerror").filter_map(place).collect();
    expected.retain(|(line, text)| {
        match found.iter().position(|(at, error)| at == line && error.contains(text.as_str())) {
            Some(at) => {
                found.remove(at);
                false
            }
            None => true,
        }
    });
    assert!(expected.is_empty() && found.is_empty(), "missing: {expected:#?}\nnot expected: {found:#?}");
}
