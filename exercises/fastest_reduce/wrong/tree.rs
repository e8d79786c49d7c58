// fails: no grade yet
//! The fastest sum: a thread for each number, and a tree of additions

use cuda_std::prelude::*;

//@ launch sum: grid = "ceil(n / 256)", block = 256

/// Adds the numbers up.
///
/// # Safety
/// `input` holds `n` integers, `output` one, which is 0 before.
#[kernel(block(256))]
pub unsafe fn sum(input: *const i32, _scratch: *mut i32, output: *mut i32, n: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[i32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (t, i) = (thread::thread_idx_x() as usize, thread::index_1d());
    (*stage)[t] = if i < n { *input.add(i as usize) } else { 0 };
    thread::sync_threads();
    let mut s = 128;
    while s > 0 {
        if t < s {
            (*stage)[t] = (*stage)[t].wrapping_add((*stage)[t + s]);
        }
        thread::sync_threads();
        s /= 2;
    }
    if t == 0 {
        atomic::add(output, (*stage)[0]);
    }
}
