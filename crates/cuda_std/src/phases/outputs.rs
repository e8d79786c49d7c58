//! Outputs in global memory that a phase writes elsewhere than at the thread's position.
//!
//! *Invariant:* which thread an element belongs to follows from the output's type and the block's
//! shape, so it is the same in all blocks and all phases of a launch.

use core::marker::PhantomData;

use super::device;
use super::thread::Thread;
use crate::disjoint::Layout;

/// The output of a transpose: each block reaches the tile that is its own with rows and columns
/// exchanged.
///
/// Tiles have `SIDE` x `SIDE` elements. The block whose tile of the input begins at row `SIDE r`
/// and column `SIDE c`, for its row `r` and column `c` in the grid, has the tile of the output that
/// begins at row `SIDE c` and column `SIDE r`. Thread (x, y) has of its column `x` the rows `y`,
/// `y + Y`, ...
///
/// As a kernel's parameter it is a `DisjointMatrix<T>`: a pointer, rows, columns and pitch. It
/// promises that an element belongs to one thread for the whole launch: no two blocks have the same
/// row and column in the grid.
#[derive(Debug)]
pub struct TransposedMatrix<'a, T, const SIDE: u32> {
    start: *mut T,
    layout: Layout,
    elements: PhantomData<&'a mut [T]>,
}

impl<T, const SIDE: u32> TransposedMatrix<'_, T, SIDE> {
    /// The matrix of `rows` x `cols` elements whose first is at `start`. `#[kernel]` calls this.
    ///
    /// # Safety
    ///
    /// As for [`DisjointMatrix::from_raw_parts`](crate::DisjointMatrix::from_raw_parts).
    #[inline(always)]
    pub unsafe fn from_raw_parts(start: *mut T, rows: u32, cols: u32, pitch: u32) -> Self {
        Self { start, layout: Layout::new(rows, cols, pitch), elements: PhantomData }
    }

    /// Visits each element that belongs to the thread, with its row in the tile.
    #[inline(always)]
    pub fn each<const Y: u32>(&mut self, thread: Thread<'_, SIDE, Y>, mut visit: impl FnMut(u32, &mut T)) {
        const { assert!(SIDE.is_multiple_of(Y), "the rows of a tile are a multiple of the block's") }
        let [block_row, block_col] = device::block_place();
        // Beyond, rows or columns would wrap into another block's. No matrix has them.
        if block_row >= u32::MAX / SIDE || block_col >= u32::MAX / SIDE {
            return;
        }
        for step in 0..SIDE / Y {
            let line = thread.y() + step * Y;
            if let Some(offset) = self.layout.offset(SIDE * block_col + line, SIDE * block_row + thread.x()) {
                // SAFETY: the matrix has the element. Only this block has this tile, and in it only
                // this thread this row of this column.
                visit(line, unsafe { &mut *self.start.add(offset) });
            }
        }
    }
}

/// An output with one element for each block of a linear grid, which belongs to the block's thread
/// 0.
///
/// As a kernel's parameter it is a `DisjointSlice<T>`: a pointer and a length.
#[derive(Debug)]
pub struct BlockSlice<'a, T> {
    start: *mut T,
    length: usize,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> BlockSlice<'_, T> {
    /// The `length` elements from `start` on. `#[kernel]` calls this.
    ///
    /// # Safety
    ///
    /// As for [`DisjointSlice::from_raw_parts`](crate::DisjointSlice::from_raw_parts).
    #[inline(always)]
    pub unsafe fn from_raw_parts(start: *mut T, length: usize) -> Self {
        Self { start, length, elements: PhantomData }
    }

    /// The block's element in its thread 0; `None` in the other threads, beyond the end, and in
    /// blocks whose y or z is not 0.
    #[inline(always)]
    pub fn get_mut<const X: u32, const Y: u32>(&mut self, thread: Thread<'_, X, Y>) -> Option<&mut T> {
        let index = device::linear_block()? as usize;
        if thread.number() == 0 && index < self.length {
            // SAFETY: the slice has the element, and no other block of a linear grid has this
            // number.
            Some(unsafe { &mut *self.start.add(index) })
        } else {
            None
        }
    }
}
