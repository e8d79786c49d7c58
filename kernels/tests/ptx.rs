//! The checked-in PTX is that of these sources, and has an entry point for each handle.

use cuda_builder::{SourceDigest, digest_of_crate};
use std::path::Path;

#[test]
fn each_image_is_made_of_the_sources_as_they_are() {
    let sources = digest_of_crate(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    for image in kernels::PTX {
        let made_of = SourceDigest::in_ptx(image.text);
        assert_eq!(
            made_of.as_ref(),
            Some(&sources),
            "kernels/ptx/kernels.{arch}.ptx is stale; rebuild it with `cargo xtask build-ptx --arch {arch}`",
            arch = image.arch
        );
        assert!(image.text.contains(&format!("\n.target {}", image.arch)));
    }
}

#[test]
fn images_ascend_by_architecture() {
    let numbers: Vec<u32> = kernels::PTX
        .iter()
        .map(|image| image.arch.trim_start_matches("sm_").parse().unwrap())
        .collect();
    assert!(numbers.is_sorted() && numbers.first() == Some(&75));
}

#[test]
fn every_image_has_the_same_kernels() {
    let names = |image: &cuda_std::launch::PtxImage| {
        let mut names: Vec<_> = image.entry_points().collect();
        names.sort_unstable();
        names
    };
    let first = names(&kernels::PTX[0]);
    assert!(first.len() > 100 && first.contains(&"transpose_padded"), "{first:?}");
    assert!(kernels::PTX.iter().all(|image| names(image) == first));
}

/// A bounds check that can fail ends in a trap. Where an index may be out of bounds the kernels ask
/// with `get`, and the compiler proves the others.
#[test]
fn no_kernel_traps() {
    for image in kernels::PTX {
        let mut kernel = "";
        for line in image.text.lines() {
            kernel = line.split_once(".entry ").map_or(kernel, |(_, name)| name);
            assert!(!line.contains("trap;"), "{kernel} traps on {}", image.arch);
        }
    }
}

/// What the labs teach shows in the machine's counters only if the compiler keeps to the idea.
#[test]
fn kernels_have_the_accesses_that_their_labs_count() {
    let count = |kernel: &str, instruction: &str| {
        let text = kernels::PTX[0].text;
        let start = text.find(&format!(".entry {kernel}(")).unwrap();
        let body = &text[start..start + text[start..].find("\n}").unwrap()];
        body.lines().filter(|line| line.contains(instruction)).count()
    };
    for kernel in ["offset_read", "offset_write"] {
        assert_eq!(count(kernel, "ld.global.nc.b32"), 2);
        assert_eq!(count(kernel, "st.global.b32"), 1);
    }
    for kernel in ["pitch_rows", "pitch_columns", "layout_pitched", "access_load"] {
        assert_eq!(count(kernel, "ld.global.nc.b32"), 1, "{kernel}");
        assert_eq!(count(kernel, "st.global.b32"), 1, "{kernel}");
    }
    // What a raw pointer points to may be written by others; what a slice has is not.
    assert_eq!(count("layout_points_direct", "ld.global.b32"), 3);
    assert_eq!(count("layout_points_read_only", "ld.global.nc.b32"), 3);
    // The length of a row is known, so all its loads are in flight at once.
    assert_eq!(count("layout_rows", "ld.global.nc.b32"), 32);
    assert_eq!(count("constant_polynomial", "ld.const.b32"), 8);
    assert_eq!(count("constant_lookup", "ld.const.b32"), 1);
    let labs = ["table_", "pitch_", "access_", "constant_", "layout_"];
    let of_these = kernels::PTX[0]
        .entry_points()
        .filter(|kernel| labs.iter().any(|lab| kernel.starts_with(lab)));
    for kernel in of_these {
        assert_eq!(count(kernel, "trap"), 0, "{kernel} checks an index at run time");
    }
    // A block of 8 rows of threads moves a tile of 32 rows, so each thread moves four elements.
    for kernel in ["transpose_copy", "transpose_strided_writes", "transpose_strided_reads"] {
        assert_eq!(count(kernel, "ld.global.nc.b32"), 4, "{kernel}");
        assert_eq!(count(kernel, "st.global.b32"), 4, "{kernel}");
        assert_eq!(count(kernel, ".shared"), 0, "{kernel}");
    }
    for kernel in [
        "transpose_tiled",
        "transpose_padded",
        "transpose_wide",
        "transpose_diagonal",
        "transpose_batched",
    ] {
        assert_eq!(count(kernel, "ld.global.nc.b32"), 4, "{kernel}");
        assert_eq!(count(kernel, "st.shared.b32"), 4, "{kernel}");
        assert_eq!(count(kernel, "bar.sync"), 1, "{kernel}");
        assert_eq!(count(kernel, "ld.shared.b32"), 4, "{kernel}");
        assert_eq!(count(kernel, "st.global.b32"), 4, "{kernel}");
    }
    for kernel in transpose_names() {
        assert_eq!(count(kernel, "div.") + count(kernel, "rem."), 0, "{kernel} divides");
    }
}

fn transpose_names() -> [&'static str; 8] {
    [
        "transpose_copy",
        "transpose_strided_writes",
        "transpose_strided_reads",
        "transpose_block16",
        "transpose_tiled",
        "transpose_padded",
        "transpose_wide",
        "transpose_batched",
    ]
}
