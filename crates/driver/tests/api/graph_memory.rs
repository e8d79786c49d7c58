use std::ptr::null;

use super::support::{AllocationNode, Driver, FillNode, INVALID_VALUE, null_pointer};

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
