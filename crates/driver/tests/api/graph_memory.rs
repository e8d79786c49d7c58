use std::ptr::null;

use super::support::{AllocationNode, Driver, FillNode, Handle, INVALID_HANDLE, INVALID_VALUE, null_pointer};

const CAPTURE_INVALIDATED: u32 = 901;

fn attributes(driver: &Driver) -> [u64; 4] {
    [0, 1, 2, 3].map(|number| {
        let mut value = 77;
        assert_eq!(driver.cuDeviceGetGraphMemAttribute(0, number, &mut value), 0);
        value
    })
}

/// A graph that allocates, fills and frees memory runs as often as it is launched.
#[test]
fn nodes_allocate_and_free_in_each_launch() {
    let driver = Driver::new();
    let (mut graph, mut nodes, mut executable) = (0, [0; 3], 0);
    assert_eq!(driver.cuGraphCreate(&mut graph, 0), 0);
    let mut asked = AllocationNode { bytes: 4096, ..AllocationNode::default() };
    assert_eq!(driver.cuGraphAddMemAllocNode(&mut nodes[0], graph, null(), 0, &mut asked), 0);
    let address = asked.address;
    let fill = FillNode { to: address, pitch: 0, value: 5, each: 4, width: 1024, rows: 1 };
    assert_eq!(driver.cuGraphAddMemsetNode(&mut nodes[1], graph, &nodes[0], 1, &fill, 0), 0);
    assert_eq!(driver.cuGraphAddMemFreeNode(&mut nodes[2], graph, &nodes[1], 1, address), 0);
    let (mut kinds, mut found, mut freed) = ([0; 3], AllocationNode::default(), 0);
    for (node, kind) in nodes.into_iter().zip(&mut kinds) {
        assert_eq!(driver.cuGraphNodeGetType(node, kind), 0);
    }
    assert_eq!(kinds, [10, 2, 11]);
    assert_eq!(driver.cuGraphMemAllocNodeGetParams(nodes[0], &mut found), 0);
    assert_eq!((found.bytes, found.address), (4096, address));
    assert_eq!((driver.cuGraphMemFreeNodeGetParams(nodes[2], &mut freed), freed), (0, address));
    assert_eq!(driver.cuGraphInstantiateWithFlags(&mut executable, graph, 0), 0);
    for _ in 0..2 {
        assert_eq!((driver.cuGraphLaunch(executable, 0), driver.cuStreamSynchronize(0)), (0, 0));
        let [used, most, kept, _] = attributes(&driver);
        assert!(used == 0 && most >= 4096 && kept >= 4096, "{used} {most} {kept}");
    }
    assert_eq!(driver.cuDeviceSetGraphMemAttribute(0, 1, &0), 0);
    assert_eq!((attributes(&driver)[1], driver.cuDeviceGraphMemTrim(0)), (0, 0));
}

/// The same of a stream that is captured.
#[test]
fn a_captured_stream_allocates_and_frees_in_each_launch() {
    let driver = Driver::new();
    let (mut stream, mut address, mut graph, mut executable) = (0, 0, 0, 0);
    let mut back = [0u32; 4];
    assert_eq!((driver.cuStreamCreate(&mut stream, 1), driver.cuStreamBeginCapture_v2(stream, 0)), (0, 0));
    assert_eq!(driver.cuMemAllocAsync(&mut address, 16, stream), 0);
    assert_eq!(driver.cuMemsetD32Async(address, 6, 4, stream), 0);
    assert_eq!(driver.cuMemcpyDtoHAsync_v2(back.as_mut_ptr(), address, 16, stream), 0);
    assert_eq!(driver.cuMemFreeAsync(address, stream), 0);
    assert_eq!(driver.cuStreamEndCapture(stream, &mut graph), 0);
    assert_eq!(driver.cuGraphInstantiateWithFlags(&mut executable, graph, 0), 0);
    for _ in 0..3 {
        back = [0; 4];
        assert_eq!((driver.cuGraphLaunch(executable, stream), driver.cuStreamSynchronize(stream)), (0, 0));
        assert_eq!(back, [6; 4]);
    }
}

/// A graph with a node that allocates so many bytes and one that fills the first of them, of a
/// captured stream; also instantiated, and the address.
pub fn captured(driver: &Driver, bytes: usize, stream: Handle) -> (Handle, Handle, u64) {
    let (mut address, mut graph, mut executable) = (0, 0, 0);
    assert_eq!(driver.cuStreamBeginCapture_v2(stream, 0), 0);
    assert_eq!(driver.cuMemAllocAsync(&mut address, bytes, stream), 0);
    assert_eq!(driver.cuMemsetD32Async(address, 6, 4, stream), 0);
    assert_eq!(driver.cuStreamEndCapture(stream, &mut graph), 0);
    assert_eq!(driver.cuGraphInstantiateWithFlags(&mut executable, graph, 0), 0);
    (graph, executable, address)
}

/// What a graph allocates and does not free is the caller's to free, after each launch.
#[test]
fn what_a_launch_allocates_is_freed_outside_of_the_graph() {
    let driver = Driver::new();
    let mut stream = 0;
    assert_eq!(driver.cuStreamCreate(&mut stream, 1), 0);
    let (_, executable, address) = captured(&driver, 16, stream);
    assert_eq!(driver.cuMemFreeAsync(address, stream), INVALID_VALUE, "no launch has allocated it");
    for in_order in [true, true, false, true] {
        assert_eq!(driver.cuGraphLaunch(executable, stream), 0);
        assert_eq!((driver.cuStreamSynchronize(stream), driver.read(address, 4)), (0, vec![6; 4]));
        assert_eq!(attributes(&driver)[0], 16);
        // Other bytes, which the next launch must overwrite.
        assert_eq!(driver.cuMemsetD32_v2(address, 7, 4), 0);
        let free = || if in_order { driver.cuMemFreeAsync(address, stream) } else { driver.cuMemFree_v2(address) };
        assert_eq!((free(), free()), (0, INVALID_VALUE));
        let [used, _, kept, _] = attributes(&driver);
        assert_eq!((used, kept), (0, 16));
    }
}

/// A launch would give its memory's address to two allocations, one of which nobody could free.
#[test]
fn a_graph_whose_memory_is_allocated_is_not_launched_again() {
    let driver = Driver::new();
    let (mut stream, mut frees) = (0, 0);
    assert_eq!(driver.cuStreamCreate(&mut stream, 1), 0);
    let (graph, executable, address) = captured(&driver, 16, stream);
    assert_eq!(driver.cuGraphLaunch(executable, stream), 0);
    assert_eq!(driver.cuGraphLaunch(executable, stream), INVALID_VALUE);
    assert_eq!((driver.read(address, 4), attributes(&driver)[0]), (vec![6; 4], 16));
    assert_eq!((driver.cuMemFreeAsync(address, stream), driver.cuGraphLaunch(executable, stream)), (0, 0));
    // Nor is another executable graph of the same graph, unless it frees what is left first.
    assert_eq!(driver.cuGraphInstantiateWithFlags(&mut frees, graph, 1), 0);
    assert_eq!(driver.cuMemsetD32_v2(address, 7, 4), 0);
    assert_eq!((driver.cuGraphLaunch(frees, stream), driver.cuGraphLaunch(frees, stream)), (0, 0));
    assert_eq!((driver.read(address, 4), attributes(&driver)[0]), (vec![6; 4], 16));
    assert_eq!(driver.cuGraphLaunch(executable, stream), INVALID_VALUE);
    assert_eq!((driver.cuMemFreeAsync(address, stream), attributes(&driver)[0]), (0, 0));
}

/// All of these together do not fit into memory.
#[test]
fn memory_of_graphs_that_are_gone_is_given_back() {
    let driver = Driver::new();
    let (mut stream, mut total, mut free) = (0, 0, 0);
    assert_eq!(driver.cuStreamCreate(&mut stream, 1), 0);
    assert_eq!(driver.cuMemGetInfo_v2(&mut free, &mut total), 0);
    let bytes = 3 << 30;
    let count = total / bytes + 2;
    for turn in 0..count {
        let (graph, executable, address) = captured(&driver, bytes, stream);
        assert_eq!(driver.cuGraphDestroy(graph), 0);
        assert_eq!((driver.cuGraphLaunch(executable, stream), driver.cuStreamSynchronize(stream)), (0, 0));
        // Freed before the last of the graph is gone, or after it.
        let gone = if turn % 2 == 0 {
            [driver.cuMemFreeAsync(address, stream), driver.cuGraphExecDestroy(executable)]
        } else {
            let destroyed = driver.cuGraphExecDestroy(executable);
            assert_eq!((driver.cuDeviceGraphMemTrim(0), driver.read(address, 4)), (0, vec![6; 4]));
            [destroyed, driver.cuMemFreeAsync(address, stream)]
        };
        assert_eq!(gone, [0; 2]);
        let [used, _, kept, _] = attributes(&driver);
        assert_eq!((used, kept), (0, 0), "{turn}");
        assert_eq!(driver.cuMemFreeAsync(address, stream), INVALID_VALUE);
    }
    let mut now = 0;
    assert_eq!((driver.cuMemGetInfo_v2(&mut now, &mut total), now), (0, free));
}

/// A call that fails allocates nothing, and no pool has what a graph allocates.
#[test]
fn pools_have_what_streams_were_given_alone() {
    let driver = Driver::new();
    let (mut stream, mut pool, mut address, mut graph) = (0, 0, 0, 0);
    assert_eq!((driver.cuStreamCreate(&mut stream, 1), driver.cuDeviceGetDefaultMemPool(&mut pool, 0)), (0, 0));
    let numbers = || {
        let (mut free, mut total, mut numbers) = (0, 0, [77; 4]);
        assert_eq!(driver.cuMemGetInfo_v2(&mut free, &mut total), 0);
        for (number, to) in [5, 6, 7, 8].into_iter().zip(&mut numbers) {
            assert_eq!(driver.cuMemPoolGetAttribute(pool, number, to), 0);
        }
        (free, numbers)
    };
    let before = numbers();
    assert_eq!(before.1, [0; 4]);
    assert_eq!(driver.cuMemAllocAsync(&mut address, 4096, 77), INVALID_HANDLE);
    assert_eq!(driver.cuStreamBeginCapture_v2(stream, 0), 0);
    assert_ne!(driver.cuStreamSynchronize(stream), 0, "what a capture forbids");
    assert_eq!(driver.cuMemAllocAsync(&mut address, 4096, stream), CAPTURE_INVALIDATED);
    assert_eq!((driver.cuStreamEndCapture(stream, &mut graph), numbers()), (CAPTURE_INVALIDATED, before));
    // A node that cannot be added.
    assert_eq!(driver.cuGraphCreate(&mut graph, 0), 0);
    let (mut node, mut asked) = (0, AllocationNode { bytes: 4096, ..AllocationNode::default() });
    assert_eq!(driver.cuGraphAddMemAllocNode(&mut node, graph, &77, 1, &mut asked), INVALID_VALUE);
    assert_eq!(numbers(), before);
    let (_, executable, address) = captured(&driver, 4096, stream);
    assert_eq!((driver.cuGraphLaunch(executable, stream), numbers().1), (0, [0; 4]));
    assert_eq!((driver.cuMemFreeAsync(address, stream), numbers().1), (0, [0; 4]));
}

#[test]
fn what_no_graph_allocates_is_refused() {
    let driver = Driver::new();
    let (mut graph, mut node, mut value) = (0, 0, 0);
    assert_eq!(driver.cuGraphCreate(&mut graph, 0), 0);
    let words = driver.words(&[1]);
    let mut nothing = AllocationNode::default();
    for status in [
        driver.cuGraphAddMemFreeNode(&mut node, graph, null(), 0, words),
        driver.cuGraphAddMemAllocNode(&mut node, graph, null(), 0, &mut nothing),
        driver.cuGraphAddMemAllocNode(&mut node, graph, null(), 0, null_pointer()),
        driver.cuGraphAddMemAllocNode(&mut node, 77, null(), 0, &mut AllocationNode { bytes: 4, ..nothing }),
        driver.cuDeviceGetGraphMemAttribute(0, 9, &mut value),
        driver.cuDeviceSetGraphMemAttribute(0, 1, &5),
    ] {
        assert_eq!(status, INVALID_VALUE);
    }
    assert_eq!(driver.cuDeviceGetGraphMemAttribute(7, 0, &mut value), 101);
}
