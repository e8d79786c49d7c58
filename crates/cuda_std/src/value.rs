//! The trait of types that a kernel may take by value.

use bytemuck::NoUninit;

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
