//! When the copies and kernels of rows run, by prediction: for a drawing, and as data. Pure.

use picture::{EngineChart, EnginePanel, EnginePiece, EngineRow};
use serde_json::{Value, json};
use simt::transfers::{Engine, Schedule};

use super::variant_report::VariantReport;
use crate::units;

/// The rows with the most streams that are drawn, at most.
const MOST: usize = 4;

/// The chart of the rows that have several operations; `None` without any.
pub(super) fn chart(variants: &[VariantReport]) -> Option<EngineChart> {
    let panel = |variant: &VariantReport| {
        let schedule = variant.schedule.as_ref()?;
        let time = variant.predicted_time()?;
        let engines = Engine::ALL.into_iter().filter(|&engine| schedule.busy_us(engine) > 0.0);
        let rows: Vec<EngineRow> = engines.map(|engine| row(engine, schedule)).collect();
        (rows.len() > 2).then(|| EnginePanel {
            name: variant.name.clone(),
            total: units::milliseconds(time.time_ms),
            end_us: schedule.end_us(),
            rows,
        })
    };
    let panels: Vec<EnginePanel> = variants.iter().filter_map(panel).take(MOST).collect();
    (!panels.is_empty()).then_some(EngineChart { panels })
}

fn row(engine: Engine, schedule: &Schedule) -> EngineRow {
    let own = schedule.operations.iter().filter(|placed| placed.operation.engine == engine);
    let piece = |placed: &simt::transfers::Placed| EnginePiece {
        chunk: placed.operation.chunk,
        stream: placed.operation.stream,
        start_us: placed.start_us,
        end_us: placed.end_us,
    };
    EngineRow { engine: engine.name(), pieces: own.map(piece).collect() }
}

/// A schedule as data.
pub(super) fn data(schedule: &Schedule) -> Value {
    let operation = |placed: &simt::transfers::Placed| {
        let operation = &placed.operation;
        json!({
            "stream": operation.stream, "engine": operation.engine.name(), "chunk": operation.chunk,
            "start_us": placed.start_us, "end_us": placed.end_us,
        })
    };
    schedule.operations.iter().map(operation).collect()
}
