//! Text for people, as every program here writes it: paragraphs of one width, and numbers with their units. Pure.

pub mod units;

use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter};

/// Columns of everything that people read, unless the terminal has another width.
pub const WIDTH: usize = 100;

/// `1 size`, `2 sizes`.
pub fn several(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A number without unnecessary digits: `4`, `4.26`.
pub fn number(value: f64) -> String {
    match value.fract() == 0.0 && value.abs() < 1e15 {
        true => format!("{value}"),
        false => format!("{value:.2}"),
    }
}

/// A paragraph in lines of at most [`WIDTH`] columns.
pub fn paragraph(words: &str) -> String {
    wrapped(words, WIDTH, "", "")
}

/// A paragraph in lines of at most `width` columns: the first begins with `first`, the others with
/// `others`. No word is broken.
pub fn wrapped(words: &str, width: usize, first: &str, others: &str) -> String {
    fill(&one_line(words), Options::new(width).break_words(false), first, others)
}

/// As [`wrapped`], for a line of code, whose long words may end after a bracket or a comma.
pub fn wrapped_code(code: &str, width: usize, first: &str, others: &str) -> String {
    let separator =
        WordSeparator::Custom(|line| Box::new(WordSeparator::AsciiSpace.find_words(line).flat_map(in_parts)));
    fill(code, Options::new(width).word_separator(separator), first, others)
}

fn fill(text: &str, options: Options<'_>, first: &str, others: &str) -> String {
    // `textwrap` leaves the indentation of nothing out.
    if text.is_empty() {
        return first.trim_end().to_owned();
    }
    let options = options.word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(text, options.initial_indent(first).subsequent_indent(others))
}

/// The length of the longest words of code that are never broken.
const LONG: usize = 24;

/// A word of code, divided after its brackets and commas if it is long.
fn in_parts(word: Word<'_>) -> impl Iterator<Item = Word<'_>> {
    let Word { word: text, whitespace, .. } = word;
    let after = move |c: char| text.len() > LONG && matches!(c, '(' | ')' | ',' | ']');
    let mut parts: Vec<_> = text.split_inclusive(after).map(Word::from).collect();
    if let Some(last) = parts.last_mut() {
        last.whitespace = whitespace;
    }
    parts.into_iter()
}

/// Another program's text as one line: line breaks and the indentation after them become single spaces.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text that contains users' names as one line: control characters, such as a line break in a file name, are escaped.
pub fn printable(text: &str) -> String {
    let escape = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_needless_digits() {
        assert_eq!([4.0, 4.256, -0.5].map(number), ["4", "4.26", "-0.50"]);
    }

    #[test]
    fn one_has_no_s() {
        assert_eq!((several(1, "size"), several(2, "size")), ("1 size".to_owned(), "2 sizes".to_owned()));
    }

    #[test]
    fn paragraphs_stay_within_the_width() {
        let text = paragraph(&"twelve chars\n  ".repeat(40));
        assert_eq!(text.lines().map(str::len).max(), Some(97), "{text}");
        assert_eq!(text.split(' ').count() + text.lines().count() - 1, 80);
        assert_eq!(wrapped("a non-breaking word", 8, "- ", "  "), "- a\n  non-breaking\n  word");
        assert_eq!(wrapped("", 8, "= ", "  "), "=");
    }

    #[test]
    fn code_breaks_at_spaces_and_long_words_after_brackets() {
        let wrapped = |code, width| wrapped_code(code, width, "", "").lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(wrapped("let x = y + z;", 20), ["let x = y + z;"]);
        assert_eq!(wrapped("let x = f(y); z", 11), ["let x =", "f(y); z"]);
        assert_eq!(wrapped("|y| *input.get_unchecked(at(tile.row", 30), ["|y| *input.get_unchecked(at(", "tile.row"]);
        assert_eq!(wrapped("\u{e9}\u{e9}\u{e9}\u{e9}", 3), ["\u{e9}\u{e9}\u{e9}", "\u{e9}"]);
        assert_eq!(wrapped_code("let x = y;", 12, "  7  ", "      "), "  7  let x =\n      y;");
        assert_eq!(wrapped_code("", 12, "  7  ", "      "), "  7");
    }

    #[test]
    fn foreign_text_becomes_one_line() {
        assert_eq!(one_line("ptxas:\n   line 3;\r\n fatal\n"), "ptxas: line 3; fatal");
    }

    #[test]
    fn names_with_control_characters_are_escaped() {
        assert_eq!(printable("a\nb\u{1b}[31m  c.npy: is é"), "a\\nb\\u{1b}[31m  c.npy: is é");
    }
}
