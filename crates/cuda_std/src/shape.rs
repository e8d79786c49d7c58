//! What a kernel may assume of its launch, because it declares it: `#[kernel(block(32, 8))]` and
//! `#[kernel(linear)]`.
//!
//! `#[kernel]` calls these functions before the kernel's first statement. LLVM then knows the
//! ranges of the thread's indices, and removes the bounds checks that they prove.

use core::hint::assert_unchecked;

use crate::thread;

/// The block has exactly this shape.
///
/// # Safety
///
/// It has: the kernel's PTX says so (`.reqntid`), and a launch of another shape fails.
#[inline(always)]
pub unsafe fn assume_block<const X: u32, const Y: u32, const Z: u32>() {
    // SAFETY: a thread's index in its block is below the block's extent, which the caller knows.
    unsafe {
        assert_unchecked(thread::block_dim_x() == X);
        assert_unchecked(thread::block_dim_y() == Y);
        assert_unchecked(thread::block_dim_z() == Z);
        assert_unchecked(thread::thread_idx_x() < X);
        assert_unchecked(thread::thread_idx_y() < Y);
        assert_unchecked(thread::thread_idx_z() < Z);
    }
}

/// The launch has one dimension: grid and block extend in x only.
///
/// # Safety
///
/// It has: a safe launch checks it, and whoever launches otherwise promises it.
#[inline(always)]
pub unsafe fn assume_linear() {
    // SAFETY: where an extent is 1, the index is 0.
    unsafe {
        assert_unchecked(thread::block_dim_y() == 1);
        assert_unchecked(thread::block_dim_z() == 1);
        assert_unchecked(thread::thread_idx_y() == 0);
        assert_unchecked(thread::thread_idx_z() == 0);
        assert_unchecked(thread::grid_dim_y() == 1);
        assert_unchecked(thread::grid_dim_z() == 1);
        assert_unchecked(thread::block_idx_y() == 0);
        assert_unchecked(thread::block_idx_z() == 0);
    }
}
