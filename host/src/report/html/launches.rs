//! The page of `host run`: of its launches, in the order in which they ran. Pure.

use std::path::Path;

use crate::flag_values::each_once;
use device::{Properties, Result};
use maud::{Markup, html};
use webpage::Place;
use wording::printable;

use super::{MOST, RunView};
use crate::faults::Findings;
use crate::lines::Lines;
use crate::orders::{Different, OrdersReport};
use crate::report::measure;
use crate::report::page::{self, Page};
use crate::report::subject::Subject;
use crate::report::table;
use crate::report::variant_report::VariantReport;

/// What a kernel prints is shown up to about this many bytes.
const MOST_PRINTED: usize = 10_000;

/// A launch.
pub(crate) struct Launched {
    /// Its name among the launches, its times and its counters.
    pub row: VariantReport,
    /// Its lines, with every access.
    pub on_page: Option<Lines>,
    /// What checks found.
    pub findings: Findings,
    /// The names and values of its counters.
    pub metrics: Vec<[String; 2]>,
    /// What the kernel printed.
    pub printed: String,
}

/// Writes the page, whole or not at all. `title` names the kernels, `about` what was launched;
/// `details` are further lines, `others` what runs in other orders show.
///
/// # Errors
///
/// [`device::Error::File`].
pub(crate) fn write_launches(
    (title, about, details): (&str, &str, &[String]),
    launches: RunView,
    others: Option<&OrdersReport>,
    path: &Path,
) -> Result<()> {
    let place = Place::alone();
    let launches = launches.part(&place, MOST);
    let main = html! {
        @match others {
            Some(others) if others.right() => { (launches) (place.card("Other orders", &html! { p { (others.sentences()) } })) }
            Some(others) => { (place.card("Other orders", &differing(others))) (launches) }
            None => (launches),
        }
    };
    crate::report::write_text(&webpage::Page { title, about, details, main }, path)
}

/// How another result comes about.
pub(super) fn differing(others: &OrdersReport) -> Markup {
    let first = others.first.as_ref();
    let timeline = first.and_then(|first| first.story.as_ref()?.timeline.as_ref());
    html! {
        @if let Some(what) = others.what_differs() { p { strong { (printable(&what)) "." } } }
        @if let (Some(Different { order, .. }), Some(which)) = (first, others.which_order()) && !order.is_empty() {
            p { (which) " Run it again: " code { "--schedule " (order) } }
        }
        @if let Some((likewise, order)) = others.likewise() { p { (likewise) ": " code { "--schedule " (order) } } }
        @if let Some(timeline) = timeline {
            (webpage::played(&timeline.svg(), "Time goes down; the accesses play, one after the other."))
        }
    }
}

/// What a page shows of these launches.
pub(crate) fn view(launches: Vec<Launched>, conclusions: Vec<String>, device: &Properties) -> RunView {
    let further = further(&launches);
    let subjects = each_once(launches.iter().flat_map(|it| it.row.counters.as_ref()).flat_map(Subject::of).collect());
    let variants: Vec<VariantReport> = launches.into_iter().map(variant).collect();
    let shown = measure::Shown { variants: &variants, device };
    let mut table = table::of(shown, &subjects);
    if let Some(names) = table.columns.first_mut() {
        names.title = vec!["kernel".to_owned()];
    }
    let page = Page {
        occupancy: None,
        engines: None,
        lanes: None,
        heading: Vec::new(),
        meanings: Vec::new(),
        table,
        instead_of_table: None,
        wrong: Vec::new(),
        kernels: Vec::new(),
        grids: Vec::new(),
        legend: page::legend(&table::measures(shown, &subjects), shown),
        conclusions,
    };
    RunView::new(page, variants, further)
}

fn variant(launched: Launched) -> VariantReport {
    let Launched { row, on_page, findings, .. } = launched;
    VariantReport { on_page, findings: Some(findings), ..row }
}

/// What launches printed, and all of their counters.
fn further(launches: &[Launched]) -> Markup {
    let of = |launch: &Launched, what: &str| match launches {
        [_] => what.to_owned(),
        _ => format!("{what} of {}", launch.row.name),
    };
    html! {
        @for launch in launches {
            @if !launch.printed.is_empty() {
                (Place::alone().card(&of(launch, "Output"), &printed(&launch.printed)))
            }
            @if !launch.metrics.is_empty() {
                details.card {
                    summary { (of(launch, "All counters that are not zero")) }
                    div.scroll tabindex="0" role="region" aria-label=(of(launch, "Counters")) {
                        table {
                            thead { tr { th scope="col" { "Nsight Compute's name" } th scope="col" { "value" } } }
                            tbody { @for [name, value] in &launch.metrics { tr { th scope="row" { (name) } td { (value) } } } }
                        }
                    }
                }
            }
        }
    }
}

fn printed(text: &str) -> Markup {
    let end = text.char_indices().map(|(at, _)| at).find(|&at| at >= MOST_PRINTED);
    html! {
        pre.scroll tabindex="0" { (&text[..end.unwrap_or(text.len())]) }
        @if end.is_some() { p.quiet { "The rest is left out, to keep the page small." } }
    }
}
