//! How many blocks a multiprocessor holds at once, and what limits them: a row for each variant.
//! Data.

use wording::units::three_digits;

/// The blocks of some variants.
#[derive(Clone, Debug, PartialEq)]
pub struct OccupancyChart {
    /// The variants.
    pub rows: Vec<OccupancyRow>,
}

/// A variant's blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct OccupancyRow {
    /// Its name.
    pub name: String,
    /// Blocks resident at once on a multiprocessor.
    pub blocks: u32,
    /// Their threads, in percent of those that a multiprocessor can hold.
    pub percent: f64,
    /// What limits them; empty if nothing does, or if that is not known.
    pub limit: String,
}

impl OccupancyChart {
    /// The most and the fewest blocks, in a sentence.
    pub fn sentence(&self) -> String {
        let said = |row: &OccupancyRow| {
            let blocks = if row.blocks == 1 { "block" } else { "blocks" };
            format!("{} {blocks} of {}", row.blocks, row.name)
        };
        let most = self.rows.iter().reduce(|most, row| if row.blocks > most.blocks { row } else { most });
        let fewest = self.rows.iter().reduce(|fewest, row| if row.blocks < fewest.blocks { row } else { fewest });
        match (most, fewest) {
            (Some(most), Some(fewest)) if most.blocks > fewest.blocks => {
                format!("A multiprocessor holds {}, {}.", said(most), said(fewest))
            }
            (Some(row), _) => format!("A multiprocessor holds {}.", said(row)),
            _ => "Nothing is resident.".into(),
        }
    }

    /// A row in words.
    pub(crate) fn said(row: &OccupancyRow) -> String {
        let limit = if row.limit.is_empty() { String::new() } else { format!(", limited by {}", row.limit) };
        format!("{}: {} at once, {} % of the threads{limit}", row.name, row.blocks, Self::percent(row))
    }

    /// The percentage of a row.
    pub(crate) fn percent(row: &OccupancyRow) -> String {
        if row.percent.fract() == 0.0 { format!("{}", row.percent) } else { three_digits(row.percent) }
    }
}
