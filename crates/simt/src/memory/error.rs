//! What can go wrong with device memory between launches.

/// An allocation is smaller than this, so that offsets into it fit 32 bits.
pub(super) const LARGEST_ALLOCATION: u64 = (1 << 32) - 256;

/// What can go wrong with device memory between launches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The simulated device has no room left.
    #[error("out of device memory: {requested} bytes requested, {free} of {limit} bytes free")]
    OutOfMemory {
        /// Bytes requested.
        requested: u64,
        /// Bytes not in use.
        free: u64,
        /// Bytes that the device has.
        limit: u64,
    },
    /// The host has no room left for the device's memory.
    #[error("the host has no room for {requested} bytes of device memory")]
    HostOutOfMemory {
        /// Bytes requested.
        requested: u64,
    },
    /// One allocation larger than the simulator manages.
    #[error("{requested} bytes requested at once: the simulator's allocations are smaller than 4 GiB")]
    TooLarge {
        /// Bytes requested.
        requested: u64,
    },
    /// A heap cannot be made larger or smaller once it is in use.
    #[error("the heap has {bytes} bytes: its size cannot change once a program that uses it is loaded")]
    HeapInUse {
        /// Bytes that it has.
        bytes: u64,
    },
    /// A copy, fill or free that no live allocation holds.
    #[error("{bytes} bytes at {address:#x} are not within one allocation")]
    NotAllocated {
        /// First address.
        address: u64,
        /// How many bytes.
        bytes: u64,
    },
}
