//! How to launch: how many threads, and how much each of them requests at once.
//!
//! A load from global memory takes several hundred cycles. By Little's law a multiprocessor reaches
//! its share of the bandwidth only while enough bytes are in flight: the latency times that share.
//! On an H200 the share is 18 bytes a cycle, so 600 cycles need 11 KB, and the latency grows with
//! the load. There are two ways to keep them in flight: many threads that each wait for one word,
//! or fewer that each request several before they use the first. So bytes in flight are
//!
//! ```text
//! resident threads x independent loads of a thread x bytes of a word
//! ```
//!
//! and one factor can make up for another: four independent loads of 4 bytes are worth one of 16.
//!
//! The kernels add 1 to each element. They differ in the word (4, 8 or 16 bytes) and in the number
//! of independent loads; the host chooses the block and the grid. What to look for: GB/s against
//! bytes in flight on a GPU; on the simulator the requests
//! (`l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`): fewer with wide words, for as many sectors.
//!
//! # Shapes
//!
//! Blocks and grids are one-dimensional, of any size: a thread steps by the size of the grid. The
//! first threads also increment what is left over after the last wide word.
//!
//! Source: NVIDIA's webinar on global memory (2011), "Launch configuration".

#[gpu_only]
use cuda_std::thread;
use cuda_std::vector::{f32x2, f32x4};
use cuda_std::{DisjointSlice, gpu_only, kernel};

/// What is added to each element.
pub const INCREMENT: f32 = 1.0;

/// One load of 4 bytes at a time: the usual kernel.
#[kernel(linear)]
pub fn launch_f32_1(mut data: DisjointSlice<f32>) {
    for i in thread::grid_stride(data.len()) {
        if let Some(word) = data.get_mut(i) {
            *word += INCREMENT;
        }
    }
}

/// Two independent loads of 4 bytes at a time.
#[kernel(linear)]
pub fn launch_f32_2(mut data: DisjointSlice<f32>) {
    for i in thread::grid_stride(data.len()).step_by(2) {
        // All loads of a round start before the first one is used.
        let mut words = [0.0; 2];
        for k in 0..2 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                words[k] = *word;
            }
        }
        for k in 0..2 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                *word = words[k] + INCREMENT;
            }
        }
    }
}

/// Four independent loads of 4 bytes at a time: as many bytes in flight as with one of 16.
#[kernel(linear)]
pub fn launch_f32_4(mut data: DisjointSlice<f32>) {
    for i in thread::grid_stride(data.len()).step_by(4) {
        let mut words = [0.0; 4];
        for k in 0..4 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                words[k] = *word;
            }
        }
        for k in 0..4 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                *word = words[k] + INCREMENT;
            }
        }
    }
}

/// Eight independent loads of 4 bytes at a time.
#[kernel(linear)]
pub fn launch_f32_8(mut data: DisjointSlice<f32>) {
    for i in thread::grid_stride(data.len()).step_by(8) {
        let mut words = [0.0; 8];
        for k in 0..8 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                words[k] = *word;
            }
        }
        for k in 0..8 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                *word = words[k] + INCREMENT;
            }
        }
    }
}

/// One load of 8 bytes at a time.
#[kernel(linear)]
pub fn launch_f32x2_1(mut data: DisjointSlice<f32x2>, mut rest: DisjointSlice<f32>) {
    for i in thread::grid_stride(data.len()) {
        if let Some(word) = data.get_mut(i) {
            *word = *word + f32x2::splat(INCREMENT);
        }
    }
    if let Some(last) = rest.get_mut(thread::linear_index()) {
        *last += INCREMENT;
    }
}

/// Two independent loads of 8 bytes at a time.
#[kernel(linear)]
pub fn launch_f32x2_2(mut data: DisjointSlice<f32x2>, mut rest: DisjointSlice<f32>) {
    for i in thread::grid_stride(data.len()).step_by(2) {
        let mut words = [f32x2::splat(0.0); 2];
        for k in 0..2 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                words[k] = *word;
            }
        }
        for k in 0..2 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                *word = words[k] + f32x2::splat(INCREMENT);
            }
        }
    }
    if let Some(last) = rest.get_mut(thread::linear_index()) {
        *last += INCREMENT;
    }
}

/// Four independent loads of 8 bytes at a time.
#[kernel(linear)]
pub fn launch_f32x2_4(mut data: DisjointSlice<f32x2>, mut rest: DisjointSlice<f32>) {
    for i in thread::grid_stride(data.len()).step_by(4) {
        let mut words = [f32x2::splat(0.0); 4];
        for k in 0..4 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                words[k] = *word;
            }
        }
        for k in 0..4 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                *word = words[k] + f32x2::splat(INCREMENT);
            }
        }
    }
    if let Some(last) = rest.get_mut(thread::linear_index()) {
        *last += INCREMENT;
    }
}

/// Eight independent loads of 8 bytes at a time.
#[kernel(linear)]
pub fn launch_f32x2_8(mut data: DisjointSlice<f32x2>, mut rest: DisjointSlice<f32>) {
    for i in thread::grid_stride(data.len()).step_by(8) {
        let mut words = [f32x2::splat(0.0); 8];
        for k in 0..8 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                words[k] = *word;
            }
        }
        for k in 0..8 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                *word = words[k] + f32x2::splat(INCREMENT);
            }
        }
    }
    if let Some(last) = rest.get_mut(thread::linear_index()) {
        *last += INCREMENT;
    }
}

/// One load of 16 bytes at a time.
#[kernel(linear)]
pub fn launch_f32x4_1(mut data: DisjointSlice<f32x4>, mut rest: DisjointSlice<f32>) {
    for i in thread::grid_stride(data.len()) {
        if let Some(word) = data.get_mut(i) {
            *word = *word + f32x4::splat(INCREMENT);
        }
    }
    if let Some(last) = rest.get_mut(thread::linear_index()) {
        *last += INCREMENT;
    }
}

/// Two independent loads of 16 bytes at a time.
#[kernel(linear)]
pub fn launch_f32x4_2(mut data: DisjointSlice<f32x4>, mut rest: DisjointSlice<f32>) {
    for i in thread::grid_stride(data.len()).step_by(2) {
        let mut words = [f32x4::splat(0.0); 2];
        for k in 0..2 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                words[k] = *word;
            }
        }
        for k in 0..2 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                *word = words[k] + f32x4::splat(INCREMENT);
            }
        }
    }
    if let Some(last) = rest.get_mut(thread::linear_index()) {
        *last += INCREMENT;
    }
}

/// Four independent loads of 16 bytes at a time.
#[kernel(linear)]
pub fn launch_f32x4_4(mut data: DisjointSlice<f32x4>, mut rest: DisjointSlice<f32>) {
    for i in thread::grid_stride(data.len()).step_by(4) {
        let mut words = [f32x4::splat(0.0); 4];
        for k in 0..4 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                words[k] = *word;
            }
        }
        for k in 0..4 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                *word = words[k] + f32x4::splat(INCREMENT);
            }
        }
    }
    if let Some(last) = rest.get_mut(thread::linear_index()) {
        *last += INCREMENT;
    }
}

/// Eight independent loads of 16 bytes at a time.
#[kernel(linear, launch_bounds(1024))]
pub fn launch_f32x4_8(mut data: DisjointSlice<f32x4>, mut rest: DisjointSlice<f32>) {
    if let Some(last) = rest.get_mut(thread::linear_index()) {
        *last += INCREMENT;
    }
    for i in thread::grid_stride(data.len()).step_by(8) {
        let mut words = [f32x4::splat(0.0); 8];
        for k in 0..8 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                words[k] = *word;
            }
        }
        for k in 0..8 {
            if let Some(word) = data.get_mut(i.ahead(k)) {
                *word = words[k] + f32x4::splat(INCREMENT);
            }
        }
    }
}
