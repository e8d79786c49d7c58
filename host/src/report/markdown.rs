//! The report as Markdown, for a README: the same columns as the table for people, in one table. [`super`] calls it.

use super::columns::{self, Column, Section};
use super::lab_report::LabReport;
use super::{legend, table};

/// The report as text.
pub(super) fn render(report: &LabReport) -> String {
    let columns = columns::of(&report.variants, report.subjects);
    let mut text = table::heading(report).join("  \n") + "\n\n";
    let head: Vec<_> = columns.iter().map(Column::text).collect();
    // The texts whose terms the legend explains.
    let mut shown = [head.clone(), report.conclusions.clone()].concat();
    let left = columns.iter().map(|column| column.section == Section::Name).collect::<Vec<_>>();
    let rows = (0..report.variants.len()).map(|row| columns.iter().map(|column| column.cells[row].clone()).collect());
    push_table(&mut text, head, &left, rows);
    for line in table::wrong(report) {
        text += &format!("\n{line}\n");
    }
    for grid in &report.grids {
        if let Some(mut cells) = grid.texts(report) {
            shown.push(grid.heading(&cells));
            text += &format!("\n{}\n\n", grid.heading(&cells));
            let head = cells.remove(0);
            let left: Vec<_> = (0..head.len()).map(|index| index == 0).collect();
            push_table(&mut text, head, &left, cells.into_iter());
        }
    }
    let legend = [legend::of(&report.variants, &shown), legend::of_times(&report.variants, &report.device)].concat();
    for sentences in [legend, report.conclusions.clone()] {
        if !sentences.is_empty() {
            text += &format!("\n{}\n", sentences.join(" "));
        }
    }
    text
}

/// Writes a table; `left` decides which columns are aligned to the left.
fn push_table(text: &mut String, head: Vec<String>, left: &[bool], rows: impl Iterator<Item = Vec<String>>) {
    let mut line = |cells: Vec<String>| {
        text.push_str("| ");
        text.push_str(&cells.join(" | "));
        text.push_str(" |\n");
    };
    line(head);
    line(left.iter().map(|&left| if left { "---" } else { "---:" }.to_owned()).collect());
    rows.for_each(line);
}
