//! The width of the terminal, and whether it shows colours. Listings and the progress bar ask for
//! it. Only reads the environment and the terminal's size.

use picture::Paint;

/// The smallest width: narrower text is unreadable.
const NARROWEST: usize = 40;

/// Columns of the standard output: `COLUMNS` if it is set, else the terminal's, else 100.
pub(crate) fn width() -> usize {
    width_of(output_columns)
}

/// The same of the standard error.
pub(crate) fn width_of_messages() -> usize {
    width_of(error_columns)
}

fn width_of(measured: impl FnOnce() -> Option<usize>) -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    asked.filter(|&columns| columns > 0).or_else(measured).unwrap_or(wording::WIDTH).max(NARROWEST)
}

/// Whether pictures on the standard output are coloured: on a terminal that can, unless `NO_COLOR`
/// is set.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn paint() -> Paint {
    match anstream::AutoStream::choice(&std::io::stdout()) {
        anstream::ColorChoice::Never => Paint::Plain,
        _ => Paint::Colours,
    }
}

/// There is no terminal.
#[cfg(target_family = "wasm")]
pub(crate) fn paint() -> Paint {
    Paint::Plain
}

/// Columns of the terminal that the standard output is.
#[cfg(not(target_family = "wasm"))]
fn output_columns() -> Option<usize> {
    let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(columns.into())
}

/// Columns of the terminal that the standard error is.
#[cfg(not(target_family = "wasm"))]
fn error_columns() -> Option<usize> {
    let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(std::io::stderr())?;
    Some(columns.into())
}

/// There is no terminal.
#[cfg(target_family = "wasm")]
fn output_columns() -> Option<usize> {
    None
}

/// There is no terminal.
#[cfg(target_family = "wasm")]
fn error_columns() -> Option<usize> {
    None
}
