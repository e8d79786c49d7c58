//! Where a thread is in the launch, as proof that no other thread is there.
//!
//! *Invariant:* only the functions of this file make these types on the device, from the thread's
//! own special registers.

use core::marker::PhantomData;
use core::ops::Add;

/// Keeps a value within its thread: neither `Send` nor `Sync`.
type OfThisThread = PhantomData<*const ()>;

/// An index that belongs to this thread alone.
///
/// [`get`](Self::get) or `+` gives the number itself, for inputs, which all threads may read:
/// `a.get(i + offset)`.
#[derive(Clone, Copy, Debug)]
pub struct ThreadIndex {
    index: usize,
    thread: OfThisThread,
}

impl ThreadIndex {
    /// The index as a number.
    #[inline(always)]
    pub fn get(self) -> usize {
        self.index
    }
}

impl Add<usize> for ThreadIndex {
    type Output = usize;

    /// The number `offset` further on, which no longer belongs to the thread.
    #[inline(always)]
    fn add(self, offset: usize) -> usize {
        self.index + offset
    }
}

/// The thread's column (x) and row (y) in the grid, which belong to this thread alone.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    row: u32,
    col: u32,
    thread: OfThisThread,
}

impl Position {
    /// The row: the thread's y in the grid.
    #[inline(always)]
    pub fn row(self) -> u32 {
        self.row
    }

    /// The column: the thread's x in the grid.
    #[inline(always)]
    pub fn col(self) -> u32 {
        self.col
    }
}

/// The indices of one thread below a length: its own, and then one in each step of the grid. See
/// [`grid_stride`](crate::thread::grid_stride).
#[derive(Clone, Debug)]
pub struct GridStride {
    next: usize,
    step: usize,
    length: usize,
    thread: OfThisThread,
}

impl Iterator for GridStride {
    type Item = ThreadIndex;

    #[inline(always)]
    fn next(&mut self) -> Option<ThreadIndex> {
        if self.next >= self.length {
            return None;
        }
        let index = self.next;
        // No overflow: the length is below 2^63, and so is the number of threads.
        self.next = index + self.step;
        Some(ThreadIndex { index, thread: PhantomData })
    }

    /// Saturates: an index of 2^64 would wrap into another thread's, and one of 2^64 - 1 is out of
    /// bounds everywhere.
    #[inline(always)]
    fn nth(&mut self, n: usize) -> Option<ThreadIndex> {
        self.next = self.next.saturating_add(self.step.saturating_mul(n));
        self.next()
    }
}

#[cfg(any(target_arch = "nvptx64", doc))]
mod device {
    use super::{GridStride, PhantomData, Position, ThreadIndex};
    use crate::thread::{
        block_dim_x, block_dim_y, block_idx_x, block_idx_y, block_idx_z, block_row, grid_dim_x, thread_idx_x,
        thread_idx_y, thread_idx_z, wide_index_1d,
    };

    impl ThreadIndex {
        #[inline(always)]
        pub(crate) fn here() -> Self {
            let in_line = thread_idx_y() | thread_idx_z() | block_idx_y() | block_idx_z() == 0;
            Self { index: if in_line { wide_index_1d() } else { usize::MAX }, thread: PhantomData }
        }

        /// The index of this thread `rounds` rounds of the grid further on, as in
        /// [`grid_stride`](crate::thread::grid_stride): with `n` threads in x, the thread's indices
        /// are `n` apart.
        #[inline(always)]
        pub fn ahead(self, rounds: usize) -> Self {
            // Saturates: an index of 2^64 would wrap into another thread's, and one of 2^64 - 1 is
            // out of bounds everywhere.
            Self { index: self.index.saturating_add(threads_in_x().saturating_mul(rounds)), ..self }
        }
    }

    /// The threads of the launch in x.
    #[inline(always)]
    fn threads_in_x() -> usize {
        grid_dim_x() as usize * block_dim_x() as usize
    }

    impl Position {
        #[inline(always)]
        pub(crate) fn here() -> Self {
            let row = block_row() * block_dim_y() + thread_idx_y();
            let row = if thread_idx_z() == 0 { row } else { u32::MAX };
            Self { row, col: block_idx_x() * block_dim_x() + thread_idx_x(), thread: PhantomData }
        }
    }

    impl GridStride {
        #[inline(always)]
        pub(crate) fn below(length: usize) -> Self {
            // No slice is longer, and an index of 2^64 would wrap into another thread's.
            let length = length.min(isize::MAX as usize);
            Self { next: ThreadIndex::here().index, step: threads_in_x(), length, thread: PhantomData }
        }
    }
}
