//! Prefix sums: barriers and bank conflicts of a block, and how often each value is moved.

use host::report::LabReport;
use simt::Counters;

use crate::labs::{counters, run, variant};

/// The counters of a row's launch of this kernel.
fn launch<'a>(report: &'a LabReport, row: &str, kernel: &str) -> &'a Counters {
    let mut launches = variant(report, row).launches.iter();
    &launches.find(|(name, _)| *name == kernel).unwrap_or_else(|| panic!("{row} does not launch {kernel}")).1
}

/// The conflicts of one access by the first `lanes` lanes of a warp, to words that are `stride` apart.
fn conflicts(lanes: u64, stride: u64) -> u64 {
    let mut banks = [0_u64; 32];
    (0..lanes).for_each(|lane| banks[(lane * stride % 32) as usize] += 1);
    banks.into_iter().max().unwrap_or(0).saturating_sub(1)
}

/// Those of a tree of 256 values: three accesses of a step upwards, and four of a step downwards. Two
/// nodes side by side may be one word of 8 bytes, which leaves the sum that the first step stores.
fn of_tree(words_of_8_bytes: bool) -> u64 {
    let step = |log: u32| {
        let pairs = 128_u64 >> log;
        let warps = pairs.div_ceil(32);
        let accesses = if words_of_8_bytes && log == 0 { 1 } else { 7 };
        accesses * warps * conflicts(pairs.min(32), 2 << log)
    };
    (0..8).map(step).sum()
}

/// A block of eight warps scans 256 values, and a tile has 4096.
pub fn scan() {
    let (size, warps) = (16384_u64, 8);
    let (blocks, tiles, sectors) = (size / 256, size / 4096, size / 8);
    let report = run("scan", &format!("--size {size} --keep 100"));

    // A barrier after the loads, and one in each of eight steps; in a tree of half as many threads
    // one before each of 16 steps and one before the result; by shuffles one.
    for (row, kernel, barriers) in [
        ("hillis-steele", "scan_hillis_steele", 9 * warps),
        ("blelloch", "scan_blelloch", 17 * warps / 2),
        ("padded", "scan_padded", 17 * warps / 2),
        ("shuffle", "scan_shuffle", warps),
    ] {
        let counted = launch(&report, row, kernel);
        assert_eq!(counted.barriers, blocks * barriers, "{row}");
        assert_eq!(counted.global.load.sectors, sectors, "{row}");
        // And a total for each block.
        assert_eq!(counted.global.store.sectors, sectors + blocks, "{row}");
        // Each sum is read and written again, but for the first block's.
        let added = launch(&report, row, "scan_add");
        assert_eq!(added.global.store.sectors, sectors - 32, "{row}");
        let of_conflicts = counted.shared.load.bank_conflicts + counted.shared.store.bank_conflicts;
        assert_eq!(of_conflicts, if row == "blelloch" { blocks * of_tree(true) } else { 0 }, "{row}");
    }
    // Padding for 16 banks leaves some conflicts, and one of more than a block has leaves all.
    let with = |log_banks: u32| {
        let report = run("scan", &format!("--size {size} --padded --log-banks {log_banks}"));
        let shared = counters(&report, "padded").shared;
        shared.load.bank_conflicts + shared.store.bank_conflicts
    };
    assert!((1..blocks * of_tree(false)).contains(&with(4)));
    assert_eq!(with(8), blocks * of_tree(false));

    // Totals first: the values twice, the sums once.
    let (first, then) = (launch(&report, "two-reads", "scan_totals"), launch(&report, "two-reads", "scan_from"));
    assert_eq!((first.global.load.sectors, first.global.store.sectors), (sectors, tiles));
    assert_eq!(then.global.store.sectors, sectors);
    // In a single pass each once, and two words for each tile. A tile finds the sum of the one before at
    // once, where blocks run one after the other.
    for row in ["single", "window"] {
        let counted = counters(&report, row);
        assert_eq!(counted.global.store.sectors, sectors + 2 * tiles, "{row}");
        assert_eq!(counted.global.atomic.requests, tiles, "{row}");
    }
    assert_eq!(counters(&report, "single").global.load.sectors, sectors + tiles - 1);
    // All values are kept, but for those that are 0 by chance: the same bytes as prefix sums.
    let compacted = counters(&report, "compact-single").global;
    assert_eq!(compacted.store.requests, size / 32 + 2 * tiles);
    let none = run("scan", &format!("--size {size} --keep 0 --compact-single"));
    assert_eq!(counters(&none, "compact-single").global.store.requests, 2 * tiles);
}
