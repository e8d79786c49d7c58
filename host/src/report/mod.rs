//! Writes a lab's results in the chosen format. `cli` calls it with what a lab returned.
//!
//! ```text
//! measure    what a report shows of a row: title, unit, explanation, direction; measures has the shared ones
//! table      columns and cells, as data; grid makes a table of a sweep; conclusion makes sentences
//! page       a report as people read it, as data: heading, table, grids, legend, sentences
//! first      what a terminal shows first of it
//! terminal, markdown, csv, json     the formats
//! goal       what a reader is to reach on a lab's page in a browser, and how near a run comes to it
//! sweep      the plots of a lab's rows, for `--plot` and for its page
//! roofline   the roofline of a lab's rows, likewise
//! elements   how often each element is loaded, for `--picture elements` and for pages
//! engines    when the copies and kernels of streams run, for a drawing
//! memory     the memory chart of one row or two, for `--picture memory` and for pages
//! html       web pages, for `--report`
//! ```
//!
//! A lab's run ends in one [`LabReport`]. [`Page::of`] makes a page of it, and a format for people
//! only writes the page. A new format is one file here, one variant of [`Format`] and one arm in
//! [`write()`].

mod conclusion;
mod cost;
mod csv;
mod elements;
mod engines;
mod explanations;
mod first;
mod format;
mod goal;
mod grid;
mod html;
mod json;
mod lab_report;
mod lanes;
mod launch_times;
mod markdown;
mod measure;
pub mod measures;
mod memory;
mod occupancy;
mod page;
mod predicted;
mod roofline;
mod subject;
mod sweep;
mod table;
mod terminal;
mod variant_report;

use std::io::Write;
use std::path::Path;

use device::{Properties, Result};
use maud::Markup;
use webpage::Place;

pub use conclusion::{Conclusion, Gap, Holds, Row, of_fact};
pub use cost::Cost;
pub(crate) use csv::predicted_rows;
pub use elements::Elements;
pub(crate) use elements::maps as element_maps;
pub(crate) use explanations::of_each_model;
pub use first::{FirstScreen, Meaning, Removes};
pub use format::Format;
pub use goal::{Bound, Goal, Judged, Target};
pub use grid::{Best, Grid};
pub use html::{AccessOverview, Overview, Picture, RowOverview, RunView};
pub(crate) use html::{Launched, Text, of_launches, of_texts, write_launches};
pub use lab_report::{CounterSource, DeviceCopy, LabReport};
pub(crate) use launch_times::LaunchTimes;
pub use measure::{Better, Cell, Explanation, Measure, Section, Shown};
pub(crate) use memory::{chart as memory_chart, check_rows as check_charted};
pub use page::Page;
pub(crate) use page::{beside, on_simulator};
pub use predicted::{Hottest, PredictedTime, RowPrediction, Together};
pub use subject::Subject;
pub use sweep::{Rows, Sweep};
pub use table::{Column, Table};
pub use variant_report::{Comparison, Fact, Limit, Mismatch, RanAgain, Small, Tolerance, Tolerated, VariantReport};
pub(crate) use variant_report::{Metrics, plain};

/// Writes the report; for people, in the width of the terminal.
///
/// # Errors
///
/// [`device::Error::Output`] when writing to `out` fails.
pub fn write(report: &LabReport, format: Format, out: &mut dyn Write) -> Result<()> {
    write_in(report, format, crate::terminal::width(), out)
}

/// Likewise, for people in this many columns.
fn write_in(report: &LabReport, format: Format, width: usize, out: &mut dyn Write) -> Result<()> {
    let text = match format {
        Format::Table => terminal::render(report, width),
        Format::Json => json::render(report),
        Format::Csv => csv::render(report),
        Format::Markdown => markdown::render(report),
    };
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes a lab's report as a web page, whole or not at all. `about` is the lab's subject in a
/// line.
///
/// # Errors
///
/// [`device::Error::File`].
pub(crate) fn write_page(report: &LabReport, about: &str, path: &Path) -> Result<()> {
    let page = Page::of(report, true);
    let main = part(report, &page, &Place::alone(), html::MOST);
    write_text(&webpage::Page { title: report.lab, about, details: &page.heading, main }, path)
}

/// The part of a web page about a lab's run, in at most about this many bytes; `page` is the
/// report's.
pub(crate) fn part(report: &LabReport, page: &Page, place: &Place, most: usize) -> Markup {
    let further = html::other_orders(&report.orders, place);
    let first = Page::first(report);
    let shown = html::Shown {
        page,
        first: Some(&first),
        plots: report.plots_on_page(),
        plotted: report.plotted(),
        variants: &report.variants,
        plays: report.plays,
        charted: report.charted,
        elements: report.elements,
        further,
    };
    html::part(&shown, place, most)
}

/// Writes a web page, whole or not at all.
///
/// # Errors
///
/// [`device::Error::File`].
pub(crate) fn write_text(page: &webpage::Page<'_>, path: &Path) -> Result<()> {
    common::output_file::write_whole(path, |out| out.write_all(page.render().as_bytes()))
}

/// The times and counters of one launch of any kernel, as a table for people, with the columns that
/// suit the kernel's accesses. Empty if nothing is known.
pub(crate) fn of_launch(launch: VariantReport, device: &Properties) -> String {
    match launch {
        VariantReport { counters: None, timing: None, predicted: None, .. } => String::new(),
        launch => terminal::of_launch(launch, device, crate::terminal::width()),
    }
}

/// The same of several kernels, in one table.
pub(crate) fn of_kernels(kernels: Vec<VariantReport>, device: &Properties) -> String {
    terminal::of_launches(kernels, device, crate::terminal::width())
}

#[cfg(test)]
mod tests;
