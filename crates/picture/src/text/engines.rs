//! Engines as text: a line for each, with the digit of the chunk as long as the engine works on it.

use super::{FAINT, PASSES, Paint, STRONG, USED};
use crate::EngineChart;
use crate::engines::EngineRow;

/// The most columns of time.
const LONGEST: usize = 72;

/// Draws the engines in lines of at most `width` columns.
pub fn engines(chart: &EngineChart, width: usize, paint: Paint) -> String {
    let width = width.max(40);
    let name = chart.panels.iter().map(|panel| panel.name.len()).max().unwrap_or(0);
    let engine = chart.panels.iter().flat_map(|panel| &panel.rows).map(|row| row.engine.len()).max().unwrap_or(0);
    let columns = width.saturating_sub(name + engine + 3).clamp(8, LONGEST);
    let scale = columns as f64 / chart.end_us().max(f64::MIN_POSITIVE);
    let mut text = String::new();
    for panel in &chart.panels {
        for (index, row) in panel.rows.iter().enumerate() {
            let head = if index == 0 { panel.name.as_str() } else { "" };
            let head = paint.with(STRONG, &format!("{head:name$}"));
            text += &format!("{head} {:engine$} {}\n", row.engine, line(row, scale, paint));
        }
    }
    let key = format!(
        "A digit is a chunk, as long as its engine works on it (predicted); {columns} columns are {} us.",
        wording::units::three_digits(chart.end_us())
    );
    let key = wording::wrapped(&key, width, "", "");
    text + &key.lines().map(|line| paint.with(FAINT, line) + "\n").collect::<String>()
}

/// The time of an engine.
fn line(row: &EngineRow, scale: f64, paint: Paint) -> String {
    let (mut line, mut at) = (String::new(), 0);
    for piece in &row.pieces {
        let [start, end] = [piece.start_us, piece.end_us].map(|us| (us * scale).round() as usize);
        let (start, end) = (start.max(at), end.max(start.max(at) + 1));
        line += &" ".repeat(start - at);
        let digit = char::from_digit(piece.chunk % 36, 36).unwrap_or('?').to_string();
        let style = if piece.chunk.is_multiple_of(2) { USED } else { PASSES };
        line += &paint.with(style, &digit.repeat(end - start));
        at = end;
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EnginePanel, EnginePiece};

    #[test]
    fn each_engine_has_a_line_on_one_scale() {
        let piece = |chunk, start_us, end_us| EnginePiece { chunk, stream: 1, start_us, end_us };
        let rows = vec![
            EngineRow { engine: "to device", pieces: vec![piece(0, 0.0, 10.0), piece(1, 10.0, 20.0)] },
            EngineRow { engine: "kernels", pieces: vec![piece(0, 10.0, 15.0), piece(1, 20.0, 25.0)] },
        ];
        let panel = EnginePanel { name: "streams-2".into(), total: "25.0 us".into(), end_us: 25.0, rows };
        let text = engines(&EngineChart { panels: vec![panel] }, 46, Paint::Plain);
        assert_eq!(
            text,
            "streams-2 to device 00000000001111111111\n\
             \u{20}         kernels             00000     11111\n\
             A digit is a chunk, as long as its engine\n\
             works on it (predicted); 25 columns are\n25.0 us.\n"
        );
    }
}
