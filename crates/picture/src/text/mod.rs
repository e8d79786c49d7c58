//! Pictures in box characters, for a terminal. They can be read without colours: what moves unused
//! is shaded, and what waits shows in the last line.

mod access;
mod elements;
mod engines;
mod memory;
mod plot;
mod roofline;
mod tiles;

pub use access::access;
pub use elements::elements;
pub use engines::engines;
pub use memory::memory;
pub use plot::plot;
pub use roofline::roofline;
pub use tiles::tiles;

use anstyle::{AnsiColor, Color, Style};

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Characters only.
    Plain,
    /// With the terminal's own blue and yellow.
    Colours,
}

/// Asked for, and served at once.
const USED: Style = on(AnsiColor::BrightWhite, AnsiColor::Blue).bold();
/// Waits for another pass.
const WAITS: Style = on(AnsiColor::Black, AnsiColor::Yellow);
/// Moves for nothing.
const WASTED: Style = AnsiColor::Yellow.on_default();
/// A bar without cost.
const BAR: Style = AnsiColor::Blue.on_default();
/// A bar of passes, which are no bytes.
const PASSES: Style = AnsiColor::Cyan.on_default();
/// Frames, and what is untouched.
const FAINT: Style = Style::new().dimmed();
/// Headings.
const STRONG: Style = Style::new().bold();

const fn on(front: AnsiColor, back: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(front))).bg_color(Some(Color::Ansi(back)))
}

impl Paint {
    fn with(self, style: Style, text: &str) -> String {
        match self {
            Paint::Plain => text.to_owned(),
            Paint::Colours if text.is_empty() => String::new(),
            Paint::Colours => format!("{style}{text}{style:#}"),
        }
    }
}
