//! Kernels without a bug that a careless sanitizer would report.

#[gpu_only]
use core::sync::atomic::{AtomicU32, Ordering};

#[gpu_only]
use cuda_std::{address_space, atomic, shared, shared::SharedCell, thread, warp};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::{block, in_block, in_grid, named_barrier};

/// A reduction within groups of eight lanes: each group has its own mask.
// run: --grid 1 --block 32 f32[32]=ramp f32[4]
#[kernel]
pub unsafe fn clean_partial_masks(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static SUMS: SharedCell<[f32; 32]> = SharedCell::uninit();
    let (t, sums) = (in_block(), SUMS.as_mut_ptr().cast::<f32>());
    let mask = 0xff << (t & !7);
    shared::store(sums.add(t), *input.add(t));
    warp::sync_warp(mask);
    for half in [4, 2, 1] {
        let sum = shared::load(sums.add(t)) + shared::load(sums.add(t ^ half));
        warp::sync_warp(mask);
        shared::store(sums.add(t), sum);
        warp::sync_warp(mask);
    }
    if t % 8 == 0 {
        *output.add(t / 8) = shared::load(sums.add(t));
    }
}

/// All threads count atomically, and after a barrier one thread reads the count with an ordinary load.
// run: --grid 1 --block 64 u32[64]=ramp u32[1]
#[kernel]
pub unsafe fn clean_count_then_read(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static COUNTER: SharedCell<u32> = SharedCell::uninit();
    let (t, counter) = (in_block(), COUNTER.as_mut_ptr());
    if t == 0 {
        *counter = 0;
    }
    thread::sync_threads();
    if *input.add(t) % 2 == 0 {
        atomic::add(counter, 1);
    }
    thread::sync_threads();
    if t == 0 {
        *output = *counter;
    }
}

/// Several threads write the same value to the same address: the result does not depend on their order.
// run: --grid 1 --block 64 f32[64]=ramp u32[1]
#[kernel]
pub unsafe fn clean_same_value(input: *const f32, found: *mut u32) {
    if *input.add(in_block()) > 40.0 {
        *found = 1;
    }
}

/// A column of padding that nobody writes or reads.
// run: --grid 1 --block 32,8 f32[1024]=ramp f32[1024]
#[kernel]
pub unsafe fn clean_padding(input: *const f32, output: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 1056]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr().cast::<f32>();
    for row in (y..32).step_by(8) {
        *tile.add(33 * row + x) = *input.add(32 * row + x);
    }
    thread::sync_threads();
    for row in (y..32).step_by(8) {
        *output.add(32 * row + x) = *tile.add(33 * x + row);
    }
}

/// All threads read one word that a thread wrote before the barrier.
// run: --grid 2 --block 64 f32[2]=3,4 f32[128]
#[kernel]
pub unsafe fn clean_broadcast(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static VALUE: SharedCell<f32> = SharedCell::uninit();
    let (t, value) = (in_block(), VALUE.as_mut_ptr());
    if t == 63 {
        *value = *input.add(block());
    }
    thread::sync_threads();
    *output.add(in_grid()) = *value;
}

/// Threads of two warps write different bytes of one word.
// run: --grid 1 --block 64 u8[64]
#[kernel]
pub unsafe fn clean_bytes_of_a_word(output: *mut u8) {
    #[address_space(shared)]
    static BYTES: SharedCell<[u8; 64]> = SharedCell::uninit();
    let (t, bytes) = (in_block(), BYTES.as_mut_ptr().cast::<u8>());
    let place = t % 32 * 2 + t / 32;
    bytes.add(place).write_volatile(t as u8);
    thread::sync_threads();
    output.add(place).write_volatile(bytes.add(place).read_volatile());
}

/// Blocks write different bytes of one word.
// run: --grid 4 --block 32 u8[128]
#[kernel]
pub unsafe fn clean_bytes_of_blocks(output: *mut u8) {
    output.add(4 * in_block() + block()).write_volatile(1);
}

/// A tile that is longer than the block is filled in turns; its tail stays empty, and is not read.
// run: --grid 1 --block 32 f32[75]=ramp f32[75] u32:75
#[kernel]
pub unsafe fn clean_cooperative_load(input: *const f32, output: *mut f32, count: u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 96]> = SharedCell::uninit();
    let (count, tile) = (count as usize, TILE.as_mut_ptr().cast::<f32>());
    for i in (in_block()..count).step_by(32) {
        *tile.add(i) = *input.add(i);
    }
    thread::sync_threads();
    for i in (in_block()..count).step_by(32) {
        *output.add(i) = *tile.add(count - 1 - i);
    }
}

/// A grid-stride loop over a length that is not a multiple of the block or the grid.
// run: --grid 3 --block 64 f32[1000]=ramp f32[1000] u32:1000
#[kernel]
pub unsafe fn clean_grid_stride(input: *const f32, output: *mut f32, count: u32) {
    let stride = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    for i in (in_grid()..count as usize).step_by(stride) {
        *output.add(i) = 2.0 * *input.add(i);
    }
}

/// Two halves of a block, each with a barrier of its own, and data of its own.
// run: --grid 1 --block 128 f32[128]=ramp f32[128]
#[kernel]
pub unsafe fn clean_named_barriers(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 128]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    *tile.add(t) = *input.add(t);
    named_barrier::sync(1 + t as u32 / 64, 64);
    *output.add(t) = *tile.add(t ^ 32);
}

/// Blocks in a chain, each of which waits for the sum of those before it: the look-back of a prefix sum in one pass.
// run: --grid 6 --block 32 u32[192]=ramp u32[6] u32[6] u32[6]
#[kernel]
pub unsafe fn clean_look_back(input: *const u32, sums: *mut u32, flags: *mut u32, output: *mut u32) {
    let (t, block) = (in_block(), block());
    let sum = warp::warp_reduce_all(*input.add(in_grid()), |a, b| a + b);
    if t == 0 {
        let mut before = 0;
        if block > 0 {
            while flags.add(block - 1).read_volatile() == 0 {}
            thread::device_fence();
            before = sums.add(block - 1).read_volatile();
        }
        *sums.add(block) = before + sum;
        thread::device_fence();
        flags.add(block).write_volatile(1);
        *output.add(block) = before;
    }
}

/// One block hands a number to another by a release and an acquire.
// run: --grid 2 --block 1 u32[1] u32[1] u32[1]
#[kernel]
pub unsafe fn clean_release_acquire(data: *mut u32, flag: *mut u32, output: *mut u32) {
    let flag = AtomicU32::from_ptr(flag);
    if block() == 0 {
        *data = 42;
        flag.store(1, Ordering::Release);
    } else {
        while flag.load(Ordering::Acquire) == 0 {}
        *output = *data;
    }
}

/// Blocks draw tickets from a counter, and each works on the part that its ticket selects.
// run: --grid 4 --block 32 u32[1] u32[128]
#[kernel]
pub unsafe fn clean_tickets(counter: *mut u32, output: *mut u32) {
    #[address_space(shared)]
    static TICKET: SharedCell<u32> = SharedCell::uninit();
    let (t, ticket) = (in_block(), TICKET.as_mut_ptr());
    if t == 0 {
        *ticket = atomic::add(counter, 1);
    }
    thread::sync_threads();
    *output.add(32 * *ticket as usize + t) = block() as u32;
}

/// The fields of a record are written one by one; it is then copied as a whole, including padding that nothing has set.
// run: --grid 1 --block 32 u32[64]=uninit u32[64]=uninit
#[kernel]
pub unsafe fn clean_padding_of_a_record(records: *mut u32, copies: *mut u32) {
    let record = records.add(2 * in_grid());
    record.write_volatile(7);
    record.add(1).cast::<u8>().write_volatile(1);
    let whole = record.cast::<u64>().read_volatile();
    copies.add(2 * in_grid()).cast::<u64>().write_volatile(whole);
}

/// Lanes return one after the other, and the remaining ones shuffle among themselves.
// run: --grid 1 --block 32 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn clean_lanes_return(input: *const f32, output: *mut f32) {
    let t = in_block();
    if t >= 16 {
        return;
    }
    let value = warp::warp_shuffle_xor(0xffff, *input.add(t), 3, 16).0;
    if t >= 8 {
        return;
    }
    *output.add(t) = value + warp::warp_shuffle_xor(0xff, value, 5, 8).0;
}

/// Shuffles at the edge of their segment: a lane without a source keeps its own value.
// run: --grid 1 --block 32 f32[32]=ramp f32[32]
#[kernel]
pub unsafe fn clean_shuffle_edges(input: *const f32, output: *mut f32) {
    let t = in_block();
    let value = *input.add(t);
    let (left, _) = warp::warp_shuffle_up(warp::FULL, value, 3, 8);
    let (right, inside) = warp::warp_shuffle_down(warp::FULL, value, 5, 32);
    *output.add(t) = if inside { left + right } else { left };
}

/// Both branches of a warp wait at the warp's barrier, each at one of its own, with the mask of all.
// run: --grid 1 --block 32 u32[32]=ramp u32[32]
#[kernel]
pub unsafe fn clean_barrier_in_both_branches(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[u32; 32]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<u32>());
    if t % 2 == 0 {
        shared::store(tile.add(t), *input.add(t));
        warp::sync_warp(warp::FULL);
        *output.add(t) = shared::load(tile.add(t + 1)) + 1;
    } else {
        shared::store(tile.add(t), 2 * *input.add(t));
        warp::sync_warp(warp::FULL);
        *output.add(t) = shared::load(tile.add(t - 1)) + 2;
    }
}

/// A value goes from lane to lane by a shuffle, and memory has no part in it.
// run: --grid 1 --block 64 u32[64]=ramp u32[64]
#[kernel]
pub unsafe fn clean_own_slots(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static SLOTS: SharedCell<[u32; 64]> = SharedCell::uninit();
    let (t, slots) = (in_block(), SLOTS.as_mut_ptr().cast::<u32>());
    shared::store(slots.add(t), *input.add(t));
    let own = shared::load(slots.add(t));
    shared::store(slots.add(t), warp::warp_shuffle_xor(warp::FULL, own, 1, 32).0);
    *output.add(t) = shared::load(slots.add(t));
}

/// A vote of all 32 lanes after some have returned: it is one of those that are left.
// run: --grid 1 --block 32 f32[20]=ramp u32[1] u32:20
#[kernel]
pub unsafe fn clean_vote_after_return(input: *const f32, output: *mut u32, count: u32) {
    let t = in_block();
    if t >= count as usize {
        return;
    }
    let positive = warp::warp_vote_ballot(warp::FULL, *input.add(t) > 10.0);
    if t == 0 {
        *output = positive;
    }
}

/// A sum of the lanes that are left after some have returned: a lane drops what it gets from those.
// run: --grid 1 --block 32 f32[20]=ramp f32[1] u32:20
#[kernel]
pub unsafe fn clean_shuffle_dropped(input: *const f32, output: *mut f32, count: u32) {
    let (t, count) = (in_block(), count as usize);
    if t >= count {
        return;
    }
    let mut sum = *input.add(t);
    for distance in [16, 8, 4, 2, 1] {
        let other = warp::warp_shuffle_down(warp::FULL, sum, distance, 32).0;
        if t + (distance as usize) < count {
            sum += other;
        }
    }
    if t == 0 {
        *output = sum;
    }
}
