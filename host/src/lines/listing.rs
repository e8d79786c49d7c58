//! A listing as data: its files, its lines, and where lines are left out. The text for a terminal
//! and the page of a lab are made of it. Pure.

use picture::Scene;
use simt::counts::SourceLine;
use webpage::Ptx;
use wording::printable;

use super::counts::Counted;
use super::seen::Stepped;
use super::text::{NO_LINE, in_words};
use super::{Line, Lines};

/// A line without counts is listed if it is between two lines with counts that are at most this far
/// apart.
const NEAR: u32 = 4;

/// An entry of a listing.
pub(crate) enum Listed<'l> {
    /// The lines of this file follow.
    File(&'l str),
    /// Lines are left out.
    Gap,
    /// A line.
    Line(ListedLine<'l>),
}

/// A line of a listing.
pub(crate) struct ListedLine<'l> {
    /// Where it is; `None` for all instructions without a line.
    pub place: Option<SourceLine>,
    /// Its text.
    pub source: String,
    /// What it executed; `None` if nothing.
    pub counted: Option<&'l Counted>,
}

impl Lines {
    /// The listing.
    pub(crate) fn listing(&self) -> Vec<Listed<'_>> {
        let mut listing = Vec::new();
        let mut before: Option<&SourceLine> = None;
        for Line { place, counted } in &self.rows {
            let counted = Some(counted);
            let Some(place) = place else {
                listing.push(Listed::Line(ListedLine { place: None, source: NO_LINE.to_owned(), counted }));
                continue;
            };
            match before.filter(|before| before.file == place.file) {
                None => listing.push(Listed::File(&place.file)),
                Some(_) if self.sorted => {}
                Some(before) if place.line - before.line <= NEAR => {
                    listing.extend((before.line + 1..place.line).map(|line| {
                        let between = SourceLine { file: place.file.clone(), line };
                        let source = self.source(&between);
                        Listed::Line(ListedLine { place: Some(between), source, counted: None })
                    }));
                }
                Some(_) => listing.push(Listed::Gap),
            }
            before = Some(place);
            let source = self.source(place);
            listing.push(Listed::Line(ListedLine { place: Some(place.clone()), source, counted }));
        }
        listing
    }

    /// The files in it whose text was not found.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        let shown = |file: &&str| self.rows.iter().flat_map(|row| &row.place).any(|place| *place.file == **file);
        self.sources.missing().filter(shown)
    }

    /// A line's text, without its indentation if its neighbours are not shown.
    pub(super) fn source(&self, place: &SourceLine) -> String {
        let source = self.sources.line(&place.file, place.line).unwrap_or_default().replace('\t', "    ");
        printable(if self.sorted { source.trim_start() } else { &source })
    }
}

/// What a page shows of a line's counts.
impl Counted {
    /// Its counts.
    pub(crate) fn on_page(&self) -> webpage::Counts {
        let accesses = self.accesses.iter().map(|(&(memory, kind), it)| (it.requests, in_words(memory, kind, it)));
        let ptx = self.ptx.iter().map(|(&(line, ref text), &executed)| Ptx { line, text: printable(text), executed });
        webpage::Counts {
            instructions: self.all.executed,
            lanes: self.active_lanes(),
            cost: self.cost().0,
            accesses: accesses.collect(),
            ptx: ptx.collect(),
        }
    }

    /// Its accesses, to step through.
    pub(crate) fn stepped(&self) -> &[Stepped] {
        self.seen.stepped()
    }

    /// What its accesses look like, each shape once.
    pub(crate) fn scenes(&self) -> impl Iterator<Item = &Scene> {
        self.seen.scenes()
    }
}
