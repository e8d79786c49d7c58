//! Where the warps of launches would wait, by line of the source, or of the PTX where it names no
//! source. Pure.

use std::collections::BTreeMap;

use simt::Report;

use crate::report::Hottest;

/// Cycles of waiting, by file and line, weighted by the launches' times.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    lines: BTreeMap<(String, u32), f64>,
}

impl Waits {
    /// Adds a launch that has a predicted time.
    pub fn add(&mut self, report: &Report) {
        for (info, waited) in report.waits() {
            let place = match &info.source {
                Some(source) => (source.file.to_string(), source.line),
                None => ("PTX".to_owned(), info.ptx_line),
            };
            *self.lines.entry(place).or_default() += waited;
        }
    }

    /// The part of all waiting at each line.
    pub fn parts(&self) -> impl Iterator<Item = (&(String, u32), f64)> {
        let all: f64 = self.lines.values().sum();
        self.lines.iter().map(move |(place, waited)| (place, waited / all))
    }

    /// The line that waits longest; `None` without predicted times.
    pub fn hottest(&self) -> Option<Hottest> {
        let ((file, line), part) = self.parts().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let name = file.rsplit('/').next().unwrap_or(file);
        Some(Hottest { place: format!("{name}:{line}"), part })
    }
}
