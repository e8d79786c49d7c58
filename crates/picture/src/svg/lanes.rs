//! The active lanes of a block's additions as SVG: a row for each addition, in which blue lanes
//! add and orange ones wait in a warp that executes it. Warps that have left are blank.

use std::fmt::Write as _;

use super::{Drawing, Number};
use crate::lanes::{LaneChart, LanePanel, WARP};

const LEFT: f64 = 34.0;
/// The length of all lanes.
const LENGTH: f64 = 490.0;
/// A row, and its lanes.
const ROW: f64 = 15.0;
const BAR: f64 = 11.0;
/// What a panel has above itself.
const HEAD: f64 = 28.0;
/// The most panels and warps that are drawn.
const MOST: usize = 4;
const MOST_WARPS: usize = 8;

/// Draws the lanes.
pub fn lanes(chart: &LaneChart) -> String {
    let title = chart.sentence();
    let panels = &chart.panels[..chart.panels.len().min(MOST)];
    let top = 26.0 + Drawing::room_for_title(&title);
    let rows: usize = panels.iter().map(|panel| panel.steps.len()).sum();
    let height = top + ROW * rows as f64 + (HEAD + 6.0) * panels.len() as f64 + 30.0;
    let described = |panel: &LanePanel| {
        let steps: Vec<String> = panel.steps.iter().map(|warps| said(warps)).collect();
        format!("{}: {}.", panel.name, steps.join(", "))
    };
    let description: Vec<String> = panels.iter().map(described).collect();
    let mut drawing = Drawing::new("lanes", height, &title, &description.join(" "));
    drawing.title(&title);
    let mut y = top;
    for panel in panels {
        drawing.label("cell strong", (12.0, y + 18.0), &panel.name);
        y += HEAD;
        for (index, warps) in panel.steps.iter().enumerate() {
            drawing.label("axis e", (LEFT - 6.0, y + 9.5), &(index + 1).to_string());
            row(&mut drawing, warps, y);
            drawing.label("axis", (LEFT + LENGTH + 8.0, y + 9.5), &said(warps));
            y += ROW;
        }
        y += 6.0;
    }
    for (class, x, text) in [("word", LEFT, "adds"), ("word waits", LEFT + 90.0, "idle in a warp that adds")] {
        drawing.rect(class, (x, y + 8.0), (10.0, 10.0), 1.0);
        drawing.label("key", (x + 16.0, y + 17.0), text);
    }
    drawing.finish()
}

/// An addition in words.
fn said(warps: &[u32]) -> String {
    let (active, lanes) = LanePanel::of_step(warps);
    format!("{active} of {lanes}")
}

/// The lanes of an addition: a path of the idle, a path of the active, in runs.
fn row(drawing: &mut Drawing, warps: &[u32], y: f64) {
    let warps = &warps[..warps.len().min(MOST_WARPS)];
    let wide = LENGTH / (WARP * warps.len().max(1)) as f64;
    let lanes: Vec<Option<bool>> = warps
        .iter()
        .flat_map(|&mask| (0..WARP).map(move |lane| (mask != 0).then_some(mask >> lane & 1 == 1)))
        .collect();
    let mut paths = [String::new(), String::new()];
    let mut begin = 0;
    for run in lanes.chunk_by(|a, b| a == b) {
        if let Some(active) = run[0] {
            let (x, width) = (LEFT + wide * begin as f64, Number(wide * run.len() as f64));
            // Writing to a string cannot fail.
            let _ =
                write!(paths[usize::from(active)], "M{} {}h{width}v{}h-{width}z", Number(x), Number(y), Number(BAR));
        }
        begin += run.len();
    }
    drawing.path("word waits", &paths[0]);
    drawing.path("word", &paths[1]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_and_idle_lanes_are_drawn_and_counted() {
        let panel = |name: &str, steps: &[[u32; 2]]| LanePanel {
            name: name.into(),
            steps: steps.iter().map(|warps| warps.to_vec()).collect(),
        };
        let interleaved = panel("reduce1", &[[0x5555_5555, 0x5555_5555], [1, 0]]);
        let drawn = lanes(&LaneChart { panels: vec![interleaved, panel("reduce2", &[[!0, 0], [1, 0]])] });
        for part in
            ["33 of 96 in reduce1; 33 of 64 in reduce2.", ">32 of 64</text>", ">32 of 32</text>", ">1 of 32</text>"]
        {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
        // Full warps have no idle lanes; 16 active lanes of each warp are a run each.
        assert_eq!(drawn.matches("<path class=\"word waits\"").count(), 3, "{drawn}");
        assert_eq!(drawn.matches("<path class=\"word\"").count(), 4, "{drawn}");
        assert_eq!(lanes(&LaneChart { panels: Vec::new() }).matches("<path").count(), 0);
    }
}
