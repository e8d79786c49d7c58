//! A fake of the library that nvcc compiles from `docs/compare/cub.cu`, which computes on the CPU:
//! it copies from and to the device (`device_memory.rs`). `FAKE_INTERFACE` sets the version that it
//! reports. The tests of `tests/program/peers.rs` compile it.
#![allow(clippy::missing_safety_doc, clippy::too_many_arguments)]

use std::ffi::{c_int, c_void};

#[unsafe(no_mangle)]
pub extern "C" fn coalesce_peer_interface() -> u32 {
    std::env::var("FAKE_INTERFACE").map_or(2, |text| text.parse().unwrap())
}

#[unsafe(no_mangle)]
pub extern "C" fn coalesce_peer_cub_version() -> u32 {
    300_001
}

#[unsafe(no_mangle)]
pub extern "C" fn coalesce_peer_nvcc_version() -> u32 {
    13_000
}

/// The required size of the temporary memory.
const ROOM: u64 = 1234;

/// Whether the caller gave temporary memory. If not, returns the required size.
unsafe fn has_room(room: *mut c_void, bytes: *mut u64) -> bool {
    match room.is_null() {
        true => unsafe { *bytes = ROOM },
        false => assert!(unsafe { *bytes } >= ROOM),
    }
    !room.is_null()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn coalesce_peer_reduce(
    operation: c_int,
    number: c_int,
    input: *mut c_void,
    output: *mut c_void,
    length: u64,
    room: *mut c_void,
    bytes: *mut u64,
    _stream: *mut c_void,
) -> u32 {
    if !unsafe { has_room(room, bytes) } {
        return 0;
    }
    let length = length as usize;
    match number {
        0 => {
            let values = unsafe { fetch(input.cast::<f32>(), length) }.into_iter();
            let wide = values.clone().map(f64::from);
            let result = match operation {
                0 => wide.sum::<f64>() as f32,
                1 => wide.product::<f64>() as f32,
                2 => values.fold(f32::INFINITY, f32::min),
                _ => values.fold(f32::NEG_INFINITY, f32::max),
            };
            unsafe { store(output.cast(), &[result]) };
        }
        _ => {
            let values = unsafe { fetch(input.cast::<i32>(), length) }.into_iter();
            let result = match operation {
                0 => values.fold(0, i32::wrapping_add),
                1 => values.fold(1, i32::wrapping_mul),
                2 => values.fold(i32::MAX, i32::min),
                _ => values.fold(i32::MIN, i32::max),
            };
            unsafe { store(output.cast(), &[result]) };
        }
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn coalesce_peer_row_sums(
    input: *mut c_void,
    output: *mut c_void,
    rows: u64,
    columns: u64,
    pitch: u64,
    room: *mut c_void,
    bytes: *mut u64,
    _stream: *mut c_void,
) -> u32 {
    if !unsafe { has_room(room, bytes) } {
        return 0;
    }
    for row in 0..rows as usize {
        let row_of = unsafe { fetch(input.cast::<f32>().wrapping_add(row * pitch as usize), columns as usize) };
        let sum: f64 = row_of.into_iter().map(f64::from).sum();
        unsafe { store(output.cast::<f32>().wrapping_add(row), &[sum as f32]) };
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn coalesce_peer_prefix_sums(
    input: *mut c_void,
    output: *mut c_void,
    length: u64,
    room: *mut c_void,
    bytes: *mut u64,
    _stream: *mut c_void,
) -> u32 {
    if !unsafe { has_room(room, bytes) } {
        return 0;
    }
    let mut sums = unsafe { fetch(input.cast::<u32>(), length as usize) };
    for i in 1..sums.len() {
        sums[i] = sums[i].wrapping_add(sums[i - 1]);
    }
    unsafe { store(output.cast(), &sums) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn coalesce_peer_compact(
    input: *mut c_void,
    output: *mut c_void,
    count: *mut c_void,
    length: u64,
    room: *mut c_void,
    bytes: *mut u64,
    _stream: *mut c_void,
) -> u32 {
    if !unsafe { has_room(room, bytes) } {
        return 0;
    }
    let mut values = unsafe { fetch(input.cast::<u32>(), length as usize) };
    values.retain(|value| *value != 0);
    unsafe {
        store(output.cast(), &values);
        store(count.cast(), &[values.len() as u32]);
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn coalesce_peer_copy(
    input: *mut c_void,
    output: *mut c_void,
    length: u64,
    _stream: *mut c_void,
) -> u32 {
    unsafe { store(output.cast::<f32>(), &fetch(input.cast::<f32>(), length as usize)) };
    0
}
