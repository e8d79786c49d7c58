//! Whether a result was right, and how far from the reference it is.

use crate::report::explanations as explain;
use crate::report::measure::Better::{Lower, Neither};
use crate::report::measure::{Better, Cell, Measure, Section};
use crate::report::variant_report::VariantReport;
use crate::units::three_digits;

const fn compared(
    key: &'static str,
    title: &'static [&'static str],
    better: Better,
    of: fn(&VariantReport) -> Option<Cell>,
) -> Measure {
    Measure::new(Section::Comparison, key, title, better, of)
}

/// A row's name.
pub const NAME: Measure =
    Measure::new(Section::Name, "variant", &["variant"], Neither, |variant| Some(Cell::text(&variant.name)));

/// The largest error of a result.
pub const MAX_ERROR: Measure = compared("max_error", &["worst", "error"], Lower, |variant| {
    let comparison = variant.comparison.as_ref()?;
    match comparison.too_exact {
        true => Some(Cell::text("not simulated")),
        false => Some(Cell::new(comparison.max_error, short_error(comparison.max_error))),
    }
});

/// Whether the result was right.
pub const CHECKS: &[Measure] = &[
    compared("right", &["right"], Neither, |variant| Some(Cell::text(if variant.correct()? { "yes" } else { "NO" })))
        .explained(explain::sampled),
    MAX_ERROR,
    compared("percent_of_allowed_error", &["% of", "allowed"], Lower, |variant| {
        let comparison = variant.comparison.as_ref().filter(|comparison| !comparison.too_exact)?;
        let percent = comparison.tolerance.as_ref()?.worst_part * 100.0;
        Some(Cell::new(percent, part(percent)))
    })
    .unit("%")
    .explained(explain::allowed_errors),
    compared("faults", &["faults"], Lower, |variant| {
        variant.findings.as_ref().map(|_| Cell::count(variant.faults().len() as u64))
    }),
];

/// Larger numbers have an exponent.
const MOST_WRITTEN_OUT: f64 = 1e5;

/// Smaller percentages are shown as smaller than this.
const LEAST_WRITTEN_OUT: f64 = 0.001;

/// A percentage of the allowed error: that of a wrong result may be as large as the error itself.
fn part(percent: f64) -> String {
    match percent {
        0.0 => "0".to_owned(),
        part if part < LEAST_WRITTEN_OUT => format!("<{LEAST_WRITTEN_OUT}"),
        part if part < MOST_WRITTEN_OUT => three_digits(part),
        part => short_error(part),
    }
}

/// An error in few characters.
fn short_error(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if (0.001..MOST_WRITTEN_OUT).contains(&value) {
        three_digits(value)
    } else if value.is_finite() {
        format!("{value:.0e}")
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::short_error;

    #[test]
    fn errors_are_short() {
        let cases =
            [(0.0, "0"), (2.0, "2.00"), (0.5, "0.500"), (6e-8, "6e-8"), (1.6e36, "2e36"), (f64::INFINITY, "inf")];
        for (value, text) in cases {
            assert_eq!(short_error(value), text);
        }
    }
}
