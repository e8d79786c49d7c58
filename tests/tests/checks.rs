//! What the sanitizer looks for, and how many threads the host has, changes nothing that the labs compute and nothing that they
//! count, with a model and without.

use host::device::{self, Counters, DeviceChoice};
use host::labs::Entry;
use host::limits::Limits;
use host::progress::Progress;

/// The counters of every variant, all of which must be right, on a host with this many threads.
fn counted(lab: &str, flags: &str, device: &str, threads: usize) -> Vec<(String, Option<Counters>)> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let choice: DeviceChoice = device.parse().expect("a device");
        let limits = Limits { memory_limit: Some(64 << 20), ..Limits::default() };
        let device = device::open(choice, &device::Options { limits, ..device::Options::default() });
        let device = device.expect("the simulator");
        let available = device.available().expect("a number");
        let lab = Entry::named(lab).expect("a lab");
        let words = std::iter::once(lab.name).chain(flags.split_whitespace());
        let matches = (lab.command)().try_get_matches_from(words).unwrap_or_else(|error| panic!("{flags}: {error}"));
        let report =
            (lab.run)(&device, &matches, Progress::default()).unwrap_or_else(|error| panic!("{flags}: {error}"));
        // Whatever a lab allocates, it frees.
        assert_eq!(device.available().expect("a number"), available, "{flags} on {choice}");
        assert!(report.correct(), "{flags} on {choice}: {report:?}");
        assert!(report.findings().list.is_empty(), "{flags} on {choice}: {:?}", report.findings());
        report.variants.into_iter().map(|variant| (variant.name, variant.counters)).collect()
    })
}

#[test]
fn every_variant_of_every_lab_counts_the_same_with_and_without_checks() {
    for (lab, flags) in [
        ("transpose", "--rows 97 --cols 130"),
        ("transpose", "--rows 64 --cols 33 --pitched"),
        ("offset", "--size 3000 --offset 0,1,8,31,128"),
    ] {
        for device in ["sim", "sim:fermi", "sim:hopper"] {
            let first = counted(lab, flags, device, 1);
            assert!(!first.is_empty() && first.iter().all(|(_, counters)| counters.is_some()));
            for (threads, checks) in [(3, "none"), (1, "all"), (3, "all")] {
                let other = counted(lab, &format!("{flags} --check {checks}"), device, threads);
                assert!(other == first, "{lab} {flags} on {device}, checks {checks}, {threads} threads");
            }
        }
    }
}
