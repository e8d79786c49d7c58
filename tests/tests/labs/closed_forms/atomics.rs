//! Histograms: who adds how often to one counter.

use host::report::LabReport;

use super::near;
use crate::labs::{counters, run, variant};

/// The operations on the counter that gets most.
fn most(report: &LabReport, name: &str) -> u32 {
    let arrays = variant(report, name).arrays.iter();
    arrays.flat_map(|array| &array.atomics).copied().max().unwrap_or_else(|| panic!("{name}: nothing was counted"))
}

/// In global memory every value is an operation of its lane; a warp that adds up first makes one of
/// each value, and a block one for each counter.
pub fn atomics() {
    let (size, each, bins, block) = (8192_u64, 16, 256, 256);
    let report = run("atomics", &format!("--size {size} --each {each}"));
    let (warps, blocks) = (size / 32, size / each / block);
    let requests = |name: &str| {
        let counters = counters(&report, name);
        let [global, shared] = [counters.global.reduction.requests, counters.shared.reduction.requests];
        assert_eq!((counters.global.atomic.requests, counters.shared.atomic.requests), (0, 0), "{name}: old values");
        (global, shared)
    };
    for values in ["spread", "skewed", "alike"] {
        for method in ["global", "ballot", "match"] {
            assert_eq!(requests(&format!("{method}-{values}")), (warps, 0), "{method} {values}");
        }
        for method in ["shared", "warp"] {
            let name = format!("{method}-{values}");
            assert_eq!(requests(&name), (blocks * bins / 32, warps), "{name}");
            assert_eq!(u64::from(most(&report, &name)), blocks, "{name}");
        }
    }
    // Lanes that want one word take turns, and each turn counts a sector. Shared memory counts them
    // in one pass.
    let sectors = |name: &str| counters(&report, name).global.reduction.sectors as f64 / warps as f64;
    assert_eq!((sectors("global-alike"), u64::from(most(&report, "global-alike"))), (32.0, size));
    for method in ["ballot", "match"] {
        let name = format!("{method}-alike");
        assert_eq!((sectors(&name), u64::from(most(&report, &name))), (1.0, warps), "{name}");
        assert!(most(&report, &format!("{method}-skewed")) <= warps as u32, "one operation a warp and value");
    }
    let skewed = most(&report, "global-skewed");
    assert!((3800..4400).contains(&skewed), "half of the values are 0: {skewed}");
    let shared = counters(&report, "shared-alike").shared.reduction;
    near(Some(shared.wavefronts as f64 / shared.requests as f64), 1.0, "passes of equal values");
    // One of three values.
    let report = run("atomics", &format!("--size {size} --distinct 3 --spread --global"));
    let third = most(&report, "global-spread");
    assert!((2500..3000).contains(&third), "a third of the values: {third}");
}
