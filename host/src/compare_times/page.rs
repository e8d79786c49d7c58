//! A comparison as a web page: verdicts in words and colours, ratios as bars. [`super`] calls it.

use std::path::{Path, PathBuf};

use common::output_file;
use device::{Error, Result};
use maud::{Markup, html};
use picture::{Plot, Point, ReferenceLine, Scale, Series};
use webpage::Place;

use super::pairs::{LabTimes, Row, RunTimes, Side, title};
use super::show::{TITLES, row, sum};
use super::verdict::Verdict;
use crate::report::{self, Text};

/// Fails if the page cannot be written, or is one of the files to compare.
pub(super) fn check(path: &Path, compared: &[&PathBuf]) -> Result<()> {
    output_file::check(path)?;
    match compared.iter().any(|file| output_file::identity(file) == output_file::identity(path)) {
        true => Err(Error::request("--report", "it is one of the files to compare; give another")),
        false => Ok(()),
    }
}

/// Writes the page.
pub(super) fn write(comparison: &RunTimes, path: &Path) -> Result<()> {
    let RunTimes { before, after, labs, not_compared } = comparison;
    let side = |when: &str, Side { file, devices }: &Side| format!("{when}: {file} on {}", devices.join(" and "));
    let details = [side("before", before), side("after", after)];
    let main = html! {
        @for (index, lab) in labs.iter().enumerate() { (part(lab, index, labs.len() > 1)) }
        (list("Not compared in all", not_compared))
    };
    let about = "Is the later run faster, slower, or the same?";
    report::write_text(&webpage::Page { title: "Two runs compared", about, details: &details, main }, path)
}

/// A lab's comparison. A file may hold several runs of a lab.
fn part(lab: &LabTimes, index: usize, several: bool) -> Markup {
    let mut name = title(&lab.lab, &lab.parameters);
    if several {
        name += &format!(" (run {})", index + 1);
    }
    let place = Place::alone().below(&name);
    let cells: Vec<Vec<Text>> = lab.variants.iter().map(cells).collect();
    let content = html! {
        @if !lab.variants.is_empty() {
            p.says { (webpage::numbers(&sum(&lab.variants))) }
            (report::of_texts(&TITLES, &cells, &place.named("Times")))
            @if let Some(plot) = changes(&lab.variants) { (webpage::plots(&[plot])) }
        }
        (list(&place.named("Not compared"), &lab.not_compared))
        (list(&place.named("Doubtful"), &lab.doubts))
    };
    Place::alone().card(&name, &content)
}

fn cells(times: &Row) -> Vec<Text> {
    let values =
        [None, None, Some(times.before_ms), Some(times.after_ms), Some(times.ratio), Some(times.uncertainty_percent)];
    let values = values.into_iter().chain([None]);
    let verdict = match times.verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "same",
        Verdict::CannotTell => "unsure",
    };
    let class = |column: usize| if column + 1 == TITLES.len() { verdict } else { "" };
    let cells = row(times).into_iter().zip(values).enumerate();
    cells.map(|(column, (text, value))| Text { text, value, class: class(column) }).collect()
}

/// The ratios of what is faster or slower, as bars: of what is neither, a bar would look like a
/// difference.
fn changes(rows: &[Row]) -> Option<Plot> {
    let point = |(index, row): (usize, &Row)| {
        let label = format!("{}, {}", row.name, row.cache.words());
        Point { label, x: index as f64, y: row.ratio }
    };
    let changed = rows.iter().filter(|row| matches!(row.verdict, Verdict::Faster | Verdict::Slower));
    let points: Vec<Point> = changed.enumerate().map(point).collect();
    (!points.is_empty()).then(|| Plot {
        title: "What changed: time after, for each unit of time before".into(),
        x: "variant".into(),
        y: "after / before".into(),
        x_scale: Scale::Names,
        y_scale: Scale::Linear,
        series: vec![Series { name: String::new(), points }],
        reference_lines: vec![ReferenceLine { name: "the same".into(), value: 1.0 }],
        best: Some(1.0),
    })
}

fn list(title: &str, entries: &[String]) -> Markup {
    html! {
        @if !entries.is_empty() {
            h3 { (title) }
            ul { @for entry in entries { li { (entry) } } }
        }
    }
}
