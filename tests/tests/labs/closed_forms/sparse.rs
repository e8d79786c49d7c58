//! Sparse products: which sectors a warp reads in each format, and padding.

use std::fmt::Write;
use std::fs;

use host::report::LabReport;

use crate::labs::{counters, run, variant};

/// A run on the matrix with these entries, which are all 1.
fn of(rows: usize, columns: usize, entries: &[(usize, usize)], flags: &str) -> LabReport {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.mtx");
    let mut text = format!("%%MatrixMarket matrix coordinate pattern general\n{rows} {columns} {}\n", entries.len());
    for (row, column) in entries {
        writeln!(text, "{} {}", row + 1, column + 1).expect("a string");
    }
    fs::write(&path, text).expect("a file");
    run("sparse", &format!("--matrix {} {flags}", path.display()))
}

fn padding(report: &LabReport, row: &str) -> f64 {
    variant(report, row).fact("padding").and_then(serde_json::Value::as_f64).expect("a number")
}

/// Row r has the 16 columns from r on. A sector has 8 words.
pub fn sparse() {
    let (rows, each) = (1024_u64, 16_u64);
    let warps = rows / 32;
    let entries: Vec<(usize, usize)> =
        (0..1024).flat_map(|row| (row..row + 16).map(move |column| (row, column))).collect();
    let report = of(1024, 1039, &entries, "");
    // Entry k of 32 rows: x from column k on, which is aligned for two of the 16.
    let x = 2 * 4 + 14 * 5;
    // Where rows begin, and where they end: one word later.
    let starts = 4 + 5;
    for (row, requests, sectors) in [
        ("csr-threads-file", warps * (2 + 3 * each), warps * (starts + 2 * 32 * each + x)),
        // A row is two sectors of columns, two of values, and three of x, or two in every eighth row.
        ("csr-warps-file", rows * 5, rows / 8 * (8 * (2 + 2 + 2) + 7 * 3 + 2)),
        ("ell-file", warps * 3 * each, warps * (2 * 4 * each + x)),
        ("sliced-file", warps * (2 + 3 * each), warps * (2 + 2 * 4 * each + x)),
        // 32 entries are two rows, which together have 17 columns.
        ("coo-file", rows * each / 32 * 4, rows * each / 32 * (3 * 4 + 3)),
        ("segments-file", rows * each / 32 * 4, rows * each / 32 * (3 * 4 + 3)),
    ] {
        let counted = counters(&report, row).global;
        assert_eq!((counted.load.requests, counted.load.sectors), (requests, sectors), "{row}");
        // A warp that has one row stores one word.
        let stored = if row == "csr-warps-file" { rows } else { rows / 8 };
        assert_eq!(counted.store.sectors, stored, "{row}");
        // 16 lanes add to one word, one after the other; in segments one.
        let (adds, turns) = match row {
            "coo-file" => (rows * each / 32, 16),
            "segments-file" => (rows * each / 32, 1),
            _ => (0, 0),
        };
        assert_eq!((counted.reduction.requests, counted.reduction.sectors), (adds, adds * turns), "{row}");
        assert_eq!(padding(&report, row), 0.0, "{row}");
    }

    // One of 32 rows has 32 entries, the others one.
    let entries: Vec<(usize, usize)> =
        (0..64).flat_map(|row| (0..if row % 32 == 0 { 32 } else { 1 }).map(move |column| (row, column))).collect();
    for (log_slice, places) in [(0, 126), (3, 2 * 8 * 32 + 6 * 8), (5, 64 * 32), (7, 128 * 32)] {
        let report = of(64, 32, &entries, &format!("--log-slice {log_slice}"));
        let share = |places: f64| 100.0 * (places - 126.0) / places;
        assert_eq!(padding(&report, "sliced-file"), share(f64::from(places)), "{log_slice}");
        assert_eq!(padding(&report, "ell-file"), share(64.0 * 32.0));
        assert_eq!(padding(&report, "csr-warps-file"), 0.0);
    }
    // One full row of 5000: ELL has a place for each row in each of its columns, so it is left out.
    let entries: Vec<(usize, usize)> = (0..5000).map(|i| (0, i)).chain((1..5000).map(|i| (i, i))).collect();
    let report = of(5000, 5000, &entries, "");
    assert!(
        report.variant("ell-file").is_none() && report.parameters.contains_key("left_out"),
        "{:?}",
        report.parameters
    );
}
