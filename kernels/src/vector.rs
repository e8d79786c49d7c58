//! Wide words: 4, 8 or 16 bytes a lane.
//!
//! A warp moves 128, 256 or 512 bytes with one load. The sectors are the same in all: what is saved
//! is instructions and requests, 4, 2 or 1 for each 512 bytes, and with them the address
//! arithmetic. Wide words also keep more bytes in flight with fewer threads (see
//! [`launch`](crate::launch)).
//!
//! The fastest kernel is in `best_kernels::vector`.
//!
//! A wide word has to be aligned to its size, and the last floats may not fill one. The host
//! divides a buffer, which is aligned like each allocation, into words and the rest. The first
//! threads also copy the rest, an element each.
//!
//! What to look for: `l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`, and that sectors per
//! request are 4, 8 and 16.
//!
//! Source: KAUST CS 380, lecture 14 ("vector types").

#[gpu_only]
use cuda_std::thread;
use cuda_std::vector::{f32x2, f32x4};
use cuda_std::{DisjointSlice, gpu_only, kernel};

/// 4 bytes a lane: 128 bytes a request.
#[kernel(linear)]
pub fn vector_copy4(input: &[f32], mut output: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let (Some(from), Some(to)) = (input.get(i.get()), output.get_mut(i)) {
        *to = *from;
    }
}

/// 8 bytes a lane: 256 bytes a request.
#[kernel(linear)]
pub fn vector_copy8(
    input: &[f32x2],
    input_rest: &[f32],
    mut output: DisjointSlice<f32x2>,
    mut output_rest: DisjointSlice<f32>,
) {
    let i = thread::linear_index();
    if let (Some(from), Some(to)) = (input.get(i.get()), output.get_mut(i)) {
        *to = *from;
    }
    if let (Some(from), Some(to)) = (input_rest.get(i.get()), output_rest.get_mut(i)) {
        *to = *from;
    }
}

/// 16 bytes a lane: 512 bytes a request.
#[kernel(linear)]
pub fn vector_copy16(
    input: &[f32x4],
    input_rest: &[f32],
    mut output: DisjointSlice<f32x4>,
    mut output_rest: DisjointSlice<f32>,
) {
    let i = thread::linear_index();
    if let (Some(from), Some(to)) = (input.get(i.get()), output.get_mut(i)) {
        *to = *from;
    }
    if let (Some(from), Some(to)) = (input_rest.get(i.get()), output_rest.get_mut(i)) {
        *to = *from;
    }
}
