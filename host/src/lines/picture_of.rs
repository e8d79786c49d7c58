//! The value of `--picture`.

use crate::flag_values::whole_number;

/// What `--picture` draws, if not the accesses of all lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PictureOf {
    /// The accesses of this line.
    Line(u32),
    /// What moves between the memories.
    Memory,
    /// How often each element is accessed.
    Elements,
    /// Which tiles run together.
    Tiles,
}

impl PictureOf {
    pub(super) fn parse(text: &str) -> std::result::Result<Self, String> {
        match text {
            "memory" => Ok(Self::Memory),
            "elements" => Ok(Self::Elements),
            "tiles" => Ok(Self::Tiles),
            line => whole_number(1, u32::MAX)(line).map(Self::Line).map_err(|_| {
                format!("give a whole number from 1 to {}, that of a line, or memory, or elements, or tiles", u32::MAX)
            }),
        }
    }
}
