//! Copies and streams: what launches count, and that predicted times follow from the links.

use device::Model;
use host::labs::Settings;
use host::report::{LabReport, VariantReport};
use simt::transfers::{Engine, Outside};

use crate::labs::{counters, lab, matches, right, run, simulator, variant};
use clap::FromArgMatches;

/// A run with predicted times, for a GPU.
fn predicted(device: &str, flags: &str) -> LabReport {
    let matches = matches(lab("transfer"), flags);
    let settings = Settings::from_arg_matches(&matches).expect("the flags of every lab");
    let report = (lab("transfer").run)(&simulator(device), &matches, settings).expect("a report");
    right(report, flags)
}

/// The predicted time of a row, in microseconds.
fn us(row: &VariantReport) -> f64 {
    1e3 * row.predicted_time().unwrap_or_else(|| panic!("{} has no time", row.name)).time_ms
}

/// Each copy is its latency and its bytes, on every model; chunks in streams make the same accesses
/// as one launch, and overlap as far as the engines allow.
pub fn transfer() {
    let size = 8192_u64;
    let report = run("transfer", &format!("--size {size} --rounds 3"));
    for row in ["streams-1", "streams-2", "streams-4", "copied", "mapped", "managed", "prefetched"] {
        let counted = counters(&report, row).global;
        assert_eq!((counted.load.sectors, counted.store.sectors), (size / 8, size / 8), "{row}");
        assert_eq!(counted.load.requests, size / 32, "{row}");
    }
    assert_eq!(variant(&report, "streams-2").launches.len(), 4);
    for name in ["hopper", "volta", "g80"] {
        let links = Model::named(name).and_then(Model::links).expect("links");
        let report = predicted(&format!("sim:{name}"), "--to-device-pinned --to-host-pageable --bytes 1K,1G");
        for (row, bytes, outside, to_device) in [
            ("to-device-pinned-1", 1 << 10, Outside::Pinned, true),
            ("to-device-pinned-1048576", 1 << 30, Outside::Pinned, true),
            ("to-host-pageable-1048576", 1 << 30, Outside::Pageable, false),
        ] {
            let expected = links.wait_us() + links.copy_us(bytes, outside, to_device).expect("a link");
            let found = us(variant(&report, row));
            assert!((found - expected).abs() < 1e-6 * expected, "{name} {row}: {expected} expected, {found} found");
        }
    }
    let report = predicted("sim:hopper", "--streams-1 --streams-2 --streams-4 --size 65536 --rounds 64");
    let [one, two, four] = ["streams-1", "streams-2", "streams-4"].map(|name| variant(&report, name));
    assert!(us(one) > us(two) && us(two) > us(four), "{} {} {}", us(one), us(two), us(four));
    for row in [one, two, four] {
        let schedule = row.schedule.as_ref().expect("a schedule");
        assert_eq!(schedule.operations.len(), 12, "{}", row.name);
        let busiest = schedule.busiest().expect("an engine");
        assert!(schedule.busy_us(busiest) < schedule.end_us(), "{}", row.name);
    }
    let in_turn: f64 =
        Engine::ALL.map(|engine| one.schedule.as_ref().expect("a schedule").busy_us(engine)).iter().sum();
    assert!((in_turn - one.schedule.as_ref().expect("a schedule").end_us()).abs() < 1e-6, "one stream takes turns");
}
