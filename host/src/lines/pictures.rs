//! `--picture` without `--lines`: the pictures of a kernel's accesses alone.

use picture::Paint;
use wording::printable;

use super::seen::Pictured;
use super::text::NO_LINE;
use super::{Counted, Lines};

/// What the pictures alone need explained.
const LEGEND: &str = "Lanes stand above memory: a word has the number of its lane. Shaded words move, but no lane asks for them. \
                      The sum below counts what moves in each part of a row, or the passes that each bank is busy in.";

impl Lines {
    /// What follows the name of the kernel above the listing.
    pub fn heading(&self) -> &'static str {
        if self.listed { "line by line" } else { "access by access" }
    }

    /// Explains the listing, in this many columns; once for all listings of a run.
    pub fn legend(&self, width: usize) -> String {
        match self.listed {
            true => super::text::legend(width, self.waited > 0.0),
            false => wording::wrapped(LEGEND, width, "", "") + "\n",
        }
    }

    /// The pictures alone.
    pub(super) fn pictures(&self, width: usize, paint: Paint) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let line = row.place.as_ref().map(|place| place.line);
            let pictures = self.pictures_of(line, &row.counted, width, paint);
            if pictures.is_empty() {
                continue;
            }
            let heading = match &row.place {
                Some(place) => {
                    let place_text = format!("{}:{}", printable(&place.file), place.line);
                    format!("{place_text}: {}", self.source(place).trim())
                }
                None => NO_LINE.to_owned(),
            };
            text += &(wording::wrapped_code(&heading, width, "", "    ") + "\n" + &pictures);
        }
        match self.pictured {
            _ if !text.is_empty() => text.trim_end().to_owned() + "\n",
            Pictured::Line(line) => format!("Line {line} makes no access here.\n"),
            _ => "No access to memory.\n".into(),
        }
    }

    /// The pictures of a line, if they are wanted.
    pub(super) fn pictures_of(&self, line: Option<u32>, counted: &Counted, width: usize, paint: Paint) -> String {
        match self.pictured.has(line) {
            true => counted.seen.text(width, paint),
            false => String::new(),
        }
    }
}
