//! The trait of types that a kernel may take by value.

use bytemuck::{NoUninit, Pod};

/// A type whose values may be passed to a kernel by their bytes: `Copy`, with a fixed layout and no
/// padding.
///
/// Numbers and `bool` are such types, and so is a struct with `#[repr(C)]` and
/// `#[derive(Clone, Copy, bytemuck::NoUninit)]`. The vectors of [`vector`](crate::vector) are plain
/// data, too, but rustc cannot pass them to a kernel by value.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take a `{Self}` by value",
    label = "its bytes are not all its own",
    note = "for a struct: `#[repr(C)]` and `#[derive(Clone, Copy, bytemuck::NoUninit)]`, with no padding between its fields"
)]
pub trait Value: NoUninit {}

impl<T: NoUninit> Value for T {}

/// Compiles only for types that a kernel may take by value. `#[kernel]` calls this for each such
/// parameter.
pub const fn assert_value<T: Value>() {}

/// Compiles only for types of which any bits are a value. `#[kernel]` calls this for each type that
/// a safe kernel takes by value, but for `bool` and `char`: of a struct, host and device could have
/// two with fields of different types in the same place.
pub const fn assert_any_bits<T: Value>() {
    // The compiler keeps `None` in bits that are no value, if there are any.
    assert!(
        size_of::<Option<T>>() != size_of::<T>(),
        "a safe kernel takes by value only what may have any bits: instead of a `bool`, a `char`, an enum or a `NonZero` in a \
         struct, or by another name, take a number"
    );
}

/// Compiles only for types of which any bits are a value, as elements of the host's buffers are.
/// `#[kernel]` calls this for the elements of a safe kernel's slices and matrices.
pub const fn assert_element<T: Pod>() {}

/// The scalars, for `#[kernel]`: what it finds by these names where it writes them may be other
/// types.
#[doc(hidden)]
pub mod scalar {
    pub use core::primitive::{bool, char, u8, u32, usize};
}
