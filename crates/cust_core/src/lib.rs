//! Stand-in for the crate `cust_core`, put in its place by `[patch.crates-io]`.
//!
//! The published crate lets programs copy the types of three libraries of vectors to a device, and
//! so compiles these libraries. Coalesce copies bytes, so this one compiles nothing else.
#![no_std]

/// Where `cust` looks for the trait.
#[doc(hidden)]
pub mod _hidden {
    /// Types that can be copied to and from a device.
    ///
    /// # Safety
    ///
    /// A value is its bytes: it has no references or pointers to the host's memory.
    pub unsafe trait DeviceCopy: Copy {}

    // SAFETY: a byte refers to nothing.
    unsafe impl DeviceCopy for u8 {}
}
