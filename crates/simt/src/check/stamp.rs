//! One access of one thread, in 64 bits.

/// Who accessed a cell, where in the program, and when; 0 is none. The higher it is, the later the access was, in time as
/// [`Clocks`](super::clocks::Clocks) have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp(pub u64);

/// Set for operations that are made to be concurrent: atomic, volatile, relaxed, acquire, release.
pub(super) const STRONG: u64 = 1 << 31;
/// Set for strong operations that order nothing within a warp: volatile.
pub(super) const VOLATILE: u64 = 1 << 30;
/// Set for strong operations that are so for the threads of their block alone.
pub(super) const IN_BLOCK: u64 = 1 << 29;
const PLACE_BITS: u32 = 19;
/// Instructions beyond this many are taken for the last.
const LAST_PLACE: u32 = (1 << PLACE_BITS) - 1;

impl Stamp {
    pub fn new(time: u32, flags: u64, place: u32, thread: u32) -> Self {
        Self(u64::from(time) << 32 | flags | u64::from(place.min(LAST_PLACE)) << 10 | u64::from(thread & 1023))
    }

    pub fn time(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub fn is_strong(self) -> bool {
        self.0 & STRONG != 0
    }

    pub fn is_volatile(self) -> bool {
        self.0 & VOLATILE != 0
    }

    pub fn is_in_block(self) -> bool {
        self.0 & IN_BLOCK != 0
    }

    pub fn place(self) -> u32 {
        (self.0 >> 10) as u32 & LAST_PLACE
    }

    pub fn thread(self) -> u32 {
        self.0 as u32 & 1023
    }
}
