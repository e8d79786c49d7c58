//! Closed forms of the labs about shared memory: tiles, banks, occupancy.

use super::*;

/// Along columns 32 sectors, in blocks of 16 rows 16. A column of the tile takes 32 wavefronts, of
/// the padded tile 1. Words are four sectors for each eight lanes. In a small tile, a warp's floats
/// lie in different banks; in a large one, two share each bank.
pub fn transpose() {
    let report = run("transpose", "--rows 1024 --cols 512");
    for (name, loads, stores, shared) in [
        ("strided-writes", 4.0, 32.0, None),
        ("strided-reads", 32.0, 4.0, None),
        ("block16", 4.0, 16.0, None),
        ("tiled", 4.0, 4.0, Some(32.0)),
        ("padded", 4.0, 4.0, Some(1.0)),
        ("batched", 4.0, 4.0, Some(1.0)),
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
    all_lanes_are_active(&report);
    // The order of the tiles changes no counter.
    let diagonal = run("transpose", "--rows 1024 --cols 512 --padded --diagonal");
    assert_eq!(counters(&diagonal, "diagonal").global, counters(&diagonal, "padded").global);
    assert_eq!(counters(&diagonal, "diagonal").shared, counters(&diagonal, "padded").shared);
    // A column's floats are as far apart as a row is long: they share banks by the factors that 32
    // and that have in common.
    let widths = run("transpose", "--rows 64 --cols 32 --tile-width 32,33,34,36,40,48,63,64");
    for (width, expected) in [(32, 32.0), (33, 1.0), (34, 2.0), (36, 4.0), (40, 8.0), (48, 16.0), (63, 1.0), (64, 32.0)]
    {
        wavefronts(&widths, &format!("width-{width}"), expected);
    }
    for (columns, shared) in [(512, 1.0), (1152, 2.0)] {
        let best = run("transpose", &format!("--best --rows 2048 --cols {columns}"));
        load_sectors(&best, "best", 16.0);
        store_sectors(&best, "best", 16.0);
        wavefronts(&best, "best", shared);
    }
}

/// Naive: a global load for each operand. Through tiles of T x T: one in T of them.
pub fn matmul() {
    let (m, n, k) = (64, 128, 96);
    let steps = "--naive --tiled16 --tiled32 --registers --wide --async2 --async3 --best";
    let report = run("matmul", &format!("{steps} --m {m} --n {n} --k {k}"));
    let requests = |name| counters(&report, name).global.load.requests;
    assert_eq!(requests("naive"), 2 * m * n * k / 32);
    assert_eq!(requests("tiled16"), 2 * m * n * k / 32 / 16);
    assert_eq!(requests("tiled32"), 2 * m * n * k / 32 / 32);
    for (name, tile) in [("tiled16", 16), ("tiled32", 32)] {
        let shared = counters(&report, name).shared;
        // One load for each multiplication and one for four, since the compiler combines those
        // along a row; two stores for each tile; no conflicts.
        assert_eq!(shared.load.requests, m * n * k / 32 * 5 / 4, "{name}");
        assert_eq!(shared.store.requests, 2 * m * n * k / 32 / tile, "{name}");
        assert_eq!(shared.load.bank_conflicts + shared.store.bank_conflicts, 0, "{name}");
    }
    let flops = variant(&report, "best").operations;
    assert_eq!(flops, 2 * m * n * k);
    // 16 numbers for 64 products, in one block of 8 warps; in words of 16 bytes, 4 loads.
    assert_eq!(counters(&report, "registers").shared.load.requests, 8 * k * 16);
    for name in ["wide", "async2", "async3"] {
        let shared = counters(&report, name).shared;
        assert_eq!(shared.load.requests, 8 * k * 4, "{name}");
        // A's two words for each half of the warp take 2 wavefronts, B's 16 words 4.
        assert_eq!(shared.load.wavefronts, 3 * shared.load.requests, "{name}");
    }
    // In slices: each of 8 warps takes half of the steps, and half of the warps add the other
    // half's 64 sums. A slab of A is loaded in words of 4 bytes, one of B in words of 16.
    let best = counters(&report, "best");
    assert_eq!(best.shared.load.requests, 8 * k / 2 * 4 + 4 * 64 / 4);
    assert_eq!(best.shared.store.requests, 4 * 64 / 4);
    assert_eq!(best.shared.load.bank_conflicts + best.shared.store.bank_conflicts, 0);
    assert_eq!(best.global.load.requests, (64 * k + 128 * k / 4) / 32);
    // Long rows are shared by two blocks: one leaves its sums and says so, the other asks once and
    // adds them to what it stores.
    let k = 512;
    let report = run("matmul", &format!("--rows 64 --cols 128 --inner {k} --best"));
    let (best, words) = (counters(&report, "best").global, 4 * 64 / 4);
    assert_eq!(best.load.requests, (64 * k + 128 * k / 4) / 32 + words + 1);
    assert_eq!(best.store.requests, 2 * words + 2);
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
    // Two of the four tiles of 32 x 32 are on the diagonal, and only one of the other two is
    // computed.
    assert_eq!(counters(&report, "mirrored").shared.load.requests - 32, loads / 4 * 3);
    // Register tiles: three tiles of 128 x 128, of which one is written twice. Each of 8 warps of a
    // block writes 16 words of 16 bytes a lane, and fills the sectors both ways. As in `matmul`,
    // columns of both tiles are stored without conflicts.
    let report = run("gram", "--rows 256 --cols 64 --registers");
    wavefronts(&report, "registers", (2.0 + 4.0) / 2.0);
    let (registers, words) = (counters(&report, "registers"), 4 * 8 * 16);
    assert_eq!((registers.global.store.requests, registers.global.store.sectors), (words, 16 * words));
    assert_eq!(registers.shared.store.bank_conflicts, 0);
    assert_eq!(registers.shared.load.requests, 3 * 8 * 64 * 4);
}

/// gcd(s, 32) wavefronts at stride s; and G80's table, with two half warps and 16 banks.
pub fn banks() {
    let report = run("banks", "--all");
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
        // On G80 a word is not broadcast to lanes that read different bytes of it: four bytes of a
        // word are four passes.
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

/// Blocks that fit 228 KB, each with 1 KB for the system. Static and dynamic shared memory count
/// alike.
pub fn shared() {
    let report = run("shared", "--all --size 131072 --block 256");
    for kilobytes in [1_u32, 4, 8, 16, 32, 48, 64, 96, 160, 227] {
        let counted = counters(&report, &format!("dynamic-{kilobytes}"));
        let blocks = (228 / (kilobytes + 1)).min(8);
        let percent = counted.occupancy.expect("an occupancy").percent();
        assert_eq!(percent, f64::from(blocks) * 12.5, "{kilobytes} KB");
    }
    let (fixed, dynamic) = (counters(&report, "static-16"), counters(&report, "dynamic-16"));
    assert_eq!((fixed.shared, fixed.global), (dynamic.shared, dynamic.global));
    // A quarter of 228 KB is rounded up to 64 KB: three blocks of 17 KB.
    let carved = counters(&report, "carveout-25").occupancy.expect("an occupancy");
    assert_eq!((carved.carveout >> 10, carved.blocks()), (64, 3));
}
