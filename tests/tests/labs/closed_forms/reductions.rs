//! Closed forms of the labs that reduce: values, products and rows.

use super::*;

/// Which warps work in which step, and how their banks collide.
pub fn reduce() {
    let block = 256_u64;
    let report = run("reduce", "--size 255 --block 256");
    // One launch of one block. In each step, the distance and the threads that work.
    let steps: Vec<(u64, u64)> = (0..8).map(|step| (1 << step, block >> (step + 1))).collect();
    let shared = |step: &str| counters(&report, &format!("{step}-sum-f32")).shared;
    let of_tree = |requests: u64| (2 * requests, requests);
    // reduce1: all warps take part while each has a thread that works; then every second, every
    // fourth.
    let warps: u64 = steps.iter().map(|&(s, _)| if s < 32 { block / 32 } else { block / (2 * s) }).sum();
    let (loads, stores) = of_tree(warps);
    // The first store of each thread, and the last load of the first.
    assert_eq!((shared("reduce1").load.requests, shared("reduce1").store.requests), (loads + 1, stores + block / 32));
    assert_eq!(shared("reduce1").load.bank_conflicts + shared("reduce1").store.bank_conflicts, 0);
    // reduce2 and reduce3: whole warps of threads that work.
    let warps: u64 = steps.iter().map(|&(_, threads)| threads.div_ceil(32)).sum();
    let (loads, stores) = of_tree(warps);
    for step in ["reduce2", "reduce3"] {
        assert_eq!(
            (shared(step).load.requests, shared(step).store.requests),
            (loads + 1, stores + block / 32),
            "{step}"
        );
    }
    // A stride of 2 s words: 2 s ways, limited by the active lanes.
    let conflicts = |&(s, threads): &(u64, u64)| {
        let lanes = threads.min(32);
        let ways = (lanes * (2 * s).min(32)).div_ceil(32);
        threads.div_ceil(32) * (ways - 1)
    };
    let collisions: u64 = steps.iter().map(conflicts).sum();
    assert_eq!(shared("reduce2").load.bank_conflicts, 2 * collisions);
    assert_eq!(shared("reduce2").store.bank_conflicts, collisions);
    for step in ["reduce3", "reduce4", "reduce5", "reduce6"] {
        assert_eq!(shared(step).load.bank_conflicts + shared(step).store.bank_conflicts, 0, "{step}");
    }
    // reduce5: two steps of the block, then six of one warp, with two loads in the first and one in
    // the others.
    assert_eq!(shared("reduce5").load.requests, 2 * (4 + 2) + 7 + 1);
    // reduce6: a value of each warp, and one load of the first warp.
    assert_eq!((shared("reduce6").load.requests, shared("reduce6").store.requests), (1, block / 32));
    // Active lanes: from reduce2 on whole warps work. In reduce2 and reduce3 these are the same
    // threads.
    let lanes =
        |step: &str| counters(&report, &format!("{step}-sum-f32")).active_lanes_per_instruction().expect("lanes");
    assert!(lanes("reduce1") < lanes("reduce2") && lanes("reduce1") < lanes("reduce3"));
    // Several passes: 2^16 values are 256, then 1.
    let report = run("reduce", "--size 65536 --block 256 --reduce1 --reduce4");
    let launches = |name| variant(&report, name).launches.len();
    assert_eq!((launches("reduce1-sum-f32"), launches("reduce4-sum-f32")), (2, 1));
    let of_launches: u64 =
        variant(&report, "reduce1-sum-f32").launches.iter().map(|(_, counted)| counted.global.load.requests).sum();
    assert_eq!(counters(&report, "reduce1-sum-f32").global.load.requests, of_launches);
    assert_eq!(of_launches, 65536 / 32 + 256 / 32);
    // The best: one request for 32 words of 16 bytes, and for a few values one store and nothing
    // else.
    let global = |report: &LabReport| counters(report, "best-sum-f32").global;
    let small = global(&run("reduce", "--size 8192 --best"));
    assert_eq!((small.load.requests, small.store.requests), (8192 / 128, 1));
    // 20000 values: 5000 words in 10 blocks of 512. Nine blocks leave a value each, which the last
    // block reads with one request; it empties their slots and stores the result.
    let report = run("reduce", "--size 20000 --best");
    let best = global(&report);
    assert_eq!(variant(&report, "best-sum-f32").launches.len(), 1);
    assert_eq!((best.load.requests, best.store.requests), (5000_u64.div_ceil(32) + 1, 9 + 1 + 1));
    // A value for each of 16 warps in ten blocks, read as four words in each block, and once more
    // in the last block.
    let shared = counters(&report, "best-sum-f32").shared;
    assert_eq!((shared.store.requests, shared.load.requests), (11 * 16, 11 * 4));
}

/// In shared memory, only the vectors' loads and a store for each block; in global memory, those of
/// the tree as well.
pub fn dot() {
    let (size, block) = (4096, 256);
    let report = run("dot", &format!("--size {size} --block {block}"));
    let blocks = size / block;
    let global = |name| counters(&report, name).global;
    let own = (2 * size / 32, blocks);
    let shared = global("shared-aligned");
    assert_eq!((shared.load.requests, shared.store.requests), own);
    // Steps of 128, 64, 32, 16, 8, 4, 2 and 1 threads.
    let warps = [128_u64, 64, 32, 16, 8, 4, 2, 1].iter().map(|threads| threads.div_ceil(32)).sum::<u64>();
    let tree = (blocks * (2 * warps + 1), blocks * (warps + block / 32));
    let all = global("global-aligned");
    assert_eq!((all.load.requests, all.store.requests), (own.0 + tree.0, own.1 + tree.1));
    // An odd length: the second vector starts in the middle of a sector.
    let report = run("dot", "--size 4097 --shared");
    let sectors = |name| counters(&report, name).global.load.sectors_per_request().expect("loads");
    assert!(sectors("shared-linear") > 4.4 && sectors("shared-aligned") < 4.0);
    // The best: words of 16 bytes if both vectors are aligned to them. 1000 words of each are two
    // blocks.
    let report = run("dot", "--size 4000 --best");
    for name in ["best-linear", "best-aligned"] {
        let global = counters(&report, name).global;
        assert_eq!((global.load.requests, global.store.requests), (2 * 1000_u64.div_ceil(32) + 1, 3), "{name}");
    }
    assert_eq!(
        counters(&run("dot", "--size 399 --best"), "best-linear").global.load.requests,
        2 * 399_u64.div_ceil(32)
    );
}

/// A thread for each row reads 32 rows at once. A block for each row, or a thread for each column,
/// reads neighbours.
pub fn rows() {
    let report = run("rows", "--rows 64 --cols 256 --all");
    for statistic in ["sum", "mean", "max", "min", "squares"] {
        for layout in ["linear", "pitched"] {
            load_sectors(&report, &format!("{statistic}-global-{layout}"), 32.0);
            load_sectors(&report, &format!("{statistic}-shared-{layout}"), 4.0);
        }
    }
    for memory in ["global", "shared"] {
        load_sectors(&report, &format!("column-means-{memory}-linear"), 4.0);
    }
    let report = run("rows", "--rows 64 --cols 1001 --sum --shared --linear --pitched");
    let sectors = |name| counters(&report, name).global.load.sectors_per_request().expect("loads");
    assert!(sectors("sum-shared-linear") > 4.7 && sectors("sum-shared-pitched") < 4.0);
    // The best: words of 16 bytes. A warp reads four rows of 32 floats at once, and a row of 256 in
    // two requests. Nine rows are enough for 16 multiprocessors; for more, several blocks would
    // share each.
    for (flags, requests) in [
        ("--rows 64 --cols 32", 64 / 4),
        ("--rows 64 --cols 256", 2 * 64),
        ("--rows 9 --cols 8192 --multiprocessors 16", 9 * 64),
    ] {
        let report = run("rows", &format!("{flags} --sum --best --linear"));
        let global = counters(&report, "sum-best-linear").global;
        near(global.load.sectors_per_request(), 16.0, flags);
        assert_eq!(global.load.requests, requests, "{flags}");
    }
}
