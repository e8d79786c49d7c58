//! Published measurements of GPUs from 2006 on, `measurements/kernels/history.toml`, compared with
//! predictions on the models of those GPUs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;
use wording::paragraph;

use super::data::{self, Row};
use super::errors;
use crate::program::Error;
use crate::tables::{extremes, head, line};

/// How `--only` calls them.
pub(super) const NAME: &str = "history";

const FILE: &str = "measurements/kernels/history.toml";
/// What stands for a row's name in a command that makes one row.
const ONE_ROW: &str = "{name}";

/// The studies.
#[derive(Debug, Deserialize)]
pub(super) struct History {
    study: Vec<Study>,
}

/// A publication's numbers of one GPU.
#[derive(Debug, Deserialize)]
struct Study {
    title: String,
    /// The model of its GPU.
    model: String,
    /// The program's arguments, for all rows or, with [`ONE_ROW`], for each.
    run: String,
    unit: Unit,
    /// What is compared is the ratio to the first row.
    #[serde(default)]
    relative: bool,
    /// The bytes that it counts for a row, or what it divides the cycles by.
    #[serde(default)]
    work: f64,
    /// The clock of the cycles.
    #[serde(default)]
    mhz: f64,
    /// The factor that a row is off by, at most. A test holds it.
    #[cfg_attr(not(test), expect(dead_code))]
    within: f64,
    /// Pairs of rows in the wrong order, at most.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code))]
    misordered: usize,
    row: Vec<Published>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Unit {
    #[serde(rename = "ms")]
    Milliseconds,
    #[serde(rename = "GB/s")]
    Gbps,
    #[serde(rename = "cycles")]
    Cycles,
}

#[derive(Debug, Deserialize)]
struct Published {
    name: String,
    published: f64,
    /// The arguments that make this row, if they are not the study's.
    run: Option<String>,
    /// Likewise of this row alone.
    work: Option<f64>,
    #[cfg_attr(not(test), expect(dead_code))]
    within: Option<f64>,
}

/// A row: both numbers, in the study's unit or as ratios to its first row.
struct Compared<'a> {
    #[cfg_attr(not(test), expect(dead_code))]
    row: &'a Published,
    published: f64,
    predicted: f64,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Gbps => "GB/s",
            Self::Cycles => "cycles",
        }
    }

    /// What grows with the time: rows of different work are compared by their GB/s.
    fn cost(self, number: f64) -> f64 {
        if self == Self::Gbps { 1.0 / number } else { number }
    }
}

impl Compared<'_> {
    /// The factor by which it is off, 1 or more.
    #[cfg(test)]
    fn off(&self) -> f64 {
        let ratio = self.predicted / self.published;
        ratio.max(1.0 / ratio)
    }
}

impl Study {
    /// A predicted time in the study's unit.
    fn in_unit(&self, row: &Published, time_ms: f64) -> f64 {
        let work = row.work.unwrap_or(self.work);
        match self.unit {
            Unit::Milliseconds => time_ms,
            Unit::Gbps => work / time_ms / 1e6,
            Unit::Cycles => time_ms * self.mhz * 1e3 / work,
        }
    }

    /// Its rows, as far as they are predicted.
    fn compared<'a>(&'a self, predicted: &'a [Row]) -> Vec<Compared<'a>> {
        let compare = |row: &'a Published| {
            let found = predicted.iter().find(|predicted| predicted.name == row.name)?;
            Some(Compared { row, published: row.published, predicted: self.in_unit(row, found.time_ms?) })
        };
        let mut all: Vec<Compared<'a>> = self.row.iter().filter_map(compare).collect();
        if self.relative
            && let Some(first) = all.first().map(|first| (first.published, first.predicted))
        {
            for row in &mut all {
                (row.published, row.predicted) = (first.0 / row.published, first.1 / row.predicted);
            }
        }
        all
    }

    /// Pairs of rows that differ by more than 5 %: how many, and how many are predicted in order.
    fn order(&self, rows: &[Compared<'_>]) -> (usize, usize) {
        let cost = |number: f64| if self.relative { 1.0 / number } else { self.unit.cost(number) };
        let times: Vec<_> = rows.iter().map(|row| (cost(row.published), cost(row.predicted))).collect();
        errors::order(&times, errors::DIFFERENT)
    }

    fn predict(&self, host: &Path, root: &Path) -> Result<Vec<Row>, Error> {
        let run = |arguments: &str| data::report(host, root, arguments, &self.model);
        let mut rows = Vec::new();
        if !self.run.contains(ONE_ROW) {
            rows.extend(data::rows(&run(&self.run)?));
        }
        for row in &self.row {
            let arguments = row.run.as_ref().or(self.run.contains(ONE_ROW).then_some(&self.run));
            if let Some(arguments) = arguments {
                let report = run(&arguments.replace(ONE_ROW, &row.name))?;
                rows.push(Row::of(row.name.clone(), &report["predicted"]));
            }
        }
        Ok(rows)
    }

    /// Its line of the table.
    fn cells(&self, predicted: &[Row]) -> impl Iterator<Item = String> {
        let rows = self.compared(predicted);
        let ratios: Vec<f64> = rows.iter().map(|row| row.predicted / row.published).collect();
        let [least, most] = extremes(&ratios);
        let (all, right) = self.order(&rows);
        let what = if self.relative { "times as fast" } else { self.unit.name() };
        [
            self.title.clone(),
            format!("`{}`", self.model),
            format!("{}, {what}", rows.len()),
            format!("{least:.2}"),
            format!("{most:.2}"),
            format!("{right} of {all}"),
        ]
        .into_iter()
    }
}

impl History {
    pub fn read(root: &Path) -> Result<Self, Error> {
        data::toml(&root.join(FILE))
    }

    /// Predicts all studies: rows by title.
    pub fn predict(&self, host: &Path, root: &Path) -> Result<BTreeMap<String, Vec<Row>>, Error> {
        self.study.iter().map(|study| Ok((study.title.clone(), study.predict(host, root)?))).collect()
    }

    /// The section about them, and a table of the publications.
    pub fn write(&self, text: &mut String, table: &mut String, predicted: &BTreeMap<String, Vec<Row>>) {
        let _ = writeln!(table, "\n## Other GPUs\n\n{INTRODUCTION}");
        head(table, &["publication", "model", "rows", "lowest ratio", "highest", "pairs in order"]);
        let (mut ratios, mut all, mut right) = (Vec::new(), 0, 0);
        for study in &self.study {
            let predicted = predicted.get(&study.title).map_or(&[][..], Vec::as_slice);
            line(table, study.cells(predicted));
            let rows = study.compared(predicted);
            let order = study.order(&rows);
            (all, right) = (all + order.0, right + order.1);
            ratios.extend(rows.iter().map(|row| row.predicted / row.published));
        }
        let [least, most] = extremes(&ratios);
        let sentence = format!(
            "The other models are from data sheets. What they predict for {} publications of GPUs from 2006 on is {least:.2} to {most:.2} \
             times what was published, with {right} of {all} pairs in order: [time.md](../measurements/time.md#other-gpus).",
            self.study.len()
        );
        let _ = writeln!(text, "## Other GPUs\n\n{}\n", paragraph(&sentence));
    }
}

const INTRODUCTION: &str = "\
What the models predict over what was published ([history.toml](kernels/history.toml) has the
sources):
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records;
    use crate::time::data::Predictions;

    /// The predictions in the document stay as near to the publications, and in their order.
    #[test]
    fn every_study_is_within_its_bounds_and_in_order() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let predictions: Predictions = records::read(&root.join(crate::time::DATA)).unwrap();
        for study in History::read(root).unwrap().study {
            let predicted = &predictions.history[&study.title];
            let rows = study.compared(predicted);
            assert_eq!(rows.len(), study.row.len(), "{}", study.title);
            for row in &rows {
                let within = row.row.within.unwrap_or(study.within);
                assert!(row.off() <= within, "{}, {}: {:.2}", study.title, row.row.name, row.off());
            }
            let (all, right) = study.order(&rows);
            assert!(all - right <= study.misordered, "{}: {right} of {all} in order", study.title);
        }
    }
}
