//! What each lab's counters must show: the numbers of the lectures, worked out. The labs' table
//! ([`crate::labs::table`]) names the function of each lab, and one test calls them all.

mod atomics;
mod consistency;
mod global;
mod kepler;
mod order;
mod pipeline;
mod read_only;
mod reductions;
mod scan;
mod shared;
mod sparse;
mod spill;
mod stencil;
mod transfer;

pub use atomics::atomics;
pub use consistency::consistency;
pub use global::{access, cache, launch, layout, offset, pitch, table, vector};
pub use order::order;
pub use pipeline::pipeline;
pub use read_only::{constant, texture};
pub use reductions::{dot, reduce, rows};
pub use scan::scan;
pub use shared::{banks, gram, matmul, shared, transpose};
pub use sparse::sparse;
pub use spill::spill;
pub use stencil::stencil;
pub use transfer::transfer;

use crate::labs::{counters, right, run, run_on, simulator, variant};
use host::report::LabReport;

#[test]
fn every_lab_shows_what_it_teaches() {
    let failed: Vec<&str> = crate::labs::table::rows()
        .filter(|row| std::panic::catch_unwind(row.closed_forms).is_err())
        .map(|row| row.lab)
        .collect();
    assert!(failed.is_empty(), "these labs do not show what they teach, as reported above: {failed:?}");
}

/// Checks an average to the precision of a double.
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

/// No warp of these kernels lacks a thread, and no branch divides one.
fn all_lanes_are_active(report: &LabReport) {
    for variant in &report.variants {
        let lanes = variant.counters.expect("counters").active_lanes_per_instruction();
        near(lanes, 32.0, &format!("{}: {}: active lanes", report.lab, variant.name));
    }
}
