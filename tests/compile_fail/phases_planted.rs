//! Planted races of `tests/planted`, written in phases: one error in each function.
//! `tests/compile_fail.rs` expects these messages.

//~ cannot borrow `tile` as immutable because it is also borrowed as mutable
//~ cannot borrow `sums` as immutable because it is also borrowed as mutable
//~ cannot borrow `scale` as immutable because it is also borrowed as mutable
//~ cannot assign to data in a `&` reference
//~ due to 6 previous errors

use cuda_std::DisjointSlice;
use cuda_std::phases::{Block, Shared};

/// `race_reverse`: no barrier between filling the tile and reading what another warp filled.
pub fn race_reverse(
    mut block: Block<64>,
    mut tile: Shared<[f32; 64]>,
    input: &[f32; 64],
    mut output: DisjointSlice<f32>,
) {
    block.update(&mut tile, |thread, own| {
        let t = thread.number() as usize;
        *own.one() = input[t];
        if let Some(to) = output.get_mut(thread.linear_index()) {
            *to = tile.read(thread)[63 - t];
        }
    });
}

/// `race_second_barrier`: a fast warp fills the next tile while a slow one still reads this one.
pub fn race_second_barrier(mut block: Block<64>, mut tile: Shared<[f32; 64]>, input: &[f32; 256]) -> f32 {
    let mut sum = 0.0;
    for step in 0..4 {
        block.update(&mut tile, |thread, own| {
            let t = thread.number() as usize;
            if step > 0 {
                sum += tile.read(thread)[63 - t];
            }
            *own.one() = input[64 * step + t];
        });
    }
    sum
}

/// `race_reduction`: a reduction by halves with no barrier in the loop.
pub fn race_reduction(mut block: Block<256>, mut sums: Shared<[f32; 256]>) {
    block.update(&mut sums, |thread, own| {
        let t = thread.number() as usize;
        let sum = own.one();
        let mut half = 128;
        while half >= 32 {
            if t < half {
                *sum += sums.read(thread)[t + half];
            }
            half /= 2;
        }
    });
}

/// `race_prefix_sum`: a prefix sum in place, whose step reads what its neighbour writes.
pub fn race_prefix_sum(mut block: Block<128>, mut sums: Shared<[u32; 128]>) {
    for distance in [1, 2, 4, 8, 16, 32, 64] {
        block.update(&mut sums, |thread, own| {
            let t = thread.number() as usize;
            let before = if t >= distance { sums.read(thread)[t - distance] } else { 0 };
            *own.one() += before;
        });
    }
}

/// `race_histogram`: two threads that count the same value lose one.
pub fn race_histogram(mut block: Block<64>, bins: Shared<[u32; 16]>, input: &[u32; 64]) {
    block.each(|thread| bins.read(thread)[input[thread.number() as usize] as usize % 16] += 1);
}

/// `race_broadcast`: thread 0 computes a value for all threads, and no thread waits for it.
pub fn race_broadcast(
    mut block: Block<64>,
    mut scale: Shared<[f32; 1]>,
    input: &[f32; 64],
    mut output: DisjointSlice<f32>,
) {
    block.update(&mut scale, |thread, mut own| {
        own.each(|_, scale| *scale = 1.0 / input[63]);
        if let Some(to) = output.get_mut(thread.linear_index()) {
            *to = input[thread.number() as usize] * scale.read(thread)[0];
        }
    });
}

fn main() {}
