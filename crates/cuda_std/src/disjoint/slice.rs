//! A vector of which each thread reaches only its own elements.

use core::marker::PhantomData;

use super::ThreadIndex;

/// The output of a safe kernel: elements in global memory, each of which one thread may reach.
///
/// As a kernel's parameter it is a pointer and a length in elements, as `&[T]` is. The host passes
/// `&mut buffer` for it. `T` may be a vector of [`vector`](crate::vector): then each thread reads
/// and writes words of 8 or 16 bytes.
#[derive(Debug)]
pub struct DisjointSlice<'a, T> {
    start: *mut T,
    length: usize,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> DisjointSlice<'_, T> {
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
        // SAFETY: no allocation is larger than 2^63 bytes.
        unsafe { core::hint::assert_unchecked(size_of::<T>() == 0 || self.length <= isize::MAX as usize) };
        self.length
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The element at an index of this thread, or `None` beyond the end.
    #[inline(always)]
    pub fn get_mut(&mut self, index: ThreadIndex) -> Option<&mut T> {
        // SAFETY: the index belongs to this thread alone (see the module), so no other thread has a
        // reference to the element.
        unsafe { self.element_mut(index.get()) }
    }

    /// The element at any index, or `None` beyond the end.
    ///
    /// # Safety
    ///
    /// While the reference lives, no other thread reaches this element: not in this launch, or not
    /// until a barrier.
    #[inline(always)]
    pub unsafe fn element_mut(&mut self, index: usize) -> Option<&mut T> {
        // SAFETY: the element exists, and the caller sees to it that it is this thread's.
        if index < self.length { Some(unsafe { &mut *self.start.add(index) }) } else { None }
    }

    /// The element at `index` and the one `step` places after it, or `None` if one of them is
    /// beyond the end, or both are the same. A step of a tree adds the second to the first.
    ///
    /// # Safety
    ///
    /// As for [`element_mut`](Self::element_mut), of both elements.
    #[inline(always)]
    pub unsafe fn pair_mut(&mut self, index: ThreadIndex, step: usize) -> Option<(&mut T, &mut T)> {
        let index = index.get();
        // What is left after the first does not change from step to step: one comparison each.
        let after = self.length.saturating_sub(index);
        if step == 0 || step >= after {
            return None;
        }
        // SAFETY: both exist, so none is at address 0. They are two, and the caller sees to it that
        // they are this thread's.
        unsafe {
            let first = self.start.add(index);
            core::hint::assert_unchecked(!first.is_null());
            Some((&mut *first, &mut *first.add(step)))
        }
    }
}
