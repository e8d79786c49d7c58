//! Which accesses of a launch in a drawn order are recorded ([`Followed`]), and what each did
//! ([`Touch`]): for the timeline of a result that depends on the order.

use crate::site::Site;

/// Whose accesses are kept: [`Launch::follows`](crate::Launch::follows).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// Those to any of these bytes.
    Bytes {
        /// The block whose shared memory has them, by its number in the grid; `None`: global
        /// memory.
        block: Option<u64>,
        /// The first.
        address: u64,
        /// How many.
        bytes: u32,
    },
    /// Those of one thread.
    Thread {
        /// Its block's number in the grid.
        block: u64,
        /// Its number in the block.
        thread: u32,
    },
}

/// An access of a thread to global or shared memory. While the launch runs, its site is in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Touch<S = Site> {
    /// How many accesses that other threads may see warps had made before.
    pub time: u64,
    /// Where it is, and who made it.
    pub site: S,
    /// The number of the thread's block in the grid, and the thread's in the block.
    pub thread: (u64, u32),
    /// The block whose shared memory it is, by its number in the grid; `None`: global memory.
    pub shared_of: Option<u64>,
    /// The first byte.
    pub address: u64,
    /// How many bytes.
    pub width: u32,
    /// What they held before.
    pub before: u128,
    /// What they hold after the warp's access.
    pub after: u128,
    /// How many lanes of the warp accessed these bytes.
    pub lanes: u32,
    /// Of a store: it was made earlier, and is seen by other warps from now on. Of a read: it found
    /// an older value, and `after` is the newest.
    pub late: bool,
}

impl<S> Touch<S> {
    /// The same access, with its site in other terms.
    pub(crate) fn map_site<T>(self, to: impl FnOnce(S) -> T) -> Touch<T> {
        let Self { time, site, thread, shared_of, address, width, before, after, lanes, late } = self;
        Touch { time, site: to(site), thread, shared_of, address, width, before, after, lanes, late }
    }
}
