//! Pipelines: barriers and accesses of a tile, by how it comes to shared memory; how many blocks a
//! row leaves room for.

use crate::labs::{counters, run, run_on, simulator, variant};

/// 132 blocks of eight warps walk over 280 records of 512 samples of 16 bytes.
pub fn pipeline() {
    let (records, warps) = (280_u64, 8_u64);
    let report = run("pipeline", &format!("--size {} --blocks 1,2", records * 2048));
    // A warp has two loads of 16 bytes a lane of each record, and reads two words and the two after
    // them: four wavefronts each.
    let (requests, wavefronts) = (2 * warps * records, 4 * 4 * warps * records);
    for blocks in [1, 2] {
        for method in ["load", "registers", "async-2", "async-3", "async-4", "bulk-2", "bulk-3", "bulk-4"] {
            let name = format!("{method} x{blocks}");
            let counted = counters(&report, &name);
            let in_bulk = method.starts_with("bulk");
            // Two for each record where one place is written again, else one; one before the first
            // bulk copy.
            let of_blocks = if in_bulk { warps * 132 * blocks } else { 0 };
            let each = if ["load", "registers"].contains(&method) { 2 } else { 1 };
            assert_eq!(counted.barriers, each * warps * records + of_blocks, "{name}");
            assert_eq!(counted.shared.load.wavefronts, wavefronts, "{name}");
            assert_eq!(counted.global.load.requests, if in_bulk { 0 } else { requests }, "{name}");
            assert_eq!(counted.global.load.sectors, if in_bulk { 0 } else { 16 * requests }, "{name}");
            // A sum for each thread.
            assert_eq!(counted.global.store.requests, warps * 132 * blocks, "{name}");
            assert_eq!(u64::from(counted.occupancy.expect("a model").blocks()), blocks, "{name}");
            let stages: u64 = method.split('-').nth(1).map_or(2, |stages| stages.parse().expect("a number"));
            let in_flight = variant(&report, &name).fact("KiB_in_flight").and_then(serde_json::Value::as_f64);
            assert_eq!(in_flight, Some((8 * blocks * (stages - 1)) as f64), "{name}");
        }
    }
    // Before Hopper there are no bulk copies, before Ampere no asynchronous ones, and a multiprocessor of Maxwell
    // has room for two blocks with all the shared memory that a block can have.
    let names = |device: &str| {
        let report = run_on(&simulator(device), "pipeline", "--size 5000");
        report.variants.into_iter().map(|variant| variant.name).collect::<Vec<_>>()
    };
    assert_eq!(names("sim:ampere").len(), 7);
    assert_eq!(names("sim:volta"), ["load x1", "load x2", "load x4", "registers x1"]);
    assert_eq!(names("sim:maxwell"), ["load x2", "load x4"]);
}
