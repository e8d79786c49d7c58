//! The best pipelines: the copy engine of `sm_90` (TMA) brings each tile by one instruction. Those
//! with loads and `cp.async` are in `kernels/src/pipeline.rs`, which says what the kernels compute.
//!
//! | step | what it removes |
//! | --- | --- |
//! | one thread copies a tile of 8 KiB | addresses, guards and copies of the other 255 |
//! | an `mbarrier` counts the bytes | groups, of which each thread waits for its own |
//!
//! The threads wait at a stage's `mbarrier` until its bytes are there. Stages are used in turn, so
//! that each completes a phase in every round: the parity to wait for changes with the round. A
//! barrier of the block is still needed before a stage is copied to again, because all threads must
//! have read it.
//!
//! On older GPUs these kernels stop the launch; [`launch`] is for GPUs of compute capability 9.0.

#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::launch::{Kernel, Pointer, PointerMut};
use cuda_std::vector::f32x4;
#[gpu_only]
use cuda_std::{address_space, bulk, dependent_launch, thread, unroll};
use cuda_std::{gpu_only, kernel};
#[gpu_only]
use cuda_std::{shared::SharedAddress, shared::SharedCell};

#[cfg(not(target_arch = "nvptx64"))]
use crate::{Gpu, Launch};

/// Threads of a block.
pub const BLOCK: u32 = 256;

/// Samples of a record, which is a tile of 8 KiB.
pub const RECORD: u32 = 512;

/// A record in shared memory.
#[gpu_only]
type Tile = [f32x4; RECORD as usize];

/// Two stages: while one record is used, the next is copied.
///
/// # Safety
/// `samples` holds `records` records of 512 samples, and `sums` an element for each thread, which
/// nothing else uses during the launch. Blocks of [`BLOCK`] threads in x, on a GPU of compute
/// capability 9.0; `records` and four times the grid are below 2^32 together.
#[kernel(block(256))]
pub unsafe fn pipeline_bulk_2(samples: *const f32x4, records: u32, sums: *mut f32) {
    #[address_space(shared)]
    static STAGES: SharedCell<[Tile; 2]> = SharedCell::uninit();
    #[address_space(shared)]
    static ARRIVED: SharedCell<[bulk::Barrier; 2]> = SharedCell::uninit();
    walk(STAGES.as_mut_ptr(), ARRIVED.as_mut_ptr(), samples, records, sums);
}

/// Three stages: the next two records are copied.
///
/// # Safety
/// As for [`pipeline_bulk_2`].
#[kernel(block(256))]
pub unsafe fn pipeline_bulk_3(samples: *const f32x4, records: u32, sums: *mut f32) {
    #[address_space(shared)]
    static STAGES: SharedCell<[Tile; 3]> = SharedCell::uninit();
    #[address_space(shared)]
    static ARRIVED: SharedCell<[bulk::Barrier; 3]> = SharedCell::uninit();
    walk(STAGES.as_mut_ptr(), ARRIVED.as_mut_ptr(), samples, records, sums);
}

/// Four stages: the next three records are copied.
///
/// # Safety
/// As for [`pipeline_bulk_2`].
#[kernel(block(256))]
pub unsafe fn pipeline_bulk_4(samples: *const f32x4, records: u32, sums: *mut f32) {
    #[address_space(shared)]
    static STAGES: SharedCell<[Tile; 4]> = SharedCell::uninit();
    #[address_space(shared)]
    static ARRIVED: SharedCell<[bulk::Barrier; 4]> = SharedCell::uninit();
    walk(STAGES.as_mut_ptr(), ARRIVED.as_mut_ptr(), samples, records, sums);
}

/// Walks over the block's records in `N` stages.
///
/// # Safety
/// As for [`pipeline_bulk_2`]. Stages and barriers are in shared memory, and no one else uses them.
#[gpu_only]
#[inline(always)]
unsafe fn walk<const N: usize>(
    stages: *mut [Tile; N],
    arrived: *mut [bulk::Barrier; N],
    samples: *const f32x4,
    records: u32,
    sums: *mut f32,
) {
    dependent_launch::wait();
    let (t, first, step) = (thread::thread_idx_x(), thread::block_idx_x(), thread::grid_dim_x());
    let tiles = SharedAddress::of(stages).cast::<Tile>();
    let barriers = SharedAddress::of(arrived).cast::<bulk::Barrier>();
    // Beyond the last record there is nothing to copy, and nobody waits for it.
    let start = |stage: u32, record: u32| {
        if t == 0 && record < records {
            let (to, barrier) = (tiles.add(stage).cast::<f32x4>(), barriers.add(stage));
            // SAFETY: the record is there, no thread uses the stage, and its phase has begun.
            unsafe {
                let from = samples.add(record as usize * RECORD as usize);
                bulk::arrive_and_expect(barrier, size_of::<Tile>() as u32);
                bulk::copy(to, from, RECORD, barrier);
            }
        }
    };
    let last = N as u32 - 1;
    if t == 0 {
        // SAFETY: no thread uses the barriers yet.
        (0..=last).for_each(|stage| unsafe { bulk::init(barriers.add(stage), 1) });
        bulk::show_writes();
    }
    thread::sync_threads();
    (0..last).for_each(|ahead| start(ahead, first + ahead * step));
    let (mut sum, mut record, mut stage, mut parity) = (0.0, first, 0, 0);
    while record < records {
        // SAFETY: the phase is the current one or just complete.
        while !unsafe { bulk::is_complete(barriers.add(stage), parity) } {}
        // All threads have read the record before, whose stage is free again.
        thread::sync_threads();
        start(if stage == 0 { last } else { stage - 1 }, record + last * step);
        // SAFETY: the record is there, and no copy goes to its stage before the next barrier.
        sum += change(unsafe { &(*stages)[stage as usize] });
        (stage, parity) = if stage == last { (0, 1 - parity) } else { (stage + 1, parity) };
        record += step;
    }
    // SAFETY: there is an element for each thread.
    unsafe { *sums.add((first * BLOCK + t) as usize) = sum };
}

/// How much the channels change at this thread's samples of a record.
#[gpu_only]
#[inline(always)]
fn change(record: &Tile) -> f32 {
    let mut sum = 0.0;
    unroll::<2>(|k| {
        let i = thread::thread_idx_x() as usize + 256 * k;
        let change = (record[(i + 1) % RECORD as usize] - record[i]).to_array();
        unroll::<4>(|channel| sum += change[channel].abs());
    });
    sum
}

/// A kernel's parameters: samples, how many records, and sums.
#[cfg(not(target_arch = "nvptx64"))]
pub type Walk = Kernel<(Pointer<f32x4>, u32, PointerMut<f32>)>;

/// The kernel with this many stages, 2 to 4, and its launch with `blocks` blocks on each
/// multiprocessor.
#[cfg(not(target_arch = "nvptx64"))]
pub fn launch(gpu: Gpu, stages: u32, blocks: u32) -> (&'static Walk, Launch) {
    let kernel = match stages {
        2 => &pipeline_bulk_2,
        3 => &pipeline_bulk_3,
        _ => &pipeline_bulk_4,
    };
    (kernel, Launch::new([gpu.multiprocessors * blocks, 1, 1], [BLOCK, 1, 1]))
}
