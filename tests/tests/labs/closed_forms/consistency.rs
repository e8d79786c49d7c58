//! Messages between blocks: which rows ever show an old one.

use host::report::LabReport;

use crate::labs::{counters, run, variant};

/// Of so many more runs, those with an old message.
fn wrong(report: &LabReport, name: &str) -> (u32, u32) {
    let again = variant(report, name).again.unwrap_or_else(|| panic!("{name} did not run again"));
    assert!(again.in_drawn_orders, "{name}");
    (again.wrong, again.times)
}

/// What the model allows is found in some orders, and what it forbids in none. A pair stores that
/// the reader is ready, the message, the flag, and what was received.
pub fn consistency() {
    let report = run("consistency", "--blocks 6 --launches 200");
    for row in &report.variants {
        let (wrong, times) = wrong(&report, &row.name);
        assert_eq!(times, 200);
        match row.fact("old_message").and_then(|fact| fact.as_str()) {
            Some("allowed") => assert!(wrong > 5, "{}: {wrong} of 200", row.name),
            Some("forbidden") => assert_eq!(wrong, 0, "{}", row.name),
            other => panic!("{}: {other:?}", row.name),
        }
    }
    for (name, stores) in [("relaxed", 4), ("block-fence", 4), ("release", 4), ("packed", 3)] {
        assert_eq!(counters(&report, name).global.store.requests, 3 * stores, "{name}");
    }
    // Value, status, sum and status again, and the result; one word has value and status.
    for (name, stores) in [("lookback-relaxed", 5), ("lookback-release", 5), ("lookback-packed", 3)] {
        assert_eq!(counters(&report, name).global.store.requests, 6 * stores, "{name}");
    }
    // The seed alone decides.
    let again = run("consistency", "--blocks 6 --launches 200 --relaxed --seed 9");
    let same = run("consistency", "--blocks 6 --launches 200 --relaxed --seed 9");
    assert_eq!(wrong(&again, "relaxed"), wrong(&same, "relaxed"));
}
