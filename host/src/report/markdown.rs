//! A page as Markdown, for a README. [`super`] calls it.

use super::lab_report::LabReport;
use super::measure::Section;
use super::page::Page;
use super::table::Table;

/// The report as text.
pub(super) fn render(report: &LabReport) -> String {
    let page = Page::of(report, true);
    let mut text = format!("{}  \n{}\n\n", report.about, page.heading.join("  \n"));
    for (name, meaning) in &page.meanings {
        text += &format!("- {name}: {meaning}\n");
    }
    if !page.meanings.is_empty() {
        text.push('\n');
    }
    text += &table(&page.table);
    for line in &page.wrong {
        text += &format!("\n{line}\n");
    }
    for grid in &page.grids {
        text += &format!("\n{}\n\n{}", grid.title.as_deref().unwrap_or_default(), table(grid));
    }
    for sentences in [page.conclusions, page.kernels, page.legend] {
        if !sentences.is_empty() {
            text += &format!("\n{}\n", sentences.join(" "));
        }
    }
    text
}

/// A table; what names its rows is aligned to the left.
fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let cells = |row: usize| table.columns.iter().map(|column| column.text(row)).collect();
    let align = |section| if section == Section::Name { "---" } else { "---:" }.to_owned();
    let head = line(table.columns.iter().map(|column| column.heading()).collect());
    let rule = line(table.columns.iter().map(|column| align(column.section)).collect());
    head + &rule + &(0..table.rows()).map(|row| line(cells(row))).collect::<String>()
}
