//! The active lanes of reductions, for a drawing: of labs whose subject they are. Pure.

use picture::{LaneChart, LanePanel};

use super::lab_report::LabReport;
use super::subject::Subject;
use super::variant_report::plain;

/// A tree of fewer additions shows nothing.
const FEWEST: usize = 4;

/// The chart; `None` if the rows are not about them, or were not recorded.
pub(super) fn chart(report: &LabReport) -> Option<LaneChart> {
    if !report.subjects.contains(&Subject::ActiveLanes) {
        return None;
    }
    let mut panels: Vec<LanePanel> = Vec::new();
    for variant in &report.variants {
        // First comes what is loaded, by all lanes.
        let lanes = variant.on_page.as_ref().and_then(|lines| lines.lanes().get(1..));
        let Some(steps) = lanes.filter(|steps| steps.len() >= FEWEST) else { continue };
        let name = variant.fact("step").map_or_else(|| variant.name.clone(), plain);
        match panels.iter_mut().find(|panel| panel.steps == steps) {
            // Of another operation or type.
            Some(same) if same.name.split(", ").any(|known| known == name) => {}
            Some(same) => same.name += &format!(", {name}"),
            None => panels.push(LanePanel { name, steps: steps.to_vec() }),
        }
    }
    (!panels.is_empty()).then_some(LaneChart { panels })
}
