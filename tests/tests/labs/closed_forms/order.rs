//! Tiles in several orders, and a table beside a stream: the same loads, and what L2 has of them.

use host::report::LabReport;
use simt::Counters;

use crate::labs::{counters, run_on, simulator};

/// The reads of L2's requests, and the bytes from DRAM.
fn of_l2(counted: &Counters) -> (u64, u64, u64) {
    let caches = counted.model.expect("a model").caches;
    (caches.l2_read.sectors, caches.l2_read.hits, caches.dram_read_bytes)
}

/// A tile loads 32 rows of A and 32 columns of B, four sectors for each 32 numbers.
fn tiles() {
    let (m, n, k) = (256_u64, 512_u64, 416_u64);
    let line = format!("--m {m} --n {n} --k {k} --row-by-row --squares --curve");
    let report: LabReport = run_on(&simulator("sim:fermi"), "order", &line);
    let sectors = m / 32 * (n / 32) * (2 * 32 * k) / 8;
    for row in ["row-by-row", "squares", "curve"] {
        let counted = counters(&report, row);
        assert_eq!(counted.global.load.sectors, sectors, "{row}");
        assert_eq!(counted.global.store.sectors, m * n / 8, "{row}");
    }
    // B has 832 KiB, L2 768: row by row, B comes from DRAM for each of 8 rows of tiles, of which 14
    // multiprocessors have about one at once; in a band of eight rows once, as A.
    let ideal = 4 * (m * k + k * n);
    let times = |row: &str| of_l2(counters(&report, row)).2 as f64 / ideal as f64;
    assert!(times("row-by-row") > 4.0, "{}", times("row-by-row"));
    assert!(times("squares") < 1.1, "{}", times("squares"));
    assert!(times("curve") < 2.0, "{}", times("curve"));
}

/// A table of two thirds of L2, and four passes over it, each with as much of a stream.
fn table() {
    let words = 4 << 20;
    let run = |flags: &str| run_on(&simulator("sim"), "order", &format!("--entries {words} {flags}"));
    let report = run("--table --streaming --evict-first --evict-last --window");
    let (table, passes) = (4 * words, 4);
    for row in ["table", "streaming", "evict-first", "evict-last", "window"] {
        let counted = counters(&report, row);
        assert_eq!(counted.global.load.sectors, 2 * passes * table / 32, "{row}");
        let (_, hits, dram) = of_l2(counted);
        // The stream pushes out all of the table, unless it is to go first or a window keeps the table. To be
        // evicted last keeps nothing alone.
        let pushed_out = ["table", "evict-last"].contains(&row);
        let read = if pushed_out { 2 * passes } else { passes + 1 };
        assert!((read * table..=read * table * 101 / 100).contains(&dram), "{row}: {dram} bytes");
        assert_eq!(hits > 0, !pushed_out, "{row}");
    }
    // A table that fits with its part of the stream needs no hint.
    let small = run_on(&simulator("sim"), "order", "--entries 262144 --table");
    assert_eq!(of_l2(counters(&small, "table")).2, (passes + 1) * (4 << 18));
}

/// Both parts.
pub fn order() {
    tiles();
    table();
}
