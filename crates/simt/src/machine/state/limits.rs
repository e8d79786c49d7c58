//! How many blocks can run side by side without a model.

/// Blocks that are side by side without a model, at most.
pub(crate) const MOST_BLOCKS: u64 = 1 << 14;

/// Threads that they have, at most.
pub(crate) const MOST_THREADS: u64 = 1 << 20;

/// Bytes of their shared memory, at most.
pub(crate) const MOST_SHARED: u64 = 1 << 30;

/// Blocks of so many threads and bytes of shared memory that can be side by side without a model.
pub(crate) fn most_blocks(threads: u32, shared_bytes: u32) -> u64 {
    let by_threads = MOST_THREADS / u64::from(threads.max(1));
    let by_shared = MOST_SHARED / u64::from(shared_bytes.max(1));
    MOST_BLOCKS.min(by_threads).min(by_shared)
}
