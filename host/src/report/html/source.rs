//! The source of each variant's kernels as a heat map: the counts of each line, the warmer the more sectors and
//! wavefronts, and what checks found. Pure.

use maud::{Markup, html};

use super::LabReport;
use crate::faults::Fault;
use crate::lines::{Counted, Lines, Listed, ListedLine};
use crate::report::VariantReport;

/// All listings together are at most this large, in bytes, except those in which checks found something.
const MOST: usize = 80_000;

/// The section.
pub(super) fn section(report: &LabReport) -> Markup {
    let mut room = MOST;
    // One scale for all variants, so that a line that has become cheap looks so.
    let worst = report.variants.iter().filter_map(|it| it.on_page.as_ref()).map(worst).max().unwrap_or(0);
    let (mut shown, mut left_out) = (Vec::new(), Vec::new());
    for variant in &report.variants {
        let Some(lines) = &variant.on_page else { continue };
        let faults = variant.faults();
        let listing = listing(lines, worst, &faults, &variant.name).into_string();
        match room.checked_sub(listing.len()) {
            None if faults.is_empty() => left_out.push(variant.name.as_str()),
            rest => {
                room = rest.unwrap_or(0);
                shown.push((variant, listing));
            }
        }
    }
    html! {
        section.card aria-labelledby="source" {
            h2 id="source" { "The source, line by line" }
            p.quiet {
                "The warmer a line, the more sectors and wavefronts it takes, by share of the worst line of all variants. "
                "Instructions are those of a warp, in PTX."
            }
            @for (index, (variant, listing)) in shown.iter().enumerate() {
                details open[index == 0 || !variant.faults().is_empty()] {
                    summary { (variant.name) (kernels(variant)) }
                    (maud::PreEscaped(listing))
                }
            }
            @if !left_out.is_empty() {
                p.quiet {
                    "Left out, to keep the page small: " (left_out.join(", ")) ". Choose fewer variants, or give --lines."
                }
            }
        }
    }
}

fn kernels(variant: &VariantReport) -> Markup {
    html! { @if !variant.kernels.is_empty() { " " span.quiet { (variant.kernels.join(", ")) } } }
}

/// The sectors and wavefronts of the worst line.
fn worst(lines: &Lines) -> u64 {
    let cost = |listed: &Listed<'_>| match listed {
        Listed::Line(ListedLine { counted: Some(counted), .. }) => counted.cost().0,
        _ => 0,
    };
    lines.listing().iter().map(cost).max().unwrap_or(0)
}

/// The lines of a variant.
fn listing(lines: &Lines, worst: u64, faults: &[Fault], variant: &str) -> Markup {
    let listing = lines.listing();
    html! {
        div.scroll tabindex="0" role="region" aria-label={ "Source of " (variant) } {
            table.source {
                thead {
                    tr {
                        th scope="col" { "line" }
                        th scope="col" { "instructions" }
                        th scope="col" { "active lanes" }
                        th scope="col" { "sectors, wavefronts" }
                        th scope="col" { "source" }
                    }
                }
                tbody {
                    @for listed in &listing {
                        @match listed {
                            Listed::File(file) => tr { th scope="colgroup" colspan="5" { (file) } },
                            Listed::Gap => tr { td.gap colspan="5" { "..." } },
                            Listed::Line(listed) => (line(listed, worst, faults)),
                        }
                    }
                }
            }
        }
        @for file in lines.missing() {
            p.quiet { (file) " was not found, so its text is missing." }
        }
    }
}

/// A line, with its accesses and what checks found in it.
fn line(listed: &ListedLine<'_>, worst: u64, faults: &[Fault]) -> Markup {
    let ListedLine { place, source, counted } = listed;
    let cost = counted.map_or(0, |counted| counted.cost().0);
    let heat = (cost > 0).then(|| format!("--heat:{:.2}", cost as f64 / worst as f64));
    let here = |fault: &&Fault| {
        place.as_ref().is_some_and(|place| fault.file.as_deref() == Some(&place.file) && fault.line == Some(place.line))
    };
    html! {
        tr.hot[heat.is_some()] style=[heat] {
            td { @if let Some(place) = place { (place.line) } }
            @if let Some(counted) = counted {
                td { (counted.instructions()) }
                td { (lanes(counted)) }
                td { @if cost > 0 { (cost) } }
            } @else {
                td colspan="3" {}
            }
            td {
                code { (source) }
                @for (requests, words) in counted.map(Counted::accesses_in_words).unwrap_or_default() {
                    div.access { (requests) " " (words) }
                }
                @for fault in faults.iter().filter(here) { div.finding { (fault.message) } }
            }
        }
    }
}

fn lanes(counted: &Counted) -> String {
    counted.active_lanes().map_or_else(|| "-".to_owned(), |lanes| format!("{lanes:.1}"))
}
