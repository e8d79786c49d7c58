//! Closed forms of the labs about global memory: requests and sectors, L1, alignment.

use host::report::Cost;

use super::*;

/// A word of `w` floats takes one request for 32 of them, whatever the block, the grid and the
/// number of independent loads.
pub fn launch() {
    let size = 1 << 14;
    for grid in ["", " --grid 3"] {
        let report = run("launch", &format!("--size {size} --block 128{grid}"));
        for variant in &report.variants {
            let word = variant.fact("word").and_then(|word| word.as_str()).expect("a word");
            let floats =
                [("f32", 1), ("f32x2", 2), ("f32x4", 4)].iter().find(|(name, _)| *name == word).expect("a word").1;
            let counted = variant.counters.expect("counters").global;
            assert_eq!(counted.load.requests, size / 32 / floats, "{}", variant.name);
            assert_eq!((counted.load.sectors, counted.store.sectors), (size / 8, size / 8), "{}", variant.name);
        }
    }
    // Bytes in flight, on a model: the registers of four loads of 16 bytes leave room for 5 blocks
    // of 256 threads.
    let report = run_on(&simulator("sim:hopper"), "launch", "--size 4194304 --block 256 --word f32x4 --loads 4");
    let variant = &report.variants[0];
    assert_eq!(variant.fact("bytes_in_flight_per_full_multiprocessor"), Some(&(5 * 256 * 4 * 16).into()));
    assert_eq!(variant.counters.expect("counters").occupancy.expect("an occupancy").percent(), 100.0);
}

/// Four sectors if the offset is a multiple of 8, else five.
pub fn offset() {
    let report = run("offset", "--all --size 65664");
    for k in (0..=32).chain([128]) {
        let name = format!("read+{k}");
        let load = counters(&report, &name).global.load;
        assert_eq!(load.requests, 2 * (65664 - k as u64).div_ceil(32), "{name}");
        let expected = if k % 8 == 0 { (4.0, 100.0) } else { (5.0, 80.0) };
        // The last warp has fewer lanes.
        let sectors = load.sectors_per_request().expect("loads");
        assert!((sectors - expected.0).abs() < 0.01, "{name}: {sectors}");
        assert!((load.percent_of_bytes_used().expect("loads") - expected.1).abs() < 0.1, "{name}");
    }
    // Only whole warps: exact.
    let report = run("offset", "--size 65536 --block 32 --offset 0,32,128");
    for name in ["read+0", "read+32", "read+128"] {
        load_sectors(&report, name, 4.0);
        bytes_used(&report, name, 100.0);
        store_sectors(&report, &name.replace("read", "write"), 4.0);
    }
    all_lanes_are_active(&report);
    // A fifth sector where four would do. On G80, in its own unit: two half warps, and a
    // transaction for each lane.
    let report = run("offset", "--size 65536 --read --offset 0,1");
    let g80 = right(run_on(&simulator("sim:g80"), "offset", "--size 65536 --read --offset 0,1"), "on g80");
    for (report, unit, aligned, misaligned) in
        [(report, "sectors", (4.0, 1.0), (5.0, 1.25)), (g80, "transactions", (2.0, 1.0), (32.0, 8.0))]
    {
        for (name, expected) in [("read+0", aligned), ("read+1", misaligned)] {
            let cost = Cost::of_loads(counters(&report, name)).expect("loads");
            assert_eq!(cost.unit, unit, "{name}");
            // The last warp has fewer lanes.
            assert!((cost.per_request - expected.0).abs() < 0.02, "{name}: {cost:?}");
            assert!((cost.per_ideal - expected.1).abs() < 0.01, "{name}: {cost:?}");
        }
    }
}

/// The lectures' table of transactions and bus use, for Fermi's lines, its sectors, and everything
/// later.
pub fn access() {
    let report = run("access", "--all --size 1024 --stride 2,8,16,32");
    let model = |pattern: &str, model: &str| {
        let counted = counters(&report, &format!("{pattern} on {model}"));
        let requests = counted.global.load.requests as f64;
        let load = counted.model.expect("a model").global_load;
        (load.transactions as f64 / requests, load.percent_used().expect("loads"))
    };
    let table = [
        // pattern, lines of 128 bytes, sectors of 32 bytes
        ("aligned", (1.0, 100.0), (4.0, 100.0)),
        ("permuted", (1.0, 100.0), (4.0, 100.0)),
        ("misaligned", (2.0, 50.0), (5.0, 80.0)),
        ("one word", (1.0, 3.125), (1.0, 12.5)),
        ("stride 2", (2.0, 50.0), (8.0, 50.0)),
        ("stride 8", (8.0, 12.5), (32.0, 12.5)),
        ("stride 16", (16.0, 6.25), (32.0, 12.5)),
        ("stride 32", (32.0, 3.125), (32.0, 12.5)),
        ("scattered", (32.0, 128.0 / 32.0 / 128.0 * 100.0), (32.0, 12.5)),
    ];
    for (pattern, lines, sectors) in table {
        let pattern = format!("load {pattern}");
        assert_eq!(model(&pattern, "fermi:ca"), lines, "{pattern}");
        assert_eq!(model(&pattern, "fermi:cg"), sectors, "{pattern}");
        assert_eq!(model(&pattern, "hopper"), sectors, "{pattern}");
        load_sectors(&report, &format!("{pattern} on hopper"), sectors.0);
        store_sectors(&report, &format!("{} on hopper", pattern.replace("load", "store")), sectors.0);
    }
    // Neighbours: 4 and 5 sectors. Every 64th: 32 and 4.
    load_sectors(&report, "load a[i+1]-a[i] on hopper", 4.5);
    load_sectors(&report, "load a[64i]-a[i] on hopper", 18.0);
    // G80: one transaction for each thread unless the half warp accesses memory in order.
    let g80 = right(run_on(&simulator("sim:g80"), "access", "--loads --size 1024 --stride 2"), "on g80");
    for (pattern, transactions) in [("aligned", 2), ("permuted", 32), ("misaligned", 32)] {
        let counted = counters(&g80, &format!("load {pattern}"));
        assert_eq!(counted.model.expect("a model").global_load.transactions, transactions * 32, "{pattern}");
    }
}

/// For structures of 12 bytes, a load of a field takes 12 sectors, of which a third is used; and so
/// on.
pub fn layout() {
    let report = run("layout", "--size 4096");
    for (name, sectors, used) in [
        ("points-direct", 12.0, 100.0 / 3.0),
        ("points-read-only", 12.0, 100.0 / 3.0),
        ("points-staged", 4.0, 100.0),
        ("points-arrays", 4.0, 100.0),
        ("particles-direct", 32.0, 25.0),
        ("particles-arrays", 8.0, 100.0),
        ("sums-rows", 32.0, 12.5),
        ("sums-columns", 4.0, 100.0),
    ] {
        load_sectors(&report, name, sectors);
        bytes_used(&report, name, used);
    }
    // A stride of three words: no bank conflicts.
    wavefronts(&report, "points-staged", 1.0);
    assert_eq!(counters(&report, "points-staged").shared.load.bank_conflicts, 0);
    // A load of a pointer before each load of an element.
    let requests = |name| counters(&report, name).global.load.requests;
    assert_eq!(requests("matrix-pointers"), 2 * requests("matrix-pitched"));
    kepler::layout();
}

/// 512 bytes take 4, 2 and 1 requests.
pub fn vector() {
    let report = run("vector", "--size 16384");
    for (name, requests) in [("copy4", 4), ("copy8", 2), ("copy16", 1), ("best", 1)] {
        let counted = counters(&report, name).global;
        let chunks = 16384 * 4 / 512;
        assert_eq!((counted.load.requests, counted.store.requests), (requests * chunks, requests * chunks), "{name}");
        assert_eq!(counted.load.sectors, 16384 / 8, "{name}");
    }
}

/// Operators that go through L1, and those that go past it.
pub fn cache() {
    let report = run("cache", "--all --size 8192");
    let l1 = |name: &str| counters(&report, name).model.expect("a model").caches.l1_global_load;
    let beyond = |name: &str| counters(&report, name).model.expect("a model").caches.l2_to_l1_sectors;
    for pattern in ["aligned", "misaligned", "strided", "scattered", "stencil", "table"] {
        let through = ["default", "ca", "cs", "nc"].map(|operator| beyond(&format!("{operator}-{pattern}")));
        assert!(through.iter().all(|&sectors| sectors == through[0]), "{pattern}: {through:?}");
        for operator in ["cg", "lu", "cv"] {
            let name = format!("{operator}-{pattern}");
            assert_eq!(l1(&name).hits, 0, "{name}");
            assert_eq!(beyond(&name), counters(&report, &name).global.load.sectors, "{name}");
        }
    }
    assert_eq!(l1("ca-aligned").hits, 0);
    assert!(l1("ca-stencil").hit_percent().expect("loads") > 800.0 / 9.0);
    // Lines of four sectors, against single sectors.
    assert_eq!(beyond("dlcm-ca-small-l1-scattered"), 4 * beyond("dlcm-cg-small-l1-scattered"));
    // A table of 32 KB fits 48 KB of L1, and not 16 KB.
    let hits = |name: &str| l1(name).hit_percent().expect("loads");
    assert!(hits("dlcm-ca-large-l1-table") > 90.0 && hits("dlcm-ca-small-l1-table") < 60.0);
    // The context's preference applies to kernels without one.
    for wish in ["nothing", "shared", "l1", "equal"] {
        assert_eq!(beyond(&format!("context-prefers-{wish}")), beyond(&format!("kernel-prefers-{wish}")), "{wish}");
    }
    kepler::cache();
}

/// Rows of 120 floats start in the middle of a line three times out of four; pitched ones never.
pub fn pitch() {
    let report = run("pitch", "--rows 512 --cols 120 --by-rows --by-columns --transposed");
    let lines = |name: &str| {
        let counted = counters(&report, &format!("{name} on fermi"));
        let load = counted.model.expect("a model").global_load;
        load.transactions as f64 / (512 * 4) as f64
    };
    // 480 bytes in four requests: row r begins at 96 r modulo 128, so that rows of the first kind
    // touch 4 lines and the other three 7 (three whole warps that straddle two lines each, and 24
    // lanes that straddle two, one, or one).
    let straddled = |start: usize| {
        let warp = |first: usize, lanes: usize| (first + 4 * lanes - 1) / 128 - first / 128 + 1;
        (0..4).map(|w| warp(start + 128 * w, if w < 3 { 32 } else { 24 })).sum::<usize>()
    };
    let linear = (0..4).map(|row| straddled(96 * row % 128)).sum::<usize>() as f64 / 16.0;
    near(Some(lines("rows-linear")), linear, "rows-linear");
    near(Some(lines("rows-pitched")), 1.0, "rows-pitched");
    let extra = |name: &str| variant(&report, name).fact("extra_memory_%").and_then(serde_json::Value::as_f64);
    near(extra("rows-pitched on fermi"), 6.67, "512 bytes for 480");
    near(extra("rows-linear on fermi"), 0.0, "linear");
    for memory in ["linear", "pitched"] {
        load_sectors(&report, &format!("columns-{memory}"), 32.0);
        load_sectors(&report, &format!("transposed-{memory}"), 4.0);
    }
    // In sectors: rows of 1001 floats.
    let report = run("pitch", "--rows 64 --cols 1001 --by-rows");
    let sectors = |name: &str| counters(&report, name).global.load.sectors_per_request().expect("loads");
    assert!(sectors("rows-linear") > 4.7 && sectors("rows-pitched") < 4.0);
}

/// One store of four sectors for each warp, and less than half of the instructions with fast math.
pub fn table() {
    let report = run("table", "--size 4096");
    for name in ["accurate", "fast"] {
        store_sectors(&report, name, 4.0);
        assert_eq!(counters(&report, name).global.store.requests, 4096 / 32);
        assert_eq!(counters(&report, name).global.load.requests, 0);
    }
    all_lanes_are_active(&report);
    let instructions = |name| counters(&report, name).instructions_executed;
    assert!(2 * instructions("fast") < instructions("accurate"));
}
