//! Goals: what a reader is to reach with a lab's flags, as data. The counts of the run judge. Pure.

use super::conclusion::{self, Row};
use super::lab_report::LabReport;
use super::measure::{Cell, Measure};
use crate::units::three_digits;

/// Something to reach.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// What to do, in a sentence.
    pub ask: &'static str,
    /// The row that is judged.
    pub row: Row,
    /// By which of its numbers.
    pub measure: &'static Measure,
    /// What that number counts, after it: ` wavefronts a load`. Empty if the measure's text says
    /// it.
    pub unit: &'static str,
    /// What it is to be.
    pub bound: Bound,
    /// Facts of rows that do not count, because they are no answer.
    pub except: &'static [(&'static str, &'static str)],
}

/// What a number is to be.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// No more than this.
    AtMost(Target),
    /// No less than this.
    AtLeast(Target),
}

/// What a number is compared with.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// This number.
    Number(f64),
    /// That of another row.
    Row(Row),
    /// This part of that of another row.
    Part(f64, Row),
    /// A number of the device.
    Of(fn(&LabReport) -> Option<f64>),
}

/// How near a run has come to a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What to do.
    pub ask: &'static str,
    /// Whether it is reached.
    pub met: bool,
    /// That in a sentence, with the number and what is missing.
    pub says: String,
}

impl Goal {
    /// The same for another row.
    pub fn at(&self, row: &'static str) -> Self {
        Self { row: Row::Named(row), ..*self }
    }

    /// Judges a run.
    pub fn judge(&self, report: &LabReport) -> Judged {
        let (met, says) =
            self.judged(report).unwrap_or((false, "Not yet: this setting has no number to judge.".into()));
        Judged { ask: self.ask, met, says }
    }

    fn judged(&self, report: &LabReport) -> Option<(bool, String)> {
        let row = self.row.find(report)?;
        if let Some((name, value)) = self.except.iter().find(|&&fact| conclusion::is_at(row, &[fact])) {
            return Some((false, format!("Not yet: {name} {value} does not count.")));
        }
        let Cell { text, value, .. } = self.measure.of(row)?;
        let (value, unit) = (value?, self.unit);
        let missing = match self.bound {
            Bound::AtMost(target) => value - self.target(target, report)?,
            Bound::AtLeast(target) => self.target(target, report)? - value,
        };
        let points = if text.ends_with('%') { " points" } else { "" };
        let how_far = match self.bound {
            // The number itself says it.
            Bound::AtMost(Target::Number(0.0)) => String::new(),
            Bound::AtMost(_) => format!(", {}{points} too many", number(missing, &text)),
            Bound::AtLeast(_) => format!(", {}{points} too few", number(missing, &text)),
        };
        Some(match missing > 0.0 {
            true => (false, format!("Not yet: {text}{unit}{how_far}.")),
            false => (true, format!("Done: {text}{unit}.")),
        })
    }

    fn target(&self, target: Target, report: &LabReport) -> Option<f64> {
        match target {
            Target::Number(number) => Some(number),
            Target::Row(row) => self.measure.of(row.find(report)?)?.value,
            Target::Part(part, row) => Some(part * self.measure.of(row.find(report)?)?.value?),
            Target::Of(of) => of(report),
        }
    }
}

/// A difference between two numbers that are shown as `text` is: with as many decimals, and without
/// any if these are zeros.
fn number(value: f64, text: &str) -> String {
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    let decimals = fraction.bytes().take_while(u8::is_ascii_digit).count();
    let shown = format!("{value:.decimals$}");
    match shown.parse() {
        // So small a difference shows in neither number.
        Ok(0.0) => three_digits(value),
        Ok(rounded) if f64::fract(rounded) == 0.0 => format!("{rounded:.0}"),
        _ => shown,
    }
}
