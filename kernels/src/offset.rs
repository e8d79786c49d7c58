//! A warp that starts in the middle of a sector.
//!
//! Global memory moves in sectors of 32 bytes, 8 floats, and the four sectors of an aligned 128
//! bytes are one cache line. A warp that reads 32 consecutive floats needs 4 sectors when the first
//! float stands at the start of a sector, and 5 when it does not: the same 128 bytes, spread over
//! one sector more. Nothing else depends on the offset `k`.
//!
//! What to look for:
//!
//! * sectors per load request (`l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum` over
//!   `l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`): 4 where `k` is a multiple of 8, else 5;
//! * bytes used of each sector (`smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct`):
//!   100% and 80%, which for the worked example's offsets 0, 11 and 128 is 100%, 80%, 100%;
//! * the time, which hardly moves on today's GPUs: the sector that one warp leaves half used is the
//!   one that its neighbour needs, and the cache still holds it. Misalignment costs extra sectors
//!   from the cache, and hardly any traffic to memory.
//!
//! Both kernels take blocks of any one-dimensional size. A grid has at least as many threads as the
//! arrays have elements.
//!
//! # Where `unsafe` begins
//!
//! A thread may write the element at its own index. [`offset_write`] writes another one, and
//! promises that no other thread has the same. The compiler sees one thread and cannot tell; the
//! sanitizer checks exactly this.

#[gpu_only]
use cuda_std::thread;
use cuda_std::{DisjointSlice, gpu_only, kernel};

/// `c[i] = a[i + offset] + b[i + offset]`: both loads are shifted, the store is aligned.
///
/// The last `offset` elements of `c` keep their values.
#[kernel(linear)]
pub fn offset_read(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>, offset: usize) {
    let i = thread::linear_index();
    if let (Some(a), Some(b), Some(c)) = (a.get(i + offset), b.get(i + offset), c.get_mut(i)) {
        *c = a + b;
    }
}

/// `c[i + offset] = a[i] + b[i]`: the loads are aligned, the store is shifted.
///
/// The first `offset` elements of `c` keep their values.
#[kernel(linear)]
pub fn offset_write(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>, offset: usize) {
    let i = thread::linear_index();
    // SAFETY: all threads shift by the same offset, so no two have the same element.
    let c = unsafe { c.element_mut(i + offset) };
    if let (Some(a), Some(b), Some(c)) = (a.get(i.get()), b.get(i.get()), c) {
        *c = a + b;
    }
}
