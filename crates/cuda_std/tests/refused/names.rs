//! Names and lifetimes of a kernel's parameters.

use core::cell::{Cell, OnceCell};

use cuda_std::phases::{Block, BlockSlice, Shared, TransposedMatrix};
use cuda_std::prelude::*;

/// A constant that a parameter of the entry point would be a pattern of.
#[allow(non_upper_case_globals)]
const __x_pointer: &[u32; 0] = &[];

#[kernel(linear)] //~ cannot shadow constants
pub fn constant(x: &[u32], mut y: DisjointSlice<u32>) {}

fn forever<T>(_: &'static T) {}
fn forever_slice<T>(_: &'static [T]) {}

#[kernel]
pub fn keeps(a: &[u32], b: Matrix<u32>, mut c: DisjointSlice<u32>) {
    forever_slice(a); //~ must outlive `'static`
    forever(b.get(0, 0).unwrap()); //~ must outlive `'static`
    let kept: DisjointSlice<'static, u32> = c; //~ must outlive `'static`
}

#[kernel(block(32))]
pub fn keeps_outputs(block: Block<32>, mut a: BlockSlice<u32>, mut b: TransposedMatrix<u32, 32>) {
    let kept: BlockSlice<'static, u32> = a; //~ must outlive `'static`
    let kept: TransposedMatrix<'static, u32, 32> = b; //~ must outlive `'static`
}

#[kernel]
pub fn cells(a: &[Cell<u32>]) {} //~ cannot be shared between threads //~ cannot be shared between threads //~ trait `Pod` is not implemented

#[kernel]
pub fn pointers(a: DisjointSlice<*mut u32>) {} //~ cannot be sent between threads //~ cannot be sent between threads //~ trait `Pod` is not implemented

fn call(kernel: impl Fn(&[u32; 0], usize, &mut [u32; 0], usize)) {}

/// A kernel's entry point takes lengths that only a launch may give.
pub fn calls() {
    cells(&[], 7); //~ cannot be called
    let pointer: extern "ptx-kernel" fn(&[Cell<u32>; 0], usize) = cells;
    pointer(&[], 7); //~ cannot be called
    call(constant); //~ expected a `Fn(&[u32; 0], usize, &mut [u32; 0], usize)` closure
}

/// Unsafe code in a type is not in the `unsafe` blocks that the macro writes.
const unsafe fn harm() -> usize {
    1
}

#[kernel]
pub fn harmful_element(a: &[[u32; harm()]]) {} //~ E0133 //~ E0133

#[kernel(block(32))]
pub fn harmful_tile(b: Block<32>, t: Shared<[u32; harm()]>) {} //~ E0133 //~ E0133

/// Types of other names are those that the source means, and the macro's are its own.
pub mod shadowing {
    use cuda_std::prelude::*;

    use super::*;

    #[allow(non_camel_case_types)]
    type u8 = u64;
    #[allow(non_camel_case_types)]
    type u32 = f32;
    #[allow(non_camel_case_types)]
    type usize = f64;

    #[kernel(block(32))]
    pub fn shadowed(a: &[u32], b: Matrix<u32>, mut c: DisjointSlice<u8>, d: usize) {}

    #[kernel(block(32))]
    pub fn shadowed_phases(
        b: Block<32>,
        t: Shared<[u32; 32]>,
        mut o: TransposedMatrix<u32, 32>,
        mut s: BlockSlice<u32>,
    ) {
        #![allow(unused)]
    }
}

/// Kernels that a macro writes.
macro_rules! kernels {
    ($name:ident, $element:ty, $output:ty, $threads:literal) => {
        #[kernel(block($threads))]
        pub fn $name(b: Block<$threads>, a: &[$element], mut c: $output) {}
    };
}
kernels!(by_macro, u32, DisjointSlice<u32>, 64);
