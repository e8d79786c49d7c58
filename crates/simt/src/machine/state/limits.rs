//! How many blocks can run side by side without a model.

/// The most blocks that run side by side without a model.
pub(crate) const MOST_BLOCKS: u64 = 1 << 14;

/// The most threads that these blocks have in total.
pub(crate) const MOST_THREADS: u64 = 1 << 20;

/// The most shared memory that they have in total, in bytes.
pub(crate) const MOST_SHARED: u64 = 1 << 30;

/// How many blocks with `threads` threads and `shared_bytes` bytes of shared memory can run side by
/// side without a model.
pub(crate) fn most_blocks(threads: u32, shared_bytes: u32) -> u64 {
    let by_threads = MOST_THREADS / u64::from(threads.max(1));
    let by_shared = MOST_SHARED / u64::from(shared_bytes.max(1));
    MOST_BLOCKS.min(by_threads).min(by_shared)
}
