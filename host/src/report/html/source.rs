//! The source of each row's kernels as a heat map: the counts of each line, and what checks found.
//! Pure.

use maud::{Markup, PreEscaped, html};
use webpage::{Entry, Listing, Place};

use crate::faults::Fault;
use crate::lines::{Lines, Listed, ListedLine};
use crate::report::VariantReport;

/// The section. All listings together are at most this large, in bytes, except those in which
/// checks found something. A listing without room for the PTX goes without it.
pub(super) fn section(variants: &[VariantReport], place: &Place, most: usize) -> Markup {
    let listed = variants.iter().filter_map(|it| Some((it, listing(it.on_page.as_ref()?, &it.faults()))));
    let listings: Vec<(&VariantReport, Listing)> = listed.collect();
    // One scale for all rows, so that a line that has become cheap looks so.
    let worst = listings.iter().map(|(_, listing)| listing.worst()).max().unwrap_or(0);
    let table = |variant: &VariantReport, listing: &Listing, ptx| {
        listing.table(&place.named(&format!("Source of {}", variant.name)), worst, ptx).into_string()
    };
    let plain: Vec<String> = listings.iter().map(|(variant, listing)| table(variant, listing, false)).collect();
    let mut room = most.saturating_sub(plain.iter().map(String::len).sum());
    let (mut shown, mut left_out, mut used) = (Vec::new(), Vec::new(), 0);
    for ((variant, listing), plain) in listings.iter().zip(plain) {
        let found = !variant.faults().is_empty();
        if used + plain.len() > most && !found {
            left_out.push(variant.name.as_str());
            continue;
        }
        used += plain.len();
        let with_ptx = table(variant, listing, true);
        match room.checked_sub(with_ptx.len() - plain.len()) {
            Some(rest) => {
                room = rest;
                shown.push((variant, found, with_ptx));
            }
            None => shown.push((variant, found, plain)),
        }
    }
    let content = html! {
        p.quiet {
            "The warmer a line, the more sectors and wavefronts it takes, by share of the worst line of all. "
            "Instructions are those of a warp, in PTX."
        }
        @for (index, (variant, found, listing)) in shown.iter().enumerate() {
            details open[index == 0 || *found] {
                summary { (variant.name) (kernels(variant)) }
                (PreEscaped(listing))
            }
        }
        @if !left_out.is_empty() {
            p.quiet {
                "Left out, to keep the page small: " (left_out.join(", ")) ". Choose fewer variants, or give --lines."
            }
        }
    };
    place.card("The source, line by line", &content)
}

fn kernels(variant: &VariantReport) -> Markup {
    html! { @if !variant.kernels.is_empty() { " " span.quiet { (variant.kernels.join(", ")) } } }
}

/// A row's lines, with what checks found in them.
pub(super) fn listing(lines: &Lines, faults: &[Fault]) -> Listing {
    let line = |listed: ListedLine<'_>| {
        let ListedLine { place, source, counted } = listed;
        let is_here = |fault: &&Fault| {
            let here = place.as_ref().map(|place| (&*place.file, place.line));
            here.is_some() && fault.file.as_deref().zip(fault.line) == here
        };
        webpage::Line {
            number: place.as_ref().map(|place| place.line),
            source,
            counts: counted.map(crate::lines::Counted::on_page),
            findings: faults.iter().filter(is_here).map(|fault| fault.what.clone()).collect(),
        }
    };
    let entries = lines.listing().into_iter().map(|listed| match listed {
        Listed::File(file) => Entry::File(file.to_owned()),
        Listed::Gap => Entry::Gap,
        Listed::Line(listed) => Entry::Line(line(listed)),
    });
    Listing { entries: entries.collect(), missing: lines.missing().map(str::to_owned).collect() }
}
