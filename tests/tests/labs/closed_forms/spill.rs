//! Rings and lists: where a thread's data is, and how many threads there are.

use super::near;
use crate::labs::{counters, run, run_on, simulator};

/// A word of a ring is a line for each warp, whatever its index: four sectors for a load and a
/// store of each sample, after the zeros at the start. In shared memory it is a wavefront.
pub fn spill() {
    let (rows, cols, lists, steps) = (104_u64, 256_u64, 2048_u64, 7_u64);
    let flags = "--local --shared --registers --full --alone";
    let line = format!("{flags} --rows {rows} --cols {cols} --lists {lists} --steps {steps}");
    let report = run("spill", &line);
    let warps = cols / 32;
    for words in [16, 64] {
        let local = counters(&report, &format!("local-{words}")).local;
        assert_eq!(
            (local.load.sectors, local.store.sectors),
            (4 * warps * rows, 4 * warps * (rows + words)),
            "{words}"
        );
        let shared = counters(&report, &format!("shared-{words}")).shared;
        assert_eq!(
            (shared.load.wavefronts, shared.store.wavefronts),
            (warps * rows, warps * (rows + words)),
            "{words}"
        );
        for way in ["local", "shared", "registers"] {
            let counted = counters(&report, &format!("{way}-{words}"));
            assert_eq!(counted.global.load.sectors, 4 * warps * rows, "{way}-{words}");
            let others =
                [(way != "local", counted.local.load.requests), (way != "shared", counted.shared.load.requests)];
            assert!(others.iter().all(|&(none, requests)| !none || requests == 0), "{way}-{words}: {others:?}");
        }
    }
    for name in ["full-1", "alone-1", "alone-2", "alone-4", "alone-8"] {
        let counted = counters(&report, name);
        assert_eq!(counted.global.load.requests, lists / 32 * steps, "{name}");
        near(counted.global.load.sectors_per_request(), 4.0, name);
        let blocks = counted.occupancy.expect("a model").blocks();
        assert_eq!(blocks, if name == "full-1" { 8 } else { 1 }, "{name}");
    }
    // 2048 threads of an H200 have 128 KB of rings, or 512 KB; 1024 have half of that. L1 has 248 KB.
    let line = format!("--rows 64 --cols {} --local", 132 * 1024);
    let report = run("spill", &line);
    let hits = |name: &str| {
        let caches = counters(&report, name).model.expect("a model").caches;
        caches.l1_local_load.hit_percent().expect("loads")
    };
    assert!(hits("local-16") > 60.0 && hits("local-64") < 20.0, "{} and {} %", hits("local-16"), hits("local-64"));
    // A block of Maxwell has 48 KB of 96, so that there is room for a second one.
    let line = "--rows 16 --cols 128 --lists 256 --steps 2";
    let names = |device: &str| {
        let report = run_on(&simulator(device), "spill", line);
        report.variants.into_iter().map(|variant| variant.name).collect::<Vec<_>>()
    };
    let mut of_volta = names("sim:volta");
    of_volta.retain(|name| !name.starts_with("alone-"));
    assert_eq!(names("sim:maxwell"), of_volta);
    assert_eq!(names("sim:volta").len(), of_volta.len() + 4);
}
