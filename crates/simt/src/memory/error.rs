//! Errors of device memory between launches: what the host's calls on [`Memory`](crate::Memory)
//! return.

/// An allocation is smaller than this, so that offsets into it fit 32 bits.
pub(super) const LARGEST_ALLOCATION: u64 = (1 << 32) - 256;

/// Errors of device memory between launches.
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
    #[error("the host cannot allocate {requested} bytes for device memory")]
    HostOutOfMemory {
        /// Bytes requested.
        requested: u64,
    },
    /// The allocation is larger than the simulator supports.
    #[error("{requested} bytes requested at once: the simulator's allocations are smaller than 4 GiB")]
    TooLarge {
        /// Bytes requested.
        requested: u64,
    },
    /// The heap is in use, so its size cannot change.
    #[error("the heap has {bytes} bytes: its size cannot change once a program that uses it is loaded")]
    HeapInUse {
        /// Its size.
        bytes: u64,
    },
    /// A copy, fill or free outside any live allocation.
    #[error("{bytes} bytes at {address:#x} are not within one allocation")]
    NotAllocated {
        /// First address.
        address: u64,
        /// How many bytes.
        bytes: u64,
    },
}
