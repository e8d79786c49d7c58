//! Vectors: one load, arithmetic, one store.

#[gpu_only]
use cuda_std::thread;
use cuda_std::vector::{f32x2, f32x4, f64x2, i32x2, i32x4, i64x2, u32x2, u32x4, u64x2};
use cuda_std::{gpu_only, kernel};

/// Computes on each element of a vector, and reverses their order.
///
/// # Safety
/// Both have an element for each thread.
#[kernel]
pub unsafe fn vector_f32x2(input: &[f32x2], output: *mut f32x2) {
    let i = thread::index_1d() as usize;
    let value = *input.get_unchecked(i); // ptx: ld.global.nc.b64
    let result = ((value + f32x2::splat(1.0)) * f32x2::splat(2.0) - value) / f32x2::splat(2.0);
    *output.add(i) = f32x2::new(result.y(), result.x()); // ptx: st.global.v2.b32
}

/// Computes on each element of a vector, and reverses their order.
///
/// # Safety
/// Both have an element for each thread.
#[kernel]
pub unsafe fn vector_f32x4(input: &[f32x4], output: *mut f32x4) {
    let i = thread::index_1d() as usize;
    let value = *input.get_unchecked(i); // ptx: ld.global.nc.v4.b32
    let result = ((value + f32x4::splat(1.0)) * f32x4::splat(2.0) - value) / f32x4::splat(2.0);
    *output.add(i) = f32x4::new(result.w(), result.z(), result.y(), result.x()); // ptx: st.global.v4.b32
}

/// Computes on each element of a vector, and reverses their order.
///
/// # Safety
/// Both have an element for each thread.
#[kernel]
pub unsafe fn vector_f64x2(input: &[f64x2], output: *mut f64x2) {
    let i = thread::index_1d() as usize;
    let value = *input.get_unchecked(i); // ptx: ld.global.nc.v2.b64
    let result = ((value + f64x2::splat(1.0)) * f64x2::splat(2.0) - value) / f64x2::splat(2.0);
    *output.add(i) = f64x2::new(result.y(), result.x()); // ptx: st.global.v2.b64
}

/// Computes on each element of a vector, and reverses their order.
///
/// # Safety
/// Both have an element for each thread.
#[kernel]
pub unsafe fn vector_u32x2(input: &[u32x2], output: *mut u32x2) {
    let i = thread::index_1d() as usize;
    let value = *input.get_unchecked(i); // ptx: ld.global.nc.b64
    let result = (value + u32x2::splat(1)) * u32x2::splat(2) - value;
    *output.add(i) = u32x2::new(result.y(), result.x()); // ptx: st.global.v2.b32
}

/// Computes on each element of a vector, and reverses their order.
///
/// # Safety
/// Both have an element for each thread.
#[kernel]
pub unsafe fn vector_u32x4(input: &[u32x4], output: *mut u32x4) {
    let i = thread::index_1d() as usize;
    let value = *input.get_unchecked(i); // ptx: ld.global.nc.v4.b32
    let result = (value + u32x4::splat(1)) * u32x4::splat(2) - value;
    *output.add(i) = u32x4::new(result.w(), result.z(), result.y(), result.x()); // ptx: st.global.v4.b32
}

/// Computes on each element of a vector, and reverses their order.
///
/// # Safety
/// Both have an element for each thread.
#[kernel]
pub unsafe fn vector_i32x2(input: &[i32x2], output: *mut i32x2) {
    let i = thread::index_1d() as usize;
    let value = *input.get_unchecked(i); // ptx: ld.global.nc.b64
    let result = (value + i32x2::splat(1)) * i32x2::splat(2) - value;
    *output.add(i) = i32x2::new(result.y(), result.x()); // ptx: st.global.v2.b32
}

/// Computes on each element of a vector, and reverses their order.
///
/// # Safety
/// Both have an element for each thread.
#[kernel]
pub unsafe fn vector_i32x4(input: &[i32x4], output: *mut i32x4) {
    let i = thread::index_1d() as usize;
    let value = *input.get_unchecked(i); // ptx: ld.global.nc.v4.b32
    let result = (value + i32x4::splat(1)) * i32x4::splat(2) - value;
    *output.add(i) = i32x4::new(result.w(), result.z(), result.y(), result.x()); // ptx: st.global.v4.b32
}

/// Computes on each element of a vector, and reverses their order.
///
/// # Safety
/// Both have an element for each thread.
#[kernel]
pub unsafe fn vector_u64x2(input: &[u64x2], output: *mut u64x2) {
    let i = thread::index_1d() as usize;
    let value = *input.get_unchecked(i); // ptx: ld.global.nc.v2.b64
    let result = (value + u64x2::splat(1)) * u64x2::splat(2) - value;
    *output.add(i) = u64x2::new(result.y(), result.x()); // ptx: st.global.v2.b64
}

/// Computes on each element of a vector, and reverses their order.
///
/// # Safety
/// Both have an element for each thread.
#[kernel]
pub unsafe fn vector_i64x2(input: &[i64x2], output: *mut i64x2) {
    let i = thread::index_1d() as usize;
    let value = *input.get_unchecked(i); // ptx: ld.global.nc.v2.b64
    let result = (value + i64x2::splat(1)) * i64x2::splat(2) - value;
    *output.add(i) = i64x2::new(result.y(), result.x()); // ptx: st.global.v2.b64
}

/// Sorts each vector's elements, by way of an array.
///
/// # Safety
/// `data` has an element for each thread.
#[kernel]
pub unsafe fn vector_arrays(data: *mut u32x4) {
    let i = thread::index_1d() as usize;
    let [a, b, c, d] = (*data.add(i)).to_array(); // ptx: ld.global.v4.b32
    let (a, b, c, d) = (a.min(b), a.max(b), c.min(d), c.max(d));
    let (a, b, c, d) = (a.min(c), b.min(d), a.max(c), b.max(d));
    *data.add(i) = u32x4::from_array([a, b.min(c), b.max(c), d]); // ptx: st.global.v4.b32
}

/// Copies vectors, and floats as vectors, without splitting them.
///
/// # Safety
/// Both have four floats for each thread, from a multiple of 16 bytes on.
#[kernel]
pub unsafe fn vector_copy(input: &[f32], output: *mut f32) {
    let i = thread::index_1d() as usize;
    *output.cast::<f32x4>().add(i) = *input.as_ptr().cast::<f32x4>().add(i); // ptx: ld.global.nc.v4.b32
}
