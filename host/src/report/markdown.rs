//! The report as a Markdown table, for a README: the same columns as the table for people.

use super::columns::{self, Subject};
use super::{LabReport, table};

/// The report as text.
pub(super) fn render(report: &LabReport) -> String {
    let columns =
        columns::of(report, &[Subject::Name, Subject::Check, Subject::Time, Subject::Counter, Subject::Cache]);
    let mut text = table::heading(report).join("  \n") + "\n\n";
    let mut line = |cells: Vec<String>| {
        text.push_str("| ");
        text.push_str(&cells.join(" | "));
        text.push_str(" |\n");
    };
    line(columns.iter().map(|column| column.title.join(" ")).collect());
    line(
        columns.iter().map(|column| if column.subject == Subject::Name { "---" } else { "---:" }.to_owned()).collect(),
    );
    for variant in &report.variants {
        line(columns.iter().map(|column| column.cell(variant)).collect());
    }
    text
}
