//! What an instruction is, for reports and findings: its text, where it stands, and its class.

use std::sync::Arc;

/// What reports show of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionInfo {
    /// The function that it is in.
    pub function: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
    /// Its line in the PTX, from 1.
    pub ptx_line: u32,
    /// Where it comes from in the source program, if the PTX says so.
    pub source: Option<SourceLine>,
    /// What it does.
    pub class: InstructionClass,
    /// Why a GPU can count otherwise than a launch does, if it can.
    pub differs: Option<CountsDiffer>,
}

/// Why a GPU can count accesses otherwise than a launch does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CountsDiffer {
    /// An atomic operation that the hardware makes in shared memory as a loop: it loads the word,
    /// and swaps it unless another thread has changed it meanwhile. How often depends on timing.
    Retried,
    /// The branch back of a loop that `ptxas` unrolls. If lanes of a warp leave it after different
    /// numbers of iterations, a load of theirs can be made in several of the loop's copies.
    Unrolled,
    /// A branch whose condition `ptxas` joins with a second one: lanes that come to the same
    /// accesses by either make them at once there, and one after the other here.
    Joined,
}

/// A line of the source program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine {
    /// The file as the compiler named it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

/// What distinguishes instructions in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstructionClass {
    /// Accesses global, local or shared memory.
    Access(AccessKind),
    /// Reads a texture.
    Texture,
    /// Accesses a surface.
    Surface(AccessKind),
    /// A branch with two or more targets.
    Branch,
    /// A barrier for the block.
    Barrier,
    /// Anything else.
    Other,
}

/// The kind of access that an instruction makes. The counters of a launch are split by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// `ld`.
    Load,
    /// `st`.
    Store,
    /// `atom`: returns the old value.
    Atomic,
    /// `red`: returns nothing.
    Reduction,
    /// `cp.async`: from global to shared memory. In global memory it counts as a load, as on the
    /// hardware.
    Copy,
}

impl AccessKind {
    /// What a bulk copy to global memory does there.
    pub(crate) fn of_bulk_store(reduces: bool) -> Self {
        if reduces { Self::Reduction } else { Self::Store }
    }
}
