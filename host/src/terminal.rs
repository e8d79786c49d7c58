//! The width of the terminal. Listings and the progress bar ask for it. Only reads the environment and the terminal's size.

/// The smallest width: narrower text is unreadable.
const NARROWEST: usize = 40;

/// Columns of the standard output: `COLUMNS` if it is set, else the terminal's, else 100.
pub(crate) fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    asked.filter(|&columns| columns > 0).or_else(measured).unwrap_or(wording::WIDTH).max(NARROWEST)
}

/// Columns of the terminal that the standard output is.
#[cfg(not(target_family = "wasm"))]
fn measured() -> Option<usize> {
    use std::io::{IsTerminal, stdout};
    let terminal = stdout().is_terminal().then(|| terminal_size::terminal_size_of(stdout())).flatten();
    terminal.map(|(terminal_size::Width(columns), _)| usize::from(columns))
}

/// There is no terminal.
#[cfg(target_family = "wasm")]
fn measured() -> Option<usize> {
    None
}
