//! Engines as SVG: time goes to the right; each way to do the work is a group of lines, one for each
//! engine, and each chunk a box with its number in its stream's colour.

use super::{Drawing, Number, WIDTH};
use crate::EngineChart;

/// Where time begins, and where it ends.
const LEFT: f64 = 96.0;
const RIGHT: f64 = WIDTH - 14.0;
/// A line, the box in it, and what the name of a way takes.
const ROW: f64 = 24.0;
const BOX: f64 = 18.0;
const NAME: f64 = 26.0;
/// A box narrower than this has no number.
const NUMBERED: f64 = 9.0;

/// Draws the engines.
pub fn engines(chart: &EngineChart) -> String {
    let title = chart.sentence();
    let top = 34.0 + Drawing::room_for_title(&title);
    let lines: usize = chart.panels.iter().map(|panel| panel.rows.len()).sum();
    let bottom = top + ROW * lines as f64 + NAME * chart.panels.len() as f64;
    let description: Vec<String> = chart.panels.iter().map(EngineChart::said).collect();
    let mut drawing = Drawing::new("engines", bottom + 26.0, &title, &format!("{}.", description.join(". ")));
    drawing.title(&title);
    let scale = (RIGHT - LEFT) / chart.end_us().max(f64::MIN_POSITIVE);
    let x = |us: f64| LEFT + us * scale;
    let mut y = top;
    for panel in &chart.panels {
        drawing.label("cell strong", (12.0, y + 17.0), &format!("{}: {}", panel.name, panel.total));
        y += NAME;
        for row in &panel.rows {
            drawing.label("axis e", (LEFT - 8.0, y + 13.0), row.engine);
            let line = y + BOX + 2.0;
            drawing.path("grid", &format!("M{} {}H{}", Number(LEFT), Number(line), Number(RIGHT)));
            for piece in &row.pieces {
                let says = format!(
                    "chunk {} of stream {}, {}: {:.1} to {:.1} us",
                    piece.chunk, piece.stream, row.engine, piece.start_us, piece.end_us
                );
                let width = (x(piece.end_us) - x(piece.start_us)).max(0.5);
                drawing.saying("", &says, |drawing| {
                    let class = format!("mark{}", piece.stream.saturating_sub(1) % 4);
                    drawing.rect(&class, (x(piece.start_us), y), (width, BOX), 2.0);
                    if width > NUMBERED {
                        let middle = x(piece.start_us) + width / 2.0;
                        drawing.label("lane word-lane", (middle, y + 12.5), &piece.chunk.to_string());
                    }
                });
            }
            y += ROW;
        }
    }
    drawing.label("axis", (LEFT, bottom + 16.0), "0");
    let end = format!("{} us", wording::units::three_digits(chart.end_us()));
    drawing.label("axis e", (RIGHT, bottom + 16.0), &end);
    drawing.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EnginePanel, EnginePiece, EngineRow};

    #[test]
    fn each_chunk_is_a_box_where_its_engine_works_on_it() {
        let piece = |chunk, stream, start_us, end_us| EnginePiece { chunk, stream, start_us, end_us };
        let rows = vec![
            EngineRow { engine: "to device", pieces: vec![piece(0, 1, 0.0, 10.0), piece(1, 2, 10.0, 20.0)] },
            EngineRow { engine: "kernels", pieces: vec![piece(0, 1, 10.0, 10.1), piece(1, 2, 20.0, 40.0)] },
        ];
        let panel = EnginePanel { name: "streams-2".into(), total: "48.0 us".into(), end_us: 40.0, rows };
        let drawn = engines(&EngineChart { panels: vec![panel] });
        assert_eq!(drawn.matches("class=\"mark0\"").count(), 2, "{drawn}");
        // The third is too narrow.
        assert_eq!(drawn.matches("word-lane").count(), 3, "{drawn}");
        for part in [
            "Copies and kernels, predicted: 48.0 us in streams-2.",
            "chunk 1 of stream 2, kernels: 20.0 to 40.0 us",
            "to device 50 % of the time",
            "40.0 us</text>",
        ] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
    }
}
