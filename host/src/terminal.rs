//! The width of the terminal, and text wrapped to it. Tables and reports call it. Only reads the environment and the
//! terminal's size.

use std::io::{IsTerminal, stdout};

/// Columns if the width is unknown.
pub(crate) const USUAL_WIDTH: usize = 100;

/// The smallest width: narrower text is unreadable.
const NARROWEST: usize = 40;

/// Columns of the standard output: `COLUMNS` if it is set, else the terminal's, else 100.
pub(crate) fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let measured = || {
        let terminal = stdout().is_terminal().then(|| terminal_size::terminal_size_of(stdout())).flatten();
        terminal.map(|(terminal_size::Width(columns), _)| usize::from(columns))
    };
    asked.filter(|&columns| columns > 0).or_else(measured).unwrap_or(USUAL_WIDTH).max(NARROWEST)
}

/// Wraps a text to `first` columns in the first line and `others` in the rest. Lines break at spaces if possible, else after a
/// bracket or a comma.
pub(crate) fn folded(text: &str, first: usize, others: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest: Vec<char> = text.trim_end().chars().collect();
    let mut room = first.max(1);
    while rest.len() > room {
        // Do not break within the indentation.
        let start = rest.iter().take_while(|c| c.is_whitespace()).count();
        let space = (start + 1..=room).rev().find(|&at| rest[at] == ' ');
        // Code has long words. Breaking within one is better than a line that is nearly empty.
        let within = || (start + 1..=room).rev().find(|&at| matches!(rest[at - 1], '(' | ')' | ',' | ']'));
        let end = space.filter(|&at| 2 * at >= room).or_else(within).or(space);
        let next = rest.split_off(end.unwrap_or(room));
        lines.push(rest.iter().collect::<String>().trim_end().to_owned());
        rest = next.into_iter().skip_while(|&c| c == ' ').collect();
        room = others.max(1);
    }
    lines.push(rest.into_iter().collect());
    lines
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn lines_end_at_spaces_and_nothing_is_lost() {
        assert_eq!(folded("let x = y + z;", 20, 20), ["let x = y + z;"]);
        assert_eq!(folded("let x = y + z;", 8, 4), ["let x =", "y +", "z;"]);
        assert_eq!(folded("    abcdefgh i", 8, 4), ["    abcd", "efgh", "i"]);
        assert_eq!(folded("\u{e9}\u{e9}\u{e9}\u{e9}", 3, 3), ["\u{e9}\u{e9}\u{e9}", "\u{e9}"]);
        assert_eq!(
            folded("|y| *input.get_unchecked(at(tile.row", 30, 30),
            ["|y| *input.get_unchecked(at(", "tile.row"]
        );
        assert_eq!(folded("", 3, 3), [""]);
        assert_eq!(folded("ab", 0, 0), ["a", "b"]);
    }
}
