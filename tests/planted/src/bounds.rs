//! Planted bugs: accesses beyond what was allocated.

#[gpu_only]
use cuda_std::vector::f32x4;
#[gpu_only]
use cuda_std::{address_space, shared, shared::SharedCell, thread};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::{in_block, in_grid};

/// The guard says `<=`: one thread writes past the end.
// run: --grid 2 --block 64 f32[100] u32:100
#[kernel]
pub unsafe fn bounds_off_by_one(output: *mut f32, count: u32) {
    let i = in_grid();
    if i <= count as usize {
        *output.add(i) = i as f32; //~ memory: out of bounds
    }
}

/// The guard says `<`.
// run: --grid 2 --block 64 f32[100] u32:100
#[kernel]
pub unsafe fn bounds_off_by_one_fixed(output: *mut f32, count: u32) {
    let i = in_grid();
    if i < count as usize {
        *output.add(i) = i as f32;
    }
}

/// No guard at all: the grid has more threads than there are elements.
// run: --grid 2 --block 64 f32[100] u32:100
#[kernel]
pub unsafe fn bounds_no_guard(output: *mut f32, count: u32) {
    let i = in_grid();
    *output.add(i) = (count as usize - i) as f32; //~ memory: out of bounds
}

/// Threads beyond the end do nothing.
// run: --grid 2 --block 64 f32[100] u32:100
#[kernel]
pub unsafe fn bounds_no_guard_fixed(output: *mut f32, count: u32) {
    let i = in_grid();
    if i < count as usize {
        *output.add(i) = (count as usize - i) as f32;
    }
}

/// The pitch is in bytes, and is used as if it were in elements.
// run: --grid 1 --block 32,8 f32[256] u32:128
#[kernel]
pub unsafe fn bounds_pitch_in_bytes(image: *mut f32, pitch_bytes: u32) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    *image.add((y * pitch_bytes + x) as usize) = 1.0; //~ memory: out of bounds
}

/// The row's offset is in bytes, that of the element in elements.
// run: --grid 1 --block 32,8 f32[256] u32:128
#[kernel]
pub unsafe fn bounds_pitch_in_bytes_fixed(image: *mut f32, pitch_bytes: u32) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    *image.byte_add((y * pitch_bytes) as usize).add(x as usize) = 1.0;
}

/// The first thread has no left neighbour, and reads before the beginning.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn bounds_left_neighbour(input: *const f32, output: *mut f32) {
    let i = in_grid();
    let left = *input.offset(i as isize - 1); //~ memory: out of bounds
    *output.add(i) = left;
}

/// The first thread is its own left neighbour.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn bounds_left_neighbour_fixed(input: *const f32, output: *mut f32) {
    let i = in_grid();
    let left = *input.offset((i as isize - 1).max(0));
    *output.add(i) = left;
}

/// The guard compares x with the height and y with the width: right only for squares.
// run: --grid 3,3 --block 16,16 u32[960] u32:40 u32:24
#[kernel]
pub unsafe fn bounds_swapped_guard(image: *mut u32, width: u32, height: u32) {
    let at = thread::index_2d();
    if at.x < height && at.y < width {
        *image.add((at.y * width + at.x) as usize) = at.x; //~ memory: out of bounds
    }
}

/// x is compared with the width.
// run: --grid 3,3 --block 16,16 u32[960] u32:40 u32:24
#[kernel]
pub unsafe fn bounds_swapped_guard_fixed(image: *mut u32, width: u32, height: u32) {
    let at = thread::index_2d();
    if at.x < width && at.y < height {
        *image.add((at.y * width + at.x) as usize) = at.x;
    }
}

/// The last thread reads the element after the shared tile.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn bounds_shared_tile(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    *tile.add(t) = *input.add(t);
    thread::sync_threads();
    *output.add(t) = *tile.add(t + 1); //~ memory: out of bounds
}

/// The last thread takes its own element.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn bounds_shared_tile_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    *tile.add(t) = *input.add(t);
    thread::sync_threads();
    *output.add(t) = *tile.add((t + 1).min(63));
}

/// The launch has dynamic shared memory for the elements, but not for the extra one at the end.
// run: --grid 1 --block 64 --shared 256 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn bounds_dynamic_shared(input: *const f32, output: *mut f32) {
    let (t, tile) = (in_block(), shared::dynamic_shared_mem::<f32>());
    *tile.add(t + 1) = *input.add(t); //~ memory: out of bounds
    if t == 0 {
        *tile = 0.0;
    }
    thread::sync_threads();
    *output.add(t) = *tile.add(t);
}

/// The launch has four bytes more.
// run: --grid 1 --block 64 --shared 260 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn bounds_dynamic_shared_fixed(input: *const f32, output: *mut f32) {
    let (t, tile) = (in_block(), shared::dynamic_shared_mem::<f32>());
    *tile.add(t + 1) = *input.add(t);
    if t == 0 {
        *tile = 0.0;
    }
    thread::sync_threads();
    *output.add(t) = *tile.add(t);
}

/// A thread's local array has eight counters, and the data selects a ninth.
// run: --grid 1 --block 32 u32[32]=ramp u32[32]
#[kernel]
pub unsafe fn bounds_local_array(input: *const u32, output: *mut u32) {
    let i = in_grid();
    let mut counters = [0_u32; 8];
    let counters = counters.as_mut_ptr();
    for step in 0..4 {
        let counter = counters.add((*input.add(i) as usize + step) % 9);
        counter.write_volatile(counter.read_volatile() + 1); //~ memory: out of bounds
    }
    *output.add(i) = *counters.add(i % 8);
}

/// The index is taken modulo eight.
// run: --grid 1 --block 32 u32[32]=ramp u32[32]
#[kernel]
pub unsafe fn bounds_local_array_fixed(input: *const u32, output: *mut u32) {
    let i = in_grid();
    let mut counters = [0_u32; 8];
    let counters = counters.as_mut_ptr();
    for step in 0..4 {
        let counter = counters.add((*input.add(i) as usize + step) % 8);
        counter.write_volatile(counter.read_volatile() + 1);
    }
    *output.add(i) = *counters.add(i % 8);
}

/// Each thread takes four floats, but the index counts single floats.
// run: --grid 1 --block 32 f32[128]
#[kernel]
pub unsafe fn bounds_vector_stride(output: *mut f32) {
    let i = in_grid();
    *output.cast::<f32x4>().add(4 * i) = f32x4::splat(i as f32); //~ memory: out of bounds
}

/// The index counts vectors.
// run: --grid 1 --block 32 f32[128]
#[kernel]
pub unsafe fn bounds_vector_stride_fixed(output: *mut f32) {
    let i = in_grid();
    *output.cast::<f32x4>().add(i) = f32x4::splat(i as f32);
}

/// 102 floats are 25 vectors and a half: the last one extends past the end.
// run: --grid 1 --block 32 f32[102] u32:102
#[kernel]
pub unsafe fn bounds_vector_tail(output: *mut f32, count: u32) {
    let i = in_grid();
    if i < count.div_ceil(4) as usize {
        *output.cast::<f32x4>().add(i) = f32x4::splat(i as f32); //~ memory: out of bounds
    }
}

/// The tail is written one by one.
// run: --grid 1 --block 32 f32[102] u32:102
#[kernel]
pub unsafe fn bounds_vector_tail_fixed(output: *mut f32, count: u32) {
    let i = in_grid();
    if i < (count / 4) as usize {
        *output.cast::<f32x4>().add(i) = f32x4::splat(i as f32);
    } else if i == (count / 4) as usize {
        for tail in 4 * i..count as usize {
            *output.add(tail) = i as f32;
        }
    }
}

/// A grid-stride loop, unrolled by two: the second access has no guard.
// run: --grid 2 --block 32 f32[150] u32:150
#[kernel]
pub unsafe fn bounds_unrolled_stride(output: *mut f32, count: u32) {
    let stride = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut i = in_grid();
    while i < count as usize {
        *output.add(i) = 1.0;
        *output.add(i + stride) = 2.0; //~ memory: out of bounds
        i += 2 * stride;
    }
}

/// Each access has its guard.
// run: --grid 2 --block 32 f32[150] u32:150
#[kernel]
pub unsafe fn bounds_unrolled_stride_fixed(output: *mut f32, count: u32) {
    let stride = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut i = in_grid();
    while i < count as usize {
        *output.add(i) = 1.0;
        if i + stride < count as usize {
            *output.add(i + stride) = 2.0;
        }
        i += 2 * stride;
    }
}

/// Indices count from 1 in the data, and from 0 in the kernel.
// run: --grid 1 --block 4 u32[4]=3,1,4,2 f32[4]=ramp f32[4]
#[kernel]
pub unsafe fn bounds_gather(indices: *const u32, input: *const f32, output: *mut f32) {
    let i = in_grid();
    let index = *indices.add(i) as usize;
    *output.add(i) = *input.add(index); //~ memory: out of bounds
}

/// The kernel subtracts 1.
// run: --grid 1 --block 4 u32[4]=3,1,4,2 f32[4]=ramp f32[4]
#[kernel]
pub unsafe fn bounds_gather_fixed(indices: *const u32, input: *const f32, output: *mut f32) {
    let i = in_grid();
    let index = *indices.add(i) as usize - 1;
    *output.add(i) = *input.add(index);
}
