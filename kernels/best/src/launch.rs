//! What the choice of a kernel depends on, and what it results in.

/// The size of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Threads that it holds at once.
    pub resident_threads: u64,
    /// Dynamic shared memory that a block can have, in bytes.
    pub shared_per_block: u64,
}

impl Gpu {
    /// An H200, on which the kernels were tuned.
    pub const H200: Self =
        Self { multiprocessors: 132, resident_threads: 132 * 2048, shared_per_block: 227 * 1024 };

    /// The threads that one multiprocessor holds.
    pub const fn threads_per_multiprocessor(&self) -> u32 {
        (self.resident_threads / self.multiprocessors as u64) as u32
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub dynamic_shared: u32,
}

impl Launch {
    /// A launch without dynamic shared memory.
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, dynamic_shared: 0 }
    }

    /// At least `threads` threads, in blocks of `block`. Where these are too many blocks for a
    /// grid, the launch will fail.
    pub fn linear(threads: usize, block: u32) -> Self {
        let blocks = threads.div_ceil(block as usize);
        Self::new([u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1], [block, 1, 1])
    }
}
