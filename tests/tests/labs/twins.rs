//! Kernels in phases make the accesses of their textbook twins, with as many barriers, and have no faults.

use crate::{counters, run};

#[test]
fn a_kernel_in_phases_counts_what_its_twin_counts() {
    let twins = [
        ("transpose", "--rows 200 --cols 333", "padded", "phased", ""),
        ("transpose", "--rows 64 --cols 96 --pitched", "padded", "phased", ""),
        ("matmul", "--m 100 --n 77 --k 50", "tiled16", "phased16", ""),
        ("gram", "--rows 100 --cols 70", "padded32", "phased32", ""),
        ("reduce", "--size 100000", "reduce3", "phased3", "-sum-f32"),
        ("reduce", "--size 1000", "reduce6", "phased6", "-sum-f32"),
    ];
    for (lab, flags, plain, phased, of) in twins {
        let report = run(lab, &format!("{flags} --{plain} --{phased} --check all"));
        let [plain, phased] = [plain, phased].map(|name| counters(&report, &format!("{name}{of}")));
        assert_eq!(phased.global, plain.global, "{lab} {flags}");
        assert_eq!(phased.shared, plain.shared, "{lab} {flags}");
        assert_eq!(phased.local, plain.local, "{lab} {flags}");
        assert_eq!(phased.barriers, plain.barriers, "{lab} {flags}");
    }
}
