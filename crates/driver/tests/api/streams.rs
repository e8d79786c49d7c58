use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::support::{Driver, Handle, INVALID_HANDLE, INVALID_VALUE, KERNELS, NOT_READY, in_child, null_pointer};

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

/// An event is finished only when the functions of the host before it are; other work waits for
/// them.
#[test]
fn events_and_work_wait_for_functions_of_the_host() {
    static ENDED: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn wait(data: *mut c_void) {
        // SAFETY: the test below gives a receiver.
        let released = unsafe { Box::from_raw(data.cast::<Receiver<()>>()) };
        let _ = released.recv();
        ENDED.fetch_add(1, Ordering::SeqCst);
    }
    let driver = Driver::new();
    let (mut stream, mut other, mut event) = (0, 0, 0);
    assert_eq!((driver.cuStreamCreate(&mut stream, 1), driver.cuStreamCreate(&mut other, 1)), (0, 0));
    assert_eq!(driver.cuEventCreate(&mut event, 2), 0);
    assert_eq!(driver.cuEventQuery(event), 0);
    let words = driver.words(&[0]);
    for (count, waiting) in [(1, stream), (2, other)] {
        let (release, released) = channel::<()>();
        let data = Box::into_raw(Box::new(released)).cast();
        assert_eq!(driver.cuLaunchHostFunc(stream, Some(wait), data), 0);
        assert_eq!(driver.cuEventRecord(event, stream), 0);
        assert_eq!((driver.cuEventQuery(event), driver.cuStreamQuery(stream)), (NOT_READY, NOT_READY));
        assert_eq!(driver.cuStreamWaitEvent(other, event, 0), 0);
        assert_eq!(driver.cuStreamQuery(waiting), NOT_READY);
        drop(release);
        assert_eq!(driver.cuMemsetD32Async(words, count, 1, waiting), 0);
        assert_eq!(ENDED.load(Ordering::SeqCst), count);
        assert_eq!((driver.cuEventSynchronize(event), driver.cuEventQuery(event)), (0, 0));
        assert_eq!((driver.cuStreamQuery(stream), driver.cuStreamQuery(other)), (0, 0));
        assert_eq!(driver.read(words, 1), [count]);
    }
}

/// A function of the host runs after those before the events that its stream waits for, also if the
/// event is one for several processes.
#[test]
fn functions_of_the_host_wait_for_events_of_other_streams() {
    static ENDED: AtomicU32 = AtomicU32::new(0);
    static SEEN: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn wait(data: *mut c_void) {
        // SAFETY: the test below gives a receiver.
        let released = unsafe { Box::from_raw(data.cast::<Receiver<()>>()) };
        let _ = released.recv();
        ENDED.fetch_add(1, Ordering::SeqCst);
    }
    unsafe extern "C" fn see(_: *mut c_void) {
        SEEN.store(ENDED.load(Ordering::SeqCst), Ordering::SeqCst);
    }
    let driver = Driver::new();
    for (count, flags) in [(1, 2), (2, 6)] {
        let (mut stream, mut other, mut event) = (0, 0, 0);
        assert_eq!((driver.cuStreamCreate(&mut stream, 1), driver.cuStreamCreate(&mut other, 1)), (0, 0));
        assert_eq!(driver.cuEventCreate(&mut event, flags), 0);
        let (release, released) = channel::<()>();
        let data = Box::into_raw(Box::new(released)).cast();
        assert_eq!(driver.cuLaunchHostFunc(stream, Some(wait), data), 0);
        assert_eq!((driver.cuEventRecord(event, stream), driver.cuStreamWaitEvent(other, event, 0)), (0, 0));
        assert_eq!(driver.cuLaunchHostFunc(other, Some(see), null_pointer()), 0);
        // Time in which it would run, if it did not wait.
        std::thread::sleep(std::time::Duration::from_millis(20));
        drop(release);
        assert_eq!((driver.cuStreamSynchronize(other), SEEN.load(Ordering::SeqCst)), (0, count));
        assert_eq!((driver.cuEventQuery(event), driver.cuStreamQuery(stream)), (0, 0));
    }
}

/// A function of the host that ends once its sender is dropped.
fn held(driver: &Driver, stream: Handle) -> Sender<()> {
    unsafe extern "C" fn wait(data: *mut c_void) {
        // SAFETY: this function gives a receiver.
        let released = unsafe { Box::from_raw(data.cast::<Receiver<()>>()) };
        let _ = released.recv();
    }
    let (release, released) = channel::<()>();
    assert_eq!(driver.cuLaunchHostFunc(stream, Some(wait), Box::into_raw(Box::new(released)).cast()), 0);
    release
}

// In a process of its own: others use the default stream, too.
#[test]
fn functions_of_the_host_keep_the_default_stream_s_order() {
    in_child("streams::functions_of_the_host_keep_the_default_stream_s_order", &[], default_stream);
}

fn default_stream(driver: &Driver) {
    let (mut blocking, mut free, mut event) = (0, 0, 0);
    assert_eq!((driver.cuStreamCreate(&mut blocking, 0), driver.cuStreamCreate(&mut free, 1)), (0, 0));
    assert_eq!(driver.cuEventCreate(&mut event, 2), 0);
    let words = driver.words(&[0]);
    // The default stream waits for streams that block, and those for it.
    for [first, second] in [[blocking, 0], [0, blocking]] {
        let release = held(driver, first);
        assert_eq!(driver.cuEventRecord(event, second), 0);
        assert_eq!((driver.cuStreamQuery(second), driver.cuEventQuery(event)), (NOT_READY, NOT_READY));
        assert_eq!(driver.cuStreamQuery(free), 0);
        // A function there runs later.
        let later = held(driver, second);
        drop(later);
        assert_eq!(driver.cuStreamQuery(first), NOT_READY);
        drop(release);
        assert_eq!((driver.cuStreamSynchronize(second), driver.cuEventQuery(event)), (0, 0));
        assert_eq!(driver.cuStreamQuery(first), 0);
    }
    // Not for one that does not.
    let release = held(driver, free);
    assert_eq!((driver.cuMemsetD32Async(words, 7, 1, 0), driver.cuStreamQuery(free)), (0, NOT_READY));
    drop(release);
    assert_eq!((driver.cuStreamSynchronize(free), driver.read(words, 1)), (0, vec![7]));
    // Streams that wait for each other in turn wait for each once.
    let mut other = 0;
    assert_eq!(driver.cuStreamCreate(&mut other, 1), 0);
    let releases: Vec<_> = (0..60)
        .map(|turn| {
            let [from, to] = if turn % 2 == 0 { [free, other] } else { [other, free] };
            let release = held(driver, from);
            assert_eq!((driver.cuEventRecord(event, from), driver.cuStreamWaitEvent(to, event, 0)), (0, 0));
            release
        })
        .collect();
    assert_eq!((driver.cuStreamQuery(free), driver.cuStreamQuery(other)), (NOT_READY, NOT_READY));
    drop(releases);
    assert_eq!((driver.cuStreamSynchronize(other), driver.cuStreamSynchronize(free)), (0, 0));
}

/// Streams that do not wait for each other overlap, by predicted time.
#[test]
fn streams_overlap_by_predicted_time() {
    let driver = Driver::new();
    let kernel = driver.kernel(driver.module(KERNELS), "add");
    let words = driver.words(&[1; 64]);
    let timed = |second_waits: bool| {
        let (mut first, mut second, mut joined) = (0, 0, 0);
        let (mut before, mut after, mut milliseconds) = (0, 0, -1.0);
        assert_eq!((driver.cuStreamCreate(&mut first, 1), driver.cuStreamCreate(&mut second, 1)), (0, 0));
        assert_eq!((driver.cuEventCreate(&mut before, 0), driver.cuEventCreate(&mut after, 0)), (0, 0));
        assert_eq!(driver.cuEventCreate(&mut joined, 2), 0);
        let launch = |stream| {
            let count = 64u32;
            let arguments: [*const c_void; 3] =
                [(&raw const words).cast(), (&raw const words).cast(), (&raw const count).cast()];
            assert_eq!(
                driver.cuLaunchKernel(kernel, 2, 1, 1, 32, 1, 1, 0, stream, arguments.as_ptr(), std::ptr::null()),
                0
            );
        };
        assert_eq!(driver.cuEventRecord(before, first), 0);
        launch(first);
        if second_waits {
            assert_eq!((driver.cuEventRecord(joined, first), driver.cuStreamWaitEvent(second, joined, 0)), (0, 0));
        }
        launch(second);
        assert_eq!((driver.cuEventRecord(joined, second), driver.cuStreamWaitEvent(first, joined, 0)), (0, 0));
        assert_eq!((driver.cuEventRecord(after, first), driver.cuEventSynchronize(after)), (0, 0));
        assert_eq!(driver.cuEventElapsedTime(&mut milliseconds, before, after), 0);
        milliseconds
    };
    let (together, in_turn) = (timed(false), timed(true));
    assert!((in_turn / together - 2.0).abs() < 0.1, "{together} {in_turn}");
}

/// Programs whose default stream is the thread's own call functions with other names, in which no
/// stream is that one: it can be captured, as the default stream of all cannot.
#[test]
fn the_default_stream_can_be_the_threads_own() {
    let driver = Driver::new();
    let (words, mut graph) = (driver.words(&[0; 2]), 0);
    assert_eq!(driver.cuStreamBeginCapture_v2(0, 0), 900);
    assert_eq!(driver.cuStreamBeginCapture_v2_ptsz(0, 0), 0);
    let mut capturing = [9, 9];
    assert_eq!(driver.cuStreamIsCapturing(2, &mut capturing[0]), 0);
    assert_eq!(driver.cuStreamIsCapturing(1, &mut capturing[1]), 0);
    assert_eq!(capturing, [1, 0]);
    assert_eq!(driver.cuMemsetD32Async_ptsz(words, 7, 1, 0), 0);
    assert_eq!((driver.cuStreamEndCapture_ptsz(0, &mut graph), driver.read(words, 1)), (0, vec![0]));
    // Without a capture, the function runs as usual.
    assert_eq!((driver.cuMemsetD32Async_ptsz(words, 7, 1, 0), driver.cuStreamSynchronize_ptsz(0)), (0, 0));
    let mut word = 0;
    assert_eq!((driver.cuMemcpyDtoH_v2_ptds(&mut word, words, 4), word), (0, 7));
}

/// An event is recorded in streams of its own context, and times are between events of one.
#[test]
fn streams_and_events_belong_to_their_context() {
    let driver = Driver::new();
    let (mut other, mut context, mut device) = (0, 0, 9);
    let (mut streams, mut events, mut time) = ([0; 2], [0; 2], 0.0);
    assert_eq!(driver.cuStreamCreate(&mut streams[0], 1), 0);
    assert_eq!(driver.cuEventCreate(&mut events[0], 0), 0);
    assert_eq!(driver.cuEventRecord(events[0], streams[0]), 0);
    assert_eq!(driver.cuCtxCreate_v2(&mut other, 0, 0), 0);
    assert_eq!((driver.cuStreamCreate(&mut streams[1], 1), driver.cuEventCreate(&mut events[1], 0)), (0, 0));
    assert_eq!(driver.cuEventRecord(events[1], streams[0]), INVALID_HANDLE);
    assert_eq!(driver.cuEventRecord(events[1], streams[1]), 0);
    assert_eq!(driver.cuEventElapsedTime(&mut time, events[0], events[1]), INVALID_HANDLE);
    // A default stream is that of the current context.
    assert_eq!((driver.cuEventRecord(events[1], 0), driver.cuEventRecord(events[0], 0)), (0, INVALID_HANDLE));
    assert_eq!((driver.cuStreamGetCtx(streams[1], &mut context), context), (0, other));
    assert_eq!((driver.cuStreamGetCtx(streams[0], &mut context), context != other), (0, true));
    assert_eq!((driver.cuStreamGetDevice(streams[0], &mut device), device), (0, 0));
}
