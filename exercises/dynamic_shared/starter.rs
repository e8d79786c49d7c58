//! An array as large as the launch says
//!
//! The size of a static array in shared memory is fixed when the kernel is compiled. If the best
//! block size differs from GPU to GPU, that is either too small or a waste: what a block takes,
//! other blocks on its multiprocessor cannot have.
//!
//! *Dynamic* shared memory gets its size from the launch. The host says how many bytes each block
//! needs, next to the grid and the block, and `shared::dynamic_shared_mem::<f32>()` is a pointer to
//! the first of them. The pointer does not know the size, so nothing checks an index for you.
//!
//! # Task
//!
//! Each block reverses the order of its part of the input: as many elements as it has threads, or
//! what is left in the last block. The kernel is launched with blocks of any multiple of 32 up to
//! 1024 threads, and with 4 bytes of dynamic shared memory for each thread. Its array has 256
//! elements: in a larger block an index is out of bounds, and Rust's check of the index stops the
//! kernel with a trap. Make all block sizes work, with no more shared memory than the launch
//! provides.
//!
//! A fixed array of 1024 elements would work, too. But in a block of 64 threads it is 16 times too
//! large, and fewer of these blocks fit on a multiprocessor. The goal: on a Volta GPU (2017) they
//! fill it to 100 %.

use cuda_std::prelude::*;

/// Reverses each block's part.
///
/// # Safety
/// `input` and `output` hold `n` elements. There is a thread for each element, and each block has 4
/// bytes of dynamic shared memory for each of its threads.
#[kernel]
pub unsafe fn reverse(input: *const f32, output: *mut f32, n: u32) {
    // TODO: take the dynamic shared memory in place of this array.
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();

    let t = thread::thread_idx_x() as usize;
    // The launch decides on the size of a part.
    let part = thread::block_dim_x() as usize;
    let first = thread::block_idx_x() as usize * part;
    let count = (n as usize - first).min(part);
    if t < count {
        (*stage)[t] = *input.add(first + t);
    }
    thread::sync_threads();
    if t < count {
        *output.add(first + t) = (*stage)[count - 1 - t];
    }
}
