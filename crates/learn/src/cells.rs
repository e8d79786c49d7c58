//! Tables as CSV (RFC 4180) that spreadsheets and learning platforms read. [`crate::marks`] and
//! [`crate::formats`] write them.
//!
//! *Invariant:* no text becomes a formula, whatever a student calls a folder: a cell that begins as
//! a formula does gets an apostrophe (<https://owasp.org/www-community/attacks/CSV_Injection>), and
//! every cell with a separator of any country's spreadsheets is quoted.

use crate::terminal::{REPLACED, plain};

/// A name or another text as a cell.
pub fn text(text: &str) -> String {
    let plain = plain(text).replace('\n', &String::from(REPLACED));
    // The wide ones are taken for the narrow ones where East Asian text is typed.
    let formula = |c: char| "=+-@\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}".contains(c);
    // Nor do some readers show what they cannot.
    match plain.trim_start_matches(|c: char| c.is_whitespace() || c == REPLACED).starts_with(formula) {
        true => format!("'{plain}"),
        false => plain,
    }
}

/// A row of cells, each made by [`text`] or a number.
pub fn row(cells: impl IntoIterator<Item = String>) -> String {
    let quoted = |cell: String| match cell.contains([',', ';', '"', '\'']) || cell.trim() != cell {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    };
    cells.into_iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        for begin in ["=", "+", "-", "@", " =", "\t=", "\r\n=", "\u{ff1d}", "\u{a0}@"] {
            let row = row([text(&format!("{begin}cmd|' /C calc'!A0")), "1".to_owned()]);
            let cells = cells_of(&row);
            assert!(cells[0].starts_with('\''), "{begin:?}: {row}");
            assert_eq!(cells.len(), 2, "{row}");
        }
        assert_eq!(row([text("a-b@c.edu"), "-1".to_owned()]), "a-b@c.edu,-1\n");
    }

    #[test]
    fn a_cell_stays_one_cell_with_any_separator() {
        for name in ["a,=1", "a;=1", "a\t=1", "a\n=1", "a\r=1", "\"=1", "a\",\"=1", "a\"\r\n=1"] {
            let row = row([text(name), "7".to_owned()]);
            assert_eq!((row.lines().count(), cells_of(&row).len()), (1, 2), "{name:?}: {row}");
            let quoted = row.starts_with('"') && row.ends_with("\",7\n");
            assert!(quoted || !row.contains([';', '\t', '"']), "{name:?}: {row}");
        }
        assert_eq!(row([text("Mayer, \"Zo\u{eb}\"")]), "\"Mayer, \"\"Zo\u{eb}\"\"\"\n");
    }

    /// What a reader of CSV finds in one row.
    fn cells_of(row: &str) -> Vec<String> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(row.as_bytes());
        let record = reader.records().next().unwrap().unwrap();
        record.iter().map(str::to_owned).collect()
    }
}
