use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use super::support::{
    Copy3D, Device, Driver, FillNode, Handle, HostNode, INVALID_VALUE, KERNELS, KernelNode, Side3D, UpdateResult,
};

const UPDATE_FAILURE: u32 = 910;

fn fill(to: Device, value: u32, words: usize) -> FillNode {
    FillNode { to, pitch: 0, value, each: 4, width: words, rows: 1 }
}

fn copy(to: *mut u32, from: Device, bytes: usize) -> Copy3D {
    let side = Side3D { at: [0; 4], kind: 1, host: to, device: 0, rest: [0; 4] };
    let source = Side3D { kind: 2, host: null(), device: from, ..side };
    Copy3D { from: source, to: side, width: bytes, height: 1, depth: 1 }
}

fn graph(driver: &Driver) -> Handle {
    let mut graph = 0;
    assert_eq!(driver.cuGraphCreate(&mut graph, 0), 0);
    graph
}

fn instantiated(driver: &Driver, graph: Handle) -> Handle {
    let mut executable = 0;
    assert_eq!(driver.cuGraphInstantiateWithFlags(&mut executable, graph, 0), 0);
    executable
}

fn run(driver: &Driver, executable: Handle) {
    assert_eq!((driver.cuGraphLaunch(executable, 0), driver.cuCtxSynchronize()), (0, 0));
}

static CALLED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn called(data: *mut c_void) {
    CALLED.fetch_add(data as usize as u32, Ordering::SeqCst);
}

#[test]
fn nodes_run_after_those_that_they_depend_on() {
    let driver = Driver::new();
    let graph = graph(&driver);
    let (words, ones) = (driver.words(&[0; 8]), driver.words(&[1; 8]));
    let (mut back, mut inner) = ([0u32; 8], 0);
    let add = driver.kernel(driver.module(KERNELS), "add");
    let count = 8u32;
    let arguments: [*const c_void; 3] =
        [(&raw const words).cast(), (&raw const ones).cast(), (&raw const count).cast()];
    let launch = KernelNode {
        function: add,
        grid: [1; 3],
        block: [32, 1, 1],
        shared: 0,
        arguments: arguments.as_ptr(),
        extra: null(),
    };
    let (mut filled, mut empty, mut added, mut copied, mut host) = (0, 0, 0, 0, 0);
    // In an order that only the edges correct.
    let call = HostNode { function: Some(called), data: 5 as *mut c_void };
    assert_eq!(driver.cuGraphAddHostNode(&mut host, graph, null(), 0, &call), 0);
    assert_eq!(driver.cuGraphAddMemcpyNode(&mut copied, graph, null(), 0, &copy(back.as_mut_ptr(), words, 32), 0), 0);
    assert_eq!(driver.cuGraphAddKernelNode(&mut added, graph, null(), 0, &launch), 0);
    assert_eq!(driver.cuGraphAddMemsetNode(&mut filled, graph, null(), 0, &fill(words, 9, 8), 0), 0);
    assert_eq!(driver.cuGraphAddEmptyNode(&mut empty, graph, &filled, 1), 0);
    assert_eq!(driver.cuGraphAddDependencies(graph, [empty, added].as_ptr(), [added, copied].as_ptr(), 2), 0);
    let kinds = [added, copied, filled, host, empty].map(|node| {
        let mut kind = 99;
        assert_eq!(driver.cuGraphNodeGetType(node, &mut kind), 0);
        kind
    });
    assert_eq!(kinds, [0, 1, 2, 3, 5]);
    let executable = instantiated(&driver, graph);
    run(&driver, executable);
    assert_eq!((back, CALLED.load(Ordering::SeqCst)), ([10; 8], 5));
    // A node that is switched off.
    assert_eq!(driver.cuGraphNodeSetEnabled(executable, added, 0), 0);
    run(&driver, executable);
    assert_eq!((back, CALLED.load(Ordering::SeqCst)), ([9; 8], 10));
    // The arguments of a kernel are kept, and can be asked for.
    let mut asked = launch;
    assert_eq!(driver.cuGraphKernelNodeGetParams(added, &mut asked), 0);
    assert_eq!((asked.function, asked.block), (add, [32, 1, 1]));
    // SAFETY: the driver gave three pointers, the first to an address.
    assert_eq!(unsafe { (*asked.arguments).cast::<u64>().read() }, words);
    let mut shown = copy(null_mut(), 0, 0);
    assert_eq!((driver.cuGraphMemcpyNodeGetParams(copied, &mut shown), shown.width), (0, 32));
    assert_eq!(driver.cuGraphMemcpyNodeGetParams(added, &mut shown), INVALID_VALUE);
    // A graph in a node.
    assert_eq!(driver.cuGraphCreate(&mut inner, 0), 0);
    let mut child = 0;
    assert_eq!(driver.cuGraphAddMemsetNode(&mut child, inner, null(), 0, &fill(words, 3, 8), 0), 0);
    assert_eq!(driver.cuGraphAddChildGraphNode(&mut child, inner, &child, 1, graph), 0);
    let executable = instantiated(&driver, inner);
    run(&driver, executable);
    assert_eq!(back, [10; 8]);
    assert_eq!((driver.cuGraphDestroy(inner), driver.cuGraphDestroy(graph)), (0, 0));
}

#[test]
fn graphs_are_copied_changed_and_updated() {
    let driver = Driver::new();
    let original = graph(&driver);
    let words = driver.words(&[0; 4]);
    let (mut first, mut second) = (0, 0);
    assert_eq!(driver.cuGraphAddMemsetNode(&mut first, original, null(), 0, &fill(words, 1, 4), 0), 0);
    assert_eq!(driver.cuGraphAddMemsetNode(&mut second, original, &first, 1, &fill(words, 2, 2), 0), 0);
    let executable = instantiated(&driver, original);
    let (mut copied, mut node) = (0, 0);
    assert_eq!(driver.cuGraphClone(&mut copied, original), 0);
    assert_eq!(driver.cuGraphNodeFindInClone(&mut node, second, copied), 0);
    assert_eq!(driver.cuGraphDestroyNode(node), 0);
    assert_eq!(driver.cuGraphNodeFindInClone(&mut node, second, copied), INVALID_VALUE);
    let one = instantiated(&driver, copied);
    run(&driver, one);
    assert_eq!(driver.read(words, 4), [1; 4]);
    run(&driver, executable);
    assert_eq!(driver.read(words, 4), [2, 2, 1, 1]);
    // Another graph of the same form takes its place.
    let other = graph(&driver);
    assert_eq!(driver.cuGraphAddMemsetNode(&mut first, other, null(), 0, &fill(words, 7, 4), 0), 0);
    assert_eq!(driver.cuGraphAddMemsetNode(&mut second, other, &first, 1, &fill(words, 8, 1), 0), 0);
    let mut result = UpdateResult::default();
    assert_eq!((driver.cuGraphExecUpdate_v2(executable, other, &mut result), result.result), (0, 0));
    run(&driver, executable);
    assert_eq!(driver.read(words, 4), [8, 7, 7, 7]);
    // One of another form does not, and changes nothing.
    assert_eq!(driver.cuGraphRemoveDependencies(other, &first, &second, 1), 0);
    assert_eq!((driver.cuGraphExecUpdate_v2(executable, other, &mut result), result.result), (UPDATE_FAILURE, 2));
    assert_eq!((driver.cuGraphExecUpdate_v2(executable, copied, &mut result), result.result), (UPDATE_FAILURE, 2));
    run(&driver, executable);
    assert_eq!(driver.read(words, 4), [8, 7, 7, 7]);
}

#[test]
fn graphs_that_cannot_be_are_refused() {
    let driver = Driver::new();
    let graph = graph(&driver);
    let (mut first, mut second, mut executable) = (0, 0, 0);
    assert_eq!(driver.cuGraphAddEmptyNode(&mut first, graph, null(), 0), 0);
    assert_eq!(driver.cuGraphAddEmptyNode(&mut second, graph, &first, 1), 0);
    // A circle.
    assert_eq!(driver.cuGraphAddDependencies(graph, &second, &first, 1), 0);
    assert_eq!(driver.cuGraphInstantiateWithFlags(&mut executable, graph, 0), INVALID_VALUE);
    assert_eq!(driver.cuGraphRemoveDependencies(graph, &second, &first, 1), 0);
    assert_eq!(driver.cuGraphRemoveDependencies(graph, &second, &first, 1), INVALID_VALUE);
    // An edge that is there, one of a node to itself, and flags that exclude each other.
    assert_eq!(driver.cuGraphAddDependencies(graph, &first, &second, 1), INVALID_VALUE);
    assert_eq!(driver.cuGraphAddDependencies(graph, &first, &first, 1), INVALID_VALUE);
    assert_eq!(driver.cuGraphInstantiateWithFlags(&mut executable, graph, 5), INVALID_VALUE);
    assert_eq!(driver.cuGraphInstantiateWithFlags(&mut executable, graph, 64), INVALID_VALUE);
    for bad in [0, 0x10, first] {
        assert_eq!(driver.cuGraphInstantiateWithFlags(&mut executable, bad, 0), INVALID_VALUE);
        assert_eq!(driver.cuGraphAddEmptyNode(&mut second, bad, null(), 0), INVALID_VALUE);
        assert_eq!(driver.cuGraphLaunch(bad, 0), INVALID_VALUE);
    }
    assert_eq!(driver.cuGraphAddEmptyNode(&mut second, graph, &graph, 1), INVALID_VALUE);
    assert_eq!(driver.cuGraphAddEmptyNode(&mut second, graph, null(), 1), INVALID_VALUE);
    assert_eq!(driver.cuGraphAddMemsetNode(&mut second, graph, null(), 0, null(), 0), INVALID_VALUE);
    assert_eq!(driver.cuGraphAddKernelNode(&mut second, graph, null(), 0, null()), INVALID_VALUE);
    assert_eq!(driver.cuGraphInstantiateWithFlags(null_mut(), graph, 0), INVALID_VALUE);
    // A fault in a graph is the status of its launch.
    let words = driver.words(&[0; 2]);
    assert_eq!(driver.cuGraphAddMemsetNode(&mut second, graph, null(), 0, &fill(words, 1, 3), 0), 0);
    let executable = instantiated(&driver, graph);
    assert_eq!(driver.cuGraphLaunch(executable, 0), INVALID_VALUE);
}

#[test]
fn an_object_lives_as_long_as_the_graphs_that_refer_to_it() {
    static DESTROYED: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn destroy(data: *mut c_void) {
        DESTROYED.fetch_add(data as usize as u32, Ordering::SeqCst);
    }
    let driver = Driver::new();
    let (graph, mut copied, mut object, mut node) = (graph(&driver), 0, 0, 0);
    assert_eq!(driver.cuUserObjectCreate(&mut object, 7 as *mut c_void, Some(destroy), 1, 1), 0);
    assert_eq!(driver.cuGraphRetainUserObject(graph, object, 1, 1), 0);
    assert_eq!(driver.cuGraphAddEmptyNode(&mut node, graph, null(), 0), 0);
    let executable = instantiated(&driver, graph);
    assert_eq!((driver.cuGraphClone(&mut copied, graph), driver.cuGraphDestroy(graph)), (0, 0));
    run(&driver, executable);
    assert_eq!((driver.cuGraphExecDestroy(executable), driver.cuCtxSynchronize()), (0, 0));
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 0);
    // The function has run when the call returns.
    assert_eq!(driver.cuGraphDestroy(copied), 0);
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 7);
    assert_eq!(driver.cuUserObjectRelease(object, 1), INVALID_VALUE);
}

/// What follows a function of the host waits for it, also in a graph within a graph.
#[test]
fn nodes_wait_for_functions_of_the_host() {
    unsafe extern "C" fn add_one(data: *mut c_void) {
        // Time in which what follows would run, if it did not wait.
        std::thread::sleep(std::time::Duration::from_millis(20));
        // SAFETY: the test gives a word that lives until the graph has run.
        unsafe { *data.cast::<u32>() += 1 };
    }
    let driver = Driver::new();
    let (mut stream, mut graph, mut outer) = (0, 0, 0);
    assert_eq!(driver.cuStreamCreate(&mut stream, 1), 0);
    let words = driver.words(&[4]);
    let mut word = 0u32;
    let place = &raw mut word;
    assert_eq!(driver.cuStreamBeginCapture_v2(stream, 1), 0);
    assert_eq!(driver.cuMemcpyDtoHAsync_v2(place, words, 4, stream), 0);
    assert_eq!(driver.cuLaunchHostFunc(stream, Some(add_one), place.cast()), 0);
    assert_eq!(driver.cuMemcpyHtoDAsync_v2(words, place, 4, stream), 0);
    assert_eq!((driver.cuStreamEndCapture(stream, &mut graph), driver.cuGraphCreate(&mut outer, 0)), (0, 0));
    let mut child = 0;
    assert_eq!(driver.cuGraphAddChildGraphNode(&mut child, outer, null(), 0, graph), 0);
    for (graph, expected) in [(graph, 5), (outer, 6)] {
        let executable = instantiated(&driver, graph);
        assert_eq!((driver.cuGraphLaunch(executable, stream), driver.cuStreamSynchronize(stream)), (0, 0));
        assert_eq!(driver.read(words, 1), [expected]);
    }
}
