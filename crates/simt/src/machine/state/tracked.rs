//! Tracked registers: which lanes of a register hold a written value, and what an unwritten value
//! comes from.
//!
//! Decoding decides which registers may be read before they are written; only these are tracked. A
//! warp keeps them for its frames, and `machine/inspect.rs` and `machine/written.rs` update and
//! read them for the sanitizer.

use crate::program::FunctionCode;

/// A register that may be read before it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackedRegister {
    /// The lanes in which it holds a written value.
    pub written: u32,
    /// What was not written: this register, one that it was computed from, or the memory that a
    /// load read.
    pub origin: Origin,
}

impl TrackedRegister {
    /// The register takes the value of another frame's register, in some lanes. If that was loaded
    /// and partly unwritten, the load is blamed.
    pub fn take_load(&mut self, value: Option<Self>, mask: u32) {
        if let Some(Self { written, origin: origin @ Origin::Load(_) }) = value
            && mask & !written != 0
        {
            self.origin = origin;
        }
    }
}

/// Where an unwritten value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A register of the frame.
    Register(u32),
    /// Memory that a load read, or a lane that a shuffle read: an index in
    /// [`UnwrittenLoads`](super::UnwrittenLoads).
    Load(u32),
}

/// The tracked registers of a function that begins. Nothing has written them, except those that
/// matter only for what they load or get by a shuffle: they are written before they are read.
pub(super) fn new_registers(code: &FunctionCode) -> impl Iterator<Item = TrackedRegister> {
    (0..).zip(&code.tracked_of_loaded).map(|(register, &of_loaded)| {
        let written = if of_loaded { u32::MAX } else { 0 };
        TrackedRegister { written, origin: Origin::Register(register) }
    })
}
