//! The lines at which most students of a class fail. Files differ, so a line is known by its text
//! and not by its number. Pure.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde::Deserialize;

/// The most lines that are shown.
const SHOWN: usize = 12;

/// The longest text of a line and of a message, in characters.
const LONGEST: usize = 160;

/// A place of a verdict.
#[derive(Clone, Debug, Deserialize)]
pub struct Place {
    pub line: usize,
    #[serde(default)]
    pub message: String,
}

/// A line with those who fail there.
#[derive(Debug, Default)]
struct Hard<'a> {
    students: BTreeSet<&'a str>,
    /// How often each message was given.
    messages: BTreeMap<String, usize>,
}

/// A failed run: whose, the text, and the places of the verdict.
pub struct Failed<'a> {
    pub student: &'a str,
    pub text: &'a str,
    pub places: Vec<Place>,
}

/// The lines, those of most students first: the text, how many students, the usual message.
fn hard(runs: &[Failed<'_>]) -> Vec<(String, usize, String)> {
    let mut lines: BTreeMap<String, Hard<'_>> = BTreeMap::new();
    for Failed { student, text, places } in runs {
        let texts: Vec<&str> = text.lines().collect();
        for Place { line, message } in places {
            let Some(text) = line.checked_sub(1).and_then(|at| texts.get(at)) else { continue };
            let hard = lines.entry(cut(text.trim())).or_default();
            hard.students.insert(student);
            *hard.messages.entry(cut(message)).or_default() += 1;
        }
    }
    let usual = |hard: &Hard<'_>| {
        let most = hard.messages.iter().max_by_key(|(_, count)| **count);
        most.map(|(message, _)| message.clone()).unwrap_or_default()
    };
    let mut all: Vec<_> = lines.iter().map(|(text, hard)| (text.clone(), hard.students.len(), usual(hard))).collect();
    all.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    all.truncate(SHOWN);
    all
}

/// The begin of a text, on one line.
fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line.to_owned(),
    }
}

/// The lines as a part of a page.
pub fn markup(runs: &[Failed<'_>]) -> Markup {
    let lines = hard(runs);
    html! {
        @if lines.is_empty() {
            p.quiet { "No failed run has a line to look at." }
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Lines where most fail" {
                table.lines {
                    thead { tr { th.name { "Line" } th { "Students" } th.name { "What is usually wrong" } } }
                    tbody {
                        @for (text, students, message) in &lines {
                            tr { th scope="row" { code { (text) } } td { (students) } td.name { (message) } }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_once_for_each_student() {
        let place = |line, message: &str| Place { line, message: message.to_owned() };
        let run = |student, text, places| Failed { student, text, places };
        let runs = [
            run(
                "anna",
                "a\n  x[i] = 1;\n",
                vec![place(2, "out of bounds"), place(2, "race"), place(9, "lost"), place(0, "lost")],
            ),
            run("anna", "x[i] = 1;\n", vec![place(1, "out of bounds")]),
            run("ben", "\n\nx[i] = 1;\nb\n", vec![place(3, "out of bounds\nmore"), place(4, "<b>")]),
        ];
        let expected = [("x[i] = 1;", 2, "out of bounds"), ("b", 1, "<b>")];
        let expected = expected.map(|(text, count, message)| (text.to_owned(), count, message.to_owned()));
        assert_eq!(hard(&runs), expected);
        let html = markup(&runs).into_string();
        assert!(html.contains("&lt;b&gt;") && !html.contains("<b>"), "{html}");
        assert!(markup(&[]).into_string().contains("No failed run"));
    }

    #[test]
    fn long_lines_are_cut_at_a_character() {
        assert_eq!(cut(&"\u{e9}".repeat(LONGEST + 1)).chars().count(), LONGEST + 3);
        assert_eq!(cut("a\nb"), "a");
    }
}
