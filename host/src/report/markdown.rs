//! The report as a Markdown table, for a README: the same columns as the table for people, with their full titles.

use super::{LabReport, cells, table};

/// The report as text.
pub(super) fn render(report: &LabReport) -> String {
    let mut text = String::new();
    let mut line = |cells: &[String]| {
        text.push_str("| ");
        text.push_str(&cells.join(" | "));
        text.push_str(" |\n");
    };
    let rows: Vec<_> = report.variants.iter().map(cells::of).collect();
    // What no variant has is left out.
    let kept: Vec<usize> = (0..cells::COLUMNS.len())
        .filter(|&column| rows.is_empty() || rows.iter().any(|row| row[column] != "-"))
        .collect();
    let pick = |cells: &[String]| kept.iter().map(|&at| cells[at].clone()).collect::<Vec<_>>();

    let titles = cells::COLUMNS.map(|(_, title)| title.to_owned());
    line(&pick(&titles));
    line(&kept.iter().map(|&at| if at == 0 { "---" } else { "---:" }.to_owned()).collect::<Vec<_>>());
    for row in &rows {
        line(&pick(row));
    }
    format!("{}\n\n{text}", table::heading(report).join("  \n"))
}
