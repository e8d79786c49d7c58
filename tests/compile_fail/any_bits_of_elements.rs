//! Elements of which not all bits are a value, in safe kernels. `tests/compile_fail.rs` expects
//! these messages.

//~ E0277
//~ any_bits_of_elements.rs:12:
//~ any_bits_of_elements.rs:17:
//~ any_bits_of_elements.rs:22:

use cuda_std::{DisjointSlice, Matrix, kernel};

#[kernel]
pub fn flags(input: &[bool]) {
    let _ = input;
}

#[kernel]
pub fn options(output: DisjointSlice<Option<u32>>) {
    let _ = output;
}

#[kernel]
pub fn references(input: Matrix<&'static u32>) {
    let _ = input;
}

fn main() {}
