//! The listing as text: source lines wrapped to the available width, each with its accesses below
//! it. The table of labs and `host run`'s report call it; it returns text.

use fault_text::sources::LINES_BY_COMPILERS;
use wording::printable;

use super::Lines;
use super::counts::{Access, Counted, Kind, Memory};
use super::listing::{Listed, ListedLine};
use crate::{terminal, units};

pub(super) const TITLES: &str = concat!(
    "          PTX warp active\n", //
    "  line instructions  lanes\n",
);

/// Columns before the source.
const GUTTER: usize = 28;

/// The extra indentation of a wrapped line.
const GOES_ON: usize = 4;

const LEGEND: &str = "Of a line's instructions, those that access memory stand below it: its requests. Sectors are 32 bytes. \
                      Wavefronts are passes over the banks of shared memory; bank conflicts are those that the same accesses \
                      would not need without conflicts.";

const WAITING: &str = "Waiting is a part of the predicted time: what all warps together wait for there, \
                       from 1 % on.";

/// The least part of all waiting that is worth a line.
const LEAST_WAITING: f64 = 0.01;

/// The text for instructions without a line.
pub(super) const NO_LINE: &str = "(no line of its own: the compiler moved it or shares it between lines)";

/// Explains the numbers, in this many columns; once for all listings of a run.
pub(super) fn legend(width: usize, waiting: bool) -> String {
    let text = if waiting { format!("{LEGEND} {WAITING}") } else { LEGEND.to_owned() };
    wording::wrapped(&text, width, "", "") + "\n"
}

impl Lines {
    /// The listing for people, in this many columns.
    pub fn text(&self, width: usize) -> String {
        if !self.listed {
            return self.pictures(width, terminal::paint());
        }
        let mut text = TITLES.to_owned();
        for listed in self.listing() {
            let ListedLine { place, source, counted } = match listed {
                Listed::File(file) => {
                    text += &format!("{}\n", printable(file));
                    continue;
                }
                Listed::Gap => {
                    text += "    ...\n";
                    continue;
                }
                Listed::Line(line) => line,
            };
            let line = place.map(|place| place.line);
            let number = line.map_or_else(|| "-".to_owned(), |line| line.to_string());
            push(&mut text, &number, &counted.map(number_cells).unwrap_or_default(), &source, width);
            if let Some(counted) = counted {
                push_accesses(&mut text, counted, width);
                push_waiting(&mut text, counted.waited / self.waited.max(f64::MIN_POSITIVE));
                text += &self.pictures_of(line, counted, width, terminal::paint());
            }
        }
        if self.of_ptx {
            text += &(wording::wrapped(LINES_BY_COMPILERS, width, "", "") + "\n");
        }
        for file in self.missing() {
            let note = format!("{} was not found, so its text is missing: {WHERE}.", printable(file));
            text += &(wording::wrapped(&note, width, "", "") + "\n");
        }
        text
    }
}

/// What to do if a source is not found.
const WHERE: &str = "it is looked for below the PTX's folder, the current one and their projects; --sources of `host run` \
                     names others";

/// A line's instructions and lanes.
fn number_cells(counted: &Counted) -> [String; 2] {
    let lanes = counted.active_lanes().map_or_else(|| "-".to_owned(), |lanes| format!("{lanes:.1}"));
    [counted.all.executed.to_string(), lanes]
}

fn push(text: &mut String, line: &str, [instructions, lanes]: &[String; 2], source: &str, width: usize) {
    // Deep indentation would leave little room.
    let code = source.trim_start();
    let indentation = (source.chars().count() - code.chars().count()).min(width.saturating_sub(GUTTER) / 3);
    let first = format!("{line:>6} {instructions:>12} {lanes:>6}  {:indentation$}", "");
    *text += &wording::wrapped_code(code, width, &first, &" ".repeat(GUTTER + indentation + GOES_ON));
    text.push('\n');
}

/// The accesses below their line.
fn push_accesses(text: &mut String, counted: &Counted, width: usize) {
    for (&(memory, kind), access) in &counted.accesses {
        let first = format!("{:>19}         = ", access.requests);
        *text += &wording::wrapped(&in_words(memory, kind, access), width, &first, &" ".repeat(GUTTER + 2));
        text.push('\n');
    }
}

/// How much of the predicted waiting is at a line.
fn push_waiting(text: &mut String, part: f64) {
    if part >= LEAST_WAITING {
        *text += &format!("{:>17.0} %         = of all waiting, predicted\n", part * 100.0);
    }
}

/// What accesses of a kind cost.
pub(super) fn in_words(memory: Memory, kind: Kind, access: &Access) -> String {
    let place = match memory {
        Memory::Global => "global",
        Memory::Shared => "shared",
        Memory::Distributed => "other blocks' shared",
        Memory::Local => "local",
        Memory::Constant => "constant",
        Memory::Texture => "texture",
        Memory::Surface => "surface",
    };
    let what = match (memory, kind) {
        (_, Kind::Load) => "loads",
        (_, Kind::Store) => "stores",
        (_, Kind::Atomic) => "atomics",
        (_, Kind::Reduction) => "reductions",
        (Memory::Shared, Kind::Copy) => "stores (cp.async)",
        (_, Kind::Copy) => "loads (cp.async)",
    };
    let mut words = format!("{place} {what}");
    if let Some(unit) = memory.unit() {
        words += &format!(": {} {unit} per request", units::three_digits(access.units_per_request()));
    }
    if memory == Memory::Shared {
        words += &match access.bank_conflicts {
            0 => ", no bank conflicts".to_owned(),
            1 => ", 1 bank conflict".to_owned(),
            conflicts => format!(", {conflicts} bank conflicts"),
        };
    }
    words
}
