//! Kernels in phases make the accesses of their textbook twins, with as many barriers, and have no
//! faults: at sizes of one element, of a warp or a tile, and of one more or less.

use crate::labs::{counters, run};

/// Kernels in phases of a lab, beside their twins.
struct Twins {
    lab: &'static str,
    /// Chooses both.
    flags: &'static str,
    /// The rows of a textbook kernel and of its twin in phases.
    rows: &'static [(&'static str, &'static str)],
    sizes: &'static [&'static str],
}

const TWINS: &[Twins] = &[
    Twins {
        lab: "transpose",
        flags: "--padded --phased",
        rows: &[("padded", "phased")],
        sizes: &[
            "--rows 1",
            "--rows 1 --cols 1000",
            "--rows 1000 --cols 1",
            "--rows 31 --cols 33",
            "--rows 33 --cols 31 --pitched",
            "--rows 32 --cols 64",
            "--rows 200 --cols 333",
        ],
    },
    Twins {
        lab: "matmul",
        flags: "--tiled16 --phased16",
        rows: &[("tiled16", "phased16")],
        sizes: &[
            "--m 1 --n 1 --k 1",
            "--m 15 --n 17 --k 16",
            "--m 17 --n 15 --k 31 --pitched",
            "--m 16 --n 32 --k 33",
            "--m 1 --n 33 --k 1000",
            "--m 100 --n 77 --k 1",
        ],
    },
    Twins {
        lab: "gram",
        flags: "--padded32 --phased32",
        rows: &[("padded32", "phased32")],
        sizes: &[
            "--rows 1 --cols 1",
            "--rows 1 --cols 1000",
            "--rows 31 --cols 33",
            "--rows 33 --cols 31 --pitched",
            "--rows 64 --cols 32",
            "--rows 100 --cols 70",
        ],
    },
    Twins {
        lab: "reduce",
        flags: "--reduce3 --phased3 --reduce6 --phased6",
        rows: &[("reduce3-sum-f32", "phased3-sum-f32"), ("reduce6-sum-f32", "phased6-sum-f32")],
        sizes: &[
            "--size 1",
            "--size 31",
            "--size 32",
            "--size 33",
            "--size 255",
            "--size 257",
            "--size 511",
            "--size 513",
            "--size 1000",
            "--size 65536",
            "--size 100000",
        ],
    },
    Twins {
        lab: "rows",
        flags: "--all --shared --phased",
        rows: &[
            ("sum-shared-linear", "sum-phased-linear"),
            ("mean-shared-pitched", "mean-phased-pitched"),
            ("max-shared-linear", "max-phased-linear"),
            ("min-shared-pitched", "min-phased-pitched"),
            ("squares-shared-linear", "squares-phased-linear"),
            ("column-means-shared-linear", "column-means-phased-linear"),
            ("column-means-shared-pitched", "column-means-phased-pitched"),
        ],
        sizes: &[
            "--rows 1 --cols 1",
            "--rows 1 --cols 1000",
            "--rows 1000 --cols 1",
            "--rows 7 --cols 31",
            "--rows 8 --cols 32",
            "--rows 9 --cols 33",
            "--rows 31 --cols 255",
            "--rows 33 --cols 257",
        ],
    },
];

#[test]
fn a_kernel_in_phases_counts_what_its_twin_counts() {
    for Twins { lab, flags, rows, sizes } in TWINS {
        for size in *sizes {
            let report = run(lab, &format!("{flags} {size} --check all"));
            for (plain, phased) in *rows {
                let [plain, twin] = [plain, phased].map(|name| counters(&report, name));
                assert_eq!(twin.global, plain.global, "{lab} {size}: {phased}");
                assert_eq!(twin.shared, plain.shared, "{lab} {size}: {phased}");
                assert_eq!(twin.local, plain.local, "{lab} {size}: {phased}");
                assert_eq!(twin.barriers, plain.barriers, "{lab} {size}: {phased}");
            }
        }
    }
}
