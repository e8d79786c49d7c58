//! Types that own the driver's objects: the upper of three layers (see [`super`]).
//!
//! Each type frees what it owns when it is dropped and keeps alive what it depends on, so its methods are safe, but for
//! launches: no type can say what a kernel does. [`super::Gpu`] holds the values and makes its context current before it uses
//! them; it also turns a [`super::result::DriverError`] into the host's error, since it knows what was being done.

pub(super) mod array;
pub(super) mod function;
pub(super) mod memory;
pub(super) mod module;
pub(super) mod texture;
