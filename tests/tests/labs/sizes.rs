//! Labs are right at every size, on every device, and without findings under all checks.

use std::collections::BTreeSet;

use host::labs;

use crate::labs::table::rows;
use crate::labs::{devices, right, run_on, simulator};

/// Warp instructions of a lab at its defaults: the course's limit of five seconds on a laptop.
const MOST_INSTRUCTIONS: u64 = 50_000_000;

#[test]
fn all_variants_are_right_at_all_sizes_on_all_devices_and_launch_every_kernel() {
    let all: BTreeSet<_> = labs::ALL.iter().flat_map(labs::Entry::kernels).collect();
    for device in devices() {
        let mut launched = BTreeSet::new();
        for row in rows() {
            let checks = match labs::Entry::named(row.lab).is_some_and(|lab| lab.races) {
                _ if device.properties().is_gpu() => "--once",
                true => "--check memory,init,sync,undefined",
                false => "--check all",
            };
            // Some kernels run only at some sizes.
            for flags in [row.all].iter().chain(row.sizes) {
                let flags = format!("{flags} {checks}");
                let variants = right(run_on(&device, row.lab, &flags), &flags).variants;
                launched.extend(variants.into_iter().flat_map(|variant| variant.kernels));
            }
        }
        if !device.properties().is_gpu() {
            assert_eq!(launched, all);
        }
    }
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn defaults_are_quick_and_say_what_they_show() {
    let device = simulator("sim");
    for row in rows() {
        let report = right(run_on(&device, row.lab, ""), "");
        let counters = report.variants.iter().filter_map(|variant| variant.counters.as_ref());
        let instructions: u64 = counters.map(|counters| counters.instructions_executed).sum();
        assert!(instructions < MOST_INSTRUCTIONS, "{}: {instructions} warp instructions", row.lab);
        let sentences = report.conclusions.len();
        assert!((1..=5).contains(&sentences), "{}: {:?}", row.lab, report.conclusions);
        for text in &report.conclusions {
            assert!(text.ends_with('.') && !text.contains("NaN") && !text.contains("inf"), "{}: {text}", row.lab);
        }
    }
}
