//! Reports as web pages that need nothing else: of a lab, of the launches of `host run`, of the
//! course. The crate `webpage` has the frame and the look; here is what stands in it.
//!
//! ```text
//! mod        a run's part of a page: sentences, plots, tables         table     a table that can be sorted
//! launches   the page of `host run`                       view   a run for the site, part by part
//! accesses   pictures, each shape once                                source    the lines as a heat map, with findings
//! faults     what checks found, by its parts
//! ```
//!
//! What must stay true: parts that grow with a run have a limit in bytes, and say what they leave
//! out. Pure.

mod accesses;
mod faults;
mod launches;
mod source;
mod table;
mod view;

use maud::{Markup, PreEscaped, html};
use picture::{Counted, ElementMaps, elements_svg, engines_svg, lanes_svg, memory_svg, occupancy_svg, tiles_svg};
use webpage::Place;

use super::elements::{Elements, maps, tile_orders};
use super::memory::{Charted, chart as memory_chart};
use super::page::Page;
use super::table::Table;
use super::variant_report::VariantReport;
use crate::orders::OrdersReport;

pub(crate) use launches::{Launched, view as of_launches, write_launches};
use table::table;
pub(crate) use table::{Text, of_texts};
pub use view::{AccessOverview, Overview, Picture, RowOverview, RunView};

/// The most bytes of a page's results, pictures and source together, which leaves room for the rest
/// below 300 KB.
pub(super) const MOST: usize = 260_000;

/// Said where nothing was counted.
const NO_COUNTS: &str = "This run has times only. A GPU does not show its accesses: pictures and counts by line are made \
                         on the simulator. Add --counters to run the same launches there, too, or give --device sim.";

/// What a part of a page shows of a run.
pub(super) struct Shown<'r> {
    /// Its sentences and tables.
    pub page: &'r Page,
    /// The few columns that make a lab's point.
    pub first: Option<&'r Page>,
    /// Its plots, and what they are.
    pub plots: Markup,
    pub plotted: &'static str,
    /// Its rows, with the accesses and lines of each.
    pub variants: &'r [VariantReport],
    /// Whether pictures play their wavefronts.
    pub plays: bool,
    /// The two rows that the memory chart compares where more ran.
    pub charted: Charted,
    /// Whose loads of each element are drawn.
    pub elements: Option<Elements>,
    /// What comes between the results and the pictures.
    pub further: Markup,
}

/// The part of a page about a run, in at most about this many bytes.
pub(super) fn part(shown: &Shown<'_>, place: &Place, most: usize) -> Markup {
    let Shown { page, first, plots, plotted, variants, plays, charted, elements, further } = shown;
    let said = &first.unwrap_or(page).conclusions;
    let found: Vec<_> = variants.iter().flat_map(VariantReport::faults).collect();
    let counted = variants.iter().any(|variant| variant.on_page.is_some());
    let above = html! {
        @if !said.is_empty() {
            section.says aria-label=(place.named("What the numbers show")) {
                @for sentence in said { p { (webpage::numbers(sentence)) } }
            }
        }
        @for line in &page.wrong { p.cost { (line) } }
        @if !found.is_empty() {
            (place.card("What the checks found", &faults::list(&found)))
        }
        (place.card("Results", &results(*first, page, place)))
        @if plots.0.contains("<svg") { (place.card(plotted, plots)) }
        (further)
        @if let Some(chart) = memory_chart(variants, *charted) {
            (place.card("What moves between the memories", &html! {
                figure {
                    (PreEscaped(memory_svg(&chart)))
                    figcaption { "All of a launch, by its own counters: requests, bytes or passes, and hits." }
                }
            }))
        }
        @if let Some(orders) = tile_orders(variants) {
            (place.card("Which tiles run together", &html! {
                figure {
                    (PreEscaped(tiles_svg(&orders)))
                    figcaption { "The tiles of the result, shaded by when their blocks run." }
                }
            }))
        }
        @if let Some(maps) = maps(variants, *elements) {
            (place.card("How often each element is accessed", &html! {
                figure {
                    (PreEscaped(elements_svg(&maps)))
                    figcaption { (counted_of(&maps)) ", at one scale from 0." }
                }
            }))
        }
    };
    // Pictures have what the others leave.
    let source = source::section(variants, place, most / 2);
    let accesses = accesses::section(variants, place, *plays, most.saturating_sub(above.0.len() + source.0.len()));
    html! {
        (above)
        @if counted {
            (accesses)
            (source)
        } @else if variants.iter().any(|variant| variant.predicted.is_none()) {
            p.card { (NO_COUNTS) }
        }
    }
}

/// What other orders of blocks and warps give another result of a lab's rows.
pub(super) fn other_orders(orders: &[(String, OrdersReport)], place: &Place) -> Markup {
    let wrong = orders.iter().filter(|(_, orders)| !orders.right());
    html! {
        @for (variant, orders) in wrong {
            (place.card(&format!("Other orders: {variant}"), &launches::differing(orders)))
        }
    }
}

/// What the maps of elements count.
fn counted_of(maps: &ElementMaps) -> &'static str {
    match maps.counted {
        Counted::Loads => "Loads of lanes, of each word of 4 bytes",
        Counted::Moves => "Requests that move the sector of each word, asked for or not",
        Counted::Atomics => "Atomic operations of lanes, on each word of 4 bytes",
    }
}

/// Several rows may have one fault.
fn each_once<'m>(messages: impl Iterator<Item = &'m String>) -> Vec<&'m String> {
    crate::flag_values::each_once(messages.collect())
}

/// The tables: that of a first screen, or the sweep that stands for it, above all columns, which
/// unfold with further sentences; without a first screen, all columns.
fn results(first: Option<&Page>, page: &Page, place: &Place) -> Markup {
    let Some(first) = first else {
        return html! { (all_results(page, page.grids.iter(), "Table of results", place)) (drawings(page)) };
    };
    let further = page.conclusions.iter().filter(|sentence| !first.conclusions.contains(sentence));
    html! {
        @if first.instead_of_table.is_none() { (table(&first.table, &place.named("Table of results"))) }
        @for grid in &first.grids { (sweep(grid, place)) }
        (drawings(page))
        @if !first.legend.is_empty() { ul.quiet { @for sentence in &first.legend { li { (sentence) } } } }
        details {
            summary { "All columns, and what they mean" }
            @for sentence in further { p { (webpage::numbers(sentence)) } }
            (all_results(page, page.grids.iter().skip(first.grids.len()), "Table of all columns", place))
        }
    }
}

/// The blocks on a multiprocessor, or the active lanes, if the rows are about them.
fn drawings(page: &Page) -> Markup {
    html! {
        @if let Some(chart) = &page.occupancy {
            figure {
                (PreEscaped(occupancy_svg(chart)))
                figcaption { "Blocks on a multiprocessor at once, each as wide as its part of the threads that fit." }
            }
        }
        @if let Some(chart) = &page.engines {
            figure {
                (PreEscaped(engines_svg(chart)))
                figcaption { "What runs copies and kernels, and when; a box is a chunk, a colour a stream." }
            }
        }
        @if let Some(chart) = &page.lanes {
            figure {
                (PreEscaped(lanes_svg(chart)))
                figcaption { "A block's additions, a row each, warp beside warp. A warp without an active lane takes no time." }
            }
        }
    }
}

fn sweep(grid: &Table, place: &Place) -> Markup {
    table(grid, &place.named(grid.title.as_deref().unwrap_or("Sweep").trim_end_matches(':')))
}

fn all_results<'p>(page: &Page, grids: impl Iterator<Item = &'p Table>, name: &str, place: &Place) -> Markup {
    html! {
        @if !page.meanings.is_empty() {
            ul.quiet { @for (name, meaning) in &page.meanings { li { b { (name) } ": " (meaning) } } }
        }
        (table(&page.table, &place.named(name)))
        @for line in &page.kernels { p.quiet { (line.replace('`', "")) } }
        @for grid in grids { (sweep(grid, place)) }
        @if !page.legend.is_empty() {
            (place.below(&place.name).heading("What the columns mean"))
            ul.quiet { @for sentence in &page.legend { li { (sentence) } } }
        }
    }
}
