//! The report as one JSON object: everything that is known, and the tables as data. Field names are
//! part of the program's interface. [`super`] calls it; `host compare` reads it back.
//!
//! Numbers that JSON cannot hold (an error that is not a number) are null.

use serde::Serialize;

use super::lab_report::LabReport;
use super::page::Page;
use super::table::Table;

/// A report, and its tables.
#[derive(Serialize)]
struct WithTables<'r> {
    #[serde(flatten)]
    report: &'r LabReport,
    table: Table,
    grids: Vec<Table>,
}

/// The report as text, indented.
pub(super) fn render(report: &LabReport) -> String {
    let Page { table, grids, .. } = Page::of(report, true);
    // All keys are strings and every part of a report can be serialized, so this cannot fail.
    let mut text = serde_json::to_string_pretty(&WithTables { report, table, grids }).unwrap_or_default();
    text.push('\n');
    text
}
