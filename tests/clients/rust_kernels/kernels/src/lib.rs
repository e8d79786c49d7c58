//! Ten kernels after the examples of Rust-CUDA and cuda-oxide. What a thread computes for itself is
//! a function that the host calls, too, to check the kernel's results.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

use cuda_std::{AtomicSlice, DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread, warp};

pub mod sha256;

/// Rows and columns of a tile of [`gemm_tiled`].
pub const TILE: usize = 16;

/// `c = a + b`.
#[kernel(linear)]
pub fn vecadd(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let (Some(a), Some(b), Some(c)) = (a.get(i.get()), b.get(i.get()), c.get_mut(i)) {
        *c = *a + *b;
    }
}

/// `c = a * b` of square matrices, one thread for each element.
#[kernel(linear)]
pub fn gemm_naive(a: &[f32], b: &[f32], n: u32, mut c: DisjointSlice<f32>) {
    let (i, n) = (thread::linear_index(), n as usize);
    let (row, column) = (i.get() / n, i.get() % n);
    if let Some(c) = c.get_mut(i) {
        *c = (0..n).map(|k| a[row * n + k] * b[k * n + column]).sum();
    }
}

/// The same by tiles in shared memory. `n` is a multiple of [`TILE`], as is the block, and a block
/// is there for each tile.
#[kernel]
pub fn gemm_tiled(a: &[f32], b: &[f32], n: u32, mut c: DisjointSlice<f32>) {
    #[address_space(shared)]
    static A: SharedCell<[[f32; TILE]; TILE]> = SharedCell::uninit();
    #[address_space(shared)]
    static B: SharedCell<[[f32; TILE]; TILE]> = SharedCell::uninit();
    let (tile_a, tile_b) = (A.as_mut_ptr(), B.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (column, row) = (thread::block_idx_x() as usize * TILE + x, thread::block_idx_y() as usize * TILE + y);
    let n = n as usize;
    let mut sum = 0.0;
    for first in (0..n).step_by(TILE) {
        // SAFETY: each thread writes one element of each tile, between two barriers.
        unsafe {
            (*tile_a)[y][x] = a[row * n + first + x];
            (*tile_b)[y][x] = b[(first + y) * n + column];
        }
        thread::sync_threads();
        for k in 0..TILE {
            // SAFETY: the tiles are only read until the next barrier.
            sum += unsafe { (*tile_a)[y][k] * (*tile_b)[k][x] };
        }
        thread::sync_threads();
    }
    // SAFETY: each thread has an element of its own.
    if let Some(c) = unsafe { c.element_mut(row * n + column) } {
        *c = sum;
    }
}

/// The first word of the digest of each message of three bytes.
#[kernel(linear)]
pub fn hash(messages: &[[u8; 3]], mut digests: DisjointSlice<u32>) {
    let i = thread::linear_index();
    if let (Some(message), Some(digest)) = (messages.get(i.get()), digests.get_mut(i)) {
        *digest = sha256::digest(message)[0];
    }
}

/// `a * b mod m`, through a product of 128 bits.
pub fn multiplied(a: u64, b: u64, m: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(m)) as u64
}

/// Products of 64 bits modulo a number.
#[kernel(linear)]
pub fn modular(a: &[u64], b: &[u64], m: u64, mut out: DisjointSlice<u64>) {
    let i = thread::linear_index();
    if let (Some(a), Some(b), Some(out)) = (a.get(i.get()), b.get(i.get()), out.get_mut(i)) {
        *out = multiplied(*a, *b, m);
    }
}

/// How many steps until the sequence of this point leaves the circle, at most 100.
pub fn steps(x: f32, y: f32) -> u32 {
    let (mut a, mut b) = (0.0f32, 0.0f32);
    for step in 0..100 {
        if a * a + b * b > 4.0 {
            return step;
        }
        (a, b) = (a * a - b * b + x, 2.0 * a * b + y);
    }
    100
}

/// The point of a pixel.
pub fn point(pixel: usize, width: usize) -> (f32, f32) {
    let at = |place: usize, scale: f32| place as f32 * scale;
    (at(pixel % width, 3.0 / 64.0) - 2.0, at(pixel / width, 2.0 / 32.0) - 1.0)
}

/// A picture of the Mandelbrot set.
#[kernel(linear)]
pub fn picture(width: u32, mut out: DisjointSlice<u32>) {
    let i = thread::linear_index();
    let pixel = i.get();
    if let Some(out) = out.get_mut(i) {
        let (x, y) = point(pixel, width as usize);
        *out = steps(x, y);
    }
}

/// How many of so many drawn points are in the quarter of a circle: a generator for each thread.
pub fn hits(seed: u64, draws: u32) -> u32 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut drawn = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u32 << 24) as f32
    };
    (0..draws)
        .filter(|_| {
            let (x, y) = (drawn(), drawn());
            x * x + y * y < 1.0
        })
        .count() as u32
}

/// Draws points.
#[kernel(linear)]
pub fn draw(draws: u32, mut out: DisjointSlice<u32>) {
    let i = thread::linear_index();
    let seed = i.get() as u64 + 1;
    if let Some(out) = out.get_mut(i) {
        *out = hits(seed, draws);
    }
}

/// The sum of each warp's elements, by shuffles.
#[kernel(linear)]
pub fn warp_sums(input: &[u32], mut sums: DisjointSlice<u32>) {
    let i = thread::linear_index().get();
    let mut sum = input.get(i).copied().unwrap_or(0);
    for distance in [16, 8, 4, 2, 1] {
        // SAFETY: all lanes of the warp come here.
        sum += unsafe { warp::warp_shuffle_down(u32::MAX, sum, distance, 32).0 };
    }
    if thread::lane_id() == 0 {
        // SAFETY: each warp has one such lane, and a sum of its own.
        if let Some(to) = unsafe { sums.element_mut(i / 32) } {
            *to = sum;
        }
    }
}

/// A function of each element: generic code, made for the two functions below.
#[gpu_only]
fn map(input: &[i32], mut out: DisjointSlice<i32>, function: impl Fn(i32) -> i32) {
    let i = thread::linear_index();
    if let (Some(value), Some(out)) = (input.get(i.get()), out.get_mut(i)) {
        *out = function(*value);
    }
}

/// A closure that has a value of its surroundings, and one that matches.
#[kernel(linear)]
pub fn mapped(input: &[i32], factor: i32, out: DisjointSlice<i32>) {
    if factor > 0 {
        map(input, out, |value| value.wrapping_mul(factor).wrapping_add(1));
    } else {
        map(input, out, |value| match value {
            0 => 7,
            negative @ ..0 => -negative,
            other => other % 10,
        });
    }
}

/// How often each value comes.
#[kernel(linear)]
pub fn histogram(values: &[u8], counts: AtomicSlice<u32>) {
    for i in thread::grid_stride(values.len()) {
        if let Some(value) = values.get(i.get()) {
            counts.add((*value).into(), 1);
        }
    }
}
