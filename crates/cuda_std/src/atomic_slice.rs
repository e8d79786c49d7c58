//! A vector that all threads update, by atomic operations alone.

use core::marker::PhantomData;

#[cfg(any(target_arch = "nvptx64", doc))]
use crate::atomic::{self, AtomicInteger, AtomicNumber};

/// The output of a safe kernel whose elements belong to nobody: any thread may update any of them,
/// in one step that no other thread can interrupt.
///
/// As a kernel's parameter it is a `DisjointSlice<T>`: a pointer and a length. The host passes
/// `&mut buffer` for it. The operations are atomic for all threads of the device, and order no other
/// accesses. Where nobody uses the result, the machine code is a reduction (`RED`), which does not
/// wait for memory.
///
/// *Invariant:* during a launch its elements are reached through atomic operations only. So no two
/// threads race, and no reference to an element exists.
#[derive(Debug)]
pub struct AtomicSlice<'a, T> {
    start: *mut T,
    length: usize,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> AtomicSlice<'_, T> {
    /// The `length` elements from `start` on. `#[kernel]` calls this.
    ///
    /// # Safety
    ///
    /// The elements exist, are aligned and initialised, and during the launch only slices made with
    /// the same two values reach them.
    #[inline(always)]
    pub unsafe fn from_raw_parts(start: *mut T, length: usize) -> Self {
        Self { start, length, elements: PhantomData }
    }

    /// The number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The first element, for the functions of [`atomic`](crate::atomic) that are not here.
    #[inline(always)]
    pub fn as_mut_ptr(&self) -> *mut T {
        self.start
    }
}

#[cfg(any(target_arch = "nvptx64", doc))]
impl<T: AtomicNumber> AtomicSlice<'_, T> {
    /// Adds to an element and returns its old value; `None` beyond the end, where nothing happens.
    #[inline(always)]
    pub fn add(&self, index: usize, value: T) -> Option<T> {
        // SAFETY: the element exists and is aligned.
        self.address(index).map(|address| unsafe { atomic::add(address, value) })
    }

    /// Replaces an element and returns its old value; `None` beyond the end.
    #[inline(always)]
    pub fn exchange(&self, index: usize, value: T) -> Option<T> {
        // SAFETY: the element exists and is aligned.
        self.address(index).map(|address| unsafe { atomic::exch(address, value) })
    }

    #[inline(always)]
    fn address(&self, index: usize) -> Option<*mut T> {
        // SAFETY: the slice has the element.
        (index < self.length).then(|| unsafe { self.start.add(index) })
    }
}

#[cfg(any(target_arch = "nvptx64", doc))]
impl<T: AtomicInteger> AtomicSlice<'_, T> {
    /// Lowers an element to `value` if it is larger, and returns its old value; `None` beyond the
    /// end.
    #[inline(always)]
    pub fn min(&self, index: usize, value: T) -> Option<T> {
        // SAFETY: the element exists and is aligned.
        self.address(index).map(|address| unsafe { atomic::min(address, value) })
    }

    /// Raises an element to `value` if it is smaller, and returns its old value; `None` beyond the
    /// end.
    #[inline(always)]
    pub fn max(&self, index: usize, value: T) -> Option<T> {
        // SAFETY: the element exists and is aligned.
        self.address(index).map(|address| unsafe { atomic::max(address, value) })
    }
}
