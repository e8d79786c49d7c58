//! A crate that calls itself `cuda_std`: the attributes still mean the library.

extern crate cuda_std as library;
extern crate self as cuda_std;

use library::{DisjointSlice, address_space, kernel};

/// What the attributes would find here.
pub mod launch {
    /// A slice of anything is one of bytes.
    pub type Slice<T> = (u8, Option<T>);
    /// As well.
    pub type DisjointSlice<T> = Slice<T>;
    pub use library::launch::{Kernel, LaunchShape, SafeKernel, Symbol};
}

/// Copies.
#[kernel(linear)]
pub fn copy(input: &[f32], mut output: DisjointSlice<f32>) {}

/// A constant.
#[address_space(constant)]
#[unsafe(no_mangle)]
pub static FACTOR: ConstantCell<f32> = ConstantCell::new(1.0);

#[test]
fn the_handles_are_the_library_s() {
    use library::launch::{DisjointSlice, SafeKernel, Slice, Symbol};
    let _: &SafeKernel<(Slice<f32>, DisjointSlice<f32>)> = &copy;
    let _: &Symbol<f32> = &FACTOR;
    assert_eq!((copy.name(), FACTOR.name()), ("copy", "FACTOR"));
    assert!(size_of::<launch::DisjointSlice<u8>>() > 1);
}
