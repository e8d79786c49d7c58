//! Outputs of which each thread reaches its own elements, matrices, and declared launches.

use cuda_std::gpu_only;
#[gpu_only]
use cuda_std::thread;
use cuda_std::vector::f32x4;
use cuda_std::{DisjointMatrix, DisjointSlice, Matrix, kernel};

/// Counts, in each element, the threads that have its index.
#[kernel]
pub fn disjoint_any_shape(mut output: DisjointSlice<u32>) {
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output += 1;
    }
}

/// The same in a launch that is known to be linear.
// ptx: not %tid.y
#[kernel(linear)]
pub fn disjoint_linear(mut output: DisjointSlice<u32>) {
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output += 1;
    }
}

/// Counts, in each element, the threads that have its index in a loop over the grid.
#[kernel]
pub fn disjoint_grid_stride(mut output: DisjointSlice<u32>) {
    for i in thread::grid_stride(output.len()) {
        if let Some(output) = output.get_mut(i) {
            *output += 1;
        }
    }
}

/// The same with three indices in each round of the loop.
#[kernel]
pub fn disjoint_ahead(mut output: DisjointSlice<u32>) {
    for i in thread::grid_stride(output.len()).step_by(3) {
        for k in 0..3 {
            if let Some(output) = output.get_mut(i.ahead(k)) {
                *output += 1;
            }
        }
    }
}

/// Counts as many rounds ahead as the host says, where an index may be too large for 64 bits.
#[kernel]
pub fn disjoint_far_ahead(mut output: DisjointSlice<u32>, rounds: usize) {
    if let Some(output) = output.get_mut(thread::linear_index().ahead(rounds)) {
        *output += 1;
    }
    for i in thread::grid_stride(output.len()).skip(rounds) {
        if let Some(output) = output.get_mut(i) {
            *output += 1;
        }
    }
}

/// Words of 16 bytes: a load and a store each.
// ptx: ld.global.nc.v4.b32
// ptx: st.global.v4.b32
#[kernel(linear)]
pub fn disjoint_words(input: &[f32x4], mut output: DisjointSlice<f32x4>) {
    let i = thread::linear_index();
    if let (Some(input), Some(output)) = (input.get(i.get()), output.get_mut(i)) {
        *output = *input + f32x4::splat(1.0);
    }
}

/// Adds twice the input to each element of a pitched matrix, by the thread at its position. The
/// compiler sees that the input is only read: no pointer is an element or `None`.
// ptx: ld.global.nc.b32
#[kernel]
pub fn disjoint_matrix(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let at = thread::position();
    assert!(at.row() / thread::block_dim_y() == thread::block_row() || thread::thread_idx_z() > 0);
    if let (Some(input), Some(output)) = (input.get(at.row(), at.col()), output.get_mut(at)) {
        *output += 2.0 * input;
    }
}

/// The product of two matrices, one thread an element: a row by iterator, a column by iterator.
// ptx: ld.global.nc.b32
// ptx: not trap
#[kernel(block(8, 4))]
pub fn disjoint_product(a: Matrix<f32>, b: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    let at = thread::position();
    if let (Some(row), Some(c)) = (a.row(at.row()), c.get_mut(at)) {
        *c = row.iter().zip(b.column(at.col())).map(|(a, b)| a * b).sum();
    }
}

/// An array whose indices the block's shape proves.
// ptx: .reqntid 32, 8, 1
// ptx: not trap
#[kernel(block(32, 8))]
pub fn disjoint_tile(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let mut tile = [[0.0; 8]; 32];
    let at = thread::position();
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    tile[x][y] = *input.get(at.row(), at.col()).unwrap_or(&0.0);
    if let Some(output) = output.get_mut(at) {
        *output = tile[x][y];
    }
}
