//! The checked-in PTX is that of these sources, and has an entry point for each handle.

use std::path::Path;

use cuda_builder::{SourceDigest, digest_of_crate};

#[test]
fn each_image_is_made_of_the_sources_as_they_are() {
    let sources = digest_of_crate(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    for image in best_kernels::PTX {
        assert_eq!(
            SourceDigest::in_ptx(image.text).as_ref(),
            Some(&sources),
            "kernels/best/ptx/best_kernels.{arch}.ptx is stale; rebuild it with `cargo xtask build-ptx --arch {arch}`",
            arch = image.arch
        );
        assert!(image.text.contains(&format!("\n.target {}", image.arch)));
    }
}

#[test]
fn every_image_has_the_same_kernels() {
    let architectures: Vec<&str> = best_kernels::PTX.iter().map(|image| image.arch).collect();
    assert_eq!(architectures, ["sm_75", "sm_80", "sm_90"]);
    let names = best_kernels::PTX.iter().map(|image| {
        let mut names: Vec<_> = image.entry_points().collect();
        names.sort_unstable();
        names
    });
    let names: Vec<_> = names.collect();
    assert!(names[0].len() >= 45 && names[0].contains(&"matmul_best"), "{:?}", names[0]);
    assert!(names.iter().all(|of_image| *of_image == names[0]));
}
