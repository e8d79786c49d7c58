//! Stand-in for the crate `cust_derive`, put in its place by `[patch.crates-io]`.
//!
//! The published crate has a macro that derives `DeviceCopy`, and needs an old `syn` for it. `cust`
//! exports the macro and does not use it. Nor does Coalesce, so here an empty macro has that name.
#![no_std]

/// The name that `cust` exports.
#[macro_export]
macro_rules! DeviceCopy {
    () => {};
}
