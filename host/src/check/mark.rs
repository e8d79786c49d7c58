//! A PTX error with its line, and a mark under the wrong text. `check` prints each error with it.
//! Pure.

use ptx::Error;
use wording::{WIDTH, is_shown, printable};

/// Characters of a line to show before the error's position, at most.
const BEFORE: usize = 60;

/// The error, its line, a mark under the wrong part and, if known, what to do about it.
///
/// ```text
/// k.ptx:5:2: unknown instruction `frob`
///   |
/// 5 | frob.u32 %r1;
///   | ^^^^
/// ```
pub(super) fn marked(name: &str, text: &str, error: &Error) -> String {
    let message = printable(&format!("{name}:{}:{}: {}", error.line, error.column, error.problem));
    let number = error.line.to_string();
    let margin = " ".repeat(number.len());
    let (line, mark) = line_and_mark(text, error, WIDTH - number.len() - " | ".len());
    let mut shown = format!("{message}\n{margin} |\n{number} | {line}\n{margin} | {mark}\n");
    if let Some(help) = error.problem.help() {
        shown += &format!("{margin} = {}\n", printable(&help));
    }
    shown.push('\n');
    shown
}

/// The part of the line around the error, of at most this width and without its indentation, and
/// the mark under it.
fn line_and_mark(text: &str, error: &Error, width: usize) -> (String, String) {
    let line = text.lines().nth((error.line as usize).saturating_sub(1)).unwrap_or_default();
    let characters: Vec<char> = line.chars().collect();
    let column = (error.column as usize).saturating_sub(1).min(characters.len());
    let indentation = characters.iter().take(column).take_while(|c| c.is_whitespace()).count();
    let start = if column - indentation > BEFORE { column - BEFORE } else { indentation };
    let end = characters.len().min(start + width);

    // What is not shown may be of any width.
    let plain = |part: &[char]| -> String { part.iter().map(|&c| if is_shown(c) { c } else { ' ' }).collect() };
    let wrong = text.get(error.span.start as usize..error.span.end as usize).unwrap_or_default();
    let length = wrong.lines().next().unwrap_or_default().chars().count().clamp(1, (end - column.min(end)).max(1));
    (plain(&characters[start..end]), " ".repeat(column - start) + &"^".repeat(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> String {
        let text = format!(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {{\n{body}\n}}\n");
        let errors = ptx::parse("k.ptx", &text).unwrap_err();
        marked(errors.name(), errors.text(), errors.first())
    }

    #[test]
    fn the_place_is_marked() {
        let text = shown("\t.reg .u32 %r<2>;\n\tmov.u32 %r1, %nothing;");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("k.ptx:6:"), "{text}");
        assert_eq!(lines[1..4], ["  |", "6 | mov.u32 %r1, %nothing;", "  |              ^^^^^^^^"], "{text}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let long = format!("/* {} */ frob.u32; /* {} */", "x".repeat(500), "y".repeat(500));
        let text = shown(&long);
        let mark = text.lines().find(|line| line.contains('^')).unwrap();
        let line = text.lines().nth(2).unwrap();
        assert!(line[mark.find('^').unwrap()..].starts_with("frob"), "{text}");
        assert_eq!(text.lines().skip(1).map(str::len).max(), Some(WIDTH), "{text}");
    }

    #[test]
    fn what_ends_too_early_is_marked_at_its_end() {
        let errors = ptx::parse("k.ptx", ".version 7.0\n.target sm_75\n.visible .entry k() {").unwrap_err();
        for error in &errors {
            assert!(marked("k.ptx", errors.text(), error).contains('^'));
        }
    }
}
