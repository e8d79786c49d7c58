//! Loads and stores that other threads of the device may make at the same time, with an order.

/// A number that is loaded and stored as a whole.
#[allow(clippy::missing_safety_doc, missing_docs)]
pub trait AtomicWord: Copy {
    #[doc(hidden)]
    unsafe fn load_relaxed(address: *const Self) -> Self;
    #[doc(hidden)]
    unsafe fn load_acquire(address: *const Self) -> Self;
    #[doc(hidden)]
    unsafe fn store_relaxed(address: *mut Self, value: Self);
    #[doc(hidden)]
    unsafe fn store_release(address: *mut Self, value: Self);
}

// `core::sync::atomic` would do, but its scope is the whole system, whose release waits for more
// than the device.
#[cfg(target_arch = "nvptx64")]
macro_rules! access {
    ($instruction:expr, $address:ident, $($operand:tt)*) => {
        core::arch::asm!(
            "{{",
            ".reg .b64 place;",
            "cvta.to.global.u64 place, {address};",
            $instruction,
            "}}",
            address = in(reg64) $address,
            $($operand)*
            options(nostack, preserves_flags)
        )
    };
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! access {
    ($($tokens:tt)*) => {
        unreachable!()
    };
}

macro_rules! words {
    ($($ty:ty, $class:ident, $bits:literal;)*) => {$(
        #[allow(unused_variables, unreachable_code)]
        impl AtomicWord for $ty {
            words! { load load_relaxed $class concat!("ld.relaxed.gpu.global.", $bits, " {value}, [place];") }
            words! { load load_acquire $class concat!("ld.acquire.gpu.global.", $bits, " {value}, [place];") }
            words! { store store_relaxed $class concat!("st.relaxed.gpu.global.", $bits, " [place], {value};") }
            words! { store store_release $class concat!("st.release.gpu.global.", $bits, " [place], {value};") }
        }
    )*};
    (load $name:ident $class:ident $instruction:expr) => {
        #[inline(always)]
        unsafe fn $name(address: *const Self) -> Self {
            let value: Self;
            // SAFETY: the caller promises a valid address.
            unsafe { access!($instruction, address, value = out($class) value,) };
            value
        }
    };
    (store $name:ident $class:ident $instruction:expr) => {
        #[inline(always)]
        unsafe fn $name(address: *mut Self, value: Self) {
            // SAFETY: the caller promises a valid address.
            unsafe { access!($instruction, address, value = in($class) value,) };
        }
    };
}

words! {
    u32, reg32, "u32";
    u64, reg64, "u64";
}

/// Loads a value that other threads may store (`ld.relaxed.gpu`). It orders nothing else.
///
/// # Safety
/// `address` points to a value in global memory, aligned to its size.
#[inline(always)]
pub unsafe fn load_relaxed<T: AtomicWord>(address: *const T) -> T {
    // SAFETY: the caller promises a valid address.
    unsafe { T::load_relaxed(address) }
}

/// Loads a value that other threads may store. If [`store_release`] stored it, then whatever its
/// thread knew before is there for what this thread does afterwards (`ld.acquire.gpu`).
///
/// # Safety
/// As for [`load_relaxed`].
#[inline(always)]
pub unsafe fn load_acquire<T: AtomicWord>(address: *const T) -> T {
    // SAFETY: the caller promises a valid address.
    unsafe { T::load_acquire(address) }
}

/// Stores a value that other threads may load (`st.relaxed.gpu`). It orders nothing else.
///
/// # Safety
/// As for [`load_relaxed`].
#[inline(always)]
pub unsafe fn store_relaxed<T: AtomicWord>(address: *mut T, value: T) {
    // SAFETY: the caller promises a valid address.
    unsafe { T::store_relaxed(address, value) }
}

/// Stores a value for [`load_acquire`]: what this thread did before, and what it has seen of
/// others, at a barrier for one, comes first (`st.release.gpu`).
///
/// # Safety
/// As for [`load_relaxed`].
#[inline(always)]
pub unsafe fn store_release<T: AtomicWord>(address: *mut T, value: T) {
    // SAFETY: the caller promises a valid address.
    unsafe { T::store_release(address, value) }
}
