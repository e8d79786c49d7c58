//! The report as one JSON object: everything that is known. Field names are part of the program's interface. [`super`]
//! calls it; `host compare` reads it back.
//!
//! Numbers that JSON cannot hold (an error that is not a number) are null.

use super::lab_report::LabReport;

/// The report as text, indented.
pub(super) fn render(report: &LabReport) -> String {
    // All keys are strings and every part of a report can be serialized, so this cannot fail.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
