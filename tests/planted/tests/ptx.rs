//! Tests that the checked-in PTX matches these sources. To update it: `COALESCE_BLESS=1 cargo test -p planted`.

use std::fs;
use std::path::Path;

use cuda_builder::{CudaBuilder, NvvmArch, SourceDigest, digest_of_crate};

#[test]
fn checked_in_ptx_is_made_of_these_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join("ptx/planted.sm_75.ptx");
    if std::env::var_os("COALESCE_BLESS").is_some() {
        let builder = CudaBuilder::new(folder).remade_with("COALESCE_BLESS=1 cargo test -p planted");
        builder.arch(NvvmArch::Compute75).copy_to(&path).build().unwrap();
    }
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(
        SourceDigest::in_ptx(&text).expect("the PTX bears a digest"),
        digest_of_crate(folder).unwrap(),
        "the PTX is stale; make it anew with `COALESCE_BLESS=1 cargo test -p planted`"
    );
}
