//! Three words, one structure: in and out side by side, through shared memory

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

/// Scales each vector to the length 1.
///
/// # Safety
/// `input` and `output` hold `n` vectors. Blocks have 256 threads, and there is a thread for each
/// vector.
#[kernel(block(256))]
pub unsafe fn normalize(input: *const Vector, output: *mut Vector, n: usize) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 3 * BLOCK]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let first = thread::block_idx_x() as usize * BLOCK;
    // In the last block there may be fewer vectors than threads.
    let words = 3 * (n - first).min(BLOCK);
    let (source, target) = (input.add(first).cast::<f32>(), output.add(first).cast::<f32>());

    // Three rounds of as many words as the block has threads, side by side.
    for round in 0..3 {
        let word = round * BLOCK + t;
        if word < words {
            (*stage)[word] = *source.add(word);
        }
    }
    thread::sync_threads();

    // No other thread uses this thread's three words between the barriers.
    if first + t < n {
        let vector = stage.cast::<Vector>().add(t);
        *vector = (*vector).unit();
    }
    thread::sync_threads();

    for round in 0..3 {
        let word = round * BLOCK + t;
        if word < words {
            *target.add(word) = (*stage)[word];
        }
    }
}
