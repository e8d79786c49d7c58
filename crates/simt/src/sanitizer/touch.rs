//! An access, as the machine reports it to the sanitizer, and the memory that it reaches.

use ptx::Space;

use crate::address::{AllocationSpan, Lanes, Located};
use crate::memory::Written;
use crate::program::MemoryOperation;

/// An access, as the machine is about to make it.
///
/// Pass it by reference only: copying a struct that was just assembled defeats store forwarding.
pub(crate) struct Touch<'a> {
    pub operation: &'a MemoryOperation,
    pub space: Space,
    /// The warp in its block.
    pub warp: u32,
    /// What a lane is about to store.
    pub new: &'a dyn Fn(usize) -> u128,
    /// What is in memory at an address.
    pub old: &'a dyn Fn(u64) -> u128,
}

/// What an access reaches.
pub(super) struct Target {
    /// The number of the allocation; `None`: the block's shared memory.
    pub allocation: Option<usize>,
    pub span: AllocationSpan,
    /// Subtract this from addresses to get offsets.
    pub base: u64,
}

impl Target {
    #[inline(always)]
    pub fn of(Located { index, span, base }: Located) -> Self {
        Self { allocation: Some(index), span, base }
    }

    /// Whether it is shared memory that the system reserves. Only NVIDIA's code may access it, so
    /// nobody could mend a race there.
    #[inline(always)]
    pub fn is_reserved(&self) -> bool {
        self.allocation.is_none() && self.span.address != self.base
    }

    /// The offset of an address.
    #[inline(always)]
    pub fn offset(&self, address: u64) -> u64 {
        address.wrapping_sub(self.base)
    }

    /// The address that a lane accesses.
    pub fn address(&self, lanes: &Lanes, lane: usize) -> u64 {
        self.base.wrapping_add(lanes.offset(lane))
    }
}

/// Whether a read of partly written bytes only moves them: structs are copied with their padding.
pub(super) fn is_tolerable(touch: &Touch, written: &Written, offset: u64) -> bool {
    let (element, width) = (u64::from(touch.operation.element), u64::from(touch.operation.width));
    written.has_any(offset, width)
        && (0..width / element)
            .all(|index| touch.operation.copied.has(index as u32) || written.has(offset + index * element, element))
}

/// An access that may be reported: the block, what it does, and what the lanes reach.
pub(super) struct Accessed<'a> {
    pub block: u64,
    pub touch: &'a Touch<'a>,
    pub lanes: &'a Lanes<'a>,
    pub target: &'a Target,
}

/// An access of a warp to one allocation, or to shared memory.
pub(super) struct Reached<'a> {
    /// `None`: shared memory.
    pub allocation: Option<usize>,
    pub operation: &'a MemoryOperation,
    pub lanes: &'a Lanes<'a>,
    /// What the lanes' offsets are relative to: in shared memory, the start of the block's part in
    /// the cluster's.
    pub base: u64,
    pub warp: u32,
    /// The warp's interval at the time of the access.
    pub time: u32,
}

impl Reached<'_> {
    /// The first cell that a lane accesses.
    #[inline(always)]
    pub fn cell(&self, lane: usize, cell_shift: u32) -> usize {
        self.lanes.offset(lane).wrapping_add(self.base) as usize >> (cell_shift & 63)
    }
}
