//! The width of the terminal. Listings and the progress bar ask for it. Only reads the environment and the terminal's size.

use std::io::{IsTerminal, stdout};

/// The smallest width: narrower text is unreadable.
const NARROWEST: usize = 40;

/// Columns of the standard output: `COLUMNS` if it is set, else the terminal's, else 100.
pub(crate) fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let measured = || {
        let terminal = stdout().is_terminal().then(|| terminal_size::terminal_size_of(stdout())).flatten();
        terminal.map(|(terminal_size::Width(columns), _)| usize::from(columns))
    };
    asked.filter(|&columns| columns > 0).or_else(measured).unwrap_or(wording::WIDTH).max(NARROWEST)
}
