//! The address map: the window of each state space in generic addresses, and that of each block in
//! the shared memory of its cluster.

use ptx::Space;

/// Where allocations start.
pub const GLOBAL_BASE: u64 = 0x7000_0000_0000;

/// Generic address of the first byte of a block's shared memory; in a cluster, of its first block.
pub const SHARED_WINDOW: u64 = 0x0100_0000_0000;

/// Generic address of the first byte of a thread's local memory.
pub const LOCAL_WINDOW: u64 = 0x0200_0000_0000;

/// The most local memory of a thread, as on the hardware.
pub(crate) const LOCAL_LIMIT: u64 = 512 << 10;

/// Size of each window in bytes: room for the shared memory of more blocks than a cluster has.
pub const WINDOW_BYTES: u64 = 1 << 29;

/// The distance between the shared memories of neighbouring blocks of a cluster.
pub(crate) const BLOCK_WINDOW_BYTES: u64 = 1 << 24;

/// The rank of the block that an address of shared memory belongs to.
#[inline(always)]
pub(crate) fn rank_of(address: u64) -> u64 {
    address / BLOCK_WINDOW_BYTES
}

/// Generic address of the first byte of a kernel's parameters.
pub(crate) const PARAMETER_WINDOW: u64 = 0x0300_0000_0000;

/// The state space that a generic address is in.
#[inline(always)]
pub(crate) fn space_of(address: u64) -> Space {
    let within = |window: u64| address.wrapping_sub(window) < WINDOW_BYTES;
    if within(SHARED_WINDOW) {
        Space::Shared
    } else if within(LOCAL_WINDOW) {
        Space::Local
    } else if within(PARAMETER_WINDOW) {
        Space::Parameter
    } else {
        Space::Global
    }
}
