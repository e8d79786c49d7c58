//! Reports as web pages that need nothing else: of a lab, of the launches of `host run`, of the course. The crate
//! `webpage` has the frame and the look; here is what stands in it.
//!
//! ```text
//! mod        a run's part of a page: sentences, plots, tables         table     a table that can be sorted
//! launches   the page of `host run`                       exhibit   a run for the site, part by part
//! accesses   pictures, each shape once                                source    the lines as a heat map, with findings
//! faults     what checks found, by its parts
//! ```
//!
//! What must stay true: parts that grow with a run have a limit in bytes, and say what they leave out. Pure.

mod accesses;
mod exhibit;
mod faults;
mod launches;
mod source;
mod table;

use maud::{Markup, PreEscaped, html};
use picture::{Plot, elements_svg, memory_svg};
use webpage::Place;

use super::elements::{Elements, maps};
use super::memory::{Charted, chart as memory_chart};
use super::page::Page;
use super::variant_report::VariantReport;

pub use exhibit::{AccessOverview, Exhibit, Overview, Picture, RowOverview};
pub(crate) use launches::{Launched, exhibit as of_launches, write_launches};
use table::table;
pub(crate) use table::{Text, of_texts};

/// The most bytes of a page's results, pictures and source together, which leaves room for the rest below 300 KB.
pub(super) const MOST: usize = 260_000;

/// Said where nothing was counted.
const NO_COUNTS: &str = "This run has times only. A GPU does not show its accesses: pictures and counts by line are made \
                         on the simulator. Add --counters to run the same launches there, too, or give --device sim.";

/// What a part of a page shows of a run.
pub(super) struct Shown<'r> {
    /// Its sentences and tables.
    pub page: &'r Page,
    /// Its plots.
    pub plots: Vec<Plot>,
    /// Its rows, with the accesses and lines of each.
    pub variants: &'r [VariantReport],
    /// The two rows that the memory chart compares where more ran.
    pub charted: Charted,
    /// Whose loads of each element are drawn.
    pub elements: Option<Elements>,
    /// What comes between the results and the pictures.
    pub further: Markup,
}

/// The part of a page about a run, in at most about this many bytes.
pub(super) fn part(shown: &Shown<'_>, place: &Place, most: usize) -> Markup {
    let Shown { page, plots, variants, charted, elements, further } = shown;
    let found: Vec<_> = variants.iter().flat_map(VariantReport::faults).collect();
    let counted = variants.iter().any(|variant| variant.on_page.is_some());
    let first = html! {
        @if !page.conclusions.is_empty() {
            section.says aria-label=(place.named("What the numbers show")) {
                @for sentence in &page.conclusions { p { (webpage::numbers(sentence)) } }
            }
        }
        @for line in &page.wrong { p.cost { (line) } }
        @if !found.is_empty() {
            (place.card("What the checks found", &faults::list(&found)))
        }
        @if !plots.is_empty() { (place.card("Sweep", &webpage::plots(plots))) }
        (place.card("Results", &results(page, place)))
        (further)
        @if let Some(chart) = memory_chart(variants, *charted) {
            (place.card("What moves between the memories", &html! {
                figure {
                    (PreEscaped(memory_svg(&chart)))
                    figcaption { "All of a launch, by its own counters: requests, bytes or passes, and hits." }
                }
            }))
        }
        @if let Some(maps) = maps(variants, *elements) {
            (place.card("How often each element is loaded", &html! {
                figure {
                    (PreEscaped(elements_svg(&maps)))
                    figcaption { "Loads of lanes, of each word of 4 bytes, at one scale from 0." }
                }
            }))
        }
    };
    // Pictures have what the others leave.
    let source = source::section(variants, place, most / 2);
    let accesses = accesses::section(variants, place, most.saturating_sub(first.0.len() + source.0.len()));
    html! {
        (first)
        @if counted {
            (accesses)
            (source)
        } @else if variants.iter().any(|variant| variant.predicted.is_none()) {
            p.card { (NO_COUNTS) }
        }
    }
}

/// Several rows may have one fault.
fn each_once<'m>(messages: impl Iterator<Item = &'m String>) -> Vec<&'m String> {
    crate::flag_values::each_once(messages.collect())
}

/// The table, the sweeps of two axes, and what their columns mean.
fn results(page: &Page, place: &Place) -> Markup {
    html! {
        @if !page.meanings.is_empty() {
            ul.quiet { @for (name, meaning) in &page.meanings { li { b { (name) } ": " (meaning) } } }
        }
        (table(&page.table, &place.named("Table of results")))
        @for line in &page.kernels { p.quiet { (line.replace('`', "")) } }
        @for grid in &page.grids {
            (table(grid, &place.named(grid.title.as_deref().unwrap_or("Sweep").trim_end_matches(':'))))
        }
        @if !page.legend.is_empty() {
            (place.below(&place.name).heading("What the columns mean"))
            ul.quiet { @for sentence in &page.legend { li { (sentence) } } }
        }
    }
}
