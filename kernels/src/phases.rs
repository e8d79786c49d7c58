//! Textbook kernels again, as sequences of phases: safe functions in which no two threads race.
//!
//! The textbook kernels say `unsafe` where they use shared memory, because a compiler that sees one
//! thread cannot know what another one does. Here the kernel is written for the block. It runs
//! phases, in which a thread writes only what it owns, or all threads only read; a barrier ends
//! each ([`cuda_std::phases`] says why that is enough). The accesses are the twin's, one by one:
//!
//! | kernel | its twin | what the compiler now refuses |
//! | --- | --- | --- |
//! | [`transpose_phased`] | [`transpose_padded`] | to read the tile in the phase that writes it |
//! | [`matmul_phased16`] | [`matmul_tiled16`] | to write a tile that others still read |
//! | [`gram_phased32`] | [`gram_padded32`] | to keep a reference to a tile for the next phase |
//! | [`reduce3_phased_sum_f32`] | [`reduce3_sum_f32`] | to add what another thread writes |
//! | [`reduce6_phased_sum_f32`] | [`reduce6_sum_f32`] | shuffles that some lanes skip |
//! | [`rows_sum_phased`] | [`rows_sum_shared`] | two threads that write a row's result |
//! | [`rows_column_means_phased`] | [`rows_column_means_shared`] | to read a sum too early |
//!
//! What to look for: nothing. The counters are those of the twins, and the PTX has no more
//! barriers, checks or registers.
//!
//! [`transpose_padded`]: crate::transpose::transpose_padded
//! [`matmul_tiled16`]: crate::matmul::matmul_tiled16
//! [`gram_padded32`]: crate::gram::gram_padded32
//! [`reduce3_sum_f32`]: crate::reduce::reduce3_sum_f32
//! [`reduce6_sum_f32`]: crate::reduce::reduce6_sum_f32
//! [`rows_sum_shared`]: crate::rows::rows_sum_shared
//! [`rows_column_means_shared`]: crate::rows::rows_column_means_shared

use cuda_std::phases::{Block, BlockSlice, Shared, TransposedMatrix};
use cuda_std::{DisjointMatrix, DisjointSlice, Matrix, kernel};
#[cfg(target_arch = "nvptx64")]
use cuda_std::{GpuFloat, thread};

/// Threads of a block of the reductions and of the rows.
pub const REDUCE_BLOCK: u32 = 256;

/// The padded tile: filled by rows, and read by columns in the next phase.
///
/// The compiler refuses to read the tile in the phase that writes it, so no barrier can be missing
/// between. The output's type says which elements a block has: those of its own tile, with rows and
/// columns exchanged.
#[kernel(block(32, 8))]
pub fn transpose_phased(
    mut block: Block<32, 8>,
    mut tile: Shared<[[f32; 33]; 32]>,
    input: Matrix<f32>,
    mut output: TransposedMatrix<f32, 32>,
) {
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());
    block.update(&mut tile, |thread, mut own| {
        own.each(|line, element| {
            if let Some(from) = input.get(row + line, col + thread.x()) {
                *element = *from;
            }
        });
    });
    block.finish(|thread| {
        let tile = tile.read(thread);
        output.each(thread, |line, to| *to = tile[thread.x() as usize][line as usize]);
    });
}

/// The product through tiles of 16 x 16.
///
/// The compiler refuses to write a tile in a phase that reads it, so the second barrier of the
/// loop cannot be missing, either. `sum` is an ordinary variable of the thread, which lives through
/// all phases.
#[kernel(block(16, 16))]
pub fn matmul_phased16(
    mut block: Block<16, 16>,
    mut a_tile: Shared<[[f32; 16]; 16]>,
    mut b_tile: Shared<[[f32; 16]; 16]>,
    a: Matrix<f32>,
    b: Matrix<f32>,
    mut c: DisjointMatrix<f32>,
) {
    let mut sum = 0.0;
    for k in (0..a.cols()).step_by(16) {
        block.update((&mut a_tile, &mut b_tile), |thread, (a_own, b_own)| {
            let (at, x, y) = (thread.position(), thread.x(), thread.y());
            *a_own.one() = a.get(at.row(), k + x).copied().unwrap_or(0.0);
            *b_own.one() = b.get(k + y, at.col()).copied().unwrap_or(0.0);
        });
        block.each(|thread| {
            let (a_tile, b_tile) = (a_tile.read(thread), b_tile.read(thread));
            let (x, y) = (thread.x() as usize, thread.y() as usize);
            for i in 0..16 {
                sum = a_tile[y][i].mul_add(b_tile[i][x], sum);
            }
        });
    }
    block.finish(|thread| {
        if let Some(c) = c.get_mut(thread.position()) {
            *c = sum;
        }
    });
}

/// A matrix times its own transpose, through tiles of 32 x 33.
///
/// The compiler refuses to keep a reference to a tile from one phase to the next, where the tile
/// may hold other numbers.
#[kernel(block(32, 32))]
pub fn gram_phased32(
    mut block: Block<32, 32>,
    mut rows: Shared<[[f32; 33]; 32]>,
    mut cols: Shared<[[f32; 33]; 32]>,
    a: Matrix<f32>,
    mut c: DisjointMatrix<f32>,
) {
    let mut sum = 0.0;
    for k in (0..a.cols()).step_by(32) {
        block.update((&mut rows, &mut cols), |thread, (row_own, col_own)| {
            // The second tile has the rows of A that are the tile's columns of C.
            let other = 32 * thread::block_idx_x() + thread.y();
            let row = thread.position().row();
            *row_own.one() = a.get(row, k + thread.x()).copied().unwrap_or(0.0);
            *col_own.one() = a.get(other, k + thread.x()).copied().unwrap_or(0.0);
        });
        block.each(|thread| {
            let (rows, cols) = (rows.read(thread), cols.read(thread));
            let (x, y) = (thread.x() as usize, thread.y() as usize);
            for i in 0..32 {
                sum = rows[y][i].mul_add(cols[x][i], sum);
            }
        });
    }
    block.finish(|thread| {
        if let Some(c) = c.get_mut(thread.position()) {
            *c = sum;
        }
    });
}

/// The third step of the reduction: the first half adds the second half.
///
/// The compiler refuses to read any element but the thread's own two, of which no other thread has
/// one in this step. The output has one element for each block, which its first thread writes.
#[kernel(block(256), linear)]
pub fn reduce3_phased_sum_f32(
    mut block: Block<256>,
    mut stage: Shared<[f32; 256]>,
    input: &[f32],
    mut output: BlockSlice<f32>,
) {
    block.fill(&mut stage, |thread, _| {
        input.get(thread.linear_index().get()).copied().unwrap_or(0.0)
    });
    let mut distance = 128;
    while distance > 0 {
        block.pairs(&mut stage, distance, |first, second| *first += *second);
        distance /= 2;
    }
    block.finish(|thread| {
        if let Some(sum) = output.get_mut(thread) {
            *sum = stage.read(thread)[0];
        }
    });
}

/// The sixth step: warps add up by shuffles, and the first warp adds up the warps' sums.
///
/// The compiler refuses shuffles in a branch that some lanes of a warp skip: a phase of warps has
/// all lanes of each, or all of the first warp.
#[kernel(block(256), linear)]
pub fn reduce6_phased_sum_f32(
    mut block: Block<256>,
    mut warp_sums: Shared<[f32; 8]>,
    input: &[f32],
    mut output: BlockSlice<f32>,
) {
    let i = thread::block_idx_x() as usize * 512 + thread::thread_idx_x() as usize;
    let second = input.get(i + 256).copied().unwrap_or(0.0);
    let sum = input.get(i).copied().unwrap_or(0.0) + second;

    let sum = block.warp_reduce(sum, |a, b| a + b);
    block.fill_by_warp(&mut warp_sums, |_| sum);
    block.finish_in_warp(
        |thread| warp_sums.read(thread).get(thread.x() as usize).copied().unwrap_or(0.0),
        |a, b| a + b,
        |thread, sum| {
            if let Some(to) = output.get_mut(thread) {
                *to = sum;
            }
        },
    );
}

/// The sum of each row, by a block for each row.
///
/// The compiler refuses to write a row's sum in any thread but the first of its block. The other
/// statistics are in [`crate::rows_all`].
#[kernel(block(256), linear)]
pub fn rows_sum_phased(
    mut block: Block<256>,
    mut stage: Shared<[f32; 256]>,
    matrix: Matrix<f32>,
    mut sums: BlockSlice<f32>,
) {
    block.fill(&mut stage, |thread, _| {
        let mut sum = 0.0;
        if let Some(row) = matrix.row(thread::block_idx_x()) {
            let mut i = thread.x() as usize;
            while let Some(element) = row.get(i) {
                sum += element;
                i += 256;
            }
        }
        sum
    });
    let mut distance = 128;
    while distance > 0 {
        block.pairs(&mut stage, distance, |first, second| *first += *second);
        distance /= 2;
    }
    block.finish(|thread| {
        if let Some(sum) = sums.get_mut(thread) {
            *sum = stage.read(thread)[0];
        }
    });
}

/// The mean of each column, by eight threads for each column.
///
/// The compiler refuses to add up a column's sums in the phase that makes them. A thread's index in
/// a linear launch is its column, and threads of the rows below have none.
#[kernel(block(32, 8))]
pub fn rows_column_means_phased(
    mut block: Block<32, 8>,
    mut sums: Shared<[[f32; 32]; 8]>,
    matrix: Matrix<f32>,
    mut means: DisjointSlice<f32>,
) {
    block.update(&mut sums, |thread, own| {
        let mut sum = 0.0;
        for row in (thread.y()..matrix.rows()).step_by(8) {
            sum += matrix.get(row, thread.position().col()).copied().unwrap_or(0.0);
        }
        *own.one() = sum;
    });
    block.finish(|thread| {
        if let Some(mean) = means.get_mut(thread.linear_index()) {
            let mut sum = 0.0;
            for row in sums.read(thread) {
                sum += row[thread.x() as usize];
            }
            *mean = sum / matrix.rows() as f32;
        }
    });
}
