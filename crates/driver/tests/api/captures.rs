use std::ffi::c_void;
use std::ptr::{null, null_mut};

use super::support::{Driver, Handle, INVALID_HANDLE, INVALID_VALUE, KERNELS};

const ILLEGAL_STATE: u32 = 401;
const UNSUPPORTED: u32 = 900;
const INVALIDATED: u32 = 901;
const UNMATCHED: u32 = 903;
const UNJOINED: u32 = 904;
const ISOLATION: u32 = 905;
const IMPLICIT: u32 = 906;
const CAPTURED_EVENT: u32 = 907;
const WRONG_THREAD: u32 = 908;

fn streams(driver: &Driver, flags: u32) -> [Handle; 2] {
    let mut streams = [0; 2];
    for stream in &mut streams {
        assert_eq!(driver.cuStreamCreate(stream, flags), 0);
    }
    streams
}

fn event(driver: &Driver) -> Handle {
    let mut event = 0;
    assert_eq!(driver.cuEventCreate(&mut event, 2), 0);
    event
}

/// The end of a capture: its status and its graph.
fn end(driver: &Driver, stream: Handle) -> (u32, Handle) {
    let mut graph = 9;
    (driver.cuStreamEndCapture(stream, &mut graph), graph)
}

fn launch(driver: &Driver, graph: Handle, stream: Handle) {
    let mut executable = 0;
    assert_eq!(driver.cuGraphInstantiateWithFlags(&mut executable, graph, 0), 0);
    assert_eq!(driver.cuGraphLaunch(executable, stream), 0);
    assert_eq!(driver.cuStreamSynchronize(stream), 0);
    assert_eq!(driver.cuGraphExecDestroy(executable), 0);
    assert_eq!(driver.cuGraphLaunch(executable, stream), INVALID_VALUE);
}

#[test]
fn what_is_captured_runs_at_each_launch() {
    let driver = Driver::new();
    let [stream, _] = streams(&driver, 1);
    let (words, ones) = (driver.words(&[5; 8]), driver.words(&[1; 8]));
    let add = driver.kernel(driver.module(KERNELS), "add");
    let (mut back, mut status) = ([0u32; 8], 9);
    assert_eq!(driver.cuStreamBeginCapture_v2(stream, 1), 0);
    assert_eq!((driver.cuStreamIsCapturing(stream, &mut status), status), (0, 1));
    assert_eq!(driver.cuMemsetD32Async(words, 40, 8, stream), 0);
    let count = 8u32;
    let arguments: [*const c_void; 3] =
        [(&raw const words).cast(), (&raw const ones).cast(), (&raw const count).cast()];
    for _ in 0..2 {
        assert_eq!(driver.cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, stream, arguments.as_ptr(), null()), 0);
    }
    assert_eq!(driver.cuMemcpyDtoHAsync_v2(back.as_mut_ptr(), words, 32, stream), 0);
    let (mut id, mut graph, mut nodes, mut after) = (0, 0, null(), 0);
    let told = driver.cuStreamGetCaptureInfo_v2(stream, &mut status, &mut id, &mut graph, &mut nodes, &mut after);
    assert_eq!((told, status, after), (0, 1, 1));
    assert!(id != 0 && !nodes.is_null());
    let (ended, captured) = end(&driver, stream);
    assert_eq!((ended, captured), (0, graph));
    // Nothing has run yet.
    assert_eq!((driver.read(words, 8), back), (vec![5; 8], [0; 8]));
    launch(&driver, graph, stream);
    assert_eq!((driver.read(words, 8), back), (vec![42; 8], [42; 8]));
    let again = driver.words(&[7; 8]);
    assert_eq!(driver.cuMemcpyDtoD_v2(words, again, 32), 0);
    launch(&driver, graph, stream);
    assert_eq!(back, [42; 8]);
    let mut count = 0;
    assert_eq!((driver.cuGraphGetNodes(graph, null_mut(), &mut count), count), (0, 4));
    assert_eq!((driver.cuGraphDestroy(graph), driver.cuGraphDestroy(graph)), (0, INVALID_VALUE));
}

#[test]
fn streams_join_a_capture_by_events_and_must_be_joined() {
    let driver = Driver::new();
    let [first, second] = streams(&driver, 1);
    let (forked, joined) = (event(&driver), event(&driver));
    let words = driver.words(&[0; 8]);
    let fork = || {
        assert_eq!(driver.cuStreamBeginCapture_v2(first, 0), 0);
        assert_eq!(driver.cuEventRecord(forked, first), 0);
        assert_eq!(driver.cuStreamWaitEvent(second, forked, 0), 0);
        assert_eq!(driver.cuMemsetD32Async(words, 1, 4, first), 0);
        assert_eq!(driver.cuMemsetD32Async(words + 16, 2, 4, second), 0);
    };
    fork();
    assert_eq!(end(&driver, second), (UNMATCHED, 9));
    assert_eq!(driver.cuEventRecord(joined, second), 0);
    assert_eq!(driver.cuStreamWaitEvent(first, joined, 0), 0);
    assert_eq!(driver.cuMemsetD32Async(words, 3, 1, first), 0);
    let (status, graph) = end(&driver, first);
    assert_eq!(status, 0);
    let (mut roots, mut edges) = (0, 0);
    assert_eq!((driver.cuGraphGetRootNodes(graph, null_mut(), &mut roots), roots), (0, 2));
    assert_eq!((driver.cuGraphGetEdges(graph, null_mut(), null_mut(), &mut edges), edges), (0, 2));
    launch(&driver, graph, second);
    assert_eq!(driver.read(words, 8), [3, 1, 1, 1, 2, 2, 2, 2]);
    // A capture whose streams were not joined is in vain, and leaves all streams as they were.
    fork();
    assert_eq!(end(&driver, first), (UNJOINED, 0));
    assert_eq!(driver.cuMemsetD32Async(words, 8, 1, second), 0);
    assert_eq!(driver.read(words, 1), [8]);
}

#[test]
fn what_a_capture_forbids_ends_it() {
    let driver = Driver::new();
    let [stream, other] = streams(&driver, 1);
    let (inside, outside) = (event(&driver), event(&driver));
    assert_eq!(driver.cuEventRecord(outside, other), 0);
    let words = driver.words(&[0; 8]);
    let cases: [(u32, &dyn Fn() -> u32); 6] = [
        (UNSUPPORTED, &|| driver.cuStreamSynchronize(stream)),
        (UNSUPPORTED, &|| driver.cuStreamQuery(stream)),
        (UNSUPPORTED, &|| driver.cuCtxSynchronize()),
        (ISOLATION, &|| driver.cuStreamWaitEvent(stream, outside, 0)),
        (CAPTURED_EVENT, &|| driver.cuEventQuery(inside)),
        (CAPTURED_EVENT, &|| driver.cuEventSynchronize(inside)),
    ];
    for (index, (expected, call)) in cases.into_iter().enumerate() {
        assert_eq!(driver.cuStreamBeginCapture_v2(stream, 0), 0);
        assert_eq!(driver.cuEventRecord(inside, stream), 0);
        assert_eq!(call(), expected, "{index}");
        assert_eq!(driver.cuMemsetD32Async(words, 1, 8, stream), INVALIDATED, "{index}");
        assert_eq!(end(&driver, stream), (INVALIDATED, 0), "{index}");
        assert_eq!(driver.cuStreamSynchronize(stream), 0);
    }
    assert_eq!(driver.read(words, 8), [0; 8]);
    // The event marks no place any more.
    assert_eq!((driver.cuEventRecord(inside, stream), driver.cuEventQuery(inside)), (0, 0));

    assert_eq!(driver.cuStreamBeginCapture_v2(0, 0), UNSUPPORTED);
    assert_eq!(driver.cuStreamBeginCapture_v2(4711, 0), INVALID_HANDLE);
    assert_eq!(driver.cuStreamBeginCapture_v2(stream, 3), INVALID_VALUE);
    assert_eq!(end(&driver, stream), (ILLEGAL_STATE, 9));
    assert_eq!(driver.cuStreamBeginCapture_v2(stream, 1), 0);
    assert_eq!(driver.cuStreamBeginCapture_v2(stream, 1), ILLEGAL_STATE);
    // Another thread may wait for everything, but not end the capture.
    std::thread::scope(|threads| {
        threads.spawn(|| {
            driver.use_primary();
            assert_eq!((driver.cuCtxSynchronize(), end(&driver, stream)), (0, (WRONG_THREAD, 9)));
        });
    });
    let (status, graph) = end(&driver, stream);
    assert_eq!(status, 0);
    launch(&driver, graph, stream);
}

/// A stream that waits for the legacy default stream cannot be captured while that one is used.
#[test]
fn the_legacy_stream_is_not_used_beside_a_capture() {
    let driver = Driver::new();
    let words = driver.words(&[0; 8]);
    let [blocking, _] = streams(&driver, 0);
    assert_eq!(driver.cuStreamBeginCapture_v2(blocking, 2), 0);
    assert_eq!(driver.cuMemsetD32_v2(words, 1, 8), IMPLICIT);
    assert_eq!(end(&driver, blocking), (INVALIDATED, 0));
    let [free, _] = streams(&driver, 1);
    assert_eq!(driver.cuStreamBeginCapture_v2(free, 2), 0);
    assert_eq!(driver.cuMemsetD32_v2(words, 1, 8), 0);
    assert_eq!(end(&driver, free).0, 0);
    assert_eq!(driver.read(words, 8), [1; 8]);
}

#[test]
fn memory_that_a_graph_allocates_has_one_address() {
    let driver = Driver::new();
    let [stream, _] = streams(&driver, 1);
    let (mut address, mut back) = (0, [0u32; 4]);
    assert_eq!(driver.cuStreamBeginCapture_v2(stream, 0), 0);
    assert_eq!(driver.cuMemAllocAsync(&mut address, 16, stream), 0);
    assert_eq!(driver.cuMemsetD32Async(address, 6, 4, stream), 0);
    assert_eq!(driver.cuMemcpyDtoHAsync_v2(back.as_mut_ptr(), address, 16, stream), 0);
    let (status, graph) = end(&driver, stream);
    assert_eq!(status, 0);
    for _ in 0..2 {
        back = [0; 4];
        launch(&driver, graph, stream);
        assert_eq!(back, [6; 4]);
        assert_eq!(driver.cuMemFreeAsync(address, stream), 0);
        assert_eq!(driver.cuMemFreeAsync(address, stream), INVALID_VALUE);
    }
}
