//! Atomic floats, with the API of [`core::sync::atomic`].

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::thread::device_fence;

macro_rules! atomic_floats {
    ($($(#[$documentation:meta])* $name:ident: $ty:ident, $bits:ident;)*) => {$(
        $(#[$documentation])*
        ///
        /// It has the layout of the number itself, and every operation is atomic for all threads of
        /// the device. Orderings other than `Relaxed` put a device fence before or after the
        /// operation, or both.
        #[repr(transparent)]
        pub struct $name(UnsafeCell<$ty>);

        // SAFETY: every access through a shared reference is atomic.
        unsafe impl Sync for $name {}

        impl $name {
            /// An atomic number with this value.
            pub const fn new(value: $ty) -> Self {
                Self(UnsafeCell::new(value))
            }

            /// The number at an address as an atomic one.
            ///
            /// # Safety
            /// `address` is valid and aligned for `'a`, and meanwhile all accesses to it are
            /// atomic.
            pub const unsafe fn from_ptr<'a>(address: *mut $ty) -> &'a Self {
                // SAFETY: the layouts are the same; the rest is the caller's promise.
                unsafe { &*address.cast() }
            }

            /// Adds `value` and returns the old value.
            #[inline(always)]
            pub fn fetch_add(&self, value: $ty, order: Ordering) -> $ty {
                // SAFETY: the cell exists and is aligned.
                ordered(order, || unsafe { super::add(self.0.get(), value) })
            }

            /// Subtracts `value` and returns the old value.
            #[inline(always)]
            pub fn fetch_sub(&self, value: $ty, order: Ordering) -> $ty {
                self.fetch_add(-value, order)
            }

            /// Replaces the value and returns the old one.
            #[inline(always)]
            pub fn swap(&self, value: $ty, order: Ordering) -> $ty {
                // SAFETY: the cell exists and is aligned.
                ordered(order, || unsafe { super::exch(self.0.get(), value) })
            }

            /// The value.
            #[inline(always)]
            pub fn load(&self, order: Ordering) -> $ty {
                ordered(order, || $ty::from_bits(self.bits().load(Ordering::Relaxed)))
            }

            /// Sets the value.
            #[inline(always)]
            pub fn store(&self, value: $ty, order: Ordering) {
                ordered(order, || self.bits().store(value.to_bits(), Ordering::Relaxed));
            }

            #[inline(always)]
            fn bits(&self) -> &$bits {
                // SAFETY: the cell exists, is aligned, and is only accessed atomically.
                unsafe { $bits::from_ptr(self.0.get().cast()) }
            }
        }
    )*};
}

atomic_floats! {
    /// An `f32` that threads share.
    AtomicF32: f32, AtomicU32;
    /// An `f64` that threads share.
    AtomicF64: f64, AtomicU64;
}

/// An operation between the fences that `order` requires.
#[inline(always)]
fn ordered<T>(order: Ordering, operation: impl FnOnce() -> T) -> T {
    if matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst) {
        device_fence();
    }
    let result = operation();
    if matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst) {
        device_fence();
    }
    result
}
