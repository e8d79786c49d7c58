//! How much shared memory a block takes: static, dynamic, and more than the default limit.
//!
//! A kernel can fix the size of its shared memory when it is compiled (*static*), or leave it to
//! the launch (*dynamic*). The two are the same memory, and as fast. Static memory ends at 48 KB;
//! dynamic memory may be larger where the host opts in for the kernel (`cuFuncSetAttribute`), up to
//! 64 KB on Turing and 227 KB on Hopper.
//!
//! What a block takes, its neighbours cannot have: shared memory decides how many blocks fit on a
//! multiprocessor, and with them how many warps there are to hide latency. It is also taken from
//! the L1 cache, which is part of the same memory: the *carveout* says how that is divided.
//!
//! Each block stages a chunk of the input in shared memory and writes it back in reverse order.
//! What to look for: that static and dynamic memory of the same size make the same accesses;
//! occupancy and its limiter as the chunk grows (`sm__maximum_warps_per_active_cycle_pct`,
//! `launch__occupancy_limit_shared_mem`), and the time.
//!
//! # Shapes
//!
//! `input` and `output` have the same length; block `b` reverses the elements from `b * chunk` on,
//! `chunk` of them or what is left. Blocks are one-dimensional and of any size. The chunk is
//! [`STATIC_CHUNK`], or all the dynamic shared memory that the launch gives a block.
//!
//! # Where `unsafe` begins
//!
//! The compiler sees one thread. The kernels promise that each element of the stage is written by
//! one thread and read by others only after the barrier, and that each element of the output has
//! one thread. The sanitizer checks exactly this.
//!
//! Source: KAUST CS 380, lecture 14.

use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared as shared_memory, shared::SharedCell, thread};

/// Elements of the chunk of [`shared_static`]: 16 KB.
pub const STATIC_CHUNK: u32 = 4096;

/// A chunk of 16 KB, whose size the compiler knows.
#[kernel(linear)]
pub fn shared_static(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; STATIC_CHUNK as usize]> = SharedCell::uninit();
    let (stage, chunk) = (STAGE.as_mut_ptr().cast::<f32>(), STATIC_CHUNK as usize);
    let (t, threads) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    let first = thread::block_idx_x() as usize * chunk;
    // This chunk and what follows; the last chunk may be shorter.
    let input = &input[first.min(input.len())..];
    let count = chunk.min(input.len());

    let mut i = t;
    while i < count {
        // SAFETY: i < chunk, and no other thread has this element before the barrier.
        unsafe { *stage.add(i) = input[i] };
        i += threads;
    }
    thread::sync_threads();
    let mut i = t;
    while i < count {
        // SAFETY: by now the stage is only read, below count <= chunk; and no other thread has this
        // element of the output.
        unsafe {
            if let Some(to) = output.element_mut(first + i) {
                *to = *stage.add(count - 1 - i);
            }
        }
        i += threads;
    }
}

/// A chunk as large as the launch says.
#[kernel(linear)]
pub fn shared_dynamic(input: &[f32], mut output: DisjointSlice<f32>) {
    let stage = shared_memory::dynamic_shared_mem::<f32>();
    let chunk = shared_memory::dynamic_shared_size() as usize / size_of::<f32>();
    let (t, threads) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    let first = thread::block_idx_x() as usize * chunk;
    // This chunk and what follows; the last chunk may be shorter.
    let input = &input[first.min(input.len())..];
    let count = chunk.min(input.len());

    let mut i = t;
    while i < count {
        // SAFETY: i < chunk, and no other thread has this element before the barrier.
        unsafe { *stage.add(i) = input[i] };
        i += threads;
    }
    thread::sync_threads();
    let mut i = t;
    while i < count {
        // SAFETY: by now the stage is only read, below count <= chunk; and no other thread has this
        // element of the output.
        unsafe {
            if let Some(to) = output.element_mut(first + i) {
                *to = *stage.add(count - 1 - i);
            }
        }
        i += threads;
    }
}
