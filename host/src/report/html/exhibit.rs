//! A run whose parts a page shows one by one: first its sentences, plots and tables, then the source and the accesses of the
//! row that the reader chooses, request by request. The site makes its pages of it; a report shows all at once. Pure.

use maud::{Markup, html};
use picture::{Plot, Scene};
use serde::Serialize;
use simt::{AccessKind, RequestedMemory};
use webpage::Place;

use super::{part, results, source};
use crate::faults::Fault;
use crate::lines::{Listed, ListedLine, Stepped};
use crate::report::LabReport;
use crate::report::page::Page;
use crate::report::variant_report::VariantReport;

/// A run, to be shown part by part.
pub struct Exhibit {
    page: Page,
    plots: Vec<Plot>,
    variants: Vec<VariantReport>,
    further: Markup,
}

/// What a page shows of a run at once. Texts are HTML where they say so.
#[derive(Debug, Serialize)]
pub struct Overview {
    /// HTML: what the numbers show, or what is wrong.
    pub says: String,
    /// HTML: the sweeps that the rows are.
    pub plots: String,
    /// HTML: the tables, and what their columns mean.
    pub results: String,
    /// The rows.
    pub rows: Vec<RowOverview>,
    /// Warp instructions that were executed.
    pub executed: u64,
}

/// A row, as a page offers it.
#[derive(Debug, Serialize)]
pub struct RowOverview {
    /// Its name.
    pub name: String,
    /// The time that a GPU would take, as the simulator predicts, and what limits it.
    pub predicted: Option<String>,
    /// Its accesses, in the order of the source.
    pub accesses: Vec<AccessOverview>,
}

/// An access that one can step through.
#[derive(Debug, Serialize)]
pub struct AccessOverview {
    /// What it is: `shared load`.
    pub what: String,
    /// Its line, if the program has lines.
    pub line: Option<u32>,
    /// How many requests are kept.
    pub requests: usize,
}

/// One request of an access.
#[derive(Debug, Serialize)]
pub struct Picture {
    /// The drawing.
    pub svg: String,
    /// HTML: what it costs.
    pub says: String,
    /// Who made it: its block, its warp.
    pub made_by: String,
}

impl Exhibit {
    /// That of a lab.
    pub(crate) fn of(report: LabReport) -> Self {
        let (page, plots) = (Page::of(&report, true), report.plots());
        Self { page, plots, variants: report.variants, further: Markup::default() }
    }

    pub(super) fn new(page: Page, variants: Vec<VariantReport>, further: Markup) -> Self {
        Self { page, plots: Vec::new(), variants, further }
    }

    /// All of it at once, in at most about this many bytes.
    pub(super) fn part(self, place: &Place, most: usize) -> Markup {
        let Self { page, plots, variants, further } = self;
        part(&super::Shown { page: &page, plots, variants: &variants, further }, place, most)
    }

    /// What is shown at once.
    pub fn overview(&self) -> Overview {
        let executed = self.variants.iter().filter_map(|row| row.counters.as_ref()).map(|it| it.instructions_executed);
        Overview {
            says: self.says().into_string(),
            plots: webpage::plots(&self.plots).into_string(),
            results: html! { (results(&self.page, &Place::alone())) (self.further) }.into_string(),
            rows: self.variants.iter().map(row).collect(),
            executed: executed.sum(),
        }
    }

    /// The source of a row as a heat map, beside its PTX, as HTML; empty if there is none.
    pub fn source(&self, row: usize) -> String {
        let Some(variant) = self.variants.get(row) else { return String::new() };
        let listings = self.variants.iter().filter_map(|it| Some(source::listing(it.on_page.as_ref()?, &it.faults())));
        let worst = listings.map(|listing| listing.worst()).max().unwrap_or(0);
        let own = variant.on_page.as_ref().map(|lines| source::listing(lines, &variant.faults()));
        own.map_or_else(String::new, |listing| listing.beside(&variant.name, worst).into_string())
    }

    /// A request of an access of a row; `None` if there is none.
    pub fn picture(&self, row: usize, access: usize, request: usize) -> Option<Picture> {
        let (_, stepped) = accesses(self.variants.get(row)?).into_iter().nth(access)?;
        let (request, service) = stepped.requests.get(request)?;
        let scene = Scene::new(request, service);
        let [x, y, z] = request.position;
        Some(Picture {
            svg: picture::access_svg(&scene),
            made_by: format!("block {x}, {y}, {z}, warp {}", request.warp),
            says: html! { p { (webpage::numbers(&scene.sentence)) } }.into_string(),
        })
    }

    fn says(&self) -> Markup {
        let Page { wrong, conclusions, .. } = &self.page;
        let faults: Vec<Fault> = self.variants.iter().flat_map(VariantReport::faults).collect();
        html! {
            @for sentence in conclusions { p { (webpage::numbers(sentence)) } }
            @for line in wrong { p.cost { (line) } }
            @for message in super::each_once(faults.iter().map(|fault| &fault.message)) { p.finding { (message) } }
        }
    }
}

fn row(variant: &VariantReport) -> RowOverview {
    let predicted = variant.predicted_time().map(|time| {
        let text = crate::units::three_digits(time.time_ms * 1e3);
        format!("{text} us predicted for {}, limited by {}", time.model.chip, time.limit.name())
    });
    let accesses = accesses(variant).into_iter().map(|(line, stepped)| AccessOverview {
        what: what(stepped),
        line,
        requests: stepped.requests.len(),
    });
    RowOverview { name: variant.name.clone(), predicted, accesses: accesses.collect() }
}

/// The accesses of a row with their lines, in the order of its listing.
fn accesses(variant: &VariantReport) -> Vec<(Option<u32>, &Stepped)> {
    let mut accesses = Vec::new();
    for listed in variant.on_page.iter().flat_map(|lines| lines.listing()) {
        if let Listed::Line(ListedLine { place, counted: Some(counted), .. }) = listed {
            accesses.extend(counted.stepped().iter().map(|stepped| (place.as_ref().map(|it| it.line), stepped)));
        }
    }
    accesses
}

/// What an access is, in words.
fn what(stepped: &Stepped) -> String {
    let memory = match stepped.memory {
        RequestedMemory::Global => "global",
        RequestedMemory::Local => "local",
        RequestedMemory::Constant => "constant",
        RequestedMemory::Shared => "shared",
        RequestedMemory::Distributed => "distributed",
        RequestedMemory::Texture => "texture",
        RequestedMemory::Surface => "surface",
    };
    let kind = match stepped.kind {
        AccessKind::Load => "load",
        AccessKind::Store => "store",
        AccessKind::Atomic => "atomic",
        AccessKind::Reduction => "reduction",
        AccessKind::Copy => "copy",
    };
    format!("{memory} {kind}")
}
