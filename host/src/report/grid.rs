//! A sweep of two axes, shown below a lab's table: one axis down, the other across, the best cells
//! marked. A lab names the axes and the measures; [`Grid::table`] makes a table of them. Pure.

use serde_json::Value;

use super::measure::{Better, Cell, Measure, Section, Shown};
use super::table::{Column, Table, position};
use super::variant_report::{VariantReport, plain};

/// A grid that a lab shows below its table.
#[derive(Clone, Debug)]
pub struct Grid {
    /// What it is a sweep of.
    pub title: String,
    /// The fact on the vertical axis.
    pub rows: &'static str,
    /// The fact on the horizontal axis.
    pub columns: &'static str,
    /// The group of variants to show; empty for all.
    pub group: String,
    /// Which cells compete for the mark.
    pub best: Best,
    /// What its cells show: a column for each, wherever it is known.
    pub measures: &'static [&'static Measure],
}

/// Which cells of a grid compete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// None does.
    Unmarked,
    /// All: every row does the same task.
    OfAll,
    /// Those of a row.
    OfRow,
    /// Those of a row whose columns' titles begin with the same model.
    OfRowAndModel,
}

impl Grid {
    /// The measures that are known of the variants in it.
    pub(super) fn known(&self, variants: &[VariantReport]) -> Vec<&'static Measure> {
        let shows = |measure: &&&Measure| self.variants(variants).any(|variant| measure.of(variant).is_some());
        self.measures.iter().filter(shows).copied().collect()
    }

    /// The variants in it.
    fn variants<'v>(&'v self, variants: &'v [VariantReport]) -> impl Iterator<Item = &'v VariantReport> {
        let placed = |variant: &&VariantReport| {
            let has = |fact| variant.fact(fact).is_some_and(|value| !value.is_null());
            has(self.rows) && has(self.columns) && (self.group.is_empty() || variant.group == self.group)
        };
        variants.iter().filter(placed)
    }

    /// The grid as a table; `None` if fewer than two cells are known.
    pub(super) fn table(&self, shown: Shown<'_>) -> Option<Table> {
        let measures = self.known(shown.variants);
        let variants: Vec<_> = self.variants(shown.variants).collect();
        let known = variants.iter().filter(|it| measures.iter().any(|measure| measure.of(it).is_some()));
        if known.count() < 2 {
            return None;
        }
        let positions = |name: &'static str| {
            let mut values: Vec<&Value> = Vec::new();
            for value in variants.iter().filter_map(|variant| variant.fact(name)) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            values
        };
        let (down, across) = (positions(self.rows), positions(self.columns));
        let at = |row: &Value, column: &Value| {
            let is_at = |it: &&&VariantReport| it.fact(self.rows) == Some(row) && it.fact(self.columns) == Some(column);
            variants.iter().find(is_at)
        };
        let corner = format!("{} \\ {}", words(self.rows), words(self.columns));
        let names = down.iter().map(|value| Some(position(value))).collect();
        let mut columns = vec![Column { title: vec![corner], ..Column::names(self.rows, Section::Name, names) }];
        for column in across {
            for measure in &measures {
                let mut title: Vec<String> = plain(column).split(": ").map(str::to_owned).collect();
                if measures.len() > 1 {
                    title.extend(measure.title.iter().map(|&line| line.to_owned()));
                }
                columns.push(Column {
                    key: measure.key.to_owned(),
                    section: measure.section,
                    title,
                    unit: measure.unit,
                    explanation: measure.explanations(shown).into_iter().map(|explanation| explanation.text).collect(),
                    better: measure.better,
                    cells: down.iter().map(|row| at(row, column).and_then(|variant| measure.of(variant))).collect(),
                });
            }
        }
        let marked = self.mark(&mut columns);
        Some(Table { title: Some(self.heading(&measures, marked)), columns })
    }

    /// Marks the best of the cells that compete, unless all of them tie. Whether there are any.
    fn mark(&self, columns: &mut [Column]) -> bool {
        let rows = columns[0].cells.len();
        let all: Vec<usize> = (1..columns.len()).collect();
        let model = |&column: &usize| columns[column].title.first().cloned();
        let models: Vec<Vec<usize>> = all.chunk_by(|a, b| model(a) == model(b)).map(<[usize]>::to_vec).collect();
        let each_row = || (0..rows).map(|row| vec![row]);
        let competitions: Vec<(Vec<usize>, Vec<usize>)> = match self.best {
            Best::Unmarked => Vec::new(),
            Best::OfAll => vec![((0..rows).collect(), all)],
            Best::OfRow => each_row().map(|row| (row, all.clone())).collect(),
            Best::OfRowAndModel => {
                each_row().flat_map(|row| models.iter().map(move |of| (row.clone(), of.clone()))).collect()
            }
        };
        let mut marked = false;
        for (rows, among) in competitions {
            let rank = |column: &Column, row: usize| {
                let value = column.cells[row].as_ref()?.value?;
                Some(if column.better == Better::Lower { -value } else { value })
            };
            let ranks: Vec<f64> = among
                .iter()
                .flat_map(|&at| rows.iter().filter_map(|&row| rank(&columns[at], row)).collect::<Vec<_>>())
                .collect();
            let Some(best) = ranks.iter().copied().reduce(f64::max).filter(|best| ranks.iter().any(|rank| rank < best))
            else {
                continue;
            };
            for &at in &among {
                let column = &mut columns[at];
                for &row in &rows {
                    let is_best = rank(column, row) == Some(best);
                    if let Some(cell) = column.cells[row].as_mut().filter(|_| is_best) {
                        *cell = Cell { best: true, ..cell.clone() };
                        marked = true;
                    }
                }
            }
        }
        marked
    }

    /// The title, which says what the cells show, and what the mark means if a cell has one.
    fn heading(&self, measures: &[&Measure], marked: bool) -> String {
        let best = if measures.iter().all(|measure| measure.better == Better::Lower) { "lowest" } else { "highest" };
        let mark = match (marked, self.best) {
            (true, Best::OfAll) => format!("; the {best} is marked *"),
            (true, Best::OfRowAndModel) => format!("; each row's {best} of a GPU is marked * where they differ"),
            (true, _) => format!("; each row's {best} is marked * where they differ"),
            (false, _) => String::new(),
        };
        match measures {
            [one] => format!("{}{}{}{mark}:", self.title, if self.title.is_empty() { "" } else { ": " }, one.text()),
            _ => format!("{}{mark}:", self.title),
        }
    }
}

/// A fact's name as text.
pub(super) fn words(name: &str) -> String {
    name.replace('_', " ")
}
