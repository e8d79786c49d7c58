//! Bytes in flight on a multiprocessor, of what DRAM needs there by Little's law: facts of rows, and
//! the columns of the labs that are about them. Pure.

use device::{Model, Properties};

use crate::report::{Better, Cell, LabReport, Measure, Section};
use crate::units;

/// The bytes that a full multiprocessor has requested at once, for programs that read the report.
pub(super) const BYTES_IN_FLIGHT: &str = "bytes_in_flight_per_full_multiprocessor";

/// The bytes that DRAM needs in flight on a multiprocessor of the model.
pub(super) const NEEDED: &str = "bytes_in_flight_that_dram_needs";

/// Bytes of a KiB.
pub(super) const KIB: f64 = 1024.0;

/// [`BYTES_IN_FLIGHT`] for people.
pub(super) const IN_FLIGHT: Measure = Measure::new(
    Section::Counter,
    "kib_in_flight",
    &["KiB in flight", "per multiprocessor"],
    Better::Higher,
    |variant| Some(Cell::number(variant.fact(BYTES_IN_FLIGHT)?.as_f64()? / KIB)),
)
.unit("KiB");

/// What is in flight of what DRAM needs.
pub(super) const OF_NEEDED: Measure =
    Measure::new(Section::Counter, "percent_of_needed", &["% of latency", "x bandwidth"], Better::Higher, |variant| {
        let percent = 100.0 * KIB * IN_FLIGHT.of(variant)?.value? / variant.fact(NEEDED)?.as_f64()?;
        Some(Cell::new(percent, units::three_digits(percent)))
    })
    .unit("%");

/// The same, drawn, as far as a line has room.
pub(super) const OF_NEEDED_DRAWN: Measure =
    Measure::new(Section::Counter, "needed_drawn", &["# for each 10 %", "up to 400 %"], Better::Higher, |variant| {
        let percent = OF_NEEDED.of(variant)?.value?;
        Some(Cell::bar((percent.min(400.0) / 10.0).ceil() as usize))
    });

/// The model that launches are simulated for: without one, the simulator launches for an H200.
/// `None` on a GPU.
pub(super) fn model(device: &Properties) -> Option<&'static Model> {
    let simulated = if device.is_gpu() { None } else { Some(device.simulates.unwrap_or("hopper")) };
    simulated.and_then(Model::named)
}

/// The model of the simulator that the counts or the predicted times are for.
fn model_of(report: &LabReport) -> Option<&'static Model> {
    let predicted = report.variants.iter().find_map(|row| row.predicted_time()).map(|time| time.model);
    let model = report.device.simulates.map_or(predicted, Model::named);
    model.or_else(|| Model::named("hopper")).filter(|_| !report.device.is_gpu())
}

/// The bytes that a multiprocessor of this model needs in flight.
pub(super) fn needed(report: &LabReport) -> Option<Cell> {
    let bytes = model_of(report)?.bytes_in_flight()?;
    Some(Cell::new(bytes, units::bytes(bytes as u64)))
}

/// The name of that model's chip.
pub(super) fn chip(report: &LabReport) -> Option<Cell> {
    Some(Cell::text(model_of(report)?.chip.split(" (").next()?))
}
