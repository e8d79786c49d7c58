//! Blocks on a multiprocessor as SVG: for each variant a bar of blocks, each as wide as its part of
//! the threads that the multiprocessor can hold; what stays empty has an outline.

use super::{Drawing, WIDTH};
use crate::OccupancyChart;

/// Where the bars begin, and their whole length.
const LEFT: f64 = 150.0;
const LENGTH: f64 = 220.0;
/// A row, and its bar.
const ROW: f64 = 26.0;
const BAR: f64 = 16.0;
/// The most rows that are drawn.
const MOST: usize = 24;

/// Draws the blocks.
pub fn occupancy(chart: &OccupancyChart) -> String {
    let title = chart.sentence();
    let rows = &chart.rows[..chart.rows.len().min(MOST)];
    let top = 48.0 + Drawing::room_for_title(&title);
    let height = top + ROW * rows.len() as f64 + 10.0;
    let description: Vec<String> = rows.iter().map(OccupancyChart::said).collect();
    let mut drawing = Drawing::new("occupancy", height, &title, &format!("{}.", description.join("; ")));
    drawing.title(&title);
    let right = LEFT + LENGTH + 12.0;
    drawing.label("axis", (LEFT, top - 8.0), "room for threads");
    drawing.label("axis", (right, top - 8.0), "blocks, % of threads, limit");
    for (index, row) in rows.iter().enumerate() {
        let y = top + ROW * index as f64;
        drawing.saying("", &OccupancyChart::said(row), |drawing| {
            drawing.label("cell e", (LEFT - 8.0, y + 12.0), &row.name);
            drawing.rect("memory-box", (LEFT, y), (LENGTH, BAR), 2.0);
            let width = LENGTH * row.percent.min(100.0) / 100.0 / f64::from(row.blocks.max(1));
            for block in 0..row.blocks {
                let gap = (width / 4.0).min(2.0);
                drawing.rect("word", (LEFT + width * f64::from(block) + gap / 2.0, y), (width - gap, BAR), 2.0);
            }
            let limit = if row.limit.is_empty() { String::new() } else { format!(", {}", row.limit) };
            let text = format!("{}, {} %{limit}", row.blocks, OccupancyChart::percent(row));
            drawing.label("cell", (right, y + 12.0), &text);
        });
    }
    debug_assert!(right < WIDTH, "the text is beside the bars");
    drawing.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OccupancyRow;

    #[test]
    fn each_block_is_drawn_with_the_number_and_what_limits_it() {
        let row = |name: &str, blocks, percent, limit: &str| OccupancyRow {
            name: name.into(),
            blocks,
            percent,
            limit: limit.into(),
        };
        let rows = vec![row("dynamic-16", 8, 100.0, "warps"), row("dynamic-96", 2, 25.0, "shared memory")];
        let drawn = occupancy(&OccupancyChart { rows: rows.clone() });
        assert_eq!(drawn.matches("class=\"word\"").count(), 10, "{drawn}");
        for part in [
            "A multiprocessor holds 8 blocks of dynamic-16, 2 blocks of dynamic-96.",
            "2, 25 %, shared memory</text>",
            "dynamic-96: 2 at once, 25 % of the threads, limited by shared memory</title>",
        ] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
        let one = OccupancyChart { rows: vec![row("a", 1, 12.5, "")] };
        assert_eq!(one.sentence(), "A multiprocessor holds 1 block of a.");
        assert!(occupancy(&one).contains("1, 12.5 %</text>"));
        assert_eq!(OccupancyChart { rows: Vec::new() }.sentence(), "Nothing is resident.");
    }
}
