use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use super::support::{Driver, INVALID_HANDLE, INVALID_VALUE, KERNELS, null_pointer};

#[test]
fn streams_and_events_are_known_until_they_are_destroyed() {
    let driver = Driver::new();
    let (mut stream, mut event) = (0, 0);
    assert_eq!(driver.cuStreamCreate(&mut stream, 1), 0);
    assert_eq!(driver.cuEventCreate(&mut event, 2), 0);
    assert_eq!(driver.cuEventRecord(event, stream), 0);
    assert_eq!((driver.cuEventSynchronize(event), driver.cuStreamWaitEvent(stream, event, 0)), (0, 0));
    assert_eq!((driver.cuStreamQuery(stream), driver.cuStreamSynchronize(stream)), (0, 0));
    assert_eq!((driver.cuEventDestroy_v2(event), driver.cuStreamDestroy_v2(stream)), (0, 0));
    for status in [
        driver.cuEventDestroy_v2(event),
        driver.cuEventRecord(event, 0),
        driver.cuEventSynchronize(event),
        driver.cuStreamDestroy_v2(stream),
        driver.cuStreamSynchronize(stream),
        driver.cuStreamQuery(stream),
        driver.cuStreamWaitEvent(0, event, 0),
    ] {
        assert_eq!(status, INVALID_HANDLE);
    }
    assert_eq!(driver.cuStreamCreate(null_pointer(), 0), INVALID_VALUE);
}

#[test]
fn the_time_between_events_is_predicted() {
    let driver = Driver::new();
    let (mut before, mut after, mut untimed, mut milliseconds) = (0, 0, 0, -1.0);
    assert_eq!((driver.cuEventCreate(&mut before, 0), driver.cuEventCreate(&mut after, 0)), (0, 0));
    assert_eq!(driver.cuEventCreate(&mut untimed, 2), 0);
    assert_eq!(driver.cuEventElapsedTime(&mut milliseconds, before, after), INVALID_HANDLE);
    let (kernel, words) = (driver.kernel(driver.module(KERNELS), "add"), driver.words(&[1; 64]));
    assert_eq!(driver.cuEventRecord(before, 0), 0);
    assert_eq!(driver.add(kernel, 2, 32, words, words, 64), 0);
    assert_eq!((driver.cuEventRecord(after, 0), driver.cuEventRecord(untimed, 0)), (0, 0));
    assert_eq!(driver.cuEventElapsedTime(&mut milliseconds, before, after), 0);
    // Some microseconds, as on an H200.
    assert!((0.001..0.02).contains(&milliseconds), "{milliseconds}");
    assert_eq!(driver.cuEventElapsedTime(&mut milliseconds, before, untimed), INVALID_HANDLE);
}

/// Functions of the host run without the driver's lock, and before a synchronisation returns.
#[test]
fn functions_of_the_host_run() {
    static CALLED: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn called(data: *mut c_void) {
        CALLED.fetch_add(data as usize as u32, Ordering::SeqCst);
    }
    let driver = Driver::new();
    for amount in [1, 10, 100] {
        assert_eq!(driver.cuLaunchHostFunc(0, Some(called), amount as *mut c_void), 0);
    }
    assert_eq!(driver.cuStreamSynchronize(0), 0);
    assert_eq!(CALLED.load(Ordering::SeqCst), 111);
    assert_eq!(driver.cuLaunchHostFunc(0, None, null_pointer()), INVALID_VALUE);
    assert_eq!(driver.cuLaunchHostFunc(4711, Some(called), null_pointer()), INVALID_HANDLE);
}
