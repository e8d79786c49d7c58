//! Splits, the joins where they reconverge, and what a split may wait for. Instructions and the
//! schedule read splits; joins are private to the warp.

/// How many instructions lanes wait to reconverge with others that may never arrive.
pub(super) const JOIN_PATIENCE: u64 = 1 << 14;
/// [`JOIN_PATIENCE`] for a warp whose lanes have run out of patience before.
pub(super) const LATER_JOIN_PATIENCE: u64 = 1 << 10;
/// How many instructions a warp executes before the first search for a loop that never ends.
pub(super) const LOOP_PATIENCE: u64 = 1 << 16;

/// The index of no join: the split is the only one of its frame.
pub(super) const ALONE: u32 = u32::MAX;

/// Lanes that execute together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split {
    pub pc: u32,
    pub mask: u32,
    /// Where it ends and wakes `join`.
    pub join_at: u32,
    pub(super) join: u32,
    pub frame: u32,
}

/// A point of reconvergence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Join {
    /// The split that will continue, with the lanes that have arrived so far.
    pub next: Split,
    /// Splits that have not ended.
    pub pending: u32,
    /// The value of `executed` when lanes last arrived.
    pub since: u64,
}

/// What a split waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    /// A barrier, by its number.
    Barrier(u32),
    /// Other lanes of the warp.
    Lanes { members: u32 },
    /// What `machine/asynchronous` will resume it for.
    Asynchronous,
    /// Nothing: it is in a loop that never ends.
    Forever,
}
