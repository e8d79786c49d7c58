//! A fake of NVIDIA's management library, with one GPU at the PCI address of the driver's.
//! `FAKE_NVML_CLOCK=MHZ:REASONS` sets its clock and the bits of the throttle reasons. The tests of
//! `tests/program/gpu.rs` compile it to `libnvidia-ml.so.1`.
#![allow(non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{CStr, c_char, c_void};

/// `NVML_ERROR_NOT_FOUND`
const NOT_FOUND: u32 = 6;

/// The clock and the throttle reasons.
fn clock() -> (u32, u64) {
    let text = std::env::var("FAKE_NVML_CLOCK").unwrap();
    let (clock, reasons) = text.split_once(':').unwrap();
    (clock.parse().unwrap(), reasons.parse().unwrap())
}

/// Without a clock, the library fails to start, as without a driver.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> u32 {
    if std::env::var_os("FAKE_NVML_CLOCK").is_some() { 0 } else { NOT_FOUND }
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlShutdown() -> u32 {
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByPciBusId_v2(address: *const c_char, device: *mut *mut c_void) -> u32 {
    // SAFETY: the caller passes a text and a pointer for the handle.
    unsafe {
        if CStr::from_ptr(address) != c"00000000:01:00.0" {
            return NOT_FOUND;
        }
        *device = 8 as *mut c_void;
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetClockInfo(_device: *mut c_void, kind: u32, clock_mhz: *mut u32) -> u32 {
    assert_eq!(kind, 1, "the clock of the multiprocessors");
    // SAFETY: the caller passes a pointer for the clock.
    unsafe { *clock_mhz = clock().0 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMaxClockInfo(_device: *mut c_void, kind: u32, clock_mhz: *mut u32) -> u32 {
    assert_eq!(kind, 1, "the clock of the multiprocessors");
    // SAFETY: the caller passes a pointer for the clock.
    unsafe { *clock_mhz = 1980 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCurrentClocksThrottleReasons(_device: *mut c_void, reasons: *mut u64) -> u32 {
    // SAFETY: the caller passes a pointer for the reasons.
    unsafe { *reasons = clock().1 };
    0
}
