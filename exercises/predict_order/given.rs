//! Which strips come from DRAM?
//!
//! A product in tiles reads, for each tile, a row of A and a column of B. Here these are *strips*
//! of 64 KiB each: A has 16, B has 16, and there are 16 x 16 tiles. One block walks them all, and
//! for each reads both strips. (It only adds them up: its reads are the point. L1 no longer has
//! a strip when it is read again.)
//!
//! L2 of `fermi` has 768 KiB, so it holds 12 strips; that of `kepler` has 1536 KiB, 24 strips. Both
//! evict what was used least recently. A strip that L2 still has needs no DRAM; any other one costs
//! 65,536 bytes.
//!
//! # Task
//!
//! Predict the bytes that DRAM moves for each kernel. For a strip that is read again, ask how many
//! other strips were read meanwhile.

use cuda_std::prelude::*;

/// Strips of A, and of B.
const STRIPS: usize = 16;
/// Words of a strip.
const WORDS: usize = 16384;

/// Walks the tiles in bands of so many rows, each column by column.
///
/// # Safety
/// `a` and `b` hold 16 strips each, `sums` 1024 words. One block of 1024 threads.
#[inline(always)]
unsafe fn walk(a: *const u32, b: *const u32, sums: *mut u32, band: usize) {
    let (t, mut sum) = (thread::thread_idx_x() as usize, 0_u32);
    let mut first = 0;
    while first < STRIPS {
        for column in 0..STRIPS {
            for row in first..first + band {
                for i in (t..WORDS).step_by(1024) {
                    // SAFETY: both are in their strips.
                    sum = sum.wrapping_add(unsafe { *a.add(row * WORDS + i) });
                    sum ^= unsafe { *b.add(column * WORDS + i) };
                }
            }
        }
        first += band;
    }
    *sums.add(t) = sum;
}

/// Row by row: for each row of tiles, all 16 columns.
///
/// # Safety
/// As for [`walk`].
#[kernel(block(1024))]
pub unsafe fn rows(a: *const u32, b: *const u32, sums: *mut u32) {
    walk(a, b, sums, 1);
}

/// In bands of 4 rows: 4 tiles of column 0, then 4 of column 1, and so on.
///
/// # Safety
/// As for [`walk`].
#[kernel(block(1024))]
pub unsafe fn bands_of_4(a: *const u32, b: *const u32, sums: *mut u32) {
    walk(a, b, sums, 4);
}

/// In bands of 8 rows.
///
/// # Safety
/// As for [`walk`].
#[kernel(block(1024))]
pub unsafe fn bands_of_8(a: *const u32, b: *const u32, sums: *mut u32) {
    walk(a, b, sums, 8);
}

/// In one band of 16 rows: column by column.
///
/// # Safety
/// As for [`walk`].
#[kernel(block(1024))]
pub unsafe fn columns(a: *const u32, b: *const u32, sums: *mut u32) {
    walk(a, b, sums, 16);
}
