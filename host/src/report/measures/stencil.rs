//! Stencils: what is loaded for each result, and what the memories send over the input, which has as
//! many bytes as the output.

use simt::counts::CacheCounters;

use crate::report::explanations as explain;
use crate::report::measure::Better::Lower;
use crate::report::measure::{Cell, Measure, Section};
use crate::report::variant_report::VariantReport;

/// The bytes of the input.
fn input_bytes(variant: &VariantReport) -> f64 {
    variant.useful_bytes as f64 / 2.0
}

/// Values over the results, which are as many as the input's floats.
fn a_result(variant: &VariantReport, lanes: u64) -> Cell {
    Cell::number(lanes as f64 * size_of::<f32>() as f64 / input_bytes(variant))
}

/// Loads of a warp from global memory, or its texture fetches, for 32 results. The counters have
/// texture requests of four lanes.
pub const LOADS_FOR_RESULTS: Measure =
    Measure::new(Section::Counter, "loads_a_result", &["loads for", "32 results"], Lower, |variant| {
        let counters = variant.counters.as_ref()?;
        Some(a_result(variant, 32 * counters.global.load.requests + 4 * counters.texture.requests))
    })
    .explained(explain::loads_for_results);

/// Those of them from shared memory.
pub const SHARED_LOADS_FOR_RESULTS: Measure =
    Measure::new(Section::Counter, "shared_loads_a_result", &["shared", "loads"], Lower, |variant| {
        let requests = variant.counters.as_ref()?.shared.load.requests;
        (requests > 0).then(|| a_result(variant, 32 * requests))
    });

/// Bytes over those of the input; of textures, no counter knows them.
fn of_input(variant: &VariantReport, bytes: fn(&CacheCounters) -> u64) -> Option<Cell> {
    let counters = variant.counters.as_ref().filter(|counters| counters.texture.requests == 0)?;
    Some(Cell::number(bytes(&counters.model?.caches) as f64 / input_bytes(variant)))
}

/// What L2 sends.
pub const FROM_L2: Measure =
    Measure::new(Section::Counter, "from_l2_of_input", &["from L2", "/ input"], Lower, |variant| {
        of_input(variant, |caches| 32 * caches.l2_to_l1_sectors)
    })
    .explained(explain::over_input);

/// What DRAM sends.
pub const FROM_DRAM: Measure =
    Measure::new(Section::Counter, "from_dram_of_input", &["from DRAM", "/ input"], Lower, |variant| {
        of_input(variant, |caches| caches.dram_read_bytes)
    })
    .explained(explain::over_input);

/// All of these.
pub const STENCIL: &[Measure] = &[LOADS_FOR_RESULTS, SHARED_LOADS_FOR_RESULTS, FROM_L2, FROM_DRAM];
