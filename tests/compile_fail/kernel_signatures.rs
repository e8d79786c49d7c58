//! Signatures that `#[kernel]` rejects. `tests/compile_fail.rs` expects these messages.

//~ a kernel returns nothing: write the result to memory
//~ a kernel is not generic: write one kernel for each type
//~ a safe kernel takes no raw pointer
//~ a kernel takes no `&mut [T]`, since all threads would hold the same exclusive reference
//~ expected fn pointer `fn(another::DisjointSlice<f32>)`
//~ a `linear` kernel reaches only the first row of a matrix
//~ `Cell<u32>` cannot be shared between threads safely
//~ `RefCell<f32>` cannot be shared between threads safely
//~ `*mut u32` cannot be sent between threads safely

use core::cell::{Cell, RefCell};

use cuda_std::{DisjointMatrix, DisjointSlice, Matrix, kernel};

#[kernel]
pub unsafe fn returns(value: u32) -> u32 {
    value
}

#[kernel]
pub unsafe fn generic<T>(value: *mut T) {
    let _ = value;
}

#[kernel]
pub fn safe(output: *mut f32) {
    let _ = output;
}

#[kernel]
pub fn exclusive(output: &mut [f32]) {
    let _ = output;
}

#[kernel(linear)]
pub fn positions(output: DisjointMatrix<u32>) {
    let _ = output;
}

#[kernel]
pub fn shared_cells(flags: &[Cell<u32>], values: Matrix<RefCell<f32>>) {
    let _ = (flags, values);
}

#[kernel]
pub fn owned_pointers(output: DisjointSlice<*mut u32>) {
    let _ = output;
}

mod another {
    use cuda_std::kernel;

    pub struct DisjointSlice<T>(pub T);

    #[kernel]
    pub fn impostor(output: DisjointSlice<f32>) {
        let _ = output;
    }
}

fn main() {}
