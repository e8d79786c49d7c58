//! A sweep of two axes as a grid below a lab's table: one axis down, the other across, the best cell marked. A lab defines
//! the axes, `table` shows the grid. Pure.

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
        let ranks = || cells.iter().filter_map(|(.., cell)| cell.rank);
        let best = ranks().fold(f64::NEG_INFINITY, f64::max);
        // If most cells tie for the best, none is marked.
        let competing = 2 * ranks().filter(|&rank| rank == best).count() <= ranks().count();
        let corner = format!("{} \\ {}", words(self.rows), words(self.columns));
        let mut texts = vec![std::iter::once(corner).chain(columns.iter().map(|value| plain(value))).collect()];
        for row in rows {
            let mut line = vec![plain(row)];
            for column in &columns {
                let found = cells.iter().find(|(r, c, _)| *r == row && c == column);
                line.push(found.map_or(String::new(), |(.., cell)| {
                    let mark = if competing && cell.rank == Some(best) { "*" } else { "" };
                    format!("{}{mark}", cell.text)
                }));
            }
            texts.push(line);
        }
        Some(texts)
    }

    /// Whether a cell of the grid is marked.
    pub(super) fn marks(texts: &[Vec<String>]) -> bool {
        texts.iter().skip(1).flatten().any(|text| text.ends_with('*'))
    }
}

/// A fact's name as text.
pub(super) fn words(name: &str) -> String {
    name.replace('_', " ")
}
