//! How a tile comes to shared memory: the lab's variants. Plain data.

use crate::labs::variants::{VariantSpec, Variants, variant};

/// A tile, which is a record.
pub(super) const TILE_BYTES: usize = 8 << 10;

/// How a tile comes to shared memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// It is loaded when it is needed.
    Load,
    /// It is loaded to registers while the one before is used.
    Registers,
    /// By `cp.async`, in so many stages.
    Async(u32),
    /// By bulk copies, in so many stages.
    Bulk(u32),
}

impl Method {
    /// Its stages, if they are tiles of shared memory.
    pub(super) fn stages(self) -> Option<u32> {
        match self {
            Self::Load | Self::Registers => None,
            Self::Async(stages) | Self::Bulk(stages) => Some(stages),
        }
    }

    /// Tiles in shared memory.
    pub(super) fn tiles(self) -> usize {
        self.stages().unwrap_or(1) as usize
    }

    /// Tiles of a block that are in flight at once.
    pub(super) fn tiles_ahead(self) -> usize {
        self.stages().map_or(1, |stages| stages as usize - 1)
    }

    /// The bytes of a block's static shared memory: tiles, and a barrier for each that is copied in
    /// bulk.
    pub(super) fn shared(self) -> usize {
        let barriers = if matches!(self, Self::Bulk(_)) { 8 * self.tiles().next_multiple_of(2) } else { 0 };
        self.tiles() * TILE_BYTES + barriers
    }

    /// The compute capability from which a GPU has the instructions.
    pub(super) fn since(self) -> (u32, u32) {
        match self {
            Self::Load | Self::Registers => (0, 0),
            Self::Async(_) => (8, 0),
            Self::Bulk(_) => (9, 0),
        }
    }
}

impl Variants for Method {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("load", "Load a tile, use it, load the next", Self::Load),
        variant("registers", "Load the next tile to registers while one is used", Self::Registers),
        variant(
            "async-2",
            "Copy the next tiles by cp.async, in two to four stages (compute capability 8.0)",
            Self::Async(2),
        )
        .flag("async"),
        variant("async-3", "", Self::Async(3)).flag("async"),
        variant("async-4", "", Self::Async(4)).flag("async"),
        variant("bulk-2", "The same by bulk copies of the copy engine (TMA; compute capability 9.0)", Self::Bulk(2))
            .flag("bulk"),
        variant("bulk-3", "", Self::Bulk(3)).flag("bulk"),
        variant("bulk-4", "", Self::Bulk(4)).flag("bulk"),
    ];
}
