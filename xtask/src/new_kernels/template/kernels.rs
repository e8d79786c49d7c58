//! The kernels. Compiled for the device, their bodies become PTX. Compiled for the host, each is a
//! typed handle with the kernel's name, with which it is launched.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};

/// `y[i] = a * x[i] + y[i]`, one thread for each element.
#[kernel(linear)]
pub fn axpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
        *y += a * x;
    }
}

/// The sum of each block's elements of `x`, in shared memory.
#[kernel(block(256), linear)]
pub fn block_sums(x: &[f32], mut sums: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();

    let t = thread::thread_idx_x() as usize;
    let x = x.get(thread::linear_index().get()).copied().unwrap_or(0.0);
    // SAFETY: between two barriers, each thread writes one element of the stage, which no other
    // thread reads or writes until the next barrier.
    unsafe { (*stage)[t] = x };
    thread::sync_threads();

    let mut half = 128;
    while half > 0 {
        if t < half {
            // SAFETY: as above; the elements from `half` on are only read.
            unsafe { (*stage)[t] += (*stage)[t + half] };
        }
        thread::sync_threads();
        half /= 2;
    }
    if t == 0 {
        // SAFETY: each block has one such thread, and a sum of its own.
        unsafe {
            if let Some(sum) = sums.element_mut(thread::block_idx_x() as usize) {
                *sum = (*stage)[0];
            }
        }
    }
}
