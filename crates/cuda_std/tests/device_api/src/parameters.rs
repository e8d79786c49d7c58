//! Parameters of every form, and a struct by value.

use bytemuck::{NoUninit, Pod, Zeroable};
#[gpu_only]
use cuda_std::thread;
use cuda_std::{DisjointSlice, gpu_only, kernel};

/// A struct of 16 bytes, aligned to 8: what a kernel may take by value.
#[derive(Clone, Copy, Debug, NoUninit)]
#[repr(C)]
pub struct Settings {
    /// At byte 0.
    pub seed: u64,
    /// At byte 8.
    pub scale: f32,
    /// At byte 12.
    pub shift: i32,
}

/// Elements that are structs: 12 bytes, aligned to 4.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Point {
    /// At byte 0.
    pub x: f32,
    /// At byte 4.
    pub y: f32,
    /// At byte 8.
    pub z: f32,
}

/// Writes each scalar parameter, as 64 bits.
///
/// # Safety
/// `output` has 11 elements; one thread.
#[kernel]
pub unsafe fn parameter_scalars(
    output: *mut u64,
    a: u8,
    b: u16,
    c: u32,
    d: u64,
    e: usize,
    f: i8,
    g: i16,
    h: i32,
    i: i64,
    j: f32,
    k: bool,
) {
    let values = [
        u64::from(a),
        u64::from(b),
        u64::from(c),
        d,
        e as u64,
        i64::from(f).cast_unsigned(),
        i64::from(g).cast_unsigned(),
        i64::from(h).cast_unsigned(),
        i.cast_unsigned(),
        u64::from(j.to_bits()),
        u64::from(k),
    ];
    for (place, value) in values.into_iter().enumerate() {
        *output.add(place) = value;
    }
}

/// Values that are more than a scalar, and a parameter that the body changes.
///
/// # Safety
/// `output` has 4 elements; one thread.
#[kernel]
pub unsafe fn parameter_values(mut output: *mut f64, settings: Settings, double: f64) {
    for value in [settings.seed as f64, f64::from(settings.scale), f64::from(settings.shift), double] {
        *output = value;
        output = output.add(1);
    }
}

/// Slices: lengths, bounds, structs as elements, and an output.
#[kernel]
pub fn parameter_slices(points: &[Point], factors: &[f32], mut output: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let Some(output) = output.get_mut(i) {
        // An index beyond the slice traps.
        let Point { x, y, z } = points[i.get()];
        *output = (x + y + z) * factors[i.get() % 2];
    }
}
