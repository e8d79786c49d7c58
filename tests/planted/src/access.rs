//! Planted bugs: misaligned accesses, and accesses to memory that was freed.

use cuda_std::vector::f32x4;
use cuda_std::{gpu_only, kernel};
#[gpu_only]
use cuda_std::{shared, thread};

#[gpu_only]
use crate::{in_block, in_grid};

/// Sixteen bytes at once, from a pointer that is four bytes into the buffer.
// run: --grid 1 --block 16 f32[65]+4=ramp f32[64]
#[kernel]
pub unsafe fn misaligned_vector(input: *const f32, output: *mut f32x4) {
    let i = in_grid();
    *output.add(i) = *input.cast::<f32x4>().add(i); //~ memory: misaligned
}

/// Four floats, each aligned to its own four bytes.
// run: --grid 1 --block 16 f32[65]+4=ramp f32[64]
#[kernel]
pub unsafe fn misaligned_vector_fixed(input: *const f32, output: *mut f32x4) {
    let i = in_grid();
    *output.add(i) = f32x4::from_array(*input.cast::<[f32; 4]>().add(i));
}

/// Records of twelve bytes, with a number of eight bytes in each: every second one is misaligned.
// run: --grid 1 --block 16 u8[192]=1 u64[16]
#[kernel]
pub unsafe fn misaligned_record(records: *const u8, output: *mut u64) {
    let i = in_grid();
    let number = records.add(12 * i).cast::<u64>().read(); //~ memory: misaligned
    *output.add(i) = number;
}

/// The number is read in parts that its alignment allows.
// run: --grid 1 --block 16 u8[192]=1 u64[16]
#[kernel]
pub unsafe fn misaligned_record_fixed(records: *const u8, output: *mut u64) {
    let i = in_grid();
    let number = records.add(12 * i).cast::<u64>().read_unaligned();
    *output.add(i) = number;
}

/// In dynamic shared memory floats follow 50 bytes of flags: two bytes off a boundary.
// run: --grid 1 --block 50 --shared 260 f32[50]=ramp f32[50]
#[kernel]
pub unsafe fn misaligned_shared(input: *const f32, output: *mut f32) {
    let t = in_block();
    let flags = shared::dynamic_shared_mem::<u8>();
    let floats = shared::dynamic_shared_mem_at::<f32>(50);
    *flags.add(t) = (t % 2) as u8;
    *floats.add(t) = *input.add(t); //~ memory: misaligned
    thread::sync_threads();
    if *flags.add(49 - t) == 0 {
        *output.add(t) = t as f32;
    }
}

/// The floats start on the next boundary.
// run: --grid 1 --block 50 --shared 260 f32[50]=ramp f32[50]
#[kernel]
pub unsafe fn misaligned_shared_fixed(input: *const f32, output: *mut f32) {
    let t = in_block();
    let flags = shared::dynamic_shared_mem::<u8>();
    let floats = shared::dynamic_shared_mem_at::<f32>(52);
    *flags.add(t) = (t % 2) as u8;
    *floats.add(t) = *input.add(t);
    thread::sync_threads();
    if *flags.add(49 - t) == 0 {
        *output.add(t) = t as f32;
    }
}

/// The host has freed the input before the launch.
// run: --grid 1 --block 64 freed:f32[64] f32[64]
#[kernel]
pub unsafe fn freed_input(input: *const f32, output: *mut f32) {
    let i = in_grid();
    *output.add(i) = *input.add(i); //~ memory: use after free
}

/// The host keeps the input until the launch is over.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn freed_input_fixed(input: *const f32, output: *mut f32) {
    let i = in_grid();
    *output.add(i) = *input.add(i);
}

/// The host has freed the output; only every second thread uses it.
// run: --grid 1 --block 64 f32[64]=ramp freed:f32[64]
#[kernel]
pub unsafe fn freed_output(input: *const f32, output: *mut f32) {
    let i = in_grid();
    let value = *input.add(i);
    if i % 2 == 1 {
        *output.add(i) = value; //~ memory: use after free
    }
}

/// The host keeps the output.
// run: --grid 1 --block 64 f32[64]=ramp f32[64]
#[kernel]
pub unsafe fn freed_output_fixed(input: *const f32, output: *mut f32) {
    let i = in_grid();
    let value = *input.add(i);
    if i % 2 == 1 {
        *output.add(i) = value;
    }
}
