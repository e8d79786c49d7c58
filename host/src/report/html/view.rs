//! A run whose parts a page shows one by one: first its sentences, plots and tables, then the
//! source and the accesses of the row that the reader chooses, request by request. The site makes
//! its pages of it; a report shows all at once. Pure.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};
use picture::{Scene, elements_svg, memory_svg, tiles_svg};
use serde::Serialize;
use simt::counts::AccessKind;
use simt::requests::RequestedMemory;
use webpage::Place;

use super::{other_orders, part, results, source};
use crate::faults::Fault;
use crate::labs::Showcase;
use crate::lines::{Listed, ListedLine, Stepped};
use crate::report::elements::{Elements, maps, tile_orders};
use crate::report::memory::{Charted, chart as memory_chart};
use crate::report::page::Page;
use crate::report::variant_report::VariantReport;
use crate::report::{Goal, Judged, LabReport};

/// A run, to be shown part by part.
pub struct RunView {
    page: Page,
    /// The few columns that make a lab's point.
    first: Option<Page>,
    plots: Markup,
    plotted: &'static str,
    goals: Vec<Judged>,
    /// Likewise at each step of the showcase's slider.
    stepped: Vec<Vec<Judged>>,
    variants: Vec<VariantReport>,
    charted: Charted,
    elements: Option<Elements>,
    further: Markup,
}

/// What a page shows of a run at once. Texts are HTML where they say so.
#[derive(Debug, Serialize)]
pub struct Overview {
    /// HTML: what the numbers show, or what is wrong.
    pub says: String,
    /// HTML: what to reach, and how near the run has come; empty if there is nothing.
    pub goals: String,
    /// The same for each of the rows that the slider moves through; none if it moves a flag.
    pub goals_of_steps: Vec<String>,
    /// HTML: the sweeps that the rows are.
    pub plots: String,
    /// The drawing of what moves between the memories; empty if there is none.
    pub memory: String,
    /// The drawing of how often each element is loaded; empty if that is not counted.
    pub elements: String,
    /// HTML: the tables, and what their columns mean.
    pub results: String,
    /// The rows.
    pub rows: Vec<RowOverview>,
    /// Warp instructions that were executed.
    pub executed: u64,
    /// Whether a fault, which is among what it says, stopped a kernel.
    pub stopped: bool,
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
    /// Of each kind of access, which of them to begin with: the costliest, and of those the last,
    /// since the first may be a kernel's set-up.
    pub begin_with: BTreeMap<String, usize>,
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
    /// The one to begin with.
    pub first: usize,
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

impl RunView {
    /// That of a lab, with its page's goals.
    pub(crate) fn of(report: LabReport, showcase: &Showcase) -> Self {
        let (page, plots, plotted) = (Page::of(&report, true), report.plots_on_page(), report.plotted());
        let further = other_orders(&report.orders, &Place::alone());
        let first = Some(Page::first(&report));
        let judge = |goal: &Goal| goal.judge(&report);
        let of_row = |row| showcase.goals.iter().map(|goal| judge(&goal.at(row))).collect();
        let stepped = showcase.stepped().map(of_row).collect();
        let goals = showcase.goals.iter().map(judge).collect();
        Self {
            page,
            first,
            plots,
            plotted,
            goals,
            stepped,
            variants: report.variants,
            charted: report.charted,
            elements: report.elements,
            further,
        }
    }

    pub(super) fn new(page: Page, variants: Vec<VariantReport>, further: Markup) -> Self {
        Self {
            page,
            first: None,
            plots: PreEscaped(String::new()),
            plotted: "",
            goals: Vec::new(),
            stepped: Vec::new(),
            variants,
            charted: None,
            elements: None,
            further,
        }
    }

    /// All of it at once, in at most about this many bytes.
    pub(super) fn part(self, place: &Place, most: usize) -> Markup {
        let Self { page, plots, plotted, variants, charted, elements, further, .. } = self;
        part(
            &super::Shown {
                page: &page,
                first: None,
                plots,
                plotted,
                variants: &variants,
                plays: false,
                charted,
                elements,
                further,
            },
            place,
            most,
        )
    }

    /// What is shown at once.
    pub fn overview(&self) -> Overview {
        let executed = self.variants.iter().filter_map(|row| row.counters.as_ref()).map(|it| it.instructions_executed);
        Overview {
            says: self.says().into_string(),
            goals: all(&self.goals),
            goals_of_steps: self.stepped.iter().map(|goals| all(goals)).collect(),
            plots: self.plots.clone().into_string(),
            memory: memory_chart(&self.variants, self.charted).map_or(String::new(), |chart| memory_svg(&chart)),
            elements: maps(&self.variants, self.elements).map_or(String::new(), |maps| elements_svg(&maps)),
            results: html! {
                (results(self.first.as_ref(), &self.page, &Place::alone()))
                @if let Some(orders) = tile_orders(&self.variants) {
                    figure {
                        (PreEscaped(tiles_svg(&orders)))
                        figcaption { "The tiles of the result, shaded by when their blocks run." }
                    }
                 }
                (self.further)
            }
            .into_string(),
            rows: self.variants.iter().map(row).collect(),
            executed: executed.sum(),
            stopped: self.variants.iter().any(|variant| variant.stopped.is_some()),
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
        let Page { wrong, .. } = &self.page;
        let Page { conclusions, .. } = self.first.as_ref().unwrap_or(&self.page);
        let faults: Vec<Fault> = self.variants.iter().flat_map(VariantReport::faults).collect();
        html! {
            (webpage::explained(conclusions))
            @for line in wrong { p.cost { (line) } }
            (super::faults::list(&faults))
        }
    }
}

/// Goals, as HTML.
fn all(goals: &[Judged]) -> String {
    html! { @for goal in goals { (shown(goal)) } }.into_string()
}

/// A goal, and how near the run has come.
fn shown(Judged { ask, met, says }: &Judged) -> Markup {
    html! { div.goal data-met=(met) { p { (ask) } p.quiet { (webpage::numbers(says)) } } }
}

fn row(variant: &VariantReport) -> RowOverview {
    let predicted = variant.predicted_time().map(|time| {
        let text = crate::units::three_digits(time.time_ms * 1e3);
        format!("{text} us predicted for {}, limited by {}", time.model.chip, time.limit.name())
    });
    let mut kinds: BTreeMap<String, (Cost, usize)> = BTreeMap::new();
    let mut shown = Vec::new();
    for (index, (line, stepped)) in accesses(variant).into_iter().enumerate() {
        let (first, cost) = costliest(stepped);
        let begin = kinds.entry(what(stepped)).or_insert((cost, index));
        *begin = (*begin).max((cost, index));
        shown.push(AccessOverview { what: what(stepped), line, requests: stepped.requests.len(), first });
    }
    let begin_with = kinds.into_iter().map(|(what, (_, index))| (what, index)).collect();
    RowOverview { name: variant.name.clone(), predicted, accesses: shown, begin_with }
}

/// What a request costs, and the bytes that it asks for.
type Cost = (u32, u32);

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

/// The first of the costliest requests, and what it costs. A line may have several accesses: of
/// those that cost the same, the one that asks for the most is the one that the layout of the
/// memory decides about, not a broadcast beside it.
fn costliest(stepped: &Stepped) -> (usize, Cost) {
    let costs = stepped.requests.iter().map(|(_, service)| (service.count, service.bytes_asked)).enumerate();
    costs.min_by_key(|&(_, cost)| Reverse(cost)).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::cli;

    fn run(line: &str, steps: u32) -> (RunView, Overview) {
        let viewed = cli::view(line.split(' ').map(OsString::from), steps);
        let view = viewed.view.unwrap_or_else(|| panic!("{line}: {}", viewed.messages));
        let overview = view.overview();
        (view, overview)
    }

    #[test]
    fn a_lab_is_shown_part_by_part() {
        let (view, overview) = run("transpose --tiled --padded --rows 64 --device sim", 3);
        assert_eq!(
            overview.says,
            "<p>Reading a column of the tile takes <b>32</b> <abbr title=\"a pass over the banks of shared memory: a word of each\" tabindex=\"0\">wavefronts</abbr>, with padding <b>1</b>.</p>"
        );
        assert!(overview.results.contains("<table") && overview.executed > 0);
        let names: Vec<_> = overview.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["tiled", "padded"]);
        let what: Vec<_> = overview.rows[0].accesses.iter().map(|access| access.what.as_str()).collect();
        assert_eq!(what, ["global load", "shared store", "shared load", "global store"]);
        assert!(overview.rows[0].accesses.iter().all(|access| access.requests == 3 && access.line.is_some()));
        for (row, said) in [(0, "<b>32</b> wavefronts"), (1, "<b>1</b> wavefront:")] {
            let picture = view.picture(row, 2, 2).unwrap();
            assert!(picture.says.contains(said) && picture.svg.starts_with("<svg"), "{}", picture.says);
            // A warp reads four words of the tile, so its third comes before the next warp's first.
            assert_eq!(picture.made_by, "block 0, 0, 0, warp 0");
            assert!(view.source(row).contains("kernels/src/transpose.rs"));
        }
    }

    #[test]
    fn a_page_has_the_memory_chart_that_its_lab_names() {
        let charted = crate::labs::ALL.iter().filter_map(|lab| Some((lab, lab.showcase.charted?)));
        let mut count = 0;
        for (lab, (first, second)) in charted {
            let start = lab.showcase.start.iter().flat_map(|(flag, value)| [format!("--{flag}"), (*value).to_owned()]);
            let words = std::iter::once(lab.name.to_owned()).chain(start.filter(|word| !word.is_empty()));
            let device = lab.showcase.start.iter().all(|(flag, _)| *flag != "device").then_some("--device sim");
            let line: Vec<String> = words.chain(device.map(str::to_owned)).collect();
            let (_, overview) = run(&line.join(" "), 1);
            for name in [first, second] {
                assert!(overview.memory.contains(&format!(">{name}<")), "{}: no {name}", lab.name);
            }
            count += 1;
        }
        assert_eq!(count, 9);
        let (_, banks) = run("banks --rounds 1 --device sim", 1);
        assert!(banks.memory.is_empty() && banks.elements.is_empty());
        let (_, product) = run("matmul --m 32 --n 32 --k 32 --naive --tiled32 --device sim", 1);
        assert!(product.elements.contains("A: naive 32, tiled32 1."), "{}", product.elements);
    }

    #[test]
    fn requests_are_stepped_through_warp_by_warp() {
        let (view, overview) = run("transpose --tiled --rows 64 --device sim", 32);
        let requests = overview.rows[0].accesses[2].requests;
        let made_by: Vec<_> = (0..requests).map(|at| view.picture(0, 2, at).unwrap().made_by).collect();
        let expected: Vec<_> = (0..32).map(|at| format!("block 0, 0, 0, warp {}", at / 4)).collect();
        assert_eq!(made_by, expected);
    }

    #[test]
    fn a_page_begins_with_the_access_that_the_padding_is_about() {
        let (view, overview) = run("gram --tiled32 --padded32 --rows 32 --device sim", 32);
        for (row, said) in [(0, "<b>32</b> wavefronts"), (1, "no bank has two of the words")] {
            let RowOverview { accesses, begin_with, .. } = &overview.rows[row];
            let access = begin_with["shared load"];
            let picture = view.picture(row, access, accesses[access].first).unwrap();
            assert!(picture.says.contains(said), "{}", picture.says);
        }
        // The loop of a reduction, not the thread that reads the result.
        let (view, overview) = run("reduce --reduce2 --size 8192 --device sim", 32);
        let RowOverview { accesses, begin_with, .. } = &overview.rows[0];
        let access = begin_with["shared load"];
        let picture = view.picture(0, access, accesses[access].first).unwrap();
        assert!(picture.says.contains("for bank conflicts"), "{}", picture.says);
    }

    #[test]
    fn there_is_nothing_of_a_row_access_or_request_that_is_not_there() {
        let (view, _) = run("offset --read --offset 11 --size 64 --device sim", 1);
        assert!(view.picture(0, 0, 0).is_some());
        for (row, access, request) in [(9, 0, 0), (0, 9, 0), (0, 0, 1)] {
            assert!(view.picture(row, access, request).is_none(), "{row} {access} {request}");
        }
        assert_eq!(view.source(9), "");
    }

    #[test]
    fn on_a_model_a_row_has_a_predicted_time() {
        let (_, overview) = run("offset --read --offset 11 --size 4096 --device sim:hopper", 1);
        let predicted = overview.rows[0].predicted.as_deref().unwrap();
        assert!(predicted.contains("us predicted for H200") && predicted.contains("limited by"), "{predicted}");
    }

    #[test]
    fn what_is_wrong_with_a_command_line_is_a_message() {
        let viewed = cli::view(["offset", "--size", "x"].map(OsString::from), 1);
        assert!(viewed.view.is_none() && viewed.exit_code == 2);
        assert!(viewed.messages.contains("'x'"), "{}", viewed.messages);
    }
}
