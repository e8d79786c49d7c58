//! The kernels. Compiled for the device, their bodies become PTX. Compiled for the host, each is a
//! typed handle with the kernel's name, with which it is launched.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};
use cuda_std::{gpu_only, kernel};

/// Threads of a block.
pub const BLOCK: u32 = 256;

/// `y[i] = a * x[i] + y[i]`, one thread for each element.
///
/// # Safety
/// `y` holds `x.len()` elements, and nothing else uses it during the launch.
#[kernel]
pub unsafe fn axpy(a: f32, x: &[f32], y: *mut f32) {
    let i = thread::wide_index_1d();
    if i < x.len() {
        *y.add(i) = a * x[i] + *y.add(i);
    }
}

/// The sum of each block's elements of `x`, in shared memory.
///
/// # Safety
/// Blocks have [`BLOCK`] threads. `sums` holds one element for each block, and nothing else uses it
/// during the launch.
#[kernel]
pub unsafe fn block_sums(x: &[f32], sums: *mut f32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; BLOCK as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();

    let thread = thread::thread_idx_x() as usize;
    let i = thread::wide_index_1d();
    (*stage)[thread] = if i < x.len() { x[i] } else { 0.0 };
    thread::sync_threads();

    let mut half = BLOCK as usize / 2;
    while half > 0 {
        if thread < half {
            (*stage)[thread] += (*stage)[thread + half];
        }
        thread::sync_threads();
        half /= 2;
    }
    if thread == 0 {
        *sums.add(thread::block_idx_x() as usize) = (*stage)[0];
    }
}
