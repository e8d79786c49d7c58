//! What each lab's counters must show: the numbers of the lectures, worked out.

use crate::{counters, right, run, run_on, simulator, variant};
use host::report::LabReport;

#[test]
fn every_lab_shows_what_it_teaches() {
    let failed: Vec<&str> = crate::table::rows()
        .filter(|row| std::panic::catch_unwind(row.closed_forms).is_err())
        .map(|row| row.lab)
        .collect();
    assert!(failed.is_empty(), "these labs do not show what they teach, as said above: {failed:?}");
}

/// A number that was counted on average, to the digits that a double has.
fn near(found: Option<f64>, expected: f64, what: &str) {
    let found = found.unwrap_or_else(|| panic!("{what}: nothing was counted"));
    assert!((found - expected).abs() < 1e-9, "{what}: {expected} is expected, and {found} was counted");
}

fn load_sectors(report: &LabReport, name: &str, expected: f64) {
    near(counters(report, name).global.load.sectors_per_request(), expected, &format!("{}: {name}", report.lab));
}

fn store_sectors(report: &LabReport, name: &str, expected: f64) {
    near(counters(report, name).global.store.sectors_per_request(), expected, &format!("{}: {name}", report.lab));
}

fn bytes_used(report: &LabReport, name: &str, expected: f64) {
    near(counters(report, name).global.load.percent_of_bytes_used(), expected, &format!("{}: {name}", report.lab));
}

fn wavefronts(report: &LabReport, name: &str, expected: f64) {
    near(counters(report, name).shared.load.wavefronts_per_request(), expected, &format!("{}: {name}", report.lab));
}

/// A word of `w` floats takes one request for 32 of them, whatever the block, the grid and the number of independent loads.
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
    // Occupancy and bytes in flight, on a model: 8 blocks of 256 threads, four loads of 16 bytes.
    let report = run_on(&simulator("sim:hopper"), "launch", "--size 4194304 --block 256 --word f32x4 --loads 4");
    let variant = &report.variants[0];
    assert_eq!(variant.fact("bytes_in_flight"), Some(&(8 * 256 * 4 * 16).into()));
    assert_eq!(variant.counters.expect("counters").occupancy.expect("an occupancy").percent(), 100.0);
}

/// Four sectors where the offset is a multiple of 8, else five.
pub fn offset() {
    let report = run("offset", "--size 65664");
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
    // Whole warps alone: to the digit.
    let report = run("offset", "--size 65536 --block 32 --offset 0,32,128");
    for name in ["read+0", "read+32", "read+128"] {
        load_sectors(&report, name, 4.0);
        bytes_used(&report, name, 100.0);
        store_sectors(&report, &name.replace("read", "write"), 4.0);
    }
}

/// The lectures' table of transactions and bus use, for Fermi's lines, its sectors, and everything later.
pub fn access() {
    let report = run("access", "--size 1024 --stride 2,8,16,32");
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
    // G80: one transaction a thread unless the half warp is in order.
    let g80 = right(run_on(&simulator("sim:g80"), "access", "--loads --size 1024 --stride 2"), "on g80");
    for (pattern, transactions) in [("aligned", 2), ("permuted", 32), ("misaligned", 32)] {
        let counted = counters(&g80, &format!("load {pattern}"));
        assert_eq!(counted.model.expect("a model").global_load.transactions, transactions * 32, "{pattern}");
    }
}

/// A field of a structure of 12 bytes: 12 sectors a load, a third of them used; and so on.
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

/// Past L1 nothing is found in it; a stencil of nine finds at least eight ninths; Fermi's L1 fetches four times what scattered reads
/// use.
pub fn cache() {
    let report = run("cache", "--size 8192");
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
    // Lines of four sectors against one sector.
    assert_eq!(beyond("dlcm-ca-small-l1-scattered"), 4 * beyond("dlcm-cg-small-l1-scattered"));
    // A table of 32 KB fits 48 KB of L1, and not 16 KB.
    let hits = |name: &str| l1(name).hit_percent().expect("loads");
    assert!(hits("dlcm-ca-large-l1-table") > 90.0 && hits("dlcm-ca-small-l1-table") < 60.0);
    // What the context prefers holds for kernels that prefer nothing.
    for wish in ["nothing", "shared", "l1", "equal"] {
        assert_eq!(beyond(&format!("context-prefers-{wish}")), beyond(&format!("kernel-prefers-{wish}")), "{wish}");
    }
}

/// Rows of 120 floats start in the middle of a line three times out of four; pitched ones never.
pub fn pitch() {
    let report = run("pitch", "--rows 512 --cols 120");
    let lines = |name: &str| {
        let counted = counters(&report, &format!("{name} on fermi"));
        let load = counted.model.expect("a model").global_load;
        load.transactions as f64 / (512 * 4) as f64
    };
    // 480 bytes in four requests: row r begins at 96 r modulo 128, so that rows of the first kind touch 4 lines and the other
    // three 7 (three whole warps that straddle two lines each, and 24 lanes that straddle two, one, or one).
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

/// One address for all lanes; as many as there are different bytes in a warp.
pub fn constant() {
    let size = 4096;
    let report = run("constant", &format!("--size {size}"));
    let warps = size / 32;
    let constant = |name| counters(&report, name).constant;
    assert_eq!(
        (constant("polynomial-constant").requests, constant("polynomial-constant").addresses),
        (8 * warps, 8 * warps)
    );
    assert_eq!((constant("gamma-constant").requests, constant("gamma-constant").addresses), (2 * warps, 2 * warps));
    // The lab's own random bytes: the numbers after the elements, of which each takes one.
    let mut random = host::random::Random::new(1);
    let _x: Vec<f32> = random.samples(size as usize);
    let bytes: Vec<u8> = random.samples(size as usize);
    let different = |warp: &[u8]| warp.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
    let addresses: u64 = bytes.chunks(32).map(different).sum();
    assert_eq!((constant("lookup-constant").requests, constant("lookup-constant").addresses), (warps, addresses));
    for (name, loads) in [("polynomial", 8), ("gamma", 2), ("lookup", 1)] {
        let of = |memory| counters(&report, &format!("{name}-{memory}"));
        assert_eq!(of("global").constant.requests, 0, "{name}");
        let more = of("global").global.load.requests - of("constant").global.load.requests;
        assert_eq!(more, loads * warps, "{name}");
    }
}

/// One store of four sectors a warp, and less than half of the instructions with fast math.
pub fn table() {
    let report = run("table", "--size 4096");
    for name in ["accurate", "fast"] {
        store_sectors(&report, name, 4.0);
        assert_eq!(counters(&report, name).global.store.requests, 4096 / 32);
        assert_eq!(counters(&report, name).global.load.requests, 0);
    }
    let instructions = |name| counters(&report, name).instructions_executed;
    assert!(2 * instructions("fast") < instructions("accurate"));
}

/// Against the grain 32 sectors, in blocks of 16 rows 16; a column of the tile 32 wavefronts, of the padded one 1.
pub fn transpose() {
    let report = run("transpose", "--rows 1024 --cols 512");
    for (name, loads, stores, shared) in [
        ("naive-reads", 4.0, 32.0, None),
        ("naive-writes", 32.0, 4.0, None),
        ("block16", 4.0, 16.0, None),
        ("tiled", 4.0, 4.0, Some(32.0)),
        ("padded", 4.0, 4.0, Some(1.0)),
        ("copy", 4.0, 4.0, None),
    ] {
        load_sectors(&report, name, loads);
        store_sectors(&report, name, stores);
        if let Some(expected) = shared {
            wavefronts(&report, name, expected);
            let conflicts = counters(&report, name).shared.load.bank_conflicts;
            assert_eq!(conflicts, (expected as u64 - 1) * 1024 * 512 / 32, "{name}");
        }
    }
}

/// A load for each operation from global memory, one in T through tiles of T x T.
pub fn matmul() {
    let (m, n, k) = (64, 128, 96);
    let report = run("matmul", &format!("--rows {m} --cols {n} --inner {k}"));
    let requests = |name| counters(&report, name).global.load.requests;
    assert_eq!(requests("naive"), 2 * m * n * k / 32);
    assert_eq!(requests("tiled16"), 2 * m * n * k / 32 / 16);
    assert_eq!(requests("tiled32"), 2 * m * n * k / 32 / 32);
    for (name, tile) in [("tiled16", 16), ("tiled32", 32)] {
        let shared = counters(&report, name).shared;
        // One load for each multiplication and one for four, since the compiler joins those along a row; two stores for each
        // tile; no conflicts.
        assert_eq!(shared.load.requests, m * n * k / 32 * 5 / 4, "{name}");
        assert_eq!(shared.store.requests, 2 * m * n * k / 32 / tile, "{name}");
        assert_eq!(shared.load.bank_conflicts + shared.store.bank_conflicts, 0, "{name}");
    }
    let flops = variant(&report, "best").operations;
    assert_eq!(flops, 2 * m * n * k);
    // 16 numbers for 64 products, 4 at a time; a warp loads 32 x 4 of them.
    assert_eq!(counters(&report, "registers").shared.load.requests, 128 * 128 / 64 / 32 * k * 4);
    // In slices each of 8 warps takes half of the steps; half of the warps add the other half's 64 sums. A slab of A comes in words of 4 bytes, one of B in words of 16.
    let best = counters(&report, "best");
    assert_eq!(best.shared.load.requests, 8 * k / 2 * 4 + 4 * 64 / 4);
    assert_eq!(best.shared.store.requests, 4 * 64 / 4);
    assert_eq!(best.shared.load.bank_conflicts + best.shared.store.bank_conflicts, 0);
    assert_eq!(best.global.load.requests, (64 * k + 128 * k / 4) / 32);
}

/// The second tile is read by columns: 8 ways of 16 x 16, 32 ways of 32 x 32, none padded.
pub fn gram() {
    let report = run("gram", "--rows 64 --cols 64");
    wavefronts(&report, "tiled16", (1.0 + 8.0) / 2.0);
    wavefronts(&report, "padded16", 1.0);
    wavefronts(&report, "tiled32", (1.0 + 32.0) / 2.0);
    wavefronts(&report, "padded32", 1.0);
    let conflicts = |name| counters(&report, name).shared.load.bank_conflicts;
    let loads = 2 * 64 * 64 * 64 / 32;
    assert_eq!((conflicts("tiled16"), conflicts("padded16")), (7 * loads / 2, 0));
    assert_eq!((conflicts("tiled32"), conflicts("padded32")), (31 * loads / 2, 0));
    // The lab sheet's GPU: 16 banks for each half warp, 16 ways.
    let tesla = right(run_on(&simulator("sim:tesla"), "gram", "--rows 64 --cols 64 --tiled16 --padded16"), "on tesla");
    wavefronts(&tesla, "tiled16", (2.0 + 32.0) / 2.0);
    wavefronts(&tesla, "padded16", 2.0);
    // Two of the four tiles of 32 x 32 are on the diagonal, and one of the others is enough.
    assert_eq!(counters(&report, "mirrored").shared.load.requests - 32, loads / 4 * 3);
}

/// Which warps work in which step, and how their banks collide.
pub fn reduce() {
    let block = 256_u64;
    let report = run("reduce", "--size 255 --block 256");
    // One launch of one block. In each step, the distance and the threads that work.
    let steps: Vec<(u64, u64)> = (0..8).map(|step| (1 << step, block >> (step + 1))).collect();
    let shared = |step: &str| counters(&report, &format!("{step}-sum-f32")).shared;
    let of_tree = |requests: u64| (2 * requests, requests);
    // reduce1: while threads of a warp work at all, all warps come; then every second, every fourth.
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
    // A stride of 2 s words: 2 s ways, as far as there are lanes.
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
    // reduce5: two steps of the block, then six of one warp, with two loads in the first and one in the others.
    assert_eq!(shared("reduce5").load.requests, 2 * (4 + 2) + 7 + 1);
    // reduce6: a value of each warp, and one load of the first warp.
    assert_eq!((shared("reduce6").load.requests, shared("reduce6").store.requests), (1, block / 32));
    // Lanes: every step wakes more of them, down to the last ones.
    let lanes =
        |step: &str| counters(&report, &format!("{step}-sum-f32")).active_lanes_per_instruction().expect("lanes");
    assert!(lanes("reduce1") < lanes("reduce2") && lanes("reduce2") < lanes("reduce3"));
    // Several passes: 2^16 values are 256, then 1.
    let report = run("reduce", "--size 65536 --block 256 --reduce1 --reduce4");
    let launches = |name| variant(&report, name).launches.len();
    assert_eq!((launches("reduce1-sum-f32"), launches("reduce4-sum-f32")), (2, 1));
    let of_launches: u64 =
        variant(&report, "reduce1-sum-f32").launches.iter().map(|(_, counted)| counted.global.load.requests).sum();
    assert_eq!(counters(&report, "reduce1-sum-f32").global.load.requests, of_launches);
    assert_eq!(of_launches, 65536 / 32 + 256 / 32);
    // The best: a request for 32 words of 16 bytes, and nothing else for a few values; one store.
    let global = |report: &LabReport| counters(report, "best-sum-f32").global;
    let small = global(&run("reduce", "--size 8192 --best"));
    assert_eq!((small.load.requests, small.store.requests), (8192 / 128, 1));
    // 20000 values: 5000 words in 10 blocks of 512. Nine leave a value, which one request of the last finds there; it empties their
    // slots, and stores the result.
    let report = run("reduce", "--size 20000 --best");
    let best = global(&report);
    assert_eq!(variant(&report, "best-sum-f32").launches.len(), 1);
    assert_eq!((best.load.requests, best.store.requests), (5000_u64.div_ceil(32) + 1, 9 + 1 + 1));
    // A value for each of 16 warps and ten blocks, four words of them in each block; once more in the last.
    let shared = counters(&report, "best-sum-f32").shared;
    assert_eq!((shared.store.requests, shared.load.requests), (11 * 16, 11 * 4));
}

/// In shared memory, the vectors' own loads and a store for each block; in global memory the tree's as well.
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
    // The best: words of 16 bytes where both vectors stand on them. 1000 words of each are two blocks.
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

/// A thread a row: 32 rows at once. A block a row, and a thread a column: side by side.
pub fn rows() {
    let report = run("rows", "--rows 64 --cols 256");
    for statistic in ["sum", "mean", "max", "min", "squares"] {
        for layout in ["linear", "pitched"] {
            load_sectors(&report, &format!("{statistic}-global-{layout}"), 32.0);
            load_sectors(&report, &format!("{statistic}-shared-{layout}"), 4.0);
        }
    }
    for memory in ["global", "shared"] {
        load_sectors(&report, &format!("column-means-{memory}-linear"), 4.0);
    }
    let report = run("rows", "--rows 64 --cols 1001 --sum --shared");
    let sectors = |name| counters(&report, name).global.load.sectors_per_request().expect("loads");
    assert!(sectors("sum-shared-linear") > 4.7 && sectors("sum-shared-pitched") < 4.0);
    // The best: words of 16 bytes. Eight lanes have a row of 32 floats, and a warp four rows; a warp has a row of 256, twice.
    for (flags, requests) in
        [("--rows 64 --cols 32", 64 / 4), ("--rows 64 --cols 256", 2 * 64), ("--rows 9 --cols 8192", 9 * 64)]
    {
        let report = run("rows", &format!("{flags} --sum --best --linear"));
        let global = counters(&report, "sum-best-linear").global;
        near(global.load.sectors_per_request(), 16.0, flags);
        assert_eq!(global.load.requests, requests, "{flags}");
    }
}

/// gcd(s, 32) wavefronts at stride s; and G80's table, in two half warps of 16 banks.
pub fn banks() {
    let report = run("banks", "");
    let gcd = |mut a: u32, mut b: u32| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        f64::from(a)
    };
    let both = |name: &str, words: f64, halves: f64| {
        wavefronts(&report, name, words);
        wavefronts(&report, &format!("{name} on g80"), halves);
    };
    for stride in [1, 2, 3, 8, 16, 32, 33] {
        both(&format!("stride-{stride}"), gcd(stride, 32), 2.0 * gcd(stride, 16));
    }
    for (name, words, halves) in [
        ("permuted", 1.0, 2.0),
        ("one-word", 1.0, 2.0),
        // Each word is broadcast to one lane after the other on G80: four bytes of a word are four passes.
        ("bytes-1", 1.0, 8.0),
        ("bytes-2", 1.0, 4.0),
        ("structure-of-2", 2.0, 4.0),
        ("structure-of-3", 1.0, 2.0),
        ("two-interleaved", 2.0, 4.0),
        ("two-block-apart", 1.0, 2.0),
        ("column-of-32x32", 32.0, 32.0),
        ("column-of-32x33", 1.0, 2.0),
    ] {
        both(name, words, halves);
    }
    wavefronts(&report, "bytes-8", 2.0);
    wavefronts(&report, "bytes-16", 4.0);
}

/// Blocks that fit 227 KB, each with 1 KB of its own for the system; and static is dynamic.
pub fn shared() {
    let report = run("shared", "--size 131072 --block 256");
    for kilobytes in [1_u32, 4, 8, 16, 32, 48, 64, 96, 160, 227] {
        let counted = counters(&report, &format!("dynamic-{kilobytes}"));
        let blocks = (228 / (kilobytes + 1)).min(8);
        let percent = counted.occupancy.expect("an occupancy").percent();
        assert_eq!(percent, f64::from(blocks) * 12.5, "{kilobytes} KB");
    }
    let (fixed, dynamic) = (counters(&report, "static-16"), counters(&report, "dynamic-16"));
    assert_eq!((fixed.shared, fixed.global), (dynamic.shared, dynamic.global));
    // 228 KB in steps: a quarter is 64 KB, three blocks of 17.
    let carved = counters(&report, "carveout-25").occupancy.expect("an occupancy");
    assert_eq!((carved.carveout >> 10, carved.blocks()), (64, 3));
}

/// Rows win in row order, everything else in Morton order.
pub fn texture() {
    let report = run("texture", "--size 128");
    for (walk, rows, morton) in [("rows", 4.0, 8.0), ("columns", 32.0, 16.0)] {
        load_sectors(&report, &format!("{walk}-row-order"), rows);
        load_sectors(&report, &format!("{walk}-morton-order"), morton);
    }
    load_sectors(&report, "diagonals-row-order", 32.0);
    let sectors = |name: String| counters(&report, &name).global.load.sectors;
    for walk in ["columns", "diagonals", "windows"] {
        let (rows, morton) = (sectors(format!("{walk}-row-order")), sectors(format!("{walk}-morton-order")));
        assert!(morton < rows, "{walk}: {morton} against {rows}");
    }
    // A warp is requests of four lanes, or of eight where the texture is linear memory.
    let requests = |name| counters(&report, name).texture.requests;
    assert_eq!((requests("rows-texture"), requests("linear-texture")), (128 * 128 / 4, 128 * 128 / 8));
}
