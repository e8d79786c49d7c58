//! How long do copies take?
//!
//! A copy between the host and a GPU takes a *latency*, and then its bytes over the link's
//! *bandwidth*. Here the latency is 10 us, and the bandwidth 10 GB/s, which is 10,000 bytes in a
//! microsecond, in both directions.
//!
//! A GPU has an engine for copies to the device, one for copies to the host, and its
//! multiprocessors, on which kernels run one after the other. Each does one thing at a time, but
//! the three work in parallel. Work in one *stream* runs in order; streams do not wait for
//! each other. So chunks in several streams can be copied while the kernel works on others.
//!
//! # Task
//!
//! Predict how long the copies and kernels below take, in microseconds. A chunk has 1,000,000 bytes
//! unless the question says otherwise. It is copied to the device, `work` takes the time that the
//! question gives, and a result of the same size is copied back. Streams get chunks in turn: chunk
//! 0 goes to the first stream, chunk 1 to the second, and so on.

use cuda_std::prelude::*;

/// The kernel of a chunk.
///
/// # Safety
/// `input` and `output` hold 64 words. One block of 64 threads.
#[kernel(block(64))]
pub unsafe fn work(input: *const u32, output: *mut u32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = (*input.add(i)).wrapping_mul(3);
}
