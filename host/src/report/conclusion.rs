//! The sentences below a table, as data: a text with gaps, and the rows and measures that fill
//! them. A sentence is absent unless all of its rows ran, all of its numbers are known, and what it
//! claims of them holds. Pure.

use super::lab_report::LabReport;
use super::measure::{Better, Cell, Measure};
use super::measures::TIME;
use super::variant_report::{VariantReport, plain};
use crate::units;

/// Which row a number is of.
#[derive(Clone, Copy, Debug)]
pub enum Row {
    /// The one of this name.
    Named(&'static str),
    /// The first of these that ran.
    Either(&'static [&'static str]),
    /// The first with these facts.
    At(&'static [(&'static str, &'static str)]),
    /// The last with these facts.
    LastAt(&'static [(&'static str, &'static str)]),
    /// The last whose name begins so.
    LastNamed(&'static str),
    /// Of those with these facts, the first that is the greatest by a measure.
    Most(&'static [(&'static str, &'static str)], &'static Measure),
    /// Likewise the least.
    Least(&'static [(&'static str, &'static str)], &'static Measure),
}

/// What fills a gap.
#[derive(Clone, Copy, Debug)]
pub enum Gap {
    /// A measure of a row.
    Of(Row, &'static Measure),
    /// How many times a measure of the first row is that of the second.
    Times(Row, Row, &'static Measure),
    /// The same in percent.
    Percent(Row, Row, &'static Measure),
    /// How many times as fast the first row is as the second, as a number.
    Speedup(Row, Row),
    /// The same in words that go on with "as": `1.35 times as fast`.
    AsFast(Row, Row),
    /// A row's name.
    Name(Row),
    /// A fact of a row.
    Fact(Row, &'static str),
    /// What follows from several rows.
    Whole(fn(&LabReport) -> Option<Cell>),
}

/// What must hold of the numbers in the gaps, as they are shown, and of the report.
#[derive(Clone, Copy)]
pub enum Holds {
    /// The first gap's number is the greater.
    More(usize, usize),
    /// The gaps show the same.
    Same(usize, usize),
    /// They do not.
    Differ(usize, usize),
    /// Something else.
    If(fn(&LabReport) -> bool),
}

/// A sentence below a table.
#[derive(Clone, Copy)]
pub struct Conclusion {
    /// The sentence, with `{}` for each gap.
    pub text: &'static str,
    /// What fills them.
    pub gaps: &'static [Gap],
    /// What it claims.
    pub holds: &'static [Holds],
}

impl std::fmt::Debug for Measure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.key)
    }
}

impl Row {
    /// The row, if it ran.
    pub fn find(self, report: &LabReport) -> Option<&VariantReport> {
        let at = |facts: &'static [(&str, &str)]| report.variants.iter().filter(move |variant| is_at(variant, facts));
        match self {
            Self::Named(name) => report.variant(name),
            Self::Either(names) => names.iter().find_map(|name| report.variant(name)),
            Self::At(facts) => at(facts).next(),
            Self::LastAt(facts) => at(facts).next_back(),
            Self::LastNamed(start) => report.variants.iter().rfind(|variant| variant.name.starts_with(start)),
            Self::Most(facts, measure) => extreme(at(facts), measure, |value| value),
            Self::Least(facts, measure) => extreme(at(facts), measure, |value| -value),
        }
    }
}

/// Whether a row has these facts; `group` is the row's group.
pub(super) fn is_at(variant: &VariantReport, facts: &[(&str, &str)]) -> bool {
    facts.iter().all(|&(name, value)| match name {
        "group" => variant.group == value,
        _ => variant.fact(name).is_some_and(|fact| plain(fact) == value),
    })
}

/// The first row whose measure is the greatest by this order.
fn extreme<'r>(
    rows: impl Iterator<Item = &'r VariantReport>,
    measure: &Measure,
    order: impl Fn(f64) -> f64,
) -> Option<&'r VariantReport> {
    let known = rows.filter_map(|row| Some((row, order(measure.of(row)?.value?))));
    let greatest = known.reduce(|best, next| if next.1 > best.1 { next } else { best });
    greatest.map(|(row, _)| row)
}

impl Gap {
    /// The measure that it shows, if the legend is to explain it.
    fn measure(self) -> Option<&'static Measure> {
        match self {
            Self::Of(_, measure) | Self::Times(_, _, measure) | Self::Percent(_, _, measure) => Some(measure),
            _ => None,
        }
    }

    /// The rows that it is of.
    pub fn rows(self) -> Vec<Row> {
        match self {
            Self::Of(row, _) | Self::Name(row) | Self::Fact(row, _) => vec![row],
            Self::Times(one, other, _) | Self::Percent(one, other, _) | Self::Speedup(one, other) => vec![one, other],
            Self::AsFast(one, other) => vec![one, other],
            Self::Whole(_) => Vec::new(),
        }
    }

    /// What fills it; `None` if a row or a number is missing.
    fn filled(self, report: &LabReport) -> Option<Cell> {
        let of = |row: Row, measure: &Measure| measure.of(row.find(report)?);
        let ratio = |one, other, measure| {
            let ratio = of(one, measure)?.value? / of(other, measure)?.value?;
            ratio.is_finite().then_some(ratio)
        };
        Some(match self {
            Self::Of(row, measure) => of(row, measure)?,
            Self::Times(one, other, measure) => Cell::number(ratio(one, other, measure)?),
            Self::Percent(one, other, measure) => {
                let percent = 100.0 * ratio(one, other, measure)?;
                Cell::new(percent, units::percent(percent))
            }
            Self::Speedup(fast, slow) => Cell::number(ratio(slow, fast, &TIME)?),
            Self::AsFast(fast, slow) => {
                let ratio = ratio(slow, fast, &TIME)?;
                Cell::new(ratio, units::as_fast(ratio))
            }
            Self::Whole(of) => of(report)?,
            Self::Name(row) => Cell::text(&row.find(report)?.name),
            Self::Fact(row, name) => {
                let fact = row.find(report)?.fact(name)?;
                Cell { value: fact.as_f64(), ..Cell::text(plain(fact)) }
            }
        })
    }
}

impl Conclusion {
    /// A sentence that claims nothing but its numbers.
    pub const fn new(text: &'static str, gaps: &'static [Gap]) -> Self {
        Self { text, gaps, holds: &[] }
    }

    /// The sentence, if this holds.
    pub const fn holds(self, holds: &'static [Holds]) -> Self {
        Self { holds, ..self }
    }

    /// The sentence for this report, if it can be said of it.
    pub fn sentence(&self, report: &LabReport) -> Option<String> {
        let filled = self.gaps.iter().map(|gap| gap.filled(report)).collect::<Option<Vec<Cell>>>()?;
        let more = |one: &Cell, other: &Cell| one.value > other.value && one.text != other.text;
        let holds = self.holds.iter().all(|holds| match *holds {
            Holds::More(one, other) => more(&filled[one], &filled[other]),
            Holds::Same(one, other) => filled[one].text == filled[other].text,
            Holds::Differ(one, other) => filled[one].text != filled[other].text,
            Holds::If(holds) => holds(report),
        });
        let mut pieces = self.text.split("{}");
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for (cell, piece) in filled.iter().zip(pieces) {
            text += &in_prose(cell);
            text += piece;
        }
        holds.then_some(text)
    }

    /// The measures that it shows.
    pub fn measures(&self) -> impl Iterator<Item = &'static Measure> {
        self.gaps.iter().filter_map(|gap| gap.measure())
    }
}

/// A number in a sentence: whole numbers have no decimals, but percentages are as in tables.
fn in_prose(cell: &Cell) -> String {
    let Some(value) = cell.value else { return cell.text.clone() };
    let end = cell.text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(cell.text.len());
    let (number, unit) = cell.text.split_at(end);
    let whole = value.round();
    let is_whole = number.contains('.') && number.parse() == Ok(whole) && (value - whole).abs() <= 0.0005 * whole;
    if is_whole && !unit.starts_with(" %") { format!("{whole}{unit}") } else { cell.text.clone() }
}

/// A fact of a row as a measure, for rows that are chosen by it.
pub const fn of_fact(key: &'static str, of: fn(&VariantReport) -> Option<Cell>) -> Measure {
    Measure::new(super::measure::Section::Axis, key, &[], Better::Neither, of)
}
