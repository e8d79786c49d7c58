//! The roofline of a lab's rows: their operations for each byte that DRAM and L2 move, as counted on
//! a model, and in a second, as measured or predicted. `--plot` and pages show it. Pure.

use device::Counters;
use picture::{Roof, Roofline, RooflineKernel};
use simt::Model;

use super::variant_report::VariantReport;

/// Where the heights of the points come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heights {
    Measured,
    Predicted,
    /// No time is known.
    Roofs,
}

impl Heights {
    /// What all of these rows have; the better first.
    fn of(rows: &[&VariantReport]) -> Self {
        match () {
            () if rows.iter().all(|row| row.timing.is_some()) => Self::Measured,
            () if rows.iter().all(|row| row.predicted_time().is_some()) => Self::Predicted,
            () => Self::Roofs,
        }
    }

    /// The operations of a row in a second, in TFLOP/s.
    fn tflops(self, row: &VariantReport) -> Option<f64> {
        let gflops = match self {
            Self::Measured => row.gflops,
            Self::Predicted => row.predicted_time()?.gflops,
            Self::Roofs => None,
        };
        Some(gflops? / 1e3)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Measured => "times measured",
            Self::Predicted => "times predicted",
            Self::Roofs => "no times: each at its lowest roof",
        }
    }
}

/// The roofline of the rows whose bytes are known; `None` without any.
pub(super) fn of(variants: &[VariantReport]) -> Option<Roofline> {
    let rows: Vec<_> = variants.iter().filter(|row| row.operations > 0 && bytes(row).is_some()).collect();
    let model = rows.first()?.counters?.model?.model;
    let rows: Vec<_> = rows.into_iter().filter(|row| is_on(row, model)).collect();
    let (memories, arithmetic) = roofs(model)?;
    let heights = Heights::of(&rows);
    let mut groups: Vec<&str> = rows.iter().map(|row| row.group.as_str()).collect();
    groups.dedup();
    let kernel = |row: &&VariantReport| {
        let operations = row.operations as f64;
        Some(RooflineKernel {
            name: row.name.clone(),
            group: groups.iter().position(|group| *group == row.group).unwrap_or(0),
            tflops: heights.tflops(row),
            intensities: bytes(row)?.map(|bytes| operations / bytes as f64).into(),
        })
    };
    Some(Roofline {
        title: format!("TFLOP/s, by arithmetic intensity: {}, {}", model.chip, heights.name()),
        arithmetic,
        memories,
        kernels: rows.iter().filter_map(kernel).collect(),
    })
}

fn is_on(row: &VariantReport, model: &Model) -> bool {
    row.counters.and_then(|counters| counters.model).is_some_and(|counted| counted.model.name == model.name)
}

/// The bytes that DRAM and L2 move for a row; no counter knows those of textures.
fn bytes(row: &VariantReport) -> Option<[u64; 2]> {
    let counters: &Counters = row.counters.as_ref().filter(|counters| counters.texture.requests == 0)?;
    let caches = counters.model?.caches;
    let stored = 32 * caches.l1_to_l2_sectors;
    // What is stored stays in L2 at the end of a small launch, but it goes to DRAM.
    let bytes = [caches.dram_read_bytes + caches.dram_write_bytes.max(stored), 32 * caches.l2_to_l1_sectors + stored];
    Some(bytes).filter(|bytes| bytes.iter().all(|&bytes| bytes > 0))
}

/// What DRAM and L2 of a model read in a second, in TB/s, and its multiply-adds of f32, two operations
/// each, in TFLOP/s.
fn roofs(model: &Model) -> Option<(Vec<Roof>, Roof)> {
    let timing = model.timing()?;
    let roof = |name: &str, rate: f64| Roof { name: name.to_owned(), rate: rate / 1e3 };
    let gflops = f64::from(model.multiprocessors) * timing.f32_gflops_per_multiprocessor();
    Some((vec![roof("DRAM", timing.dram_gbps()), roof("L2", timing.l2_gbps())], roof("FP32", gflops)))
}
