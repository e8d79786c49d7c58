//! What `#[kernel]` writes around a kernel's body: a parameter of the source from those of the
//! entry point, and the checks of its elements.
//!
//! `start` is a reference to an empty array, with a lifetime that only this launch has. The body
//! gets the parameter for that lifetime, so no reference to an element can be kept for a later
//! launch, when the buffer may be gone.

/// Compiles only for elements that threads may share: an input's.
pub const fn assert_shared<T: Sync>() {}

/// Compiles only for elements that the host may hand to a thread: an output's.
pub const fn assert_owned<T: Send>() {}

#[cfg(target_arch = "nvptx64")]
pub use device::*;

#[cfg(target_arch = "nvptx64")]
mod device {
    use core::ptr::{from_mut, from_ref};

    use crate::phases::{BlockSlice, TransposedMatrix};
    use crate::{AtomicSlice, DisjointMatrix, DisjointSlice, Matrix};

    /// `&[T]`
    ///
    /// # Safety
    ///
    /// `length` elements are at `start`, initialised, and nothing writes them during the launch.
    #[inline(always)]
    pub unsafe fn slice<T: Sync>(start: &[T; 0], length: usize) -> &[T] {
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts(from_ref(start).cast(), length) }
    }

    /// `Matrix<T>`
    ///
    /// # Safety
    ///
    /// As for [`Matrix::from_raw_parts`].
    #[inline(always)]
    pub unsafe fn matrix<T: Sync>(start: &[T; 0], rows: u32, cols: u32, pitch: u32) -> Matrix<'_, T> {
        // SAFETY: the caller's promise.
        unsafe { Matrix::from_raw_parts(from_ref(start).cast(), rows, cols, pitch) }
    }

    /// `DisjointSlice<T>`
    ///
    /// # Safety
    ///
    /// As for [`DisjointSlice::from_raw_parts`].
    #[inline(always)]
    pub unsafe fn disjoint_slice<T: Send>(start: &mut [T; 0], length: usize) -> DisjointSlice<'_, T> {
        // SAFETY: the caller's promise.
        unsafe { DisjointSlice::from_raw_parts(from_mut(start).cast(), length) }
    }

    /// `BlockSlice<T>`
    ///
    /// # Safety
    ///
    /// As for [`BlockSlice::from_raw_parts`].
    #[inline(always)]
    pub unsafe fn block_slice<T: Send>(start: &mut [T; 0], length: usize) -> BlockSlice<'_, T> {
        // SAFETY: the caller's promise.
        unsafe { BlockSlice::from_raw_parts(from_mut(start).cast(), length) }
    }

    /// `AtomicSlice<T>`
    ///
    /// # Safety
    ///
    /// As for [`AtomicSlice::from_raw_parts`].
    #[inline(always)]
    pub unsafe fn atomic_slice<T: Send>(start: &mut [T; 0], length: usize) -> AtomicSlice<'_, T> {
        // SAFETY: the caller's promise.
        unsafe { AtomicSlice::from_raw_parts(from_mut(start).cast(), length) }
    }

    /// `DisjointMatrix<T>`
    ///
    /// # Safety
    ///
    /// As for [`DisjointMatrix::from_raw_parts`].
    #[inline(always)]
    pub unsafe fn disjoint_matrix<T: Send>(
        start: &mut [T; 0],
        rows: u32,
        cols: u32,
        pitch: u32,
    ) -> DisjointMatrix<'_, T> {
        // SAFETY: the caller's promise.
        unsafe { DisjointMatrix::from_raw_parts(from_mut(start).cast(), rows, cols, pitch) }
    }

    /// `TransposedMatrix<T, SIDE>`
    ///
    /// # Safety
    ///
    /// As for [`TransposedMatrix::from_raw_parts`].
    #[inline(always)]
    pub unsafe fn transposed_matrix<T: Send, const SIDE: u32>(
        start: &mut [T; 0],
        rows: u32,
        cols: u32,
        pitch: u32,
    ) -> TransposedMatrix<'_, T, SIDE> {
        // SAFETY: the caller's promise.
        unsafe { TransposedMatrix::from_raw_parts(from_mut(start).cast(), rows, cols, pitch) }
    }
}
