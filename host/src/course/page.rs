//! `--report`: the course as one web page, on which each lab's report can be unfolded. [`super`]
//! calls it.

use std::path::Path;

use device::Result;
use maud::{Markup, html};
use webpage::Place;

use super::{LabResult, row};
use crate::labs::Entry;
use crate::report::{self, LabReport, Page, Text};

/// A lab's part has at most about this many bytes, so that all are below 2 MB.
const MOST: usize = 90_000;

/// The part of a lab.
pub(super) fn part(lab: &Entry, result: &LabResult, report: &LabReport) -> Markup {
    let page = Page::of(report, true);
    let place = Place::alone().below(lab.name);
    html! {
        details.lab {
            summary { (lab.name) " " span.quiet { (row(result)[2]) ": " (lab.about) } }
            @for line in &page.heading { p.quiet { (line) } }
            @if let Some(error) = &result.error { p.cost { (error) } }
            (report::part(report, &page, &place, MOST))
        }
    }
}

/// Writes the page: what the course says, a row for each lab, and their parts.
pub(super) fn write(
    verdict: &str,
    (titles, rows): (&[&str], &[Vec<String>]),
    parts: &[Markup],
    path: &Path,
) -> Result<()> {
    let cell = |text: &String| Text { text: text.clone(), value: None, class: "" };
    let cells: Vec<Vec<Text>> = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    let main = html! {
        section.says aria-label="Result" { p { (webpage::numbers(verdict)) } }
        (Place::alone().card("All labs", &report::of_texts(titles, &cells, "Table of labs")))
        section.card aria-label="Each lab" {
            h2 { "Each lab" }
            @for part in parts { (part) }
        }
    };
    let about = "Every lab at its defaults: what it counts, what its accesses do, and its source.";
    report::write_text(&webpage::Page { title: "The course", about, details: &[], main }, path)
}
