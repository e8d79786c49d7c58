//! Labs are right at every size, on every device, and without findings under all checks.

use std::collections::BTreeSet;

use host::labs;

use crate::table::rows;
use crate::{devices, right, run_on, simulator};

#[test]
fn all_variants_are_right_at_all_sizes_on_all_devices() {
    for device in devices() {
        let checks = if device.properties().is_gpu() { "--once" } else { "--check all" };
        for row in rows() {
            for flags in [row.all].iter().chain(row.sizes) {
                let flags = format!("{flags} {checks}");
                right(run_on(&device, row.lab, &flags), &flags);
            }
        }
    }
}

#[test]
fn labs_launch_every_kernel_that_there_is() {
    let device = simulator("sim");
    let mut launched = BTreeSet::new();
    for row in rows() {
        // Some kernels run only at some sizes.
        for flags in [row.all].iter().chain(row.sizes) {
            for variant in run_on(&device, row.lab, flags).variants {
                launched.extend(variant.kernels);
            }
        }
    }
    let all: BTreeSet<_> = labs::ALL.iter().flat_map(labs::Entry::kernels).collect();
    assert_eq!(launched, all);
}

#[test]
fn defaults_are_quick_and_say_what_they_show() {
    let device = simulator("sim");
    for row in rows() {
        let begin = std::time::Instant::now();
        let report = right(run_on(&device, row.lab, ""), "");
        // Twice the course's limit, for machines that others use at the same time.
        assert!(begin.elapsed().as_secs() < 10, "{} took {:?}", row.lab, begin.elapsed());
        let sentences = report.conclusions.len();
        assert!((1..=4).contains(&sentences), "{}: {:?}", row.lab, report.conclusions);
        for text in &report.conclusions {
            assert!(text.ends_with('.') && !text.contains("NaN") && !text.contains("inf"), "{}: {text}", row.lab);
        }
    }
}
