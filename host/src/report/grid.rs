//! A sweep of two axes as a grid below a lab's table: one axis down, the other across, the best cells marked. A lab defines
//! the axes, `table` and `markdown` show the grid. Pure.

use serde_json::Value;

use super::lab_report::{LabReport, VariantReport, plain};

/// A grid that a lab shows below its table.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The meaning of its cells.
    pub title: String,
    /// The fact on the vertical axis.
    pub rows: &'static str,
    /// The fact on the horizontal axis.
    pub columns: &'static str,
    /// The group of variants to show; empty for all.
    pub group: String,
    /// Whether all rows do the same task, so that the best of all cells is marked. Otherwise each row has its own best.
    pub rows_compete: bool,
    /// A variant's cell; `None` leaves it empty.
    pub cell: fn(&VariantReport) -> Option<Cell>,
}

/// A cell of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its text.
    pub text: String,
    /// How good it is, if cells compete: the greatest is marked.
    pub rank: Option<f64>,
}

impl Cell {
    /// A cell that competes with others.
    pub fn ranked(text: impl Into<String>, rank: f64) -> Self {
        Self { text: text.into(), rank: Some(rank) }
    }

    /// A cell that does not.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), rank: None }
    }
}

impl Grid {
    /// The grid as rows of text, the head first; `None` if fewer than two cells are known.
    pub(super) fn texts(&self, report: &LabReport) -> Option<Vec<Vec<String>>> {
        let mut rows: Vec<&Value> = Vec::new();
        let mut columns: Vec<&Value> = Vec::new();
        let mut cells = Vec::new();
        for variant in &report.variants {
            let (Some(row), Some(column)) = (variant.fact(self.rows), variant.fact(self.columns)) else { continue };
            if !self.group.is_empty() && variant.group != self.group {
                continue;
            }
            let Some(cell) = (self.cell)(variant) else { continue };
            if !rows.contains(&row) {
                rows.push(row);
            }
            if !columns.contains(&column) {
                columns.push(column);
            }
            cells.push((row, column, cell));
        }
        if cells.len() < 2 {
            return None;
        }
        let best = |row: &Value| {
            let ranks =
                || cells.iter().filter(|(r, ..)| self.rows_compete || *r == row).filter_map(|(.., cell)| cell.rank);
            let best = ranks().reduce(f64::max)?;
            // If all tie, none is the best.
            ranks().any(|rank| rank < best).then_some(best)
        };
        let corner = format!("{} \\ {}", words(self.rows), words(self.columns));
        let mut texts = vec![std::iter::once(corner).chain(columns.iter().map(|value| plain(value))).collect()];
        for row in rows {
            let mut line = vec![plain(row)];
            let best = best(row);
            for column in &columns {
                let found = cells.iter().find(|(r, c, _)| *r == row && c == column);
                line.push(found.map_or(String::new(), |(.., cell)| {
                    let mark = if best.is_some() && cell.rank == best { "*" } else { "" };
                    format!("{}{mark}", cell.text)
                }));
            }
            texts.push(line);
        }
        Some(texts)
    }

    /// The title, which explains the mark if a cell has one.
    pub(super) fn heading(&self, texts: &[Vec<String>]) -> String {
        let marks = texts.iter().skip(1).flatten().any(|text| text.ends_with('*'));
        let mark = match (marks, self.rows_compete) {
            (false, _) => "",
            (true, true) => "; the best is marked *",
            (true, false) => "; each row's best is marked *",
        };
        format!("{}{mark}:", self.title)
    }
}

/// A fact's name as text.
pub(super) fn words(name: &str) -> String {
    name.replace('_', " ")
}
