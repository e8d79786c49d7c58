//! An access, as the machine reports it to the sanitizer, and the memory that it reaches.

use ptx::Space;

use crate::address::{AllocationSpan, Lanes, Located};
use crate::lanes::Row;
use crate::memory::Written;
use crate::program::{Copied, Order};
use crate::site::AccessAction;

/// What an instruction is about to do to memory.
///
/// Pass it by reference only: copying a struct that was just assembled defeats store forwarding.
#[derive(Clone, Copy)]
pub(crate) struct Intent<'a> {
    pub action: AccessAction,
    /// Bytes a lane accesses: 1, 2, 4, 8 or 16.
    pub width: u32,
    /// Bytes of an element. A vector access has several.
    pub element: u32,
    pub order: &'a Order,
    /// Which parts of the value that is read are only copied.
    pub copied: Copied,
    /// Whether the old value is read but does not matter.
    pub overwrites: bool,
    pub path: Path,
    /// Index of the instruction in `Code::places`.
    pub place: u32,
    pub stored: Stored<'a>,
}

/// The path of an access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// The generic proxy: loads, stores and atomic operations.
    Generic,
    /// A texture or surface, which may not see what this launch has written.
    Texture,
    /// An operation on an mbarrier. One on another block's mbarrier releases to that block.
    Mbarrier,
    /// The tensor map proxy, through which a copy reads the map that describes it.
    TensorMap,
    /// The async proxy: bulk copies and `wgmma`.
    Async,
}

/// What is about to be stored.
#[derive(Clone, Copy)]
pub(crate) enum Stored<'a> {
    /// Nothing, or a value that depends on the old one.
    Unknown,
    /// The values of these rows of registers.
    Registers(&'a [u32]),
    Words(&'a [Row; 4]),
}

/// An access, as the machine is about to make it.
pub(crate) struct Touch<'a> {
    pub intent: &'a Intent<'a>,
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
    let (element, width) = (u64::from(touch.intent.element), u64::from(touch.intent.width));
    written.has_any(offset, width)
        && (0..width / element)
            .all(|index| touch.intent.copied.has(index as u32) || written.has(offset + index * element, element))
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
    pub intent: &'a Intent<'a>,
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
