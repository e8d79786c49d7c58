//! Reads Matrix Market files: sparse matrices as the coordinates and values of their entries.
//!
//! Real, integer and pattern matrices, whose entries are 1; general, symmetric and skew-symmetric
//! ones, of which the file has one half. What is wrong with a file is one line that names the file's
//! line. A test: no input panics.
//!
//! Source: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange Formats" (NIST, 1996).

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use device::{Error, Result, memory};

use super::matrix::Csr;

/// Bytes of a line: the format allows 1024.
const LONGEST_LINE: u64 = 4096;

/// Rows and columns, whose numbers kernels have in 32 bits.
const MOST_ROWS: u64 = 1 << 30;

/// Entries, likewise.
const MOST_ENTRIES: u64 = 1 << 30;

/// Bytes of an entry on the host, while it is read and by rows.
const ENTRY_BYTES: u64 = 36;

/// Those of a row and of a column, with y, its reference, and x.
const ROW_BYTES: u64 = 32;
const COLUMN_BYTES: u64 = 4;

/// What the first line says.
struct Kind {
    /// Whether entries have no values.
    pattern: bool,
    integer: bool,
    /// What the entry on the other side of the diagonal is: the same, or times this.
    mirrored: Option<f32>,
}

/// The matrix in a file.
///
/// # Errors
///
/// [`Error::File`] names the line.
pub(super) fn read(path: &Path) -> Result<Csr> {
    let file = File::open(path).map_err(|error| Error::file(path, format!("cannot be read: {error}")))?;
    let room = |bytes| memory::check_host("the matrix", bytes).map_err(|error| error.to_string());
    parse(BufReader::new(file), room).map_err(|problem| Error::file(path, problem))
}

/// Lines with their numbers.
struct Lines<R> {
    source: R,
    number: u64,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// The next line, without the spaces around it; `None` at the end.
    fn next(&mut self) -> std::result::Result<Option<&str>, String> {
        self.line.clear();
        self.number += 1;
        let mut limited = self.source.by_ref().take(LONGEST_LINE);
        let length = limited.read_until(b'\n', &mut self.line).map_err(|error| format!("cannot be read: {error}"))?;
        if length as u64 == LONGEST_LINE && !self.line.ends_with(b"\n") {
            return Err(format!("line {} is longer than {LONGEST_LINE} bytes", self.number));
        }
        let text = std::str::from_utf8(&self.line).map_err(|_| format!("line {} is not text", self.number))?;
        Ok((length > 0).then(|| text.trim()))
    }

    /// The words of the next line that is neither empty nor a comment.
    fn words(&mut self) -> std::result::Result<Option<Vec<String>>, String> {
        loop {
            match self.next()? {
                None => return Ok(None),
                Some(line) if line.is_empty() || line.starts_with('%') => {}
                Some(line) => return Ok(Some(line.split_whitespace().map(str::to_owned).collect())),
            }
        }
    }

    /// An error in the line that was read last.
    fn wrong(&self, problem: impl std::fmt::Display) -> String {
        format!("line {}: {problem}", self.number)
    }
}

/// The matrix in this text. `room` says whether there is room for so many bytes.
fn parse(
    source: impl BufRead,
    room: impl FnOnce(u64) -> std::result::Result<(), String>,
) -> std::result::Result<Csr, String> {
    let mut lines = Lines { source, number: 0, line: Vec::new() };
    let header = lines.next()?.unwrap_or_default().to_lowercase();
    let kind = Kind::of(&header).map_err(|problem| lines.wrong(problem))?;
    let Some(sizes) = lines.words()? else { return Err("ends before the numbers of rows, columns and entries".into()) };
    let number = |word: &String, most: u64| match word.parse::<u64>() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(format!("'{}' is not a whole number from 1 to {most}", shown(word))),
    };
    let [rows, columns, entries] = &sizes[..] else {
        return Err(lines.wrong("the numbers of rows, columns and entries are needed"));
    };
    let read = || Ok([number(rows, MOST_ROWS)?, number(columns, MOST_ROWS)?, number(entries, MOST_ENTRIES)?]);
    let [rows, columns, entries] = read().map_err(|problem: String| lines.wrong(problem))?;
    if kind.mirrored.is_some() && rows != columns {
        return Err(lines.wrong("a symmetric matrix has as many rows as columns"));
    }
    let stored = entries * if kind.mirrored.is_some() { 2 } else { 1 };
    room(stored * ENTRY_BYTES + rows * ROW_BYTES + columns * COLUMN_BYTES)?;

    let mut found: Vec<(u32, u32, f32)> = Vec::new();
    for read in 0..entries {
        let Some(words) = lines.words()? else { return Err(format!("ends after {read} of {entries} entries")) };
        let entry = kind.entry(&words, rows, columns).map_err(|problem| lines.wrong(problem))?;
        let (row, column, value) = entry;
        found.push(entry);
        match kind.mirrored {
            Some(factor) if row != column => found.push((column, row, factor * value)),
            Some(factor) if factor < 0.0 => {
                return Err(lines.wrong("a skew-symmetric matrix has no entries on its diagonal"));
            }
            _ => {}
        }
    }
    match lines.words()? {
        Some(_) => Err(lines.wrong(format!("is beyond the {entries} entries that the file announces"))),
        None => Ok(Csr::of(rows as usize, columns as usize, &found)),
    }
}

impl Kind {
    fn of(header: &str) -> std::result::Result<Self, String> {
        let words: Vec<&str> = header.split_whitespace().collect();
        let ["%%matrixmarket", "matrix", format, field, symmetry] = words[..] else {
            return Err(
                "the file does not begin with '%%MatrixMarket matrix coordinate real general', or the like".into()
            );
        };
        if format != "coordinate" {
            return Err(format!("the format '{}' is not 'coordinate', that of sparse matrices", shown(format)));
        }
        if !["real", "integer", "pattern"].contains(&field) {
            return Err(format!(
                "entries that are '{}' are not supported: real, integer and pattern are",
                shown(field)
            ));
        }
        let mirrored = match symmetry {
            "general" => None,
            "symmetric" => Some(1.0),
            "skew-symmetric" => Some(-1.0),
            other => {
                let other = shown(other);
                return Err(format!("'{other}' is not supported: general, symmetric and skew-symmetric are"));
            }
        };
        Ok(Self { pattern: field == "pattern", integer: field == "integer", mirrored })
    }

    /// The row, the column and the value of an entry. The file counts from 1.
    fn entry(&self, words: &[String], rows: u64, columns: u64) -> std::result::Result<(u32, u32, f32), String> {
        let (row, column, value) = match (words, self.pattern) {
            ([row, column], true) => (row, column, None),
            ([row, column, value], false) => (row, column, Some(value)),
            (_, true) => return Err("a row and a column are needed".into()),
            (_, false) => return Err("a row, a column and a value are needed".into()),
        };
        let index = |word: &str, what: &str, most: u64| match word.parse::<u64>() {
            Ok(index) if (1..=most).contains(&index) => Ok((index - 1) as u32),
            _ => Err(format!("the {what} '{}' is not from 1 to {most}", shown(word))),
        };
        let (row, column) = (index(row, "row", rows)?, index(column, "column", columns)?);
        let Some(word) = value else { return Ok((row, column, 1.0)) };
        let value = match self.integer {
            true => word.parse::<i64>().ok().map(|value| value as f32),
            false => word.parse::<f32>().ok(),
        };
        match value.filter(|value| value.is_finite()) {
            Some(value) => Ok((row, column, value)),
            None if self.integer => Err(format!("the value '{}' is not a whole number", shown(word))),
            None => Err(format!("the value '{}' is not a number that an f32 holds", shown(word))),
        }
    }
}

/// The first letters of a word.
fn shown(word: &str) -> String {
    word.chars().take(24).map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}

#[cfg(test)]
mod tests;
