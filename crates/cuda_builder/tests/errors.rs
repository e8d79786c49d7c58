//! Tests of errors before anything is compiled. No device compiler is needed.

use cuda_builder::{CudaBuilder, CudaBuilderError};

#[test]
fn a_folder_without_a_crate() {
    let error = CudaBuilder::new("no/such/crate").build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "no/such/crate: there is no crate here (no Cargo.toml): name the folder of a crate of kernels"
    );
}

#[test]
fn a_rustc_that_is_none() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"k\"\n").unwrap();
    let rustc = folder.path().join("rustc");
    let error = CudaBuilder::new(folder.path()).rustc(&rustc).build().unwrap_err();
    assert!(matches!(error, CudaBuilderError::NamedCompiler { .. }));
    assert_eq!(
        error.to_string(),
        format!("{}: does not run; correct CudaBuilder::rustc, or remove it to search for a compiler", rustc.display())
    );
}
