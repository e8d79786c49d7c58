//! A lab's report as one web page that needs nothing else: no network, no other file. It has the sentences, the table
//! and the sweeps, pictures of accesses, and the source with its counts. [`super::write_page`] writes it.
//!
//! ```text
//! mod        the page, its sentences and its tables      page.css  page.js    the look; sorting, and unfolding for print
//! accesses   pictures, each shape once                   source    the lines as a heat map, with what checks found
//! ```
//!
//! What must stay true: every text goes through `maud`, which escapes it; only our own style, script and drawings do
//! not. The page's policy forbids it to load anything. It says all that it shows without the script. Parts that grow
//! with a sweep have a limit in bytes, and say what they leave out. Pure.

mod accesses;
mod source;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::lab_report::LabReport;
use super::measure::Section;
use super::page::Page;
use super::sweep;
use super::table::{Column, Table};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Nothing is loaded, from anywhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; \
                      form-action 'none'";

/// The most bytes of results, pictures and source together, which leaves room for the rest of the page below 300 KB. Pictures
/// have what the others leave.
const MOST: usize = 260_000;

/// A table with more rows scrolls by itself, so that it does not hide what comes after it.
const TALL: usize = 24;

/// Said where nothing was counted.
const NO_COUNTS: &str = "This run has times only. A GPU does not show its accesses: pictures and counts by line are made \
                         on the simulator. Add --counters to run the same launches there, too, or give --device sim.";

/// The page.
pub(super) fn render(report: &LabReport, about: &str) -> String {
    let page = Page::of(report, true);
    let faults: Vec<_> = report.findings().faults();
    let (title, details) = (report.lab, page.heading.iter());
    let counted = report.variants.iter().any(|variant| variant.on_page.is_some());
    let (results, plots, source) = (results(&page), plots(report), source::section(report));
    let room = MOST.saturating_sub(results.0.len() + plots.0.len() + source.0.len());
    let accesses = accesses::section(report, room);
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="color-scheme" content="light dark";
                title { (title) " - Coalesce" }
                style { (PreEscaped(STYLE)) (PreEscaped(picture::STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    p.about { (about) }
                    @for line in details { p.quiet { (line) } }
                }
                main {
                    @if !page.conclusions.is_empty() {
                        section.says aria-label="What the numbers show" {
                            @for sentence in &page.conclusions { p { (numbers(sentence)) } }
                        }
                    }
                    @for line in &page.wrong { p.cost { (line) } }
                    @if !faults.is_empty() {
                        section.card aria-labelledby="faults" {
                            h2 id="faults" { "What the checks found" }
                            ul { @for fault in &faults { li.finding { (fault.message) } } }
                        }
                    }
                    (plots)
                    (results)
                    @if counted {
                        (accesses)
                        (source)
                    } @else {
                        p.card { (NO_COUNTS) }
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    document.into_string()
}

/// The plots of the lab's sweeps.
fn plots(report: &LabReport) -> Markup {
    let plots = sweep::plots(report);
    html! {
        @if !plots.is_empty() {
            section.card aria-labelledby="plots" {
                h2 id="plots" { "Sweep" }
                div.plots { @for plot in &plots { (PreEscaped(picture::plot_svg(plot))) } }
            }
        }
    }
}

/// The table, the sweeps, and what their columns mean.
fn results(page: &Page) -> Markup {
    html! {
        section.card aria-labelledby="results" {
            h2 id="results" { "Results" }
            (table(&page.table, "Table of results"))
            @for line in &page.kernels { p.quiet { (line.replace('`', "")) } }
            @for grid in &page.grids { (table(grid, grid.title.as_deref().unwrap_or("Sweep").trim_end_matches(':'))) }
            @if !page.legend.is_empty() {
                h3 { "What the columns mean" }
                ul.quiet { @for sentence in &page.legend { li { (sentence) } } }
            }
        }
    }
}

/// A table whose rows a click or a key on a heading sorts.
fn table(table: &Table, name: &str) -> Markup {
    let row_header = |column: &Column| column.section == Section::Name;
    html! {
        div.scroll.tall[table.rows() > TALL] tabindex="0" role="region" aria-label=(name) {
            table.sortable {
                @if table.title.is_some() { caption { (name) } }
                thead {
                    tr {
                        @for column in &table.columns {
                            th scope="col" aria-sort="none" {
                                button type="button" title=[explanation(column)] { (heading(column)) }
                            }
                        }
                    }
                }
                tbody {
                    @for row in 0..table.rows() {
                        tr {
                            @for column in &table.columns {
                                @let cell = column.cells[row].as_ref();
                                @let value = cell.and_then(|cell| cell.value);
                                @if row_header(column) {
                                    th scope="row" data-value=[value] { (column.text(row)) }
                                } @else {
                                    td.best[cell.is_some_and(|cell| cell.best)] data-value=[value] { (column.text(row)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A column's title with its unit, unless that is in the title already.
fn heading(column: &Column) -> String {
    let title = column.heading();
    match column.unit {
        "" => title,
        unit if title.split_whitespace().any(|word| word == unit) => title,
        unit => format!("{title} ({unit})"),
    }
}

fn explanation(column: &Column) -> Option<String> {
    (!column.explanation.is_empty()).then(|| column.explanation.join(" "))
}

/// A sentence whose numbers stand out.
fn numbers(sentence: &str) -> Markup {
    html! {
        @for (index, word) in sentence.split(' ').enumerate() {
            @if index > 0 { " " }
            @let number = word.trim_end_matches(['.', ',', ';', ':', '%']);
            @if !number.is_empty() && number.parse::<f64>().is_ok_and(f64::is_finite) {
                b { (number) } (&word[number.len()..])
            } @else {
                (word)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::measure::{Better, Cell};

    const HOSTILE: &str = "</style><script>alert(\"1 & 2\")</script>";
    const ESCAPED: &str = "&lt;/style&gt;&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt;";

    #[test]
    fn every_text_of_a_table_is_escaped() {
        let names = vec![Some(Cell::text(HOSTILE)), None];
        let column = Column {
            title: vec![HOSTILE.into()],
            explanation: vec![HOSTILE.into()],
            ..Column::names("name", Section::Name, names)
        };
        let text = table(&Table { title: Some(HOSTILE.into()), columns: vec![column] }, HOSTILE).into_string();
        assert!(!text.contains("<script") && !text.contains("</style"), "{text}");
        // The region's name and caption, the heading and its explanation, and the cell.
        assert_eq!(text.matches(ESCAPED).count(), 5, "{text}");
    }

    #[test]
    fn numbers_of_a_sentence_stand_out_and_it_is_escaped() {
        let said = numbers("A 32 x 32 tile of f32 <b> takes 32.0 wavefronts, or 1.00.").into_string();
        let expected = "A <b>32</b> x <b>32</b> tile of f32 &lt;b&gt; takes <b>32.0</b> wavefronts, or <b>1.00</b>.";
        assert_eq!(said, expected);
    }

    #[test]
    fn a_heading_has_its_unit_once() {
        let column = |title: &str, unit| Column {
            title: vec![title.into()],
            unit,
            better: Better::Higher,
            ..Column::names("key", Section::Time, Vec::new())
        };
        assert_eq!(heading(&column("cold", "us")), "cold (us)");
        assert_eq!(heading(&column("GB/s", "GB/s")), "GB/s");
        assert_eq!(heading(&column("loads", "")), "loads");
    }
}
