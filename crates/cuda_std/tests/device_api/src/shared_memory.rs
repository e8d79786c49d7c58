//! Shared memory in each of its forms.

use cuda_std::vector::f32x4;
use cuda_std::{address_space, gpu_only, kernel};
#[gpu_only]
use cuda_std::{shared, shared::SharedCell, thread};

/// A tile that two kernels use. Each has memory of its own for it.
#[address_space(shared)]
static MODULE_TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();

/// Transposes a 32 x 32 matrix through the module's tile, one warp a row: blocks of 32 x 32.
///
/// # Safety
/// Both matrices have 1024 elements.
#[kernel(launch_bounds((32, 32), 1))]
pub unsafe fn shared_module_tile(input: *const f32, output: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let tile = MODULE_TILE.as_mut_ptr();
    (*tile)[y % 32][x % 32] = *input.add(32 * y + x); // ptx: st.shared.b32
    thread::sync_threads();
    *output.add(32 * y + x) = (*tile)[x % 32][y % 32]; // ptx: ld.shared.b32
}

/// Reverses 64 elements with a tile of the function's own, and adds what a second one holds.
///
/// # Safety
/// Blocks of 64 threads; `data` has 64 elements.
#[kernel(launch_bounds(64))] // ptx: .maxntid
pub unsafe fn shared_function_arrays(data: *mut i32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[i32; 64]> = SharedCell::uninit();
    let t = thread::thread_idx_x() as usize;
    let stage = STAGE.as_mut_ptr().cast::<i32>();
    #[address_space(shared)]
    static OTHER: SharedCell<[i32; 64]> = SharedCell::uninit();
    let other = OTHER.as_mut_ptr().cast::<i32>();
    *stage.add(t) = *data.add(t);
    *other.add(63 - t) = 1000;
    thread::sync_threads();
    *data.add(t) = *stage.add(63 - t) + *other.add(t);
}

/// Shared memory as MaybeUninit, in a `static mut`.
///
/// # Safety
/// Blocks of 32 threads; `data` has 32 elements.
#[kernel(launch_bounds(32, 4))] // ptx: .minnctapersm 4
pub unsafe fn shared_static_mut(data: *mut u64) {
    #[address_space(shared)]
    static mut STAGE: core::mem::MaybeUninit<[u64; 32]> = core::mem::MaybeUninit::uninit();
    let t = thread::thread_idx_x() as usize;
    let stage = (&raw mut STAGE).cast::<u64>();
    *stage.add(t) = *data.add(t); // ptx: st.shared.b64
    thread::sync_threads();
    *data.add(t) = *stage.add(t ^ 1); // ptx: ld.shared.b64
}

/// Two arrays in dynamic shared memory: floats, followed by bytes. Writes the sum of a neighbour's
/// two values, and the size.
///
/// # Safety
/// The launch gives 5 bytes of dynamic shared memory for each thread; `output` has an element for
/// each thread.
#[kernel]
pub unsafe fn shared_dynamic(output: *mut f32) {
    let t = thread::thread_idx_x() as usize;
    let threads = thread::block_dim_x() as usize;
    let floats = shared::dynamic_shared_mem::<f32>();
    let bytes = shared::dynamic_shared_mem_at::<u8>(4 * threads);
    *floats.add(t) = t as f32 * 0.5; // ptx: st.shared.b32
    *bytes.add(t) = t as u8; // ptx: st.shared.b8
    thread::sync_threads();
    let next = if t + 1 == threads { 0 } else { t + 1 };
    let size = shared::dynamic_shared_size(); // ptx: %dynamic_smem_size
    *output.add(t) = *floats.add(next) + f32::from(*bytes.add(next)) + size as f32;
}

/// Sixteen bytes per lane, written and read in one access each.
///
/// # Safety
/// Blocks of 32 threads; `data` has 32 elements.
#[kernel(launch_bounds(32))]
pub unsafe fn shared_vectors(data: *mut f32x4) {
    let t = thread::thread_idx_x() as usize;
    #[address_space(shared)]
    static STAGE: SharedCell<[f32x4; 32]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32x4>();
    *stage.add(t) = *data.add(t); // ptx: st.shared.v4.b32
    thread::sync_threads();
    *data.add(t) = *stage.add(31 - t); // ptx: ld.shared.v4.b32
}
