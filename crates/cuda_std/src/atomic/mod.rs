//! Atomic operations: read, compute and write back in one step, which no other thread can
//! interrupt.
//!
//! Each returns the old value. They work in global and in shared memory: if the compiler knows
//! which one it is, the instruction is `atom.global` or `atom.shared`. None of them orders other
//! accesses; if other threads must also see other writes, add a fence of [`thread`](crate::thread).
//!
//! To hand values to another block, store a flag with [`store_release`] and load it with
//! [`load_acquire`]. Where the flag is the value, [`store_relaxed`] and [`load_relaxed`] are
//! enough.
//!
//! # Scopes
//!
//! The functions of this module are atomic for all threads of the device. Those of [`block`] work
//! on global memory and are atomic only for the threads of one block, which may be faster. Those of
//! [`system`] are also atomic for the host and other devices, if the memory is managed or pinned.
//! (Shared memory belongs to one block, and needs no other scope.)

mod float;
mod ordered;

pub use float::{AtomicF32, AtomicF64};
pub use ordered::{AtomicWord, load_acquire, load_relaxed, store_relaxed, store_release};

use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

use crate::intrinsics;

/// The threads for which an operation is atomic.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub enum Scope {
    Block,
    Device,
    System,
}

/// Numbers of 32 and 64 bits, which can be added, exchanged and compared.
#[allow(clippy::missing_safety_doc, missing_docs)]
pub trait AtomicNumber: Copy {
    #[doc(hidden)]
    unsafe fn add(scope: Scope, address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn exchange(scope: Scope, address: *mut Self, value: Self) -> Self;
    #[doc(hidden)]
    unsafe fn compare(scope: Scope, address: *mut Self, expected: Self, value: Self) -> Self;
}

/// Integers of 32 and 64 bits, which also have minimum, maximum and bitwise operations.
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
            // SAFETY: the caller promises a valid address.
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
            // SAFETY: the caller promises a valid address.
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

/// Both results of Rust's compare-and-exchange hold the old value, which is what the hardware
/// returns.
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
    // PTX adds 64-bit integers as unsigned ones; the bits of the sum are the same.
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
    ($scope:ident, $memory:literal) => {
        functions! { $scope $memory AtomicNumber
            /// Adds `value`; integers wrap (`atom.add`).
            add = add;
            /// Replaces the value (`atom.exch`).
            exch = exchange;
        }
        functions! { $scope $memory AtomicInteger
            /// Stores the smaller of the old value and `value` (`atom.min`).
            min = min;
            /// Stores the larger of the old value and `value` (`atom.max`).
            max = max;
            /// Stores the bitwise and of the two (`atom.and`).
            and = and;
            /// Stores the bitwise or of the two (`atom.or`).
            or = or;
            /// Stores the bitwise exclusive or of the two (`atom.xor`).
            xor = xor;
        }

        /// Stores `value` if the old value has the bits of `expected` (`atom.cas`), which is so if
        /// the result has them.
        ///
        /// # Safety
        #[doc = concat!("`address` points to a value in ", $memory, " memory, aligned to its size.")]
        #[inline(always)]
        pub unsafe fn cas<T: AtomicNumber>(address: *mut T, expected: T, value: T) -> T {
            // SAFETY: the caller promises a valid address.
            unsafe { T::compare(Scope::$scope, address, expected, value) }
        }
    };
    ($scope:ident $memory:literal $bound:ident $($(#[$documentation:meta])* $name:ident = $method:ident;)*) => {$(
        $(#[$documentation])*
        ///
        /// Returns the old value.
        ///
        /// # Safety
        #[doc = concat!("`address` points to a value in ", $memory, " memory, aligned to its size.")]
        #[inline(always)]
        pub unsafe fn $name<T: $bound>(address: *mut T, value: T) -> T {
            // SAFETY: the caller promises a valid address.
            unsafe { T::$method(Scope::$scope, address, value) }
        }
    )*};
}

functions!(Device, "global or shared");

/// Counts up, and wraps to 0 after `limit` (`atom.inc.u32`): stores `old + 1` if `old < limit`,
/// else 0.
///
/// Returns the old value.
///
/// # Safety
/// `address` points to a value in global or shared memory, aligned to 4 bytes.
#[inline(always)]
pub unsafe fn inc(address: *mut u32, limit: u32) -> u32 {
    // SAFETY: the caller promises a valid address.
    unsafe { intrinsics::atomic_inc(address, limit) }
}

/// Counts down, and wraps to `limit` (`atom.dec.u32`): stores `old - 1` if `0 < old <= limit`, else
/// `limit`.
///
/// Returns the old value.
///
/// # Safety
/// `address` points to a value in global or shared memory, aligned to 4 bytes.
#[inline(always)]
pub unsafe fn dec(address: *mut u32, limit: u32) -> u32 {
    // SAFETY: the caller promises a valid address.
    unsafe { intrinsics::atomic_dec(address, limit) }
}

/// Atomic for the threads of one block, on global memory (`atom.cta`).
pub mod block {
    use super::{AtomicInteger, AtomicNumber, Scope};

    functions!(Block, "global");
}

/// Atomic for the whole system, on global memory: this device, other devices, and the host
/// (`atom.sys`).
pub mod system {
    use super::{AtomicInteger, AtomicNumber, Scope};

    functions!(System, "global");
}
