//! Indices, the barrier of the block and its votes, fences.

#[gpu_only]
use cuda_std::thread;
use cuda_std::{gpu_only, kernel};

/// Writes the 22 numbers of each thread's position in block and grid.
///
/// # Safety
/// `output` has 22 elements for each thread.
#[kernel]
pub unsafe fn thread_indices(output: *mut u32) {
    let (thread, block) = (thread::thread_idx(), thread::block_idx());
    let (block_dim, grid_dim) = (thread::block_dim(), thread::grid_dim());
    let (flat, plane, space) = (thread::index_1d(), thread::index_2d(), thread::index_3d());
    let numbers = [
        thread.x,    // ptx: %tid.x
        thread.y,    // ptx: %tid.y
        thread.z,    // ptx: %tid.z
        block.x,     // ptx: %ctaid.x
        block.y,     // ptx: %ctaid.y
        block.z,     // ptx: %ctaid.z
        block_dim.x, // ptx: %ntid.x
        block_dim.y, // ptx: %ntid.y
        block_dim.z, // ptx: %ntid.z
        grid_dim.x,  // ptx: %nctaid.x
        grid_dim.y,  // ptx: %nctaid.y
        grid_dim.z,  // ptx: %nctaid.z
        block_dim.product(),
        flat,
        thread::wide_index_1d() as u32,
        plane.x,
        plane.y,
        space.x,
        space.z,
        thread::lane_id(), // ptx: %laneid
        thread::warp_size(),
        u32::from(thread::first()),
    ];
    let start = thread::index() as usize * numbers.len();
    for (place, number) in numbers.into_iter().enumerate() {
        *output.add(start + place) = number;
    }
}

/// The single coordinates, without the others.
///
/// # Safety
/// `output` has an element for each thread.
#[kernel]
pub unsafe fn thread_coordinates(output: *mut u32) {
    let thread = thread::thread_idx_x() + thread::thread_idx_y() + thread::thread_idx_z();
    let block = thread::block_idx_x() + thread::block_idx_y() + thread::block_idx_z();
    let block_dim = thread::block_dim_x() * thread::block_dim_y() * thread::block_dim_z();
    let grid_dim = thread::grid_dim_x() * thread::grid_dim_y() * thread::grid_dim_z();
    *output.add(thread::index() as usize) = thread + block + block_dim + grid_dim;
}

/// Counts, for each thread, the threads of its block whose input is not 0, and whether all or any
/// are not 0.
///
/// # Safety
/// `input` has an element for each thread, `output` three.
#[kernel]
pub unsafe fn thread_barriers(input: *const u32, output: *mut u32) {
    let i = thread::index_1d() as usize;
    let predicate = *input.add(i);
    let count = thread::sync_threads_count(predicate); // ptx: bar.red.popc.u32
    let all = thread::sync_threads_and(predicate); // ptx: bar.red.and.pred
    let any = thread::sync_threads_or(predicate); // ptx: bar.red.or.pred
    thread::sync_threads(); // ptx: bar.sync
    *output.add(3 * i) = count;
    *output.add(3 * i + 1) = all;
    *output.add(3 * i + 2) = any;
}

/// Writes 1 to 5, each after a fence.
///
/// # Safety
/// `output` has five elements for each thread.
#[kernel]
pub unsafe fn thread_fences(output: *mut u32) {
    let output = output.add(5 * thread::index_1d() as usize);
    output.write_volatile(1);
    thread::block_fence(); // ptx: membar.cta
    output.add(1).write_volatile(2);
    thread::device_fence(); // ptx: membar.gl
    output.add(2).write_volatile(3);
    thread::grid_fence();
    output.add(3).write_volatile(4);
    thread::system_fence(); // ptx: membar.sys
    thread::nanosleep(100); // ptx: nanosleep.u32
    output.add(4).write_volatile(5);
}
