//! Atomic operations: read, compute and write back, as one step that no other thread can come between.
//!
//! Each returns the value from before. They work in global and in shared memory: where the compiler sees which one it is, the
//! instruction is `atom.global` or `atom.shared`. None of them orders other accesses; where a thread must see more than the
//! atomic value itself, put a fence of [`thread`](crate::thread) beside it.
//!
//! # Scopes
//!
//! The functions of this module are atomic for all threads of the device. Those of [`block`] and [`system`] work on global
//! memory, and are atomic for the threads of one block only, which may be faster, or also for the host and other devices,
//! where the memory is managed or pinned. (Shared memory is seen by one block only, and needs no other scope.)

mod float;

pub use float::{AtomicF32, AtomicF64};

use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

use crate::intrinsics;

/// The threads for which an operation is one step.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub enum Scope {
    Block,
    Device,
    System,
}

/// Numbers of 32 and 64 bits: what can be added, exchanged and compared.
#[allow(clippy::missing_safety_doc, missing_docs)]
pub trait AtomicNumber: Copy {
    #[doc(hidden)]
    unsafe fn add(scope: Scope, address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn exchange(scope: Scope, address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn compare(scope: Scope, address: *mut Self, expected: Self, value: Self) -> Self;
}

/// Integers of 32 and 64 bits: what also has minimum, maximum and bits.
#[allow(clippy::missing_safety_doc, missing_docs)]
pub trait AtomicInteger: AtomicNumber {
    #[doc(hidden)]
    unsafe fn min(scope: Scope, address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn max(scope: Scope, address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn and(scope: Scope, address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn or(scope: Scope, address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn xor(scope: Scope, address: *mut Self, value: Self) -> Self;
}

/// One `atom` of a scope other than the device's, which rustc cannot ask LLVM for.
#[cfg(target_arch = "nvptx64")]
macro_rules! scoped {
    ($scope:literal, $operation:literal, $kind:literal, $class:ident, $address:ident, $value:expr) => {{
        let old;
        core::arch::asm!(
            "{{",
            ".reg .b64 place;",
            "cvta.to.global.u64 place, {address};",
            concat!("atom.", $scope, ".global.", $operation, $kind, " {old}, [place], {value};"),
            "}}",
            address = in(reg64) $address,
            value = in($class) $value,
            old = out($class) old,
            options(nostack, preserves_flags)
        );
        old
    }};
    ($scope:literal, $operation:literal, $kind:literal, $class:ident, $address:ident, $expected:expr, $value:expr) => {{
        let old;
        core::arch::asm!(
            "{{",
            ".reg .b64 place;",
            "cvta.to.global.u64 place, {address};",
            concat!("atom.", $scope, ".global.", $operation, $kind, " {old}, [place], {expected}, {value};"),
            "}}",
            address = in(reg64) $address,
            expected = in($class) $expected,
            value = in($class) $value,
            old = out($class) old,
            options(nostack, preserves_flags)
        );
        old
    }};
}

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! scoped {
    ($($tokens:tt)*) => {
        unreachable!()
    };
}

/// An operation in each of its three scopes; the device's is given as an expression.
macro_rules! operation {
    ($name:ident, [$operation:literal, $kind:literal], $class:ident, |$address:ident, $value:ident| $device:expr) => {
        #[inline(always)]
        #[allow(unused_variables)]
        unsafe fn $name(scope: Scope, $address: *mut Self, $value: Self) -> Self {
            // SAFETY: the caller says that the address is good.
            unsafe {
                match scope {
                    Scope::Block => scoped!("cta", $operation, $kind, $class, $address, $value),
                    Scope::Device => $device,
                    Scope::System => scoped!("sys", $operation, $kind, $class, $address, $value),
                }
            }
        }
    };
}

macro_rules! comparison {
    ([$operation:literal, $kind:literal], $class:ident, |$address:ident, $expected:ident, $value:ident| $device:expr) => {
        #[inline(always)]
        #[allow(unused_variables)]
        unsafe fn compare(scope: Scope, $address: *mut Self, $expected: Self, $value: Self) -> Self {
            // SAFETY: the caller says that the address is good.
            unsafe {
                match scope {
                    Scope::Block => scoped!("cta", $operation, $kind, $class, $address, $expected, $value),
                    Scope::Device => $device,
                    Scope::System => scoped!("sys", $operation, $kind, $class, $address, $expected, $value),
                }
            }
        }
    };
}

/// Either outcome of Rust's compare-and-exchange carries the old value, which is all that the hardware returns.
#[inline(always)]
fn either<T>(result: Result<T, T>) -> T {
    match result {
        Ok(old) | Err(old) => old,
    }
}

macro_rules! integers {
    ($($ty:ty, $atomic:ident, $class:ident, $kind:literal, $sum:literal, $bits:literal;)*) => {$(
        impl AtomicNumber for $ty {
            operation!(add, ["add.", $sum], $class, |address, value| {
                $atomic::from_ptr(address).fetch_add(value, Ordering::Relaxed)
            });
            operation!(exchange, ["exch.", $bits], $class, |address, value| {
                $atomic::from_ptr(address).swap(value, Ordering::Relaxed)
            });
            comparison!(["cas.", $bits], $class, |address, expected, value| {
                either($atomic::from_ptr(address).compare_exchange(
                    expected,
                    value,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                ))
            });
        }

        impl AtomicInteger for $ty {
            operation!(min, ["min.", $kind], $class, |address, value| {
                $atomic::from_ptr(address).fetch_min(value, Ordering::Relaxed)
            });
            operation!(max, ["max.", $kind], $class, |address, value| {
                $atomic::from_ptr(address).fetch_max(value, Ordering::Relaxed)
            });
            operation!(and, ["and.", $bits], $class, |address, value| {
                $atomic::from_ptr(address).fetch_and(value, Ordering::Relaxed)
            });
            operation!(or, ["or.", $bits], $class, |address, value| {
                $atomic::from_ptr(address).fetch_or(value, Ordering::Relaxed)
            });
            operation!(xor, ["xor.", $bits], $class, |address, value| {
                $atomic::from_ptr(address).fetch_xor(value, Ordering::Relaxed)
            });
        }
    )*};
}

integers! {
    u32, AtomicU32, reg32, "u32", "u32", "b32";
    i32, AtomicI32, reg32, "s32", "s32", "b32";
    u64, AtomicU64, reg64, "u64", "u64", "b64";
    // PTX adds 64-bit integers as unsigned ones: the sum has the same bits.
    i64, AtomicI64, reg64, "s64", "u64", "b64";
}

macro_rules! floats {
    ($($ty:ident, $atomic:ident, $class:ident, $add:ident, $kind:literal, $bits:literal;)*) => {$(
        impl AtomicNumber for $ty {
            operation!(add, ["add.", $kind], $class, |address, value| intrinsics::$add(address, value));
            operation!(exchange, ["exch.", $bits], $class, |address, value| {
                $ty::from_bits($atomic::from_ptr(address.cast()).swap(value.to_bits(), Ordering::Relaxed))
            });
            comparison!(["cas.", $bits], $class, |address, expected, value| {
                $ty::from_bits(either($atomic::from_ptr(address.cast()).compare_exchange(
                    expected.to_bits(),
                    value.to_bits(),
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                )))
            });
        }
    )*};
}

floats! {
    f32, AtomicU32, reg32, atomic_add_f32, "f32", "b32";
    f64, AtomicU64, reg64, atomic_add_f64, "f64", "b64";
}

macro_rules! functions {
    ($scope:ident) => {
        functions! { $scope AtomicNumber
            /// Adds `value`; integers wrap (`atom.add`).
            add = add;
            /// Replaces the value (`atom.exch`).
            exch = exchange;
        }
        functions! { $scope AtomicInteger
            /// Leaves the lesser of the value and `value` (`atom.min`).
            min = min;
            /// Leaves the greater of the value and `value` (`atom.max`).
            max = max;
            /// Leaves the bits that both have (`atom.and`).
            and = and;
            /// Leaves the bits that either has (`atom.or`).
            or = or;
            /// Leaves the bits that one of them has (`atom.xor`).
            xor = xor;
        }

        /// Replaces the value by `value` if it has the bits of `expected` (`atom.cas`). It did if the result has them.
        ///
        /// # Safety
        /// `address` is that of a value in global or shared memory, aligned to its size.
        #[inline(always)]
        pub unsafe fn cas<T: AtomicNumber>(address: *mut T, expected: T, value: T) -> T {
            // SAFETY: the caller says that the address is good.
            unsafe { T::compare(Scope::$scope, address, expected, value) }
        }
    };
    ($scope:ident $bound:ident $($(#[$documentation:meta])* $name:ident = $method:ident;)*) => {$(
        $(#[$documentation])*
        ///
        /// Returns the value from before.
        ///
        /// # Safety
        /// `address` is that of a value in global or shared memory, aligned to its size.
        #[inline(always)]
        pub unsafe fn $name<T: $bound>(address: *mut T, value: T) -> T {
            // SAFETY: the caller says that the address is good.
            unsafe { T::$method(Scope::$scope, address, value) }
        }
    )*};
}

functions!(Device);

/// Counts up, and around to 0 after `limit` (`atom.inc.u32`): leaves `old + 1` if `old < limit`, else 0.
///
/// Returns the value from before.
///
/// # Safety
/// `address` is that of a value in global or shared memory, aligned to 4 bytes.
#[inline(always)]
pub unsafe fn inc(address: *mut u32, limit: u32) -> u32 {
    // SAFETY: the caller says that the address is good.
    unsafe { intrinsics::atomic_inc(address, limit) }
}

/// Counts down, and around to `limit` (`atom.dec.u32`): leaves `old - 1` if `0 < old <= limit`, else `limit`.
///
/// Returns the value from before.
///
/// # Safety
/// `address` is that of a value in global or shared memory, aligned to 4 bytes.
#[inline(always)]
pub unsafe fn dec(address: *mut u32, limit: u32) -> u32 {
    // SAFETY: the caller says that the address is good.
    unsafe { intrinsics::atomic_dec(address, limit) }
}

/// Atomic for the threads of one block, on global memory (`atom.cta`).
pub mod block {
    use super::{AtomicInteger, AtomicNumber, Scope};

    functions!(Block);
}

/// Atomic for the whole system, on global memory: this device, other devices, and the host (`atom.sys`).
pub mod system {
    use super::{AtomicInteger, AtomicNumber, Scope};

    functions!(System);
}
