//! Planted bugs: races between blocks, which run in any order and at the same time, without a barrier that spans
//! them.

#[gpu_only]
use cuda_std::{address_space, atomic, shared::SharedCell, thread};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::{block, in_block, in_grid};

/// A stencil in place: at the edge of a block, the neighbour has been overwritten, or not.
// run: --grid 4 --block 64 f32[256]=ramp
#[kernel]
pub unsafe fn race_stencil_in_place(data: *mut f32) {
    let i = in_grid();
    let right = *data.add((i + 1).min(255)); //~ race: global
    thread::sync_threads();
    *data.add(i) += right; //~ race: global
}

/// Input and output are two buffers.
// run: --grid 4 --block 64 f32[256]=ramp f32[256]
#[kernel]
pub unsafe fn race_stencil_in_place_fixed(data: *mut f32, output: *mut f32) {
    let i = in_grid();
    let right = *data.add((i + 1).min(255));
    thread::sync_threads();
    *output.add(i) = *data.add(i) + right;
}

/// A histogram of the whole grid without atomic operations; the values of a block are all different.
// run: --grid 4 --block 64 u32[256]=ramp u32[64]
#[kernel]
pub unsafe fn race_grid_histogram(input: *const u32, bins: *mut u32) {
    let value = *input.add(in_grid());
    *bins.add(value as usize % 64) += 1; //~ race: global
}

/// The addition is atomic.
// run: --grid 4 --block 64 u32[256]=ramp u32[64]
#[kernel]
pub unsafe fn race_grid_histogram_fixed(input: *const u32, bins: *mut u32) {
    let value = *input.add(in_grid());
    atomic::add(bins.add(value as usize % 64), 1);
}

/// One thread of each block counts its block, by an ordinary addition.
// run: --grid 8 --block 32 u32[1]
#[kernel]
pub unsafe fn race_block_counter(counter: *mut u32) {
    if in_block() == 0 {
        *counter += 1; //~ race: global
    }
}

/// The addition is atomic.
// run: --grid 8 --block 32 u32[1]
#[kernel]
pub unsafe fn race_block_counter_fixed(counter: *mut u32) {
    if in_block() == 0 {
        atomic::add(counter, 1);
    }
}

/// An atomic addition whose scope is one block, on a counter of all blocks.
// run: --grid 8 --block 32 u32[1]
#[kernel]
pub unsafe fn race_narrow_scope(counter: *mut u32) {
    atomic::block::add(counter, 1); //~ race: global
}

/// The scope is the device.
// run: --grid 8 --block 32 u32[1]
#[kernel]
pub unsafe fn race_narrow_scope_fixed(counter: *mut u32) {
    atomic::add(counter, 1);
}

/// Block 0 writes data, then a flag. Without a fence, the flag may arrive before the data.
// run: --grid 2 --block 32 f32[32] u32[1] f32[32]
#[kernel]
pub unsafe fn race_flag(data: *mut f32, flag: *mut u32, output: *mut f32) {
    let t = in_block();
    if block() == 0 {
        *data.add(t) = t as f32; //~ race: global
        thread::sync_threads();
        if t == 0 {
            atomic::exch(flag, 1);
        }
    } else {
        while atomic::add(flag, 0) == 0 {}
        *output.add(t) = data.add(t).read_volatile(); //~ race: global
    }
}

/// A fence on either side: after the writes before the flag, and before the reads after it.
// run: --grid 2 --block 32 f32[32] u32[1] f32[32]
#[kernel]
pub unsafe fn race_flag_fixed(data: *mut f32, flag: *mut u32, output: *mut f32) {
    let t = in_block();
    if block() == 0 {
        *data.add(t) = t as f32;
        thread::sync_threads();
        if t == 0 {
            thread::device_fence();
            atomic::exch(flag, 1);
        }
    } else {
        while atomic::add(flag, 0) == 0 {}
        thread::device_fence();
        *output.add(t) = data.add(t).read_volatile();
    }
}

/// The block that is last to count itself adds up the sums of all. Without a fence, they may not have arrived.
// run: --grid 4 --block 32 f32[4] u32[1] f32[1]
#[kernel]
pub unsafe fn race_last_block(sums: *mut f32, counter: *mut u32, output: *mut f32) {
    if in_block() == 0 {
        *sums.add(block()) = block() as f32; //~ race: global
        if atomic::add(counter, 1) == 3 {
            let mut total = 0.0;
            for other in 0..4 {
                total += sums.add(other).read_volatile(); //~ race: global
            }
            *output = total;
        }
    }
}

/// A fence between the sum and the count, and one between the count and the sums.
// run: --grid 4 --block 32 f32[4] u32[1] f32[1]
#[kernel]
pub unsafe fn race_last_block_fixed(sums: *mut f32, counter: *mut u32, output: *mut f32) {
    if in_block() == 0 {
        *sums.add(block()) = block() as f32;
        thread::device_fence();
        if atomic::add(counter, 1) == 3 {
            thread::device_fence();
            let mut total = 0.0;
            for other in 0..4 {
                total += sums.add(other).read_volatile();
            }
            *output = total;
        }
    }
}

/// Each block writes its tile and one element more, which belongs to the next.
// run: --grid 4 --block 65 f32[257]
#[kernel]
pub unsafe fn race_overlapping_tiles(output: *mut f32) {
    *output.add(64 * block() + in_block()) = in_block() as f32; //~ race: global
}

/// Each block has its own tile.
// run: --grid 4 --block 65 f32[260]
#[kernel]
pub unsafe fn race_overlapping_tiles_fixed(output: *mut f32) {
    *output.add(65 * block() + in_block()) = in_block() as f32;
}

/// All add atomically, and one thread of each block overwrites the total by an ordinary store.
// run: --grid 4 --block 32 u32[1]
#[kernel]
pub unsafe fn race_mixed_atomic(total: *mut u32) {
    atomic::add(total, 1); //~ race: global
    thread::sync_threads();
    if in_block() == 0 {
        *total = 7; //~ race: global
    }
}

/// The store is atomic, too.
// run: --grid 4 --block 32 u32[1]
#[kernel]
pub unsafe fn race_mixed_atomic_fixed(total: *mut u32) {
    atomic::add(total, 1);
    thread::sync_threads();
    if in_block() == 0 {
        atomic::exch(total, 7);
    }
}

/// A lock that is acquired and released without fences: nothing orders the accesses that it protects.
// run: --grid 4 --block 32 u32[1] u32[1]
#[kernel]
pub unsafe fn race_lock(lock: *mut u32, total: *mut u32) {
    if in_block() == 0 {
        while atomic::cas(lock, 0, 1) != 0 {}
        total.write_volatile(total.read_volatile() + 1); //~ race: global
        atomic::exch(lock, 0);
    }
}

/// A fence after acquiring, and one before releasing.
// run: --grid 4 --block 32 u32[1] u32[1]
#[kernel]
pub unsafe fn race_lock_fixed(lock: *mut u32, total: *mut u32) {
    if in_block() == 0 {
        while atomic::cas(lock, 0, 1) != 0 {}
        thread::device_fence();
        total.write_volatile(total.read_volatile() + 1);
        thread::device_fence();
        atomic::exch(lock, 0);
    }
}

/// The fence has the scope of the block, and the reader is in another block.
// run: --grid 2 --block 32 f32[1] u32[1] f32[1]
#[kernel]
pub unsafe fn race_narrow_fence(data: *mut f32, flag: *mut u32, output: *mut f32) {
    if in_block() == 0 {
        if block() == 0 {
            *data = 3.5; //~ race: global
            thread::block_fence();
            atomic::exch(flag, 1);
        } else {
            while atomic::add(flag, 0) == 0 {}
            thread::block_fence();
            *output = data.read_volatile(); //~ race: global
        }
    }
}

/// The fence has the scope of the device.
// run: --grid 2 --block 32 f32[1] u32[1] f32[1]
#[kernel]
pub unsafe fn race_narrow_fence_fixed(data: *mut f32, flag: *mut u32, output: *mut f32) {
    if in_block() == 0 {
        if block() == 0 {
            *data = 3.5;
            thread::device_fence();
            atomic::exch(flag, 1);
        } else {
            while atomic::add(flag, 0) == 0 {}
            thread::device_fence();
            *output = data.read_volatile();
        }
    }
}

/// Blocks transpose a square in place, tile by tile: the block below the diagonal and the one above swap with nothing between reading and writing.
// run: --grid 2,2 --block 16,16 f32[1024]=ramp
#[kernel]
pub unsafe fn race_transpose_in_place(matrix: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (column, row) = (16 * thread::block_idx_x() as usize, 16 * thread::block_idx_y() as usize);
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 272]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr().cast::<f32>();
    *tile.add(17 * y + x) = *matrix.add(32 * (row + y) + column + x); //~ race: global
    thread::sync_threads();
    *matrix.add(32 * (column + y) + row + x) = *tile.add(17 * x + y); //~ race: global
}

/// From one matrix to another.
// run: --grid 2,2 --block 16,16 f32[1024]=ramp f32[1024]
#[kernel]
pub unsafe fn race_transpose_in_place_fixed(matrix: *const f32, output: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (column, row) = (16 * thread::block_idx_x() as usize, 16 * thread::block_idx_y() as usize);
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 272]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr().cast::<f32>();
    *tile.add(17 * y + x) = *matrix.add(32 * (row + y) + column + x);
    thread::sync_threads();
    *output.add(32 * (column + y) + row + x) = *tile.add(17 * x + y);
}
