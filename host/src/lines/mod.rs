//! `--lines`: the source of a kernel with the counts of each line. `--picture`: what its accesses
//! look like. Labs and `host run` call it.
//!
//! ```text
//! simt::Report ──counts──▶ counts of each line ──▶ Lines ──text──▶ a listing for people
//!                                                    └────────────▶ JSON
//!
//! listing: the same as data, for the text and for a lab's page
//! ```
//!
//! Loads and stores of a line are counted separately, so that a line with misaligned reads and
//! aligned writes does not show their average. Instructions without a line have a row of their own,
//! so that the rows add up to the launch. PTX without line information is itself listed.

mod counts;
mod listing;
mod picture_of;
mod pictures;
mod seen;
mod text;

use std::cmp::Reverse;
use std::path::PathBuf;

use crate::flag_values::whole_number;
use clap::Args;
use device::{Error, Report, Result};
use fault_text::sources::Sources;
use picture::{Paint, Scene, access_svg, access_text};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use simt::counts::SourceLine;
use wording::WIDTH;

pub(crate) use counts::Counted;
pub use counts::LineCounts;
use counts::{Access, Kind, Memory};
pub(crate) use listing::{Listed, ListedLine};
use picture_of::PictureOf;
use seen::Pictured;
pub(crate) use seen::Stepped;

use crate::report::Format;

/// Flags of every subcommand that launches kernels.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct LineFlags {
    /// Show the kernel's source with the counters of each line (simulator, or GPU with --counters)
    #[arg(long)]
    lines: bool,
    /// Show only the N worst of these lines, worst first: by sectors and wavefronts, then by
    /// instructions
    #[arg(long, value_name = "N", requires = "lines", value_parser = whole_number(1, u64::MAX))]
    hot: Option<u64>,
    /// Draw the costliest access of each memory instruction, below its line with --lines, or alone;
    /// of one line only if its number is given. Instead, `memory` draws what moves between the
    /// memories, of one row or of two, `elements` how often each element is loaded, and `tiles` which
    /// tiles of a product run together (simulator, or GPU with --counters)
    #[arg(long, value_name = "WHAT", num_args = 0..=1, value_parser = PictureOf::parse)]
    picture: Option<Option<PictureOf>>,
}

/// The lines of a launch that executed instructions.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    rows: Vec<Line>,
    sources: Sources,
    /// Whether the lines are those of the PTX, which names no source.
    of_ptx: bool,
    /// Whether the lines are sorted, the worst first.
    sorted: bool,
    /// Whether the lines are listed. Otherwise there are only pictures.
    listed: bool,
    /// Which lines' accesses are drawn.
    pictured: Pictured,
    /// All of the predicted waiting; 0 without predicted times.
    waited: f64,
    /// The active lanes of stores to shared memory, as in [`LineCounts`].
    lanes: Vec<Vec<u32>>,
}

/// One line, or the instructions without a line.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    place: Option<SourceLine>,
    counted: Counted,
}

impl LineFlags {
    /// All lines, the worst first, with pictures.
    pub fn everything() -> Self {
        Self { lines: true, hot: Some(u64::MAX), picture: Some(None) }
    }

    /// Fails if lines are requested and this format cannot show them.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub fn check_format(self, format: Format) -> Result<()> {
        match format {
            Format::Csv | Format::Markdown if self.lines => {
                Err(Error::request("--lines", "this format cannot show them; use --format table or json"))
            }
            Format::Csv | Format::Markdown | Format::Json if self.picture.is_some() => {
                Err(Error::request("--picture", "this format cannot show it; use --format table"))
            }
            _ => Ok(()),
        }
    }

    /// Fails if lines are requested and nothing counts the device's launches: neither itself nor a
    /// simulator beside it.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub fn check_counted(self, counted: bool) -> Result<()> {
        match (counted, self.lines, self.picture) {
            (true, ..) | (false, false, None) => Ok(()),
            (_, true, _) => {
                Err(Error::request("--lines", "a GPU has no counts by line; give --counters or --device sim"))
            }
            _ => Err(Error::request("--picture", "a GPU shows no addresses; give --counters or --device sim")),
        }
    }

    /// Whether lines or pictures are requested, of any kind.
    pub fn given(self) -> bool {
        self.lines || self.picture.is_some()
    }

    /// Whether lines or their accesses are requested.
    pub fn wanted(self) -> bool {
        self.lines || self.watches()
    }

    /// Whether launches are to keep requests.
    pub fn watches(self) -> bool {
        self.picture.is_some() && !self.draws_memory() && !self.draws_elements() && !self.draws_tiles()
    }

    /// Whether to draw what moves between the memories.
    pub fn draws_memory(self) -> bool {
        self.picture == Some(Some(PictureOf::Memory))
    }

    /// Whether to draw how often each element is loaded.
    pub fn draws_elements(self) -> bool {
        self.picture == Some(Some(PictureOf::Elements))
    }

    /// Whether to draw which tiles run together.
    pub fn draws_tiles(self) -> bool {
        self.picture == Some(Some(PictureOf::Tiles))
    }

    /// Fails if tiles are to be drawn of launches that have none.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub fn check_tiles(self, has_tiles: bool) -> Result<()> {
        match self.draws_tiles() && !has_tiles {
            true => Err(Error::request("--picture", "nothing here takes the tiles of a product in an order to draw")),
            false => Ok(()),
        }
    }

    /// Fails if the picture of a line is requested that made no access in any of these launches.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub fn check_pictured<'l>(self, launches: impl Iterator<Item = &'l Lines>) -> Result<()> {
        match self.picture {
            Some(Some(PictureOf::Line(line))) => has_access(line, launches),
            _ => Ok(()),
        }
    }

    /// The lines of this launch, if requested. `ptx` names the PTX file, `sources` further folders
    /// of sources.
    pub fn of_launch(self, report: &Report, ptx: &str, sources: &[PathBuf]) -> Option<Lines> {
        let mut counts = LineCounts::default();
        if self.wanted() {
            counts.add(report);
        }
        self.of(counts, ptx, sources)
    }

    /// The lines of these launches, if requested.
    pub fn of(self, counts: LineCounts, ptx: &str, sources: &[PathBuf]) -> Option<Lines> {
        let pictured = Pictured::from(self.picture);
        self.wanted().then(|| Lines { listed: self.lines, pictured, ..Lines::of(counts, ptx, sources, self.hot) })
    }
}

impl Lines {
    /// All lines, with their accesses if the launches kept requests. `ptx` names the PTX file,
    /// `sources` further folders of sources.
    pub(crate) fn all(counts: LineCounts, ptx: &str, sources: &[PathBuf]) -> Self {
        Self::of(counts, ptx, sources, None)
    }

    /// The active lanes of stores to shared memory, of each warp in turn.
    pub(crate) fn lanes(&self) -> &[Vec<u32>] {
        &self.lanes
    }

    /// All lines, or so many of the worst.
    pub(crate) fn of(counts: LineCounts, ptx: &str, sources: &[PathBuf], hot: Option<u64>) -> Self {
        let LineCounts { by_source, by_ptx, ptx: texts, elsewhere, lanes, .. } = counts;
        let of_ptx = by_source.is_empty() && !by_ptx.is_empty();
        let mut sources = Sources::also_in(sources);
        for place in by_source.keys() {
            sources.find(&place.file, ptx);
        }
        sources.insert(ptx, texts);
        let by_ptx = by_ptx.into_iter().map(|(line, counted)| (SourceLine { file: ptx.into(), line }, counted));
        let placed = by_source.into_iter().chain(by_ptx).map(|(place, counted)| Line { place: Some(place), counted });
        let unplaced = Some(Line { place: None, counted: elsewhere }).filter(|row| row.counted.all.executed > 0);
        let mut rows: Vec<Line> = placed.chain(unplaced).collect();
        let waited = rows.iter().map(|row| row.counted.waited).sum();
        if let Some(most) = hot {
            // The sort is stable: lines of equal cost stay in order.
            rows.sort_by_key(|row| Reverse(row.counted.cost()));
            rows.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
        Self { rows, sources, of_ptx, sorted: hot.is_some(), listed: true, pictured: Pictured::None, waited, lanes }
    }
}

/// Fails if no launch has an access in this line.
fn has_access<'l>(line: u32, launches: impl Iterator<Item = &'l Lines>) -> Result<()> {
    let rows = launches.flat_map(|lines| &lines.rows).filter(|row| !row.counted.seen.is_empty());
    let mut found: Vec<u32> = rows.filter_map(|row| Some(row.place.as_ref()?.line)).collect();
    found.sort_unstable();
    found.dedup();
    if found.contains(&line) {
        return Ok(());
    }
    let others = match found.as_slice() {
        [] => "no line does".to_owned(),
        [only] => format!("line {only} does"),
        lines => format!("lines {} do", lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    };
    Err(Error::request("--picture", format!("line {line} makes no access to memory; {others}")))
}

/// As a list of objects: file, line, source, instructions, active_lanes, requests,
/// sectors_per_request, bank_conflicts, and accesses, each with memory, kind, requests and further
/// counts. For instructions without a line, file and line are null. With a predicted time,
/// predicted_waiting is the line's part of all waiting. With pictures, each has title, text and svg.
impl Serialize for Lines {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.iter().map(|Line { place, counted }| {
            let place = place.as_ref();
            let mut line = json!({
                "file": place.map(|place| &*place.file),
                "line": place.map(|place| place.line),
                "source": place.and_then(|place| self.sources.line(&place.file, place.line)),
                "instructions": counted.all.executed,
                "active_lanes": counted.active_lanes(),
                "requests": counted.requests(),
                "sectors_per_request": counted.sectors_per_request(),
                "bank_conflicts": counted.all.shared.bank_conflicts,
                "accesses": counted.accesses.iter().map(|(&what, access)| described(what, access)).collect::<Value>(),
            });
            if self.waited > 0.0 {
                line["predicted_waiting"] = json!(counted.waited / self.waited);
            }
            if self.pictured != Pictured::None {
                line["pictures"] = counted.seen.scenes().map(drawn).collect();
            }
            line
        }))
    }
}

/// A picture as JSON.
fn drawn(scene: &Scene) -> Value {
    let text = access_text(scene, WIDTH, Paint::Plain);
    json!({"title": scene.title, "text": text, "svg": picture::file(&access_svg(scene))})
}

/// Accesses as JSON.
fn described((memory, kind): (Memory, Kind), access: &Access) -> Value {
    let mut value = json!({"memory": memory, "kind": kind, "requests": access.requests});
    if let Some(unit) = memory.unit() {
        value[unit] = json!(access.units);
        value[format!("{unit}_per_request")] = json!(access.units_per_request());
    }
    if memory == Memory::Shared {
        value["bank_conflicts"] = json!(access.bank_conflicts);
    }
    value
}

#[cfg(test)]
mod tests;
