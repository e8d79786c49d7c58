//! A stamp: one access of one thread, packed into 64 bits. The shadow stores stamps, and the race
//! detector compares them.

use crate::program::SyncScope;

/// Who accessed a cell, where in the program, and when; 0 is no access. Stamps compare by time, as
/// counted by [`Clocks`](super::clocks::Clocks).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp(pub u64);

/// The most threads that the race detector distinguishes: the largest cluster's.
pub(crate) const MOST_RACING: u64 = 1 << 14;
/// The bits of the thread's number in its cluster, the lowest.
pub(super) const THREAD: u64 = MOST_RACING - 1;
/// The bits of its warp's number.
pub(super) const WARP: u64 = THREAD & !31;
/// Set for strong operations: atomic, volatile, relaxed, acquire, release.
pub(super) const STRONG: u64 = 1 << 31;
/// Set for strong operations with the scope of a block.
pub(super) const IN_BLOCK: u64 = 1 << 30;
/// Set for strong operations with the scope of a cluster.
pub(super) const IN_CLUSTER: u64 = 1 << 29;
/// Both scopes set: volatile, which orders nothing within a warp.
pub(super) const VOLATILE: u64 = IN_BLOCK | IN_CLUSTER;
const PLACE_BITS: u32 = 15;
/// Instructions beyond this number are recorded as the last.
const LAST_PLACE: u32 = (1 << PLACE_BITS) - 1;

impl Stamp {
    pub fn new(time: u32, flags: u64, place: u32, thread: u32) -> Self {
        let place = u64::from(place.min(LAST_PLACE)) << THREAD.count_ones();
        Self(u64::from(time) << 32 | flags | place | u64::from(thread) & THREAD)
    }

    pub fn time(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub fn is_strong(self) -> bool {
        self.0 & STRONG != 0
    }

    pub fn is_volatile(self) -> bool {
        self.0 & VOLATILE == VOLATILE
    }

    /// The scope of a strong operation.
    pub fn scope(self) -> SyncScope {
        match self.0 & VOLATILE {
            IN_BLOCK => SyncScope::Block,
            IN_CLUSTER => SyncScope::Cluster,
            _ => SyncScope::All,
        }
    }

    pub fn place(self) -> u32 {
        (self.0 >> THREAD.count_ones()) as u32 & LAST_PLACE
    }

    pub fn thread(self) -> u32 {
        (self.0 & THREAD) as u32
    }
}
