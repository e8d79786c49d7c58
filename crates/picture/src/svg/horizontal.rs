//! A sweep over names as SVG: bars from left to right, each beside its name, for names that have no
//! room below upright bars, and for more series than there are colours.

use super::plot::{described, said};
use super::{Drawing, Number, WIDTH};
use crate::plot::{Axis, number};
use crate::{Plot, Series};

/// A character's width where the drawing is small and its letters large.
const CHARACTER: f64 = 8.3;
/// Longer names are cut; the text alternative has them.
const LONGEST: usize = 22;
const ROW: f64 = 17.0;
/// Between two names.
const GAP: f64 = 7.0;
/// What the number behind the longest bar takes.
const VALUE: f64 = 62.0;

/// Draws a horizontal bar chart.
pub(super) fn plot(plot: &Plot) -> String {
    let labels = plot.labels();
    let rows: Vec<Vec<(usize, f64)>> = labels.iter().map(|label| rows_of(plot, label)).collect();
    let top = Drawing::room_for_title(&plot.title) + if plot.reference_lines.is_empty() { 40.0 } else { 56.0 };
    let height = |rows: &[Vec<(usize, f64)>]| rows.iter().map(|row| row.len() as f64 * ROW + GAP).sum::<f64>();
    let bottom = top + height(&rows);
    let column = |texts: &mut dyn Iterator<Item = &str>| {
        let longest = texts.map(|text| text.chars().count().min(LONGEST)).max().unwrap_or(0);
        if longest == 0 { 0.0 } else { longest as f64 * CHARACTER + 8.0 }
    };
    let names = 8.0 + column(&mut labels.iter().copied());
    let left = names + column(&mut plot.series.iter().map(|series| series.name.as_str()));
    let bars = Bars { axis: plot.y_axis(), left, right: WIDTH - VALUE };

    let mut drawing = Drawing::new("plot", bottom + 50.0, &plot.title, &described(plot));
    drawing.title(&plot.title);
    for tick in bars.axis.ticks() {
        let x = bars.x(tick);
        drawing.path("grid", &format!("M{} {}V{}", Number(x), Number(top), Number(bottom)));
        drawing.label("scale m", (x, bottom + 15.0), &number(tick));
    }
    for (index, (label, points)) in labels.iter().zip(&rows).enumerate() {
        let first = top + height(&rows[..index]) + GAP / 2.0;
        drawing.label("scale e", (names - 6.0, first + 12.0), &cut(label));
        for (row, (series, value)) in points.iter().enumerate() {
            let y = first + row as f64 * ROW;
            drawing.label("scale e", (left - 6.0, y + 12.0), &cut(&plot.series[*series].name));
            let class = match (plot.is_price(*value), plot.series.len()) {
                (true, _) => "bar price".into(),
                (false, 1) => "bar".into(),
                _ => format!("mark{}", series % 4),
            };
            let width = bars.x(*value) - left;
            drawing.saying("", &said(plot, *series, label, *value), |drawing| {
                drawing.rect(&class, (left, y + 2.0), (width.max(0.5), ROW - 4.0), 1.5);
            });
            drawing.label("scale", (left + width + 5.0, y + 12.0), &number(*value));
        }
    }
    drawing.path("frame", &format!("M{} {}V{}", Number(left), Number(top), Number(bottom)));
    for reference in &plot.reference_lines {
        let x = bars.x(reference.value);
        drawing.path("reference", &format!("M{} {}V{}", Number(x), Number(top - 4.0), Number(bottom)));
        let text = format!("{}: {}", reference.name, number(reference.value));
        drawing.label("key e", ((x + 40.0).min(WIDTH - 12.0), top - 9.0), &text);
    }
    drawing.label("key m", ((left + bars.right) / 2.0, bottom + 38.0), &plot.y);
    drawing.finish()
}

/// The points of a name: their series, and their values.
fn rows_of(plot: &Plot, label: &str) -> Vec<(usize, f64)> {
    let points = plot.drawn().filter(|(_, point)| point.label == label);
    points.map(|(series, point)| (series, point.y)).collect()
}

/// Whether a plot needs horizontal bars: its names have no room side by side in `room`, or colours
/// repeat.
pub(super) fn suits(labels: &[&str], series: &[Series], room: f64) -> bool {
    let widest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0) as f64 * CHARACTER;
    let numbers = labels.iter().all(|label| label.parse::<f64>().is_ok());
    !numbers && (series.len() > 4 || widest * labels.len() as f64 > room)
}

struct Bars {
    axis: Axis,
    left: f64,
    right: f64,
}

impl Bars {
    fn x(&self, value: f64) -> f64 {
        self.left + self.axis.position(value) * (self.right - self.left)
    }
}

fn cut(text: &str) -> String {
    match text.chars().count() > LONGEST {
        true => text.chars().take(LONGEST - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}
