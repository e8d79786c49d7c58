//! A measure: what a report shows of a row, written once. A measure is a column of a table, a cell
//! of a grid, and a number in a sentence; its title, unit, explanation and direction go wherever it
//! goes. [`super::measures`] has the measures that labs share. Pure.

use device::{Counters, Properties};
use serde::Serialize;

use super::predicted::PredictedTime;
use super::variant_report::VariantReport;
use crate::units::three_digits;

/// Which values of a measure are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// It says nothing about good or bad.
    Neither,
}

/// A group of columns. A terminal keeps groups together if they fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// What names the row, in every part of the table: its name, or its position on the axes of a
    /// sweep.
    Name,
    /// Its position on the axes of a sweep, beside its name.
    Axis,
    /// Whether the result was right.
    Comparison,
    /// How long it took.
    Time,
    /// How long a GPU would take, as the simulator predicts.
    Predicted,
    /// The counters.
    Counter,
    /// The caches and the occupancy of a model.
    Model,
}

/// A cell: its text, and the number in it if there is one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// As people read it.
    pub text: String,
    /// The same in full precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Whether it is the best of those that it competes with.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub best: bool,
}

/// What bars are made of.
pub(super) const BAR: char = '#';

impl Cell {
    /// A number, and how people read it.
    pub fn new(value: f64, text: impl Into<String>) -> Self {
        Self { text: text.into(), value: Some(value), best: false }
    }

    /// A number with at least three significant digits.
    pub fn number(value: f64) -> Self {
        Self::new(value, three_digits(value))
    }

    /// A number of things.
    pub fn count(count: u64) -> Self {
        Self::new(count as f64, count.to_string())
    }

    /// A bar of so many characters, for a first look.
    pub fn bar(length: usize) -> Self {
        Self::text(BAR.to_string().repeat(length))
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: None, best: false }
    }
}

/// The rows that an explanation is for.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The rows.
    pub variants: &'a [VariantReport],
    /// The report's device.
    pub device: &'a Properties,
}

/// A sentence that explains a term. Of several about one term, a report shows the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The term.
    pub term: &'static str,
    /// The sentence.
    pub text: String,
}

/// Where the cells of a measure come from.
#[derive(Clone, Copy)]
enum Source {
    Variant(fn(&VariantReport) -> Option<Cell>),
    Counters(fn(&Counters) -> Option<Cell>),
    Predicted(fn(&PredictedTime) -> Option<Cell>),
}

/// What a report shows of a row.
#[derive(Clone, Copy)]
pub struct Measure {
    /// Its name in the report's data.
    pub key: &'static str,
    /// Its title, one text for each line of a table's head.
    pub title: &'static [&'static str],
    /// Its unit; empty for a number of things or a ratio.
    pub unit: &'static str,
    /// Which values are good.
    pub better: Better,
    /// The group of columns that it belongs to.
    pub section: Section,
    explain: Option<fn(Shown<'_>) -> Vec<Explanation>>,
    source: Source,
}

impl Measure {
    /// A measure of a row.
    pub const fn new(
        section: Section,
        key: &'static str,
        title: &'static [&'static str],
        better: Better,
        of: fn(&VariantReport) -> Option<Cell>,
    ) -> Self {
        Self { key, title, unit: "", better, section, explain: None, source: Source::Variant(of) }
    }

    /// A measure that the counters give.
    pub const fn counted(
        section: Section,
        key: &'static str,
        title: &'static [&'static str],
        better: Better,
        of: fn(&Counters) -> Option<Cell>,
    ) -> Self {
        Self { key, title, unit: "", better, section, explain: None, source: Source::Counters(of) }
    }

    /// A measure that the simulator predicts.
    pub const fn predicted(
        key: &'static str,
        title: &'static [&'static str],
        better: Better,
        of: fn(&PredictedTime) -> Option<Cell>,
    ) -> Self {
        let (section, source) = (Section::Predicted, Source::Predicted(of));
        Self { key, title, unit: "", better, section, explain: None, source }
    }

    /// With another title.
    pub const fn titled(self, title: &'static [&'static str]) -> Self {
        Self { title, ..self }
    }

    /// In this group of columns.
    pub const fn among(self, section: Section) -> Self {
        Self { section, ..self }
    }

    /// In this unit.
    pub const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// With the sentences that explain it for these rows.
    pub const fn explained(self, explain: fn(Shown<'_>) -> Vec<Explanation>) -> Self {
        Self { explain: Some(explain), ..self }
    }

    /// Its cell for a row; `None` if it is not known.
    pub fn of(&self, variant: &VariantReport) -> Option<Cell> {
        match self.source {
            Source::Variant(of) => of(variant),
            Source::Counters(of) => of(variant.counters.as_ref()?),
            Source::Predicted(of) => of(variant.predicted_time()?),
        }
    }

    /// The sentences that explain it for these rows.
    pub fn explanations(&self, shown: Shown<'_>) -> Vec<Explanation> {
        self.explain.map(|explain| explain(shown)).unwrap_or_default()
    }

    /// Its title on one line.
    pub fn text(&self) -> String {
        self.title.join(" ")
    }
}
