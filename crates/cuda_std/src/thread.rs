//! The thread: its indices in block and grid, and the barrier and fences of its block.
//!
//! A launch is a grid of blocks, a block is up to 1024 threads, and 32 consecutive threads of a
//! block (x fastest, then y, then z) are a warp. The threads of a block can wait for each other, at
//! [`sync_threads`]. Blocks cannot: CUDA promises no order in which they start, so one that waits
//! may keep the other from starting.

use crate::disjoint::{GridStride, Position, ThreadIndex};
use crate::intrinsics;

/// Two unsigned coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vec2 {
    /// The fastest-varying coordinate.
    pub x: u32,
    /// The second coordinate.
    pub y: u32,
}

/// Three unsigned coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vec3 {
    /// The fastest-varying coordinate.
    pub x: u32,
    /// The second coordinate.
    pub y: u32,
    /// The slowest coordinate.
    pub z: u32,
}

impl Vec3 {
    /// `x * y * z`: of dimensions, the number of elements.
    #[inline(always)]
    pub const fn product(self) -> u32 {
        self.x * self.y * self.z
    }
}

macro_rules! registers {
    ($($(#[$documentation:meta])* $name:ident = $register:ident;)*) => {$(
        $(#[$documentation])*
        #[inline(always)]
        pub fn $name() -> u32 {
            intrinsics::$register()
        }
    )*};
}

registers! {
    /// The thread's x in its block, below [`block_dim_x`] (`%tid.x`).
    thread_idx_x = tid_x;
    /// The thread's y in its block, below [`block_dim_y`] (`%tid.y`).
    thread_idx_y = tid_y;
    /// The thread's z in its block, below [`block_dim_z`] (`%tid.z`).
    thread_idx_z = tid_z;
    /// The block's x in the grid, below [`grid_dim_x`] (`%ctaid.x`).
    block_idx_x = ctaid_x;
    /// The block's y in the grid, below [`grid_dim_y`] (`%ctaid.y`).
    block_idx_y = ctaid_y;
    /// The block's z in the grid, below [`grid_dim_z`] (`%ctaid.z`).
    block_idx_z = ctaid_z;
    /// The extent of a block in x, in threads (`%ntid.x`).
    block_dim_x = ntid_x;
    /// The extent of a block in y, in threads (`%ntid.y`).
    block_dim_y = ntid_y;
    /// The extent of a block in z, in threads (`%ntid.z`).
    block_dim_z = ntid_z;
    /// The extent of the grid in x, in blocks (`%nctaid.x`).
    grid_dim_x = nctaid_x;
    /// The extent of the grid in y, in blocks (`%nctaid.y`).
    grid_dim_y = nctaid_y;
    /// The extent of the grid in z, in blocks (`%nctaid.z`).
    grid_dim_z = nctaid_z;
    /// The number of threads in a warp: 32 on every GPU so far (`WARP_SZ`).
    warp_size = warpsize;
}

/// The thread's coordinates in its block.
#[inline(always)]
pub fn thread_idx() -> Vec3 {
    Vec3 { x: thread_idx_x(), y: thread_idx_y(), z: thread_idx_z() }
}

/// The block's coordinates in the grid.
#[inline(always)]
pub fn block_idx() -> Vec3 {
    Vec3 { x: block_idx_x(), y: block_idx_y(), z: block_idx_z() }
}

/// The extents of a block, in threads.
#[inline(always)]
pub fn block_dim() -> Vec3 {
    Vec3 { x: block_dim_x(), y: block_dim_y(), z: block_dim_z() }
}

/// The extents of the grid, in blocks.
#[inline(always)]
pub fn grid_dim() -> Vec3 {
    Vec3 { x: grid_dim_x(), y: grid_dim_y(), z: grid_dim_z() }
}

/// The thread's number in the whole launch, unique whatever the shapes of block and grid. Wraps
/// beyond 2^32 threads.
#[inline(always)]
pub fn index() -> u32 {
    let (grid, block, in_grid, in_block) = (grid_dim(), block_dim(), block_idx(), thread_idx());
    let block_number = (in_grid.z * grid.y + in_grid.y) * grid.x + in_grid.x;
    let thread_number = (in_block.z * block.y + in_block.y) * block.x + in_block.x;
    block_number * block.product() + thread_number
}

/// The thread's x in the whole launch, which for one-dimensional launches is its number. Wraps
/// beyond 2^32 threads.
#[inline(always)]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// As [`index_1d`], in 64 bits, for arrays that may have more than 2^32 elements.
#[inline(always)]
pub fn wide_index_1d() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}

/// The thread's x and y in the whole launch.
#[inline(always)]
pub fn index_2d() -> Vec2 {
    Vec2 { x: index_1d(), y: block_idx_y() * block_dim_y() + thread_idx_y() }
}

/// The thread's x, y and z in the whole launch.
#[inline(always)]
pub fn index_3d() -> Vec3 {
    let Vec2 { x, y } = index_2d();
    Vec3 { x, y, z: block_idx_z() * block_dim_z() + thread_idx_z() }
}

/// The thread's index in a linear launch, which no other thread has: for
/// [`DisjointSlice`](crate::DisjointSlice).
///
/// Threads whose y or z is not 0, in the block or in the grid, get an index that is out of bounds
/// everywhere. A kernel with `#[kernel(linear)]` is never launched with such threads, and does not
/// look for them.
#[inline(always)]
pub fn linear_index() -> ThreadIndex {
    ThreadIndex::here()
}

/// The indices of this thread below `length` in a grid-stride loop: [`linear_index`], and then one
/// in each step of the whole grid. Each index below `length` belongs to exactly one thread,
/// whatever the size of the grid.
#[inline(always)]
pub fn grid_stride(length: usize) -> GridStride {
    GridStride::below(length)
}

/// The thread's column (x) and row (y) in the grid, which no other thread has: for
/// [`DisjointMatrix`](crate::DisjointMatrix).
///
/// A grid has at most 65535 blocks in y, so rows go on through its layers in z. Threads whose z in
/// the block is not 0 get a row that no matrix has.
#[inline(always)]
pub fn position() -> Position {
    Position::here()
}

/// The block's row in the grid, counted through the grid's layers in z: a layer has at most 65535
/// rows.
#[inline(always)]
pub fn block_row() -> u32 {
    block_idx_z() * grid_dim_y() + block_idx_y()
}

/// Whether this is thread (0, 0, 0) of block (0, 0, 0): true in exactly one thread of the launch.
#[inline(always)]
pub fn first() -> bool {
    block_idx() == Vec3::default() && thread_idx() == Vec3::default()
}

/// The thread's lane in its warp, 0 to 31 (`%laneid`).
#[inline(always)]
pub fn lane_id() -> u32 {
    crate::warp::lane_id()
}

/// Waits until every thread of the block has arrived. All threads then see what each wrote to
/// global or shared memory before (`bar.sync 0`).
///
/// Every thread of the block that has not returned must execute the same call. A barrier in a
/// branch that only some threads take is undefined on the GPU, and an error on the simulator.
#[inline(always)]
pub fn sync_threads() {
    intrinsics::barrier_sync(0);
}

/// [`sync_threads`], and the number of threads whose `predicate` is not 0 (`bar.red.popc`).
#[inline(always)]
pub fn sync_threads_count(predicate: u32) -> u32 {
    intrinsics::barrier_count(0, predicate != 0)
}

/// [`sync_threads`], and 1 if `predicate` is not 0 in every thread of the block, else 0
/// (`bar.red.and`).
#[inline(always)]
pub fn sync_threads_and(predicate: u32) -> u32 {
    u32::from(intrinsics::barrier_and(0, predicate != 0))
}

/// [`sync_threads`], and 1 if `predicate` is not 0 in any thread of the block, else 0
/// (`bar.red.or`).
#[inline(always)]
pub fn sync_threads_or(predicate: u32) -> u32 {
    u32::from(intrinsics::barrier_or(0, predicate != 0))
}

/// Orders this thread's accesses before the fence before those after it, as the other threads of
/// its block see them (`membar.cta`). No thread waits.
///
/// To hand data to another thread takes two fences: the writer has one between the data and the
/// flag that says it is there, the reader one between the flag and the data.
#[inline(always)]
pub fn block_fence() {
    intrinsics::membar_cta();
}

/// [`block_fence`] for all threads of the device (`membar.gl`).
#[inline(always)]
pub fn device_fence() {
    intrinsics::membar_gl();
}

/// Another name of [`device_fence`]: a grid runs on one device.
#[inline(always)]
pub fn grid_fence() {
    device_fence();
}

/// [`block_fence`] for the device, the host and other devices (`membar.sys`).
#[inline(always)]
pub fn system_fence() {
    intrinsics::membar_sys();
}

/// Suspends the thread for about `nanoseconds`, at most a millisecond (`nanosleep.u32`).
#[inline(always)]
pub fn nanosleep(nanoseconds: u32) {
    intrinsics::nanosleep(nanoseconds);
}
