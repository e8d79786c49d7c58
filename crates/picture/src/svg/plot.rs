//! A sweep as SVG: bars where the quantity has names, otherwise lines with marks.

use std::fmt::Write as _;

use super::{Drawing, Number, WIDTH, horizontal};
use crate::plot::{Axis, number};
use crate::{Plot, Scale, Series};

/// The corners of the drawing area.
const LEFT: f64 = 58.0;
const RIGHT: f64 = WIDTH - 36.0;
const HEIGHT: f64 = 230.0;
/// Between two lines of names.
const NAMES_LINE: f64 = 24.0;
/// The most bars that have room for their numbers.
const MOST_NUMBERED: usize = 12;

/// Draws a plot.
pub fn plot(plot: &Plot) -> String {
    if plot.x_scale == Scale::Names && horizontal::suits(&plot.labels(), &plot.series, RIGHT - LEFT) {
        return horizontal::plot(plot);
    }
    let named = plot.series.iter().any(|series| !series.name.is_empty());
    let title = Drawing::room_for_title(&plot.title);
    let names = if named { names(plot) } else { Vec::new() };
    let rows = names.last().map_or(0, |(_, row)| row + 1);
    let top = 60.0 + title + NAMES_LINE * rows as f64;
    let frame = Frame { plot, axis: plot.y_axis(), top, bottom: top + HEIGHT };
    let bars = plot.x_scale == Scale::Names;
    let mut drawing = Drawing::new("plot", frame.bottom + 52.0, &plot.title, &described(plot));
    drawing.title(&plot.title);
    frame.y_axis(&mut drawing);
    if bars {
        frame.bars(&mut drawing)
    } else {
        frame.lines(&mut drawing)
    }
    frame.reference_lines(&mut drawing);
    for (index, ((x, row), series)) in names.iter().zip(&plot.series).enumerate() {
        let y = 40.0 + title + NAMES_LINE * *row as f64;
        mark(&mut drawing, index, (*x, y));
        drawing.label("key", (x + 9.0, y + 4.0), &series.name);
    }
    drawing.label("key m", ((LEFT + RIGHT) / 2.0, frame.bottom + 42.0), &plot.x);
    drawing.finish()
}

/// All numbers of a plot, for those who cannot see it.
pub(super) fn described(plot: &Plot) -> String {
    let mut text = format!("{} by {}.", plot.y, plot.x);
    for series in &plot.series {
        let points = series.points.iter().map(|point| format!("{}: {}", point.label, number(point.y)));
        let name = if series.name.is_empty() { String::new() } else { format!("{}, ", series.name) };
        let _ = write!(text, " {name}{}.", points.collect::<Vec<_>>().join("; "));
    }
    for reference in &plot.reference_lines {
        let _ = write!(text, " {}: {}.", reference.name, number(reference.value));
    }
    text
}

/// A point's numbers, in words.
pub(super) fn said(plot: &Plot, series: usize, label: &str, value: f64) -> String {
    let series = match plot.series[series].name.as_str() {
        "" => String::new(),
        name => format!("{name}, "),
    };
    format!("{series}{} {label}: {}", plot.x, number(value))
}

struct Frame<'p> {
    plot: &'p Plot,
    axis: Axis,
    top: f64,
    bottom: f64,
}

impl Frame<'_> {
    fn y(&self, value: f64) -> f64 {
        self.bottom - self.axis.position(value) * (self.bottom - self.top)
    }

    fn y_axis(&self, drawing: &mut Drawing) {
        for tick in self.axis.ticks() {
            let y = self.y(tick);
            drawing.path("grid", &format!("M{} {}H{}", Number(LEFT), Number(y), Number(RIGHT)));
            drawing.label("scale e", (LEFT - 6.0, y + 3.4), &number(tick));
        }
        drawing.label("key", (12.0, self.top - 14.0), &self.plot.y);
        drawing.path("frame", &format!("M{} {}H{}", Number(LEFT), Number(self.bottom), Number(RIGHT)));
    }

    fn bars(&self, drawing: &mut Drawing) {
        let labels = self.plot.labels();
        let slot = (RIGHT - LEFT) / labels.len().max(1) as f64;
        let width = (slot * 0.78 / self.plot.series.len().max(1) as f64).min(46.0);
        let all = width * self.plot.series.len() as f64;
        let few = labels.len() * self.plot.series.len() <= MOST_NUMBERED;
        for (series, point) in self.plot.drawn() {
            let slot_index = labels.iter().position(|&label| label == point.label).unwrap_or(0);
            let middle = LEFT + slot * (slot_index as f64 + 0.5);
            let x = middle - all / 2.0 + width * series as f64;
            let y = self.y(point.y);
            let class = match (self.plot.is_price(point.y), self.plot.series.len()) {
                (true, _) => "bar price".into(),
                (false, 1) => "bar".into(),
                _ => format!("mark{}", series % 4),
            };
            drawing.saying("", &said(self.plot, series, &point.label, point.y), |drawing| {
                drawing.rect(&class, (x, y), (width - 1.0, (self.bottom - y).max(0.5)), 1.5);
            });
            if few {
                drawing.label("scale m", (x + width / 2.0, y - 4.0), &number(point.y));
            }
        }
        // As many labels as have room, of the 7 units of a character.
        let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(1) as f64;
        let step = ((longest * 6.2 + 6.0) / slot).ceil().max(1.0) as usize;
        for (index, label) in labels.iter().enumerate() {
            let middle = LEFT + slot * (index as f64 + 0.5);
            if index.is_multiple_of(step) {
                let class = if index.is_multiple_of(step * 2) { "scale m" } else { "scale m wide" };
                drawing.label(class, (middle, self.bottom + 16.0), label);
            }
        }
    }

    fn lines(&self, drawing: &mut Drawing) {
        let axis = self.plot.x_axis();
        let x = |value: f64| LEFT + 10.0 + axis.position(value) * (RIGHT - LEFT - 20.0);
        let mut points: Vec<_> = self.plot.drawn().map(|(_, point)| (point.x, point.label.as_str())).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points.dedup_by(|one, other| one.0 == other.0);
        let places: Vec<_> =
            points.iter().map(|&(at, label)| (x(at), 3.1 * label.chars().count() as f64 + 4.0)).collect();
        for (shown, index) in labelled(&places).into_iter().enumerate() {
            let (at, label) = (places[index].0, points[index].1);
            let class = if shown % 2 == 0 { "scale m" } else { "scale m wide" };
            drawing.label(class, (at, self.bottom + 16.0), label);
            drawing.path("frame", &format!("M{} {}v4", Number(at), Number(self.bottom)));
        }
        for index in 0..self.plot.series.len() {
            let points = self.plot.drawn().filter(|(series, _)| *series == index).map(|(_, point)| point);
            let mut path = String::new();
            let mut marks = Vec::new();
            for point in points {
                let (x, y) = (x(point.x), self.y(point.y));
                let _ = write!(path, "{}{} {}", if path.is_empty() { 'M' } else { 'L' }, Number(x), Number(y));
                marks.push(((x, y), said(self.plot, index, &point.label, point.y)));
            }
            drawing.path(&format!("line{}{}", index % 4, repeated(index)), &path);
            for (place, said) in marks {
                drawing.saying("", &said, |drawing| mark(drawing, index, place));
            }
        }
    }

    fn reference_lines(&self, drawing: &mut Drawing) {
        for reference in &self.plot.reference_lines {
            let y = self.y(reference.value);
            drawing.path("reference", &format!("M{} {}H{}", Number(LEFT), Number(y), Number(RIGHT)));
            let text = format!("{}: {}", reference.name, number(reference.value));
            drawing.label("key e", (RIGHT, y - 5.0), &text);
        }
    }
}

/// Which of these labels are shown, of which the middles and half the widths are given: every
/// second one, or every third, and so on, as far as they have room.
fn labelled(places: &[(f64, f64)]) -> Vec<usize> {
    let fits = |one: usize, other: usize| places[one].0 + places[one].1 <= places[other].0 - places[other].1;
    let every = |step: usize| (0..places.len()).step_by(step).collect::<Vec<_>>();
    let steps = (1..=places.len()).map(every);
    let mut steps = steps.filter(|chosen| chosen.windows(2).all(|pair| fits(pair[0], pair[1])));
    let mut chosen = steps.next().unwrap_or_default();
    let last = places.len().saturating_sub(1);
    if chosen.last().is_some_and(|&shown| shown != last && fits(shown, last)) {
        chosen.push(last);
    }
    chosen
}

/// Where the names of the series are: from the left, and in which line.
fn names(plot: &Plot) -> Vec<(f64, usize)> {
    let mut next = (LEFT, 0);
    let place = |series: &Series| {
        let width = 30.0 + 8.6 * series.name.chars().count() as f64;
        if next.0 + width > RIGHT + 24.0 && next.0 > LEFT {
            next = (LEFT, next.1 + 1);
        }
        let place = next;
        next.0 += width;
        place
    };
    plot.series.iter().map(place).collect()
}

/// From the fifth series on, the colours and marks come again, hollow.
fn repeated(series: usize) -> &'static str {
    if series >= 4 { " again" } else { "" }
}

/// The mark of a series: a circle, a square, a diamond, a triangle.
pub(super) fn mark(drawing: &mut Drawing, series: usize, (x, y): (f64, f64)) {
    let path = match series % 4 {
        0 => format!("M{} {}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", Number(x - 3.5), Number(y)),
        1 => format!("M{} {}h6v6h-6z", Number(x - 3.0), Number(y - 3.0)),
        2 => format!("M{} {}l4.2 4.2l-4.2 4.2l-4.2 -4.2z", Number(x), Number(y - 4.2)),
        _ => format!("M{} {}l4 7h-8z", Number(x), Number(y - 4.5)),
    };
    drawing.path(&format!("mark{}{}", series % 4, repeated(series)), &path);
}
