//! Matrices in global memory: an input that all threads read, and an output of which each thread
//! reaches its own elements.
//!
//! Element (row, column) is at `row * pitch + column`, with the pitch in elements. A pitch equal to
//! the number of columns is a linear matrix, a larger one a pitched matrix. As a kernel's parameter
//! a matrix is a pointer, and rows, columns and pitch as `u32`.

use core::hint::assert_unchecked;
use core::marker::PhantomData;

use super::Position;
use crate::vector::f32x4;

/// The shape of a matrix in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    rows: u32,
    cols: u32,
    pitch: u32,
}

impl Layout {
    /// `rows` x `cols` elements, with rows `pitch` elements apart.
    #[inline(always)]
    pub(crate) fn new(rows: u32, cols: u32, pitch: u32) -> Self {
        Self { rows, cols, pitch }
    }

    /// Where an element is, if the matrix has it.
    #[inline(always)]
    pub(crate) fn offset(self, row: u32, col: u32) -> Option<usize> {
        (row < self.rows && col < self.cols).then(|| self.start_of(row) + col as usize)
    }

    /// Where a row starts: 64 bits, since from 32768 x 32768 floats on 32 do not hold the offset in
    /// bytes.
    #[inline(always)]
    fn start_of(self, row: u32) -> usize {
        row as usize * self.pitch as usize
    }

    /// Whether a row has four elements of 4 bytes from `col` on that are one aligned word of 16
    /// bytes.
    #[inline(always)]
    fn has_quad(self, start: *const f32, col: u32) -> bool {
        start.addr().is_multiple_of(16)
            && self.pitch.is_multiple_of(4)
            && col.is_multiple_of(4)
            && self.cols.saturating_sub(col) >= 4
    }
}

/// An input: a matrix that all threads may read. The host passes `&matrix` for it.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    start: *const T,
    layout: Layout,
    elements: PhantomData<&'a [T]>,
}

impl<'a, T> Matrix<'a, T> {
    /// The matrix of `rows` x `cols` elements whose first is at `start`. `#[kernel]` calls this.
    ///
    /// # Safety
    ///
    /// Each row has `cols` elements that exist, are aligned and initialised, `pitch >= cols`
    /// elements after the row before, and nothing writes them during the launch.
    #[inline(always)]
    pub unsafe fn from_raw_parts(start: *const T, rows: u32, cols: u32, pitch: u32) -> Self {
        Self { start, layout: Layout::new(rows, cols, pitch), elements: PhantomData }
    }

    /// The number of rows.
    #[inline(always)]
    pub fn rows(&self) -> u32 {
        self.layout.rows
    }

    /// The number of columns.
    #[inline(always)]
    pub fn cols(&self) -> u32 {
        self.layout.cols
    }

    /// From one row to the next, in elements.
    #[inline(always)]
    pub fn pitch(&self) -> u32 {
        self.layout.pitch
    }

    /// An element, or `None` outside of the matrix.
    #[inline(always)]
    pub fn get(&self, row: u32, col: u32) -> Option<&'a T> {
        let offset = self.layout.offset(row, col)?;
        // What is not null is not `None`: a caller's match is the bounds check and no other.
        // SAFETY: the matrix has the element, so it is not at address 0, and nothing writes it.
        unsafe {
            let element = self.start.add(offset);
            assert_unchecked(!element.is_null());
            Some(&*element)
        }
    }

    /// The elements of a row, or `None` below the last one. An iterator over them needs no bounds
    /// checks; an index needs one each.
    #[inline(always)]
    pub fn row(&self, row: u32) -> Option<&'a [T]> {
        // SAFETY: the row has as many elements, and nothing writes them.
        (row < self.layout.rows).then(|| unsafe {
            core::slice::from_raw_parts(self.start.add(self.layout.start_of(row)), self.layout.cols as usize)
        })
    }

    /// The elements of a column, from the first row to the last, or nothing beyond the last column.
    #[inline(always)]
    pub fn column(&self, col: u32) -> impl Iterator<Item = &'a T> + use<'a, T> {
        let Layout { rows, cols, pitch } = self.layout;
        let rows = if col < cols { rows } else { 0 };
        let start = self.start.wrapping_add(col as usize);
        // SAFETY: each row has this column, and nothing writes it.
        (0..rows).map(move |row| unsafe { &*start.add(row as usize * pitch as usize) })
    }
}

impl Matrix<'_, f32> {
    /// Four neighbours of a row, from `col` on, and 0 for those outside of the matrix. One load of
    /// 16 bytes where all four are there and aligned, else a load for each.
    #[inline(always)]
    pub fn quad(&self, row: u32, col: u32) -> f32x4 {
        let Some(offset) = self.layout.offset(row, col) else { return f32x4::splat(0.0) };
        if self.layout.has_quad(self.start, col) {
            // SAFETY: the row has all four, aligned to 16 bytes, and nothing writes them.
            return unsafe { *self.start.add(offset).cast() };
        }
        f32x4::from_array([0, 1, 2, 3].map(|i| self.get(row, col.saturating_add(i)).copied().unwrap_or(0.0)))
    }

    /// `N` times four neighbours of a row, from `col` on, and 0 for those outside of the matrix: a
    /// load of 16 bytes for each four. `None` unless all rows consist of such words.
    #[inline(always)]
    pub fn quads<const N: usize>(&self, row: u32, col: u32) -> Option<[f32x4; N]> {
        let Layout { rows, cols, pitch } = self.layout;
        let of_words = self.start.addr().is_multiple_of(16) && (cols | pitch | col).is_multiple_of(4);
        of_words.then(|| {
            core::array::from_fn(|i| {
                let col = col.wrapping_add(4 * i as u32);
                // `&`, not `&&`: one condition and no branch, so that the loads follow each other.
                match (row < rows) & (col < cols) {
                    // SAFETY: the row has all four, aligned to 16 bytes, and nothing writes them.
                    true => unsafe { *self.start.add(self.layout.start_of(row) + col as usize).cast() },
                    false => f32x4::splat(0.0),
                }
            })
        })
    }
}

/// An output: a matrix of which each thread reaches the element at its own [`Position`]. The host
/// passes `&mut matrix` for it.
#[derive(Debug)]
pub struct DisjointMatrix<'a, T> {
    start: *mut T,
    layout: Layout,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> DisjointMatrix<'_, T> {
    /// The matrix of `rows` x `cols` elements whose first is at `start`. `#[kernel]` calls this.
    ///
    /// # Safety
    ///
    /// Each row has `cols` elements that exist, are aligned and initialised, `pitch >= cols`
    /// elements after the row before, and during the launch only matrices made with the same values
    /// reach them.
    #[inline(always)]
    pub unsafe fn from_raw_parts(start: *mut T, rows: u32, cols: u32, pitch: u32) -> Self {
        Self { start, layout: Layout::new(rows, cols, pitch), elements: PhantomData }
    }

    /// The number of rows.
    #[inline(always)]
    pub fn rows(&self) -> u32 {
        self.layout.rows
    }

    /// The number of columns.
    #[inline(always)]
    pub fn cols(&self) -> u32 {
        self.layout.cols
    }

    /// From one row to the next, in elements.
    #[inline(always)]
    pub fn pitch(&self) -> u32 {
        self.layout.pitch
    }

    /// The element at this thread's position, or `None` outside of the matrix.
    #[inline(always)]
    pub fn get_mut(&mut self, position: Position) -> Option<&mut T> {
        let offset = self.layout.offset(position.row(), position.col())?;
        // SAFETY: the matrix has the element, so it is not at address 0. The position belongs to
        // this thread alone (see the module), so no other thread has a reference to the element.
        unsafe {
            let element = self.start.add(offset);
            assert_unchecked(!element.is_null());
            Some(&mut *element)
        }
    }

    /// Any element, or `None` outside of the matrix.
    ///
    /// # Safety
    ///
    /// While the reference lives, no other thread reaches this element: not in this launch, or not
    /// until a barrier.
    #[inline(always)]
    pub unsafe fn element_mut(&mut self, row: u32, col: u32) -> Option<&mut T> {
        let offset = self.layout.offset(row, col)?;
        // SAFETY: the matrix has the element, so it is not at address 0, and the caller sees to it
        // that it is this thread's.
        unsafe {
            let element = self.start.add(offset);
            assert_unchecked(!element.is_null());
            Some(&mut *element)
        }
    }
}

impl DisjointMatrix<'_, f32> {
    /// Writes four neighbours of a row, from `col` on, as far as the matrix has them: with one
    /// store of 16 bytes where all four are there and aligned, else with a store for each.
    ///
    /// # Safety
    ///
    /// No other thread reaches these elements: not in this launch, or not until a barrier.
    #[inline(always)]
    pub unsafe fn set_quad(&mut self, row: u32, col: u32, values: f32x4) {
        let Some(offset) = self.layout.offset(row, col) else { return };
        if self.layout.has_quad(self.start, col) {
            // SAFETY: the row has all four, aligned to 16 bytes, and they are this thread's.
            unsafe { *self.start.add(offset).cast() = values };
            return;
        }
        // As a loop, it would keep the values in local memory.
        let values = values.to_array();
        crate::unroll::<4>(|i| {
            // SAFETY: the element is this thread's.
            if let Some(element) = unsafe { self.element_mut(row, col.saturating_add(i as u32)) } {
                *element = values[i];
            }
        });
    }
}
