//! Phases: each kind, and each way to own a tile.

use core::sync::atomic::AtomicU32;

#[cfg(target_arch = "nvptx64")]
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::phases::{Block, BlockSlice, Shared, TransposedMatrix};
use cuda_std::vector::f32x4;
use cuda_std::{DisjointSlice, Matrix, kernel};

/// Reverses 100 values, of which the 64 threads own two or one each.
// ptx: ld.shared
// ptx: st.shared
// ptx: bar.sync
// ptx: not trap
// ptx: not __coalesce
#[kernel(block(64), linear)]
pub fn phases_fill(mut block: Block<64>, mut tile: Shared<[u32; 100]>, input: &[u32], mut output: DisjointSlice<u32>) {
    block.fill(&mut tile, |_, index| input.get(index as usize).copied().unwrap_or(0));
    block.finish(|thread| {
        let tile = tile.read(thread);
        let first = thread.linear_index();
        for index in [first, first.ahead(1)] {
            if let (Some(from), Some(to)) = (tile.iter().rev().nth(index.get()), output.get_mut(index)) {
                *to = *from;
            }
        }
    });
}

/// Sums of 1, 2, 4, ... neighbours, by two tiles that take turns.
// ptx: not trap
#[kernel(block(64), linear)]
pub fn phases_take_turns(
    mut block: Block<64>,
    mut front: Shared<[u32; 64]>,
    mut back: Shared<[u32; 64]>,
    input: &[u32],
    mut output: DisjointSlice<u32>,
) {
    let length = input.len();
    block.fill(&mut front, |_, index| input.get(index as usize).copied().unwrap_or(0));
    let mut distance = 1;
    while distance < length {
        block.update(&mut back, |thread, own| {
            let (front, t) = (front.read(thread), thread.number() as usize);
            let before = t.checked_sub(distance).and_then(|i| front.get(i)).copied().unwrap_or(0);
            *own.one() = front[t].wrapping_add(before);
        });
        front.swap(&mut back);
        distance *= 2;
    }
    block.finish(|thread| {
        if let Some(to) = output.get_mut(thread.linear_index()) {
            *to = front.read(thread)[thread.number() as usize];
        }
    });
}

/// Sums by pairs, with a distance that the host gives.
#[kernel(block(64), linear)]
pub fn phases_pairs(mut block: Block<64>, mut tile: Shared<[u32; 64]>, distance: u32, mut output: DisjointSlice<u32>) {
    block.fill(&mut tile, |_, index| index);
    block.pairs(&mut tile, distance, |first, second| *first = first.wrapping_add(*second));
    block.finish(|thread| {
        if let Some(to) = output.get_mut(thread.linear_index()) {
            *to = tile.read(thread)[thread.number() as usize];
        }
    });
}

/// Counts of values, each thread in its own column, and then of all columns.
#[kernel(block(32, 2))]
pub fn phases_columns(
    mut block: Block<32, 2>,
    mut counts: Shared<[[u32; 33]; 16]>,
    mut pairs: Shared<[f32x4; 64]>,
    input: &[u32],
    mut output: BlockSlice<u32>,
) {
    block.update((&mut counts, &mut pairs), |_, (mut own, pair)| {
        own.each(|_, count| *count = 0);
        *pair.one() = f32x4::splat(0.0);
    });
    block.update((&mut counts, &mut pairs), |thread, (mut own, pair)| {
        for value in input {
            // The row is the thread's only where it is one of its y.
            if let Some(count) = own.get_mut(value % 16) {
                *count += 1;
            }
        }
        *pair.one() = f32x4::splat(thread.number() as f32);
    });
    block.finish(|thread| {
        let (counts, pairs) = (counts.read(thread), pairs.read(thread));
        let last: f32 = pairs[63].to_array().iter().sum();
        if let Some(sum) = output.get_mut(thread) {
            *sum = counts.iter().map(|row| row[..32].iter().sum::<u32>()).sum::<u32>() + last as u32;
        }
    });
}

/// Counts of values, each thread in its own column, and then of all columns. A value that has no
/// row stops the launch.
// ptx: trap
#[kernel(block(32), linear)]
pub fn phases_index(
    mut block: Block<32>,
    mut counts: Shared<[[u32; 32]; 16]>,
    input: &[u32],
    mut output: DisjointSlice<u32>,
) {
    block.update(&mut counts, |thread, mut own| {
        own.each(|_, count| *count = 0);
        let first = own[0];
        for value in input.iter().skip(thread.x() as usize).step_by(32) {
            own[*value] += first + 1;
        }
    });
    block.finish(|thread| {
        let row = counts.read(thread).get(thread.x() as usize);
        if let (Some(row), Some(to)) = (row, output.get_mut(thread.linear_index())) {
            *to = row.iter().sum();
        }
    });
}

/// A histogram by atomic additions to a tile.
// ptx: atom.shared.add
#[kernel(block(64), linear)]
pub fn phases_atomics(
    mut block: Block<64>,
    mut bins: Shared<[AtomicU32; 16]>,
    input: &[u32],
    mut output: DisjointSlice<u32>,
) {
    block.fill(&mut bins, |_, _| AtomicU32::new(0));
    block.each(|thread| {
        let bins = bins.read(thread);
        if let Some(value) = input.get(thread.linear_index().get()) {
            bins[*value as usize % 16].fetch_add(1, Relaxed);
        }
    });
    block.finish(|thread| {
        let count = bins.read(thread).get(thread.number() as usize);
        if let (Some(count), Some(to)) = (count, output.get_mut(thread.linear_index())) {
            *to = count.load(Relaxed);
        }
    });
}

/// Sums of the lanes of each warp, and of the warps.
// ptx: shfl.sync
#[kernel(block(64), linear)]
pub fn phases_warps(mut block: Block<64>, mut sums: Shared<[u32; 2]>, input: &[u32], mut output: BlockSlice<u32>) {
    let mut value = 0;
    block.each(|thread| value = input.get(thread.linear_index().get()).copied().unwrap_or(0));
    let sum = block.warp_reduce(value, u32::wrapping_add);
    block.fill_by_warp(&mut sums, |_| sum);
    block.finish_in_warp(
        |thread| sums.read(thread).get(thread.x() as usize).copied().unwrap_or(0),
        u32::wrapping_add,
        |thread, sum| {
            if let Some(to) = output.get_mut(thread) {
                *to = sum;
            }
        },
    );
}

/// The transpose of any matrix, through tiles of 8 x 9.
#[kernel(block(8, 4))]
pub fn phases_transpose(
    mut block: Block<8, 4>,
    mut tile: Shared<[[u32; 9]; 8]>,
    input: Matrix<u32>,
    mut output: TransposedMatrix<u32, 8>,
) {
    use cuda_std::thread::{block_idx_x, block_row};

    let (row, col) = (8 * block_row(), 8 * block_idx_x());
    block.update(&mut tile, |thread, mut own| {
        own.each(|line, element| *element = input.get(row + line, col + thread.x()).copied().unwrap_or(0));
    });
    block.finish(|thread| {
        let tile = tile.read(thread);
        output.each(thread, |line, to| *to = tile[thread.x() as usize][line as usize]);
    });
}
