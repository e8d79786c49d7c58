//! Planted bugs: reads of memory that nothing has written.

#[gpu_only]
use core::mem::MaybeUninit;

#[gpu_only]
use cuda_std::{address_space, atomic, shared::SharedCell, thread, warp};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::{in_block, in_grid};

/// Adds to an output that nothing has set.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]=uninit
#[kernel]
pub unsafe fn init_accumulate(input: *const f32, output: *mut f32) {
    let i = in_grid();
    *output.add(i) += *input.add(i); //~ init: global
}

/// Sets the output.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]=uninit
#[kernel]
pub unsafe fn init_accumulate_fixed(input: *const f32, output: *mut f32) {
    let i = in_grid();
    *output.add(i) = *input.add(i);
}

/// Counts up from whatever was in the histogram.
// run: --grid 1 --block 64 u32[64]=ramp u32[16]=uninit
#[kernel]
pub unsafe fn init_histogram(input: *const u32, bins: *mut u32) {
    let t = in_block();
    atomic::add(bins.add(*input.add(t) as usize % 16), 1); //~ init: global
}

/// The histogram starts with zeros.
// run: --grid 1 --block 64 u32[64]=ramp u32[16]=uninit
#[kernel]
pub unsafe fn init_histogram_fixed(input: *const u32, bins: *mut u32) {
    let t = in_block();
    if t < 16 {
        *bins.add(t) = 0;
    }
    thread::sync_threads();
    atomic::add(bins.add(*input.add(t) as usize % 16), 1);
}

/// The tile has a border at either end, which no thread fills.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn init_halo(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 66]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    *tile.add(t + 1) = *input.add(t);
    thread::sync_threads();
    let left = *tile.add(t); //~ init: shared
    let right = *tile.add(t + 2); //~ init: shared
    *output.add(t) = left + right;
}

/// Two threads fill the borders.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn init_halo_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 66]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    *tile.add(t + 1) = *input.add(t);
    if t < 2 {
        *tile.add(65 * t) = 0.0;
    }
    thread::sync_threads();
    let left = *tile.add(t);
    let right = *tile.add(t + 2);
    *output.add(t) = left + right;
}

/// The input ends within the tile, but the sum covers all of it.
// run: --grid 1 --block 64 f32[50]=ramp f32[1] u32:50
#[kernel]
pub unsafe fn init_tile_tail(input: *const f32, output: *mut f32, count: u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    if t < count as usize {
        *tile.add(t) = *input.add(t);
    }
    thread::sync_threads();
    if t == 0 {
        let mut sum = 0.0;
        for other in 0..64 {
            sum += *tile.add(other); //~ init: shared
        }
        *output = sum;
    }
}

/// The rest of the tile is filled with zeros.
// run: --grid 1 --block 64 f32[50]=ramp f32[1] u32:50
#[kernel]
pub unsafe fn init_tile_tail_fixed(input: *const f32, output: *mut f32, count: u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    *tile.add(t) = if t < count as usize { *input.add(t) } else { 0.0 };
    thread::sync_threads();
    if t == 0 {
        let mut sum = 0.0;
        for other in 0..64 {
            sum += *tile.add(other);
        }
        *output = sum;
    }
}

/// Each warp leaves its sum in a slot; the first warp then adds all 32 slots, and there are two warps.
// run: --grid 1 --block 64 f32[64]=ramp f32[1]
#[kernel]
pub unsafe fn init_warp_slots(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static SLOTS: SharedCell<[f32; 32]> = SharedCell::uninit();
    let (t, slots) = (in_block(), SLOTS.as_mut_ptr().cast::<f32>());
    let sum = warp::warp_reduce_all(*input.add(t), |a, b| a + b);
    if t % 32 == 0 {
        *slots.add(t / 32) = sum;
    }
    thread::sync_threads();
    if t < 32 {
        let total = warp::warp_reduce_all(*slots.add(t), |a, b| a + b); //~ init: shared
        if t == 0 {
            *output = total;
        }
    }
}

/// Slots of warps that do not exist count as zeros.
// run: --grid 1 --block 64 f32[64]=ramp f32[1]
#[kernel]
pub unsafe fn init_warp_slots_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static SLOTS: SharedCell<[f32; 32]> = SharedCell::uninit();
    let (t, slots) = (in_block(), SLOTS.as_mut_ptr().cast::<f32>());
    let sum = warp::warp_reduce_all(*input.add(t), |a, b| a + b);
    if t % 32 == 0 {
        *slots.add(t / 32) = sum;
    }
    thread::sync_threads();
    if t < 32 {
        let slot = if t < thread::block_dim_x() as usize / 32 { *slots.add(t) } else { 0.0 };
        let total = warp::warp_reduce_all(slot, |a, b| a + b);
        if t == 0 {
            *output = total;
        }
    }
}

/// A record.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Mean {
    sum: f32,
    count: u32,
}

/// Only the sum of each record is set, but the count is used, too.
// run: --grid 1 --block 32 f32[32]=ramp u32[64]=uninit f32[32]
#[kernel]
pub unsafe fn init_record(input: *const f32, means: *mut Mean, output: *mut f32) {
    let i = in_grid();
    (*means.add(i)).sum = *input.add(i);
    thread::sync_threads();
    let Mean { sum, count } = *means.add((i + 1) % 32); //~ init: global
    *output.add(i) = sum / count as f32;
}

/// Both fields are set.
// run: --grid 1 --block 32 f32[32]=ramp u32[64]=uninit f32[32]
#[kernel]
pub unsafe fn init_record_fixed(input: *const f32, means: *mut Mean, output: *mut f32) {
    let i = in_grid();
    (*means.add(i)).sum = *input.add(i);
    (*means.add(i)).count = 1;
    thread::sync_threads();
    let Mean { sum, count } = *means.add((i + 1) % 32);
    *output.add(i) = sum / count as f32;
}

/// A local array: the even elements are set, and all are used.
// run: --grid 1 --block 32 u32[32]=ramp u32[32]
#[kernel]
pub unsafe fn init_local_array(input: *const u32, output: *mut u32) {
    let i = in_grid();
    let mut array = MaybeUninit::<[u32; 8]>::uninit();
    let array = array.as_mut_ptr().cast::<u32>();
    for place in (0..8).step_by(2) {
        array.add(place).write_volatile(*input.add(i) + place as u32);
    }
    *output.add(i) = array.add(*input.add(i) as usize % 8).read_volatile(); //~ init: local
}

/// All elements are set.
// run: --grid 1 --block 32 u32[32]=ramp u32[32]
#[kernel]
pub unsafe fn init_local_array_fixed(input: *const u32, output: *mut u32) {
    let i = in_grid();
    let mut array = MaybeUninit::<[u32; 8]>::uninit();
    let array = array.as_mut_ptr().cast::<u32>();
    for place in 0..8 {
        array.add(place).write_volatile(*input.add(i) + place as u32);
    }
    *output.add(i) = array.add(*input.add(i) as usize % 8).read_volatile();
}

/// Sums of pairs of an odd number of elements: the last pair lacks one.
// run: --grid 1 --block 32 f32[25]=ramp f32[26]=uninit f32[13] u32:25
#[kernel]
pub unsafe fn init_odd_pair(input: *const f32, scratch: *mut f32, output: *mut f32, count: u32) {
    let (t, count) = (in_block(), count as usize);
    if t < count {
        *scratch.add(t) = *input.add(t);
    }
    thread::sync_threads();
    if t < count.div_ceil(2) {
        let first = *scratch.add(2 * t);
        let second = *scratch.add(2 * t + 1); //~ init: global
        *output.add(t) = first + second;
    }
}

/// The last element is summed alone.
// run: --grid 1 --block 32 f32[25]=ramp f32[26]=uninit f32[13] u32:25
#[kernel]
pub unsafe fn init_odd_pair_fixed(input: *const f32, scratch: *mut f32, output: *mut f32, count: u32) {
    let (t, count) = (in_block(), count as usize);
    if t < count {
        *scratch.add(t) = *input.add(t);
    }
    thread::sync_threads();
    if t < count.div_ceil(2) {
        let first = *scratch.add(2 * t);
        let second = if 2 * t + 1 < count { *scratch.add(2 * t + 1) } else { 0.0 };
        *output.add(t) = first + second;
    }
}

/// A counter in shared memory that nobody sets to zero.
// run: --grid 1 --block 64 f32[64]=ramp u32[1]
#[kernel]
pub unsafe fn init_shared_counter(input: *const f32, output: *mut u32) {
    #[address_space(shared)]
    static COUNTER: SharedCell<u32> = SharedCell::uninit();
    let (t, counter) = (in_block(), COUNTER.as_mut_ptr());
    if *input.add(t) > 20.0 {
        atomic::add(counter, 1); //~ init: shared
    }
    thread::sync_threads();
    if t == 0 {
        *output = *counter;
    }
}

/// Thread 0 sets it.
// run: --grid 1 --block 64 f32[64]=ramp u32[1]
#[kernel]
pub unsafe fn init_shared_counter_fixed(input: *const f32, output: *mut u32) {
    #[address_space(shared)]
    static COUNTER: SharedCell<u32> = SharedCell::uninit();
    let (t, counter) = (in_block(), COUNTER.as_mut_ptr());
    if t == 0 {
        *counter = 0;
    }
    thread::sync_threads();
    if *input.add(t) > 20.0 {
        atomic::add(counter, 1);
    }
    thread::sync_threads();
    if t == 0 {
        *output = *counter;
    }
}

/// Three bytes of each word are set, and the whole word is used.
// run: --grid 1 --block 8 u8[32]=uninit u32[8]
#[kernel]
pub unsafe fn init_three_bytes(bytes: *mut u8, output: *mut u32) {
    let i = in_grid();
    for place in 0..3 {
        bytes.add(4 * i + place).write_volatile(i as u8);
    }
    *output.add(i) = bytes.add(4 * i).cast::<u32>().read_volatile() + 1; //~ init: global
}

/// All four bytes are set.
// run: --grid 1 --block 8 u8[32]=uninit u32[8]
#[kernel]
pub unsafe fn init_three_bytes_fixed(bytes: *mut u8, output: *mut u32) {
    let i = in_grid();
    for place in 0..4 {
        bytes.add(4 * i + place).write_volatile(i as u8);
    }
    *output.add(i) = bytes.add(4 * i).cast::<u32>().read_volatile() + 1;
}
