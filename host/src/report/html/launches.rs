//! The page of `host run`: of its launches, in the order in which they ran. Pure.

use std::path::Path;

use crate::flag_values::each_once;
use device::{Properties, Result};
use maud::{Markup, html};
use webpage::Place;

use super::{MOST, RunView};
use crate::faults::Findings;
use crate::lines::Lines;
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
/// `details` are further lines.
///
/// # Errors
///
/// [`device::Error::File`].
pub(crate) fn write_launches(
    (title, about, details): (&str, &str, &[String]),
    launches: RunView,
    path: &Path,
) -> Result<()> {
    let main = launches.part(&Place::alone(), MOST);
    crate::report::write_text(&webpage::Page { title, about, details, main }, path)
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
