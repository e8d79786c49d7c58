//! Three words, one structure
//!
//! A vector of three floats takes 12 bytes, which no single load can move. So the kernel makes
//! three loads, one for each field, and in each of them the lanes of a warp are 12 bytes apart: 12
//! sectors, where 32 neighbours would take 4. The stores are as bad.
//!
//! Often the layout is not yours to change. But the vectors of a block are consecutive words: the
//! block can load them as plain words, side by side, into *shared memory*, the block's own memory
//! in the multiprocessor. There each thread takes the three words of its vector.
//!
//! Shared memory has no sectors. It has 32 *banks*, with word `w` in bank `w % 32`. A request is
//! served at once if its lanes use 32 different banks; lanes with different words in one bank take
//! turns, a *bank conflict*. Lanes that are 3 words apart have no conflicts, since 3 and 32 have no
//! common factor.
//!
//! # Task
//!
//! Your kernel scales each vector to length 1. Make its loads and stores take 4 sectors each:
//!
//! 1. load the block's words side by side into `stage`;
//! 2. wait until all threads have done so (`thread::sync_threads`);
//! 3. each thread computes its own vector in `stage`;
//! 4. wait again, and store the words side by side.
//!
//! The last block may have fewer vectors than threads. It must not load past the end of the array.
//!
//! # What the clock says
//!
//! On an H200 (2^23 vectors) the model solution takes as long as this kernel, within 5 %: the L1
//! cache keeps the sectors for the other two loads. Without that cache, each sector would be
//! fetched three times.

use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: usize = 256;

/// Three words: 12 bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Vector {
    x: f32,
    y: f32,
    z: f32,
}

impl Vector {
    /// The vector of length 1 with the same direction.
    fn unit(self) -> Vector {
        let Vector { x, y, z } = self;
        let length = (x * x + y * y + z * z).sqrt();
        Vector { x: x / length, y: y / length, z: z / length }
    }
}

/// Scales each vector to length 1.
///
/// # Safety
/// `input` and `output` hold `n` vectors. Blocks have 256 threads, and there is a thread for each
/// vector.
#[kernel(block(256))]
pub unsafe fn normalize(input: *const Vector, output: *mut Vector, n: usize) {
    // TODO: use this array between the threads and global memory; `(*stage)[word]` is an element.
    //     #[address_space(shared)]
    //     static STAGE: SharedCell<[f32; 3 * BLOCK]> = SharedCell::uninit();
    //     let stage = STAGE.as_mut_ptr();
    let i = thread::block_idx_x() as usize * BLOCK + thread::thread_idx_x() as usize;
    if i < n {
        *output.add(i) = (*input.add(i)).unit();
    }
}
