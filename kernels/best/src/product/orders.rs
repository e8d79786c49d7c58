//! The order in which a thread takes its rows and its columns, for each kernel, found by search:
//! the best of 40 to 22,000 each (H200, CUDA 13.0, 2026-11-23 and 24). The assembler chooses the
//! registers of the sums after it, and conflicts between their banks follow from that by chance.

use super::SIDE;

/// Rows, then columns.
pub(super) const ORDERS: [[[usize; SIDE]; 2]; 5] = [
    [[3, 0, 1, 6, 7, 2, 5, 4], [1, 2, 3, 0, 6, 5, 4, 7]],
    [[2, 3, 1, 6, 7, 4, 5, 0], IN_TURN],
    [[3, 4, 5, 6, 0, 7, 1, 2], IN_TURN],
    [[7, 2, 3, 4, 6, 1, 0, 5], IN_TURN],
    [[2, 1, 4, 6, 3, 5, 7, 0], IN_TURN],
];

const IN_TURN: [usize; SIDE] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Of `matmul_best` and `gram_best`: a place in [`ORDERS`].
pub(crate) const MATMUL: usize = 0;
/// Of `matmul_best_unaligned`.
pub(crate) const MATMUL_UNALIGNED: usize = 1;
/// Of `matmul_best_small`.
pub(crate) const MATMUL_SMALL: usize = 2;
/// Of `matmul_best_small_split`.
pub(crate) const MATMUL_SMALL_SPLIT: usize = 3;
/// Of `gram_best_small`.
pub(crate) const GRAM_SMALL: usize = 4;
