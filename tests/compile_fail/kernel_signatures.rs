//! Signatures that `#[kernel]` rejects. `tests/compile_fail.rs` expects these messages.

//~ a kernel returns nothing: write the result to memory
//~ a kernel is not generic: write one kernel for each type
//~ a kernel is an `unsafe fn`: nothing checks what the launch passes to it

use cuda_std::kernel;

#[kernel]
pub unsafe fn returns(value: u32) -> u32 {
    value
}

#[kernel]
pub unsafe fn generic<T>(value: *mut T) {
    let _ = value;
}

#[kernel]
pub fn safe(value: u32) {
    let _ = value;
}

fn main() {}
