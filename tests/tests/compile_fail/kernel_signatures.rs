//! What `#[kernel]` does not take.

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
