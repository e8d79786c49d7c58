//! The record of what host code did.

use coalesce_driver::host::{Direction, HostRecord, What};

use super::graph_memory::captured;
use super::support::{Copy2D, Driver, KERNELS, Side2D, in_child};

/// 64 KiB, as words.
const WORDS: usize = 1 << 14;
const BYTES: usize = 4 * WORDS;

fn run(driver: &Driver) {
    let (mut pitched, mut pitch, mut kept, mut pinned) = (0, 0, 0, std::ptr::null_mut());
    assert_eq!(driver.cuMemAllocPitch_v2(&mut pitched, &mut pitch, 12, 3, 4), 0);
    assert_eq!((driver.cuMemAlloc_v2(&mut kept, BYTES), driver.cuMemAllocHost_v2(&mut pinned, BYTES)), (0, 0));
    let rows = [1u32; 9];
    let (from, to) = (Side2D::host(rows.as_ptr(), 12), Side2D::device(pitched, pitch));
    assert_eq!(driver.cuMemcpy2D_v2(&Copy2D { from, to, width: 12, height: 3 }), 0);
    // Two streams with pinned memory: one copies there while the other copies back.
    let mut streams = [0; 2];
    streams.iter_mut().for_each(|stream| assert_eq!(driver.cuStreamCreate(stream, 1), 0));
    assert_eq!(driver.cuMemcpyHtoDAsync_v2(kept, pinned, BYTES, streams[0]), 0);
    assert_eq!(driver.cuMemcpyDtoHAsync_v2(pinned, kept, BYTES, streams[1]), 0);
    assert_eq!(driver.cuMemcpyHtoDAsync_v2(kept, pinned, BYTES, streams[1]), 0);
    // The host waits for memory that is not pinned.
    let pageable = vec![0u32; WORDS];
    assert_eq!(driver.cuMemcpyHtoDAsync_v2(kept, pageable.as_ptr(), BYTES, streams[0]), 0);
    assert_eq!((driver.cuStreamSynchronize(streams[0]), driver.cuStreamSynchronize(99)), (0, 400));
    let kernel = driver.kernel(driver.module(KERNELS), "count");
    assert_eq!((driver.cuFuncSetCacheConfig(kernel, 4), driver.cuFuncSetCacheConfig(kernel, 1)), (1, 0));
    assert_eq!(driver.cuFuncSetAttribute(kernel, 9, 50), 0);
    assert_eq!(driver.launch(kernel, 1, 32, &[]), 0);
    let add = driver.kernel(driver.module(KERNELS), "add");
    assert_eq!((driver.add(add, 1, 32, kept, kept, 20), driver.add(add, 1, 32, kept, kept, 3)), (0, 0));
    assert_eq!((driver.cuMemFree_v2(pitched), driver.cuMemFreeHost(pinned)), (0, 0));
    assert_eq!(driver.cuStreamDestroy_v2(streams[0]), 0);
}

#[test]
fn what_host_code_did_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record");
    std::fs::write(&file, "a key").unwrap();
    let settings = [("COALESCE_HOST_RECORD", file.to_str().unwrap()), ("COALESCE_PREDICT", "always")];
    let body = |driver: &Driver| {
        // The key is gone before the program can look for it.
        let path = std::env::var("COALESCE_HOST_RECORD").unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "");
        run(driver);
    };
    if in_child("host_records::what_host_code_did_is_recorded", &settings, body).is_none() {
        return;
    }
    let record: HostRecord = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(record.key, "a key");
    assert_eq!((record.allocations, record.leaked, record.leaked_bytes), (3, 1, BYTES as u64));
    assert_eq!(record.leaked_handles, 1);
    assert_eq!(record.calls["cuStreamSynchronize"], [2, 1]);
    assert_eq!((record.works, record.work.len()), (8, 8));
    // An atomic operation is no store.
    assert_eq!((record.stored["add"], record.stored["count"]), (4 * 23, 0));
    let copy = |index: usize| match record.work[index].what {
        What::Copy { bytes, direction, pitched, pageable } => (bytes, direction, pitched, pageable),
        What::Launch { .. } => panic!("{record:?}"),
    };
    assert_eq!(copy(0), (36, Direction::ToDevice, true, true));
    assert_eq!(copy(1), (BYTES as u64, Direction::ToDevice, false, false));
    assert_eq!(copy(2), (BYTES as u64, Direction::ToHost, false, false));
    assert_eq!(copy(4), (BYTES as u64, Direction::ToDevice, false, true));
    let time = |index: usize| record.work[index].time;
    // Both directions at once, and one after the other in one direction.
    assert!(time(2)[0] < time(1)[1] && time(1)[0] < time(2)[1], "{record:?}");
    assert!(time(3)[0] >= time(1)[1] && time(4)[0] >= time(3)[1], "{record:?}");
    let microseconds = time(1)[1] - time(1)[0];
    let links = simt::Model::named("hopper").and_then(simt::Model::links).unwrap();
    let expected = links.copy_us(BYTES as u64, simt::transfers::Outside::Pinned, true).unwrap();
    assert!((microseconds - expected).abs() < 1e-6, "{microseconds}");
    // The launch begins when the host has waited.
    assert!(time(5)[0] >= time(4)[1] && time(5)[1] > time(5)[0], "{record:?}");
    assert!(
        matches!(&record.work[5].what, What::Launch { kernel, cache: 1, carveout: 50 } if kernel == "count"),
        "{record:?}"
    );
}

/// Of two graphs that allocate, one was launched, and nothing has freed its memory.
#[test]
fn memory_that_a_launch_of_a_graph_has_left_is_leaked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record");
    std::fs::write(&file, "a key").unwrap();
    let settings = [("COALESCE_HOST_RECORD", file.to_str().unwrap())];
    let body = |driver: &Driver| {
        let mut stream = 0;
        assert_eq!(driver.cuStreamCreate(&mut stream, 1), 0);
        let [(_, first, _), _] = [16, 32].map(|bytes| captured(driver, bytes, stream));
        assert_eq!((driver.cuGraphLaunch(first, stream), driver.cuStreamDestroy_v2(stream)), (0, 0));
    };
    if in_child("host_records::memory_that_a_launch_of_a_graph_has_left_is_leaked", &settings, body).is_some() {
        let record: HostRecord = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!((record.leaked, record.leaked_bytes), (1, 16));
    }
}
