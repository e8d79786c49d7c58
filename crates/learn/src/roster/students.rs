//! Reads the students of a class from a CSV file with the columns `name`, `id` and `email`, as
//! spreadsheets and learning platforms write them. Pure.
//!
//! *Invariant:* a file with a wrong row gives no students: each wrong row is named by its line.

use std::collections::HashMap;
use std::fmt::Write as _;

/// A student of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    pub id: String,
    pub email: String,
}

/// The most students of one file.
const MOST: usize = 10_000;

/// The longest name, identifier and address.
const LONGEST_NAME: usize = 200;
const LONGEST_ID: usize = 64;
const LONGEST_EMAIL: usize = 254;

/// The columns, in the order of [`Row`].
const COLUMNS: [&str; 3] = ["name", "id", "email"];

/// The students of a file.
///
/// # Errors
///
/// A sentence for each wrong line.
pub fn read(bytes: &[u8]) -> Result<Vec<Row>, Vec<String>> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
            return Err(vec![format!("line {line}: this is not UTF-8; save the file as \"CSV UTF-8\"")]);
        }
    };
    let first = text.lines().next().unwrap_or_default();
    // Spreadsheets of many countries separate by semicolons.
    let separator = if first.contains(';') && !first.contains(',') { b';' } else { b',' };
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator).flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let columns = columns(reader.headers().map_err(|error| vec![at(&error)])?)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut wrong = Vec::new();
    let mut lines: HashMap<String, u64> = HashMap::new();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                wrong.push(at(&error));
                continue;
            }
        };
        let line = record.position().map_or(0, csv::Position::line);
        if record.iter().all(str::is_empty) {
            continue;
        }
        let [name, id, email] = columns.map(|column| visible(record.get(column).unwrap_or_default()));
        let row = Row { name, id, email };
        match row.problem() {
            Some(problem) => wrong.push(format!("line {line}: {problem}")),
            None => match lines.insert(row.id.to_lowercase(), line) {
                Some(before) => wrong.push(format!("line {line}: the id '{}' is on line {before}, too", row.id)),
                None => rows.push(row),
            },
        }
        if rows.len() > MOST {
            wrong.push(format!("line {line}: a class has at most {MOST} students"));
            break;
        }
    }
    match (wrong.is_empty(), rows.is_empty()) {
        (false, _) => Err(wrong),
        (true, true) => Err(vec!["line 1: there are no students below the column heads".to_owned()]),
        (true, false) => Ok(rows),
    }
}

/// A cell without marks of direction and what else nobody sees, which address books add. Letters of a
/// direction keep it, and joiners between them stay.
fn visible(cell: &str) -> String {
    let is_mark = |c: char| matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let seen: String = cell.chars().filter(|c| !is_mark(*c)).collect();
    seen.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{200c}'..='\u{200d}')).to_owned()
}

/// Where the columns are.
fn columns(head: &csv::StringRecord) -> Result<[usize; 3], Vec<String>> {
    let found = COLUMNS.map(|column| head.iter().position(|cell| cell.eq_ignore_ascii_case(column)));
    match found {
        [Some(name), Some(id), Some(email)] => Ok([name, id, email]),
        _ => Err(vec!["line 1: the first line must have the column heads name,id,email".to_owned()]),
    }
}

/// What the reader of CSV objects to.
fn at(error: &csv::Error) -> String {
    let line = error.position().map_or(1, csv::Position::line);
    format!("line {line}: this is not CSV")
}

impl Row {
    /// What is wrong with it.
    fn problem(&self) -> Option<String> {
        let Self { name, id, email } = self;
        if name.is_empty() {
            return Some("the name is missing".to_owned());
        }
        if name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
            return Some(format!("the name is longer than {LONGEST_NAME} letters or has control characters"));
        }
        if id.is_empty() {
            return Some("the id is missing".to_owned());
        }
        if !is_id(id) {
            let id = shown(id);
            return Some(format!(
                "the id '{id}' is not possible: letters, digits, '.', '-', '_' and '@', at most {LONGEST_ID}, a letter or digit first"
            ));
        }
        let parts = email.split_once('@');
        let is_email = parts.is_some_and(|(user, host)| !user.is_empty() && !host.is_empty() && !host.contains('@'));
        let is_plain = email.len() <= LONGEST_EMAIL && email.chars().all(|c| !c.is_whitespace() && !c.is_control());
        if !(email.is_empty() || is_email && is_plain) {
            return Some(format!("'{}' is no email address", shown(email)));
        }
        None
    }
}

/// Whether a text can identify a student: it stands in addresses and files.
pub fn is_id(id: &str) -> bool {
    let mut bytes = id.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b".-_@".contains(&byte))
        && id.len() <= LONGEST_ID
}

/// The begin of a text of a stranger, on one line.
fn shown(text: &str) -> String {
    let mut shown: String = crate::terminal::plain(text).replace('\n', " ").chars().take(40).collect();
    if text.chars().count() > 40 {
        let _ = write!(shown, "...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().join("\n")
    }

    #[test]
    fn columns_may_have_any_order_and_separator() {
        let row = |name: &str, id: &str, email: &str| Row { name: name.into(), id: id.into(), email: email.into() };
        let expected = vec![row("Zo\u{eb}, \"Z\"", "zoe1", "z@a.edu"), row("=cmd", "b.2@x", "")];
        assert_eq!(
            read("name,id,email\n\"Zo\u{eb}, \"\"Z\"\"\",zoe1,z@a.edu\n=cmd,b.2@x,\n".as_bytes()),
            Ok(expected.clone())
        );
        let other =
            "\u{feff}Email; ID ;Section;Name\r\nz@a.edu;zoe1;A;\"Zo\u{eb}, \"\"Z\"\"\"\r\n\r\n;b.2@x;B;=cmd\r\n";
        assert_eq!(read(other.as_bytes()), Ok(expected));
    }

    #[test]
    fn each_wrong_row_is_named_by_its_line() {
        let text = "name,id,email\nA,a,a@x\n,b,\nC,,\nD,../d,\nE,-e,\nF,f,at@\nG,g,a b@c\nH,A,\n\"I\nI\",i,\n";
        let lines = wrong(text);
        for (line, words) in [
            (3, "the name is missing"),
            (4, "the id is missing"),
            (5, "the id '../d' is not possible"),
            (6, "the id '-e' is not possible"),
            (7, "'at@' is no email address"),
            (8, "'a b@c' is no email address"),
            (9, "the id 'A' is on line 2, too"),
            (10, "control characters"),
        ] {
            let found = lines.lines().find(|text| text.starts_with(&format!("line {line}: ")));
            assert!(found.is_some_and(|text| text.contains(words)), "{line}, {words}: {lines}");
        }
        assert_eq!(lines.lines().count(), 8, "{lines}");
    }

    #[test]
    fn what_nobody_sees_is_no_part_of_a_name() {
        let row = |name: &str| format!("name,id,email\n\"{name}\",\u{200b}a\u{feff},\u{202a}a@b.edu\u{202c}\n");
        for (name, wanted) in [
            ("\u{202e}annA\u{202c}", "annA"),
            ("\u{5d0}\u{5e0}\u{5d4} \u{200e}B", "\u{5d0}\u{5e0}\u{5d4} B"),
            // Persian, with a joiner.
            (
                "\u{639}\u{644}\u{6cc}\u{200c}\u{631}\u{636}\u{627}",
                "\u{639}\u{644}\u{6cc}\u{200c}\u{631}\u{636}\u{627}",
            ),
        ] {
            let rows = read(row(name).as_bytes()).unwrap();
            assert_eq!((rows[0].name.as_str(), rows[0].id.as_str(), rows[0].email.as_str()), (wanted, "a", "a@b.edu"));
        }
        for name in ["\u{200b}\u{feff}", "\u{200d}", "\u{2066}\u{2069} \u{a0}"] {
            assert_eq!(wrong(&row(name)), "line 2: the name is missing", "{name:?}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        assert_eq!(wrong(""), "line 1: the first line must have the column heads name,id,email");
        assert_eq!(wrong("name,id\na,b\n"), "line 1: the first line must have the column heads name,id,email");
        assert_eq!(wrong("name,id,email\n"), "line 1: there are no students below the column heads");
        assert!(read(b"name,id,email\na,b,c@d\nZo\xeb,c,\n").unwrap_err()[0].starts_with("line 3: this is not UTF-8"));
        let many: String = (0..=MOST + 5).map(|at| format!("S,s{at},\n")).collect();
        assert!(wrong(&format!("name,id,email\n{many}")).contains("at most 10000 students"));
        assert!(wrong(&format!("name,id,email\nN,{},\n", "x".repeat(300))).contains(" is not possible"));
    }
}
