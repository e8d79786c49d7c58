//! Where in a program something happened: the instruction, its line in the source, and the thread.
//! Traps and findings hold a [`Site`].

use std::fmt;

use crate::own_code::is_library;

/// A place in the source program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// The file as the compiler named it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if the compiler did not say.
    pub column: u32,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AccessAction {
    Read,
    Write,
    Atomic,
}

/// An instruction that a thread executed.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// What it did to memory; `None` for an instruction that does not access it.
    pub action: Option<AccessAction>,
    /// The function that the instruction is in.
    pub function: String,
    /// The text of the instruction.
    pub instruction: String,
    /// Its line in the PTX, from 1.
    pub ptx_line: u32,
    /// Its position in the source program, then the calls through which it was inlined, innermost
    /// first. Empty if the PTX does not say.
    pub source: Vec<SourcePosition>,
    /// The block: x, y, z.
    pub block: [u32; 3],
    /// The thread in its block: x, y, z.
    pub thread: [u32; 3],
}

/// Which frame of an inlined call, innermost first, is the reader's own code: the innermost that
/// is not a library's, such as a header of the toolkit. `None` without frames.
pub fn own_frame(frames: &[SourcePosition]) -> Option<usize> {
    let kernels = &frames.last()?.file;
    frames.iter().position(|frame| !is_library(&frame.file, kernels))
}

impl Site {
    /// The position in the reader's own code: see [`own_frame`].
    pub fn position(&self) -> Option<&SourcePosition> {
        self.source.get(own_frame(&self.source)?)
    }
}

impl fmt::Display for AccessAction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            AccessAction::Read => "read",
            AccessAction::Write => "write",
            AccessAction::Atomic => "atomic operation",
        })
    }
}

/// `FILE:LINE:COLUMN`.
impl fmt::Display for SourcePosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)?;
        match self.column {
            0 => Ok(()),
            column => write!(formatter, ":{column}"),
        }
    }
}

pub(crate) struct Triple(pub [u32; 3]);

impl fmt::Display for Triple {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(formatter, "({x}, {y}, {z})")
    }
}
