//! Wait for what others write
//!
//! Each thread writes one element to shared memory, and reads one that another thread writes.
//! Thread 0 reads the element of thread 255, which is in another warp, and warps run in any order:
//! has thread 255 written it yet?
//!
//! In the source, the line that writes is above the line that reads. That is the order within one
//! thread. Between threads, only a barrier makes an order.
//!
//! A kernel like this one may give the right result in every test on one GPU, and a wrong one on
//! the next.
//!
//! # Task
//!
//! `reverse` reverses each group of 256 elements. Make sure that each element is written before it
//! is read. The number of elements is a multiple of 256.

use cuda_std::prelude::*;

/// Reverses each block's elements.
#[kernel(block(256), linear)]
pub fn reverse(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // There are as many threads as elements.
    let output = output.get_mut(i).unwrap();

    // TODO: where must the threads wait for each other? SAFETY: each thread writes its own element.
    unsafe { (*stage)[t] = input[i.get()] };
    // SAFETY: TODO: how do you know that thread `255 - t` has written this element?
    *output = unsafe { (*stage)[255 - t] };
}
