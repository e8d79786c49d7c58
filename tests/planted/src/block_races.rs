//! Planted bugs: races between the warps of a block, in shared and in global memory.

#[gpu_only]
use cuda_std::{address_space, atomic, shared::SharedCell, thread};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::{in_block, named_barrier};

/// No barrier between filling the tile and reading what another warp filled.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn race_reverse(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    *tile.add(t) = *input.add(t); //~ race: shared
    *output.add(t) = *tile.add(63 - t); //~ race: shared
}

/// A barrier of the block is between the two.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn race_reverse_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    *tile.add(t) = *input.add(t);
    thread::sync_threads();
    *output.add(t) = *tile.add(63 - t);
}

/// The same in global memory: threads of a block need a barrier there, too.
// run: --grid 1 --block 64 f32[64]=ramp f32[64] f32[64]
#[kernel]
pub unsafe fn race_global_reverse(input: *const f32, scratch: *mut f32, output: *mut f32) {
    let t = in_block();
    *scratch.add(t) = *input.add(t); //~ race: global
    *output.add(t) = *scratch.add(63 - t); //~ race: global
}

/// The barrier of the block orders global memory as well.
// run: --grid 1 --block 64 f32[64]=ramp f32[64] f32[64]
#[kernel]
pub unsafe fn race_global_reverse_fixed(input: *const f32, scratch: *mut f32, output: *mut f32) {
    let t = in_block();
    *scratch.add(t) = *input.add(t);
    thread::sync_threads();
    *output.add(t) = *scratch.add(63 - t);
}

/// A tiled loop with one barrier of two: a fast warp fills the next tile while a slow one still reads this one.
// run: --grid 1 --block 64 f32[256]=ramp f32[64]
#[kernel]
pub unsafe fn race_second_barrier(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    let mut sum = 0.0;
    for step in 0..4 {
        *tile.add(t) = *input.add(64 * step + t); //~ race: shared
        thread::sync_threads();
        sum += *tile.add(63 - t); //~ race: shared
    }
    *output.add(t) = sum;
}

/// A second barrier ends the use of the tile.
// run: --grid 1 --block 64 f32[256]=ramp f32[64]
#[kernel]
pub unsafe fn race_second_barrier_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    let mut sum = 0.0;
    for step in 0..4 {
        *tile.add(t) = *input.add(64 * step + t);
        thread::sync_threads();
        sum += *tile.add(63 - t);
        thread::sync_threads();
    }
    *output.add(t) = sum;
}

/// A block transposes two tiles, one after the other, in the same shared memory, without a barrier between the two.
// run: --grid 1 --block 16,16 f32[512]=ramp f32[512]
#[kernel]
pub unsafe fn race_tile_reuse(input: *const f32, output: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 272]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr().cast::<f32>();
    for matrix in 0..2 {
        *tile.add(17 * y + x) = *input.add(256 * matrix + 16 * y + x); //~ race: shared
        thread::sync_threads();
        *output.add(256 * matrix + 16 * y + x) = *tile.add(17 * x + y); //~ race: shared
    }
}

/// The second tile is filled once all threads have read the first.
// run: --grid 1 --block 16,16 f32[512]=ramp f32[512]
#[kernel]
pub unsafe fn race_tile_reuse_fixed(input: *const f32, output: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 272]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr().cast::<f32>();
    for matrix in 0..2 {
        *tile.add(17 * y + x) = *input.add(256 * matrix + 16 * y + x);
        thread::sync_threads();
        *output.add(256 * matrix + 16 * y + x) = *tile.add(17 * x + y);
        thread::sync_threads();
    }
}

/// A reduction by halves with a barrier before the loop, and none in it.
// run: --grid 1 --block 256 f32[256]=ramp f32[1]
#[kernel]
pub unsafe fn race_reduction(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static SUMS: SharedCell<[f32; 256]> = SharedCell::uninit();
    let (t, sums) = (in_block(), SUMS.as_mut_ptr().cast::<f32>());
    *sums.add(t) = *input.add(t);
    thread::sync_threads();
    let mut half = 128;
    while half >= 32 {
        if t < half {
            *sums.add(t) += *sums.add(t + half); //~ race: shared
        }
        half /= 2;
    }
    thread::sync_threads();
    if t == 0 {
        let mut sum = 0.0;
        for lane in 0..32 {
            sum += *sums.add(lane);
        }
        *output = sum;
    }
}

/// A barrier in each step.
// run: --grid 1 --block 256 f32[256]=ramp f32[1]
#[kernel]
pub unsafe fn race_reduction_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static SUMS: SharedCell<[f32; 256]> = SharedCell::uninit();
    let (t, sums) = (in_block(), SUMS.as_mut_ptr().cast::<f32>());
    *sums.add(t) = *input.add(t);
    thread::sync_threads();
    let mut half = 128;
    while half >= 32 {
        if t < half {
            *sums.add(t) += *sums.add(t + half);
        }
        thread::sync_threads();
        half /= 2;
    }
    thread::sync_threads();
    if t == 0 {
        let mut sum = 0.0;
        for lane in 0..32 {
            sum += *sums.add(lane);
        }
        *output = sum;
    }
}

/// A prefix sum in place: the barrier ends each step, but nothing stands between its reads and its writes.
// run: --grid 1 --block 128 u32[128]=ramp u32[128]
#[kernel]
pub unsafe fn race_prefix_sum(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static SUMS: SharedCell<[u32; 128]> = SharedCell::uninit();
    let (t, sums) = (in_block(), SUMS.as_mut_ptr().cast::<u32>());
    *sums.add(t) = *input.add(t);
    thread::sync_threads();
    let mut distance = 1;
    while distance < 128 {
        let before = if t >= distance { *sums.add(t - distance) } else { 0 }; //~ race: shared
        *sums.add(t) += before; //~ race: shared
        thread::sync_threads();
        distance *= 2;
    }
    *output.add(t) = *sums.add(t);
}

/// All threads read, then all write.
// run: --grid 1 --block 128 u32[128]=ramp u32[128]
#[kernel]
pub unsafe fn race_prefix_sum_fixed(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static SUMS: SharedCell<[u32; 128]> = SharedCell::uninit();
    let (t, sums) = (in_block(), SUMS.as_mut_ptr().cast::<u32>());
    *sums.add(t) = *input.add(t);
    thread::sync_threads();
    let mut distance = 1;
    while distance < 128 {
        let before = if t >= distance { *sums.add(t - distance) } else { 0 };
        thread::sync_threads();
        *sums.add(t) += before;
        thread::sync_threads();
        distance *= 2;
    }
    *output.add(t) = *sums.add(t);
}

/// A histogram in shared memory: read, add one, write. Two threads that count the same value lose one.
// run: --grid 1 --block 64 u32[64]=ramp u32[16]
#[kernel]
pub unsafe fn race_histogram(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static BINS: SharedCell<[u32; 16]> = SharedCell::uninit();
    let (t, bins) = (in_block(), BINS.as_mut_ptr().cast::<u32>());
    if t < 16 {
        *bins.add(t) = 0;
    }
    thread::sync_threads();
    *bins.add(*input.add(t) as usize % 16) += 1; //~ race: shared
    thread::sync_threads();
    if t < 16 {
        *output.add(t) = *bins.add(t);
    }
}

/// The addition is atomic.
// run: --grid 1 --block 64 u32[64]=ramp u32[16]
#[kernel]
pub unsafe fn race_histogram_fixed(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static BINS: SharedCell<[u32; 16]> = SharedCell::uninit();
    let (t, bins) = (in_block(), BINS.as_mut_ptr().cast::<u32>());
    if t < 16 {
        *bins.add(t) = 0;
    }
    thread::sync_threads();
    atomic::add(bins.add(*input.add(t) as usize % 16), 1);
    thread::sync_threads();
    if t < 16 {
        *output.add(t) = *bins.add(t);
    }
}

/// Two buffers take turns, so that one barrier per step is enough. Here they change only every second step.
// run: --grid 1 --block 64 f32[256]=ramp f32[64]
#[kernel]
pub unsafe fn race_double_buffer(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static BUFFERS: SharedCell<[f32; 128]> = SharedCell::uninit();
    let (t, buffers) = (in_block(), BUFFERS.as_mut_ptr().cast::<f32>());
    let mut sum = 0.0;
    for step in 0..4 {
        let buffer = buffers.add(64 * (step / 2 % 2));
        *buffer.add(t) = *input.add(64 * step + t); //~ race: shared
        thread::sync_threads();
        sum += *buffer.add(63 - t); //~ race: shared
    }
    *output.add(t) = sum;
}

/// They change in each step.
// run: --grid 1 --block 64 f32[256]=ramp f32[64]
#[kernel]
pub unsafe fn race_double_buffer_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static BUFFERS: SharedCell<[f32; 128]> = SharedCell::uninit();
    let (t, buffers) = (in_block(), BUFFERS.as_mut_ptr().cast::<f32>());
    let mut sum = 0.0;
    for step in 0..4 {
        let buffer = buffers.add(64 * (step % 2));
        *buffer.add(t) = *input.add(64 * step + t);
        thread::sync_threads();
        sum += *buffer.add(63 - t);
    }
    *output.add(t) = sum;
}

/// Each half of the block waits at a barrier of its own, and then reads what the other half wrote.
// run: --grid 1 --block 128 f32[128]=ramp f32[128]
#[kernel]
pub unsafe fn race_named_barriers(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 128]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    *tile.add(t) = *input.add(t); //~ race: shared
    named_barrier::sync(1 + t as u32 / 64, 64);
    *output.add(t) = *tile.add(t ^ 64); //~ race: shared
}

/// All wait at one barrier.
// run: --grid 1 --block 128 f32[128]=ramp f32[128]
#[kernel]
pub unsafe fn race_named_barriers_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 128]> = SharedCell::uninit();
    let (t, tile) = (in_block(), TILE.as_mut_ptr().cast::<f32>());
    *tile.add(t) = *input.add(t);
    named_barrier::sync(1, 128);
    *output.add(t) = *tile.add(t ^ 64);
}

/// One warp produces, one consumes. The consumer signals that the buffer is empty before it reads it.
// run: --grid 1 --block 64 f32[128]=ramp f32[32]
#[kernel]
pub unsafe fn race_producer(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static BUFFER: SharedCell<[f32; 32]> = SharedCell::uninit();
    let (t, buffer) = (in_block(), BUFFER.as_mut_ptr().cast::<f32>());
    let lane = t % 32;
    if t < 32 {
        for step in 0..4 {
            *buffer.add(lane) = *input.add(32 * step + lane); //~ race: shared
            named_barrier::arrive(1, 64);
            named_barrier::sync(2, 64);
        }
    } else {
        let mut sum = 0.0;
        for _ in 0..4 {
            named_barrier::sync(1, 64);
            named_barrier::arrive(2, 64);
            sum += *buffer.add(31 - lane); //~ race: shared
        }
        *output.add(lane) = sum;
    }
}

/// It signals after it has read the buffer.
// run: --grid 1 --block 64 f32[128]=ramp f32[32]
#[kernel]
pub unsafe fn race_producer_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static BUFFER: SharedCell<[f32; 32]> = SharedCell::uninit();
    let (t, buffer) = (in_block(), BUFFER.as_mut_ptr().cast::<f32>());
    let lane = t % 32;
    if t < 32 {
        for step in 0..4 {
            *buffer.add(lane) = *input.add(32 * step + lane);
            named_barrier::arrive(1, 64);
            named_barrier::sync(2, 64);
        }
    } else {
        let mut sum = 0.0;
        for _ in 0..4 {
            named_barrier::sync(1, 64);
            sum += *buffer.add(31 - lane);
            named_barrier::arrive(2, 64);
        }
        *output.add(lane) = sum;
    }
}

/// Thread 0 computes a value for all threads, and no thread waits for it.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn race_broadcast(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static SCALE: SharedCell<f32> = SharedCell::uninit();
    let (t, scale) = (in_block(), SCALE.as_mut_ptr());
    if t == 0 {
        scale.write_volatile(1.0 / *input.add(63)); //~ race: shared
    }
    *output.add(t) = *input.add(t) * scale.read_volatile(); //~ race: shared
}

/// All threads wait for the value.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn race_broadcast_fixed(input: *const f32, output: *mut f32) {
    #[address_space(shared)]
    static SCALE: SharedCell<f32> = SharedCell::uninit();
    let (t, scale) = (in_block(), SCALE.as_mut_ptr());
    if t == 0 {
        scale.write_volatile(1.0 / *input.add(63));
    }
    thread::sync_threads();
    *output.add(t) = *input.add(t) * scale.read_volatile();
}

/// Thread 0 sets the counter to zero while others already count. Atomic counting does not help.
// run: --grid 1 --block 64 u32[64]=ramp u32[64]
#[kernel]
pub unsafe fn race_compaction(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static COUNTER: SharedCell<u32> = SharedCell::uninit();
    let (t, counter) = (in_block(), COUNTER.as_mut_ptr());
    if t == 0 {
        *counter = 0; //~ race: shared
    }
    let value = *input.add(t);
    if value % 3 == 1 {
        *output.add(atomic::add(counter, 1) as usize % 64) = value; //~ race: shared
    }
}

/// All threads wait until the counter is zero.
// run: --grid 1 --block 64 u32[64]=ramp u32[64]
#[kernel]
pub unsafe fn race_compaction_fixed(input: *const u32, output: *mut u32) {
    #[address_space(shared)]
    static COUNTER: SharedCell<u32> = SharedCell::uninit();
    let (t, counter) = (in_block(), COUNTER.as_mut_ptr());
    if t == 0 {
        *counter = 0;
    }
    thread::sync_threads();
    let value = *input.add(t);
    if value % 3 == 1 {
        *output.add(atomic::add(counter, 1) as usize % 64) = value;
    }
}

/// Each warp takes 32 elements and starts 24 behind the one before: two warps write the same elements.
// run: --grid 1 --block 64 f32[64]
#[kernel]
pub unsafe fn race_overlapping_warps(output: *mut f32) {
    let t = in_block();
    let (warp, lane) = (t / 32, t % 32);
    *output.add(24 * warp + lane) = t as f32; //~ race: global
}

/// Each warp has its own 32 elements.
// run: --grid 1 --block 64 f32[64]
#[kernel]
pub unsafe fn race_overlapping_warps_fixed(output: *mut f32) {
    let t = in_block();
    let (warp, lane) = (t / 32, t % 32);
    *output.add(32 * warp + lane) = t as f32;
}
