//! Text for people, as every program here writes it: paragraphs of one width, and numbers with
//! their units. Pure.

pub mod units;
pub mod xml;

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
    // A number and its unit stay together.
    let joined = joined(&one_line(words));
    fill(&joined, Options::new(width).break_words(false), first, others).replace(JOIN, " ")
}

/// A space at which no line ends.
const JOIN: char = '\u{a0}';

/// The text with its numbers and their units joined.
fn joined(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut joined = String::with_capacity(text.len());
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            let is_unit = UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')']));
            let number = words[at - 1].ends_with(|c: char| c.is_ascii_digit());
            joined.push(if is_unit && number { JOIN } else { ' ' });
        }
        joined += word;
    }
    joined
}

const UNITS: [&str; 9] = ["%", "us", "ms", "s", "B", "KiB", "MiB", "GiB", "GB/s"];

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

/// Another program's text as one line: line breaks and the indentation after them become single
/// spaces.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text that contains users' names as one line: control characters, such as a line break in a file
/// name, and marks that change the direction of what follows are escaped.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| escaped(c, |_| false)).collect()
}

/// A message in which words that nobody would read to their end, such as an argument of thousands
/// of bytes, are cut in their middle. Paths are shorter than that.
pub fn readable(text: &str) -> String {
    const LONGEST: usize = 400;
    const KEPT: usize = 100;
    let shown = |word: &str| match word.char_indices().nth(LONGEST) {
        None => word.to_owned(),
        Some(_) => {
            let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
            format!("{}...{}", &word[..starts[KEPT]], &word[starts[starts.len() - KEPT]..])
        }
    };
    text.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}

/// What `clap` says of a wrong command line, as one line without "error: ": its first paragraph, its
/// tips, and the command whose help says more.
pub fn usage_line(text: &str) -> String {
    let mut paragraphs = text.split("\n\n");
    let mut parts = vec![one_line(paragraphs.next().unwrap_or_default())];
    let mut help = String::from("--help");
    for paragraph in paragraphs.map(str::trim_start) {
        if paragraph.starts_with("tip:") {
            parts.push(one_line(paragraph));
        } else if let Some(usage) = paragraph.strip_prefix("Usage: ") {
            let command = usage.split_whitespace().take_while(|word| !word.starts_with(['<', '[', '-']));
            help = command.chain(["--help"]).collect::<Vec<_>>().join(" ");
        }
    }
    let line = parts.join("; ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    printable(&readable(&format!("{line}; see {help}")))
}

/// Another program's output as text of several lines: only line breaks and tabs stay as they are,
/// as in [`printable`].
pub fn printable_lines(text: &str) -> String {
    text.chars().map(|c| escaped(c, |c| matches!(c, '\n' | '\t'))).collect()
}

fn escaped(c: char, stays: impl Fn(char) -> bool) -> String {
    if is_shown(c) || stays(c) { c.to_string() } else { c.escape_default().to_string() }
}

/// Whether a terminal or a page shows a character, rather than doing something else: control
/// characters and marks that change the direction of what follows are not shown.
pub fn is_shown(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !c.is_control() && !turns
}

/// A word of a command that is shown to be copied: quoted for the shell if it has more than plain
/// characters.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=:,./@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_of_messages_are_cut_in_their_middle() {
        let path = format!("cannot read /{}/a  file", "é".repeat(300));
        assert_eq!(readable(&path), path);
        let long = readable(&format!("argument 0, bytes:{}é, is wrong", "é0".repeat(50_000)));
        assert!(long.starts_with("argument 0, bytes:é0é0") && long.ends_with("0é0é, is wrong"), "{long}");
        assert_eq!(long.chars().count(), "argument 0, ".len() + 203 + " is wrong".len());
    }

    #[test]
    fn wrong_command_lines_are_one_line() {
        let text = "error: unexpected argument '--al\u{1b}l' found\n\n  tip: a similar argument exists: '--all'\n\n\
                    Usage: course grade --all <NAME>\n\nFor more information, try '--help'.\n";
        let line = r"unexpected argument '--al\u{1b}l' found; tip: a similar argument exists: '--all'; see course grade --help";
        assert_eq!(usage_line(text), line);
    }

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
    fn words_of_commands_are_quoted_for_the_shell() {
        for plain in ["--grid", "2,2", "f32:0.5", "a/b.ptx"] {
            assert_eq!(shell_word(plain), plain);
        }
        assert_eq!(shell_word("u32[4]=1,2"), "'u32[4]=1,2'");
        assert_eq!(shell_word("$(rm -rf ~)"), "'$(rm -rf ~)'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!([shell_word(""), shell_word("a b"), shell_word("~")], ["''", "'a b'", "'~'"]);
    }

    #[test]
    fn what_turns_or_clears_a_terminal_is_escaped() {
        assert_eq!(printable_lines("a\tb\r\n\u{1b}[2J\u{9b}1m"), "a\tb\\r\n\\u{1b}[2J\\u{9b}1m");
        assert_eq!(printable("x\u{202e}y\u{2066}z\n"), "x\\u{202e}y\\u{2066}z\\n");
        assert_eq!(printable("\u{200d}\u{1f980} \u{e9}"), "\u{200d}\u{1f980} \u{e9}");
    }

    #[test]
    fn names_with_control_characters_are_escaped() {
        assert_eq!(printable("a\nb\u{1b}[31m  c.npy: is é"), "a\\nb\\u{1b}[31m  c.npy: is é");
    }
}
