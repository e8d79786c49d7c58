//! Source with the counts of each line, the warmer the dearer, and what checks found there.

use maud::{Markup, html};

/// A listing.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// What it has, from top to bottom.
    pub entries: Vec<Entry>,
    /// Files whose text was not found.
    pub missing: Vec<String>,
}

/// An entry of a listing.
#[derive(Clone, Debug)]
pub enum Entry {
    /// The lines of this file follow.
    File(String),
    /// Lines are left out.
    Gap,
    /// A line.
    Line(Line),
}

/// A line.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Its number, if it has one.
    pub number: Option<u32>,
    /// Its text.
    pub source: String,
    /// What it executed, if anything.
    pub counts: Option<Counts>,
    /// What checks found in it.
    pub findings: Vec<String>,
}

/// What a line executed.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Warp instructions.
    pub instructions: u64,
    /// Active lanes of such an instruction, on average.
    pub lanes: Option<f64>,
    /// Sectors and wavefronts.
    pub cost: u64,
    /// Its accesses: how many requests, and what these cost.
    pub accesses: Vec<(u64, String)>,
    /// The PTX that it was compiled to, unless it is PTX itself.
    pub ptx: Vec<Ptx>,
}

/// An instruction of PTX.
#[derive(Clone, Debug)]
pub struct Ptx {
    /// Its line.
    pub line: u32,
    /// Its text.
    pub text: String,
    /// How often a warp executed it.
    pub executed: u64,
}

impl Listing {
    /// The sectors and wavefronts of the costliest line.
    pub fn worst(&self) -> u64 {
        let lines =
            self.entries.iter().filter_map(|entry| if let Entry::Line(line) = entry { Some(line) } else { None });
        lines.filter_map(|line| line.counts.as_ref()).map(|counts| counts.cost).max().unwrap_or(0)
    }

    /// The listing as a table called `name`. The colours are those of shares of `worst`; `ptx` says
    /// whether the PTX of each line can be unfolded.
    pub fn table(&self, name: &str, worst: u64, ptx: bool) -> Markup {
        html! {
            div.scroll tabindex="0" role="region" aria-label=(name) {
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
                        @for entry in &self.entries {
                            @match entry {
                                Entry::File(file) => tr { th scope="colgroup" colspan="5" { (file) } },
                                Entry::Gap => tr { td.gap colspan="5" { "..." } },
                                Entry::Line(line) => (line.row(worst, ptx)),
                            }
                        }
                    }
                }
            }
            @for file in &self.missing {
                p.quiet { (file) " was not found, so its text is missing." }
            }
        }
    }

    /// The listing as a table called `name`, beside its PTX, in which each instruction has the
    /// number of its line.
    pub fn beside(&self, name: &str, worst: u64) -> Markup {
        let lines =
            self.entries.iter().filter_map(|entry| if let Entry::Line(line) = entry { Some(line) } else { None });
        let of_line = |line: &'_ Line| {
            let number = line.number;
            line.counts.iter().flat_map(|counts| &counts.ptx).map(move |ptx| (number, ptx.clone())).collect::<Vec<_>>()
        };
        let mut ptx: Vec<(Option<u32>, Ptx)> = lines.flat_map(of_line).collect();
        ptx.sort_by_key(|(_, ptx)| ptx.line);
        html! {
            div.beside[!ptx.is_empty()] {
                div { (self.table(name, worst, false)) }
                @if !ptx.is_empty() {
                    div.scroll tabindex="0" role="region" aria-label={ "PTX of " (name) } {
                        table.source.instructions {
                            thead {
                                tr { th scope="col" { "line" } th scope="col" { "warps" } th scope="col" { "PTX" } }
                            }
                            tbody {
                                @for (number, Ptx { text, executed, .. }) in &ptx {
                                    tr data-line=[number] {
                                        td { @if let Some(number) = number { (number) } }
                                        td { (executed) }
                                        td { code { (text) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

impl Line {
    fn row(&self, worst: u64, ptx: bool) -> Markup {
        let Self { number, source, counts, findings } = self;
        let cost = counts.as_ref().map_or(0, |counts| counts.cost);
        let heat = (cost > 0).then(|| format!("hot warm{}", warmth(cost, worst.max(cost))));
        html! {
            tr class=[heat] data-line=[number.filter(|_| counts.is_some())] {
                td { @if let Some(number) = number { (number) } }
                @if let Some(counts) = counts {
                    td { (counts.instructions) }
                    td { @if let Some(lanes) = counts.lanes { (format!("{lanes:.1}")) } @else { "-" } }
                    td { @if cost > 0 { (cost) } }
                } @else {
                    td {}
                    td {}
                    td {}
                }
                td {
                    code { (source) }
                    @if let Some(counts) = counts {
                        @for (requests, words) in &counts.accesses { div.access { (requests) " " (words) } }
                        @if ptx && !counts.ptx.is_empty() { (unfolding(&counts.ptx)) }
                    }
                    @for finding in findings { div.finding { (finding) } }
                }
            }
        }
    }
}

/// A share as one of twenty classes of the style: a page's policy may forbid styles of elements.
fn warmth(cost: u64, worst: u64) -> u64 {
    (20.0 * cost as f64 / worst as f64).ceil().clamp(1.0, 20.0) as u64
}

/// The PTX of a line, on demand.
fn unfolding(ptx: &[Ptx]) -> Markup {
    let width = ptx.iter().map(|one| one.executed.to_string().len()).max().unwrap_or(0);
    let lines: Vec<String> = ptx.iter().map(|one| format!("{:>width$}  {}", one.executed, one.text)).collect();
    html! {
        details.ptx {
            summary { "PTX, " (ptx.len()) @if ptx.len() == 1 { " instruction" } @else { " instructions" } }
            pre { (lines.join("\n")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing() -> Listing {
        let ptx = vec![Ptx { line: 9, text: "ld.global.u32 %r1, [%rd1];".into(), executed: 12 }];
        let counts =
            Counts { instructions: 12, lanes: Some(31.5), cost: 40, accesses: vec![(12, "loads".into())], ptx };
        let line =
            Line { number: Some(7), source: "a < b".into(), counts: Some(counts), findings: vec!["a race".into()] };
        let entries = vec![Entry::File("k.rs".into()), Entry::Gap, Entry::Line(line), Entry::Line(Line::default())];
        Listing { entries, missing: vec!["k.rs".into()] }
    }

    #[test]
    fn each_share_has_a_class_that_the_style_knows() {
        for (cost, class) in [(1, 1), (50, 1), (51, 2), (999, 20), (1000, 20)] {
            assert_eq!(warmth(cost, 1000), class, "{cost}");
        }
        for class in 1..=20 {
            assert!(crate::STYLE.contains(&format!(".warm{class}{{--heat:")), "{class}");
        }
    }

    #[test]
    fn a_line_has_its_counts_its_heat_its_ptx_and_what_was_found() {
        let listing = listing();
        assert_eq!(listing.worst(), 40);
        let text = listing.table("Source", 80, true).into_string();
        for part in [
            "<tr class=\"hot warm10\" data-line=\"7\"><td>7</td><td>12</td><td>31.5</td><td>40</td>",
            "<code>a &lt; b</code><div class=\"access\">12 loads</div>",
            "<summary>PTX, 1 instruction</summary><pre>12  ld.global.u32 %r1, [%rd1];</pre>",
            "<div class=\"finding\">a race</div>",
            "k.rs was not found",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!listing.table("Source", 80, false).into_string().contains("<details"));
    }
}
