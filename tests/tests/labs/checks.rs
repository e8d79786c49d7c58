//! Neither the sanitizer nor the number of host threads changes what the labs compute or count,
//! with a model and without.

use device::limits::Limits;
use device::{Counters, DeviceChoice};
use host::labs::Entry;

use crate::labs::table::{Row, rows};
use crate::labs::{right, run_on};

/// The counters of every variant, all of which must be right, on a host with this many threads.
fn counted(row: &Row, checks: &str, device: &str, threads: usize) -> Vec<(String, Option<Counters>)> {
    let flags = format!("{} --check {checks}", row.all);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let choice: DeviceChoice = device.parse().expect("a device");
        let limits = Limits { memory_limit: Some(64 << 20), ..Limits::default() };
        let device = device::open(choice, &device::Options { limits, ..host::built_in::options() });
        let device = device.expect("the simulator");
        let available = device.available().expect("a number");
        let report = right(run_on(&device, row.lab, &flags), &flags);
        assert_eq!(device.available().expect("a number"), available, "{} {flags} on {choice}: not freed", row.lab);
        report.variants.into_iter().map(|variant| (variant.name, variant.counters)).collect()
    })
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn every_lab_counts_the_same_with_and_without_checks() {
    // Blocks that wait for each other poll more or less often.
    let waits = |row: &&Row| Entry::named(row.lab).is_some_and(|lab| lab.races);
    for row in rows().filter(|row| !waits(row)) {
        for device in ["sim", "sim:fermi", "sim:hopper"] {
            let first = counted(row, "none", device, 1);
            assert!(
                first.iter().any(|(_, counters)| counters.is_some()),
                "{} on {device}: nothing is counted",
                row.lab
            );
            // Models take longer, so both change at once there.
            let others: &[_] = if device == "sim" { &[(3, "none"), (1, "all"), (3, "all")] } else { &[(3, "all")] };
            for &(threads, checks) in others {
                let other = counted(row, checks, device, threads);
                assert!(other == first, "{} on {device}, checks {checks}, {threads} threads", row.lab);
            }
        }
    }
}
