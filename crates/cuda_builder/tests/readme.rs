//! Tests that the README's kernel compiles. Like all tests of the builder, this one needs the device compiler, and is skipped
//! without it unless `COALESCE_REQUIRE_DEVICE_COMPILER` is 1.

use std::fs;
use std::path::Path;

use cuda_builder::toolchain::DeviceCompiler;
use cuda_builder::{CudaBuilder, NvvmArch};

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn the_kernel_of_the_readme_compiles() {
    if let Err(error) = DeviceCompiler::find() {
        let required = std::env::var_os("COALESCE_REQUIRE_DEVICE_COMPILER").is_some_and(|value| value == "1");
        assert!(!required, "the compiler for devices is required here: {error}");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let (_, block) = readme.split_once("```rust\n").expect("the README shows a kernel");
    let (kernel, _) = block.split_once("```").unwrap();

    let krate = tempfile::tempdir().unwrap();
    let manifest = format!(
        "[package]\nname = \"readme\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\ncuda_std = {{ package = \"coalesce-cuda-std\", path = {:?} }}\n",
        root.join("crates/cuda_std")
    );
    fs::write(krate.path().join("Cargo.toml"), manifest).unwrap();
    // The same versions as the clone's, so that nothing is downloaded.
    fs::copy(root.join("Cargo.lock"), krate.path().join("Cargo.lock")).unwrap();
    fs::create_dir(krate.path().join("src")).unwrap();
    let begin = "//! The README's kernel.\n#![no_std]\n#![cfg_attr(target_arch = \"nvptx64\", feature(abi_ptx))]\n";
    fs::write(krate.path().join("src/lib.rs"), format!("{begin}{kernel}")).unwrap();

    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("cuda-builder");
    let ptx = CudaBuilder::new(krate.path()).arch(NvvmArch::Compute80).target_dir(target).build().unwrap();
    let ptx = fs::read_to_string(ptx).unwrap();
    assert!(ptx.contains(".entry add(") && ptx.contains("st.global") && !ptx.contains("trap"), "{ptx}");
}
