use std::ptr::null;

use super::support::{Driver, INVALID_VALUE, MemoryOperation, NOT_SUPPORTED};

fn operation(kind: u32, address: u64, value: u64, flags: u32) -> MemoryOperation {
    MemoryOperation { kind, address, value, flags, rest: [0; 2] }
}

/// All work is done when it is given: a value that is there lets the stream go on, another one has
/// nobody to come from.
#[test]
fn a_stream_waits_for_values_that_are_there() {
    let driver = Driver::new();
    let words = driver.words(&[5, 7, 0, 0]);
    for (value, flags, status) in [
        (5, 0, 0),
        (4, 0, 0),
        (6, 0, NOT_SUPPORTED),
        (5, 1, 0),
        (4, 1, NOT_SUPPORTED),
        (4, 2, 0),
        (2, 2, NOT_SUPPORTED),
        (5, 1 | 1 << 30, 0),
        (5, 8, INVALID_VALUE),
    ] {
        assert_eq!(driver.cuStreamWaitValue32_v2(0, words, value, flags), status, "{value} {flags}");
    }
    assert_eq!(driver.cuStreamWaitValue64_v2(0, words, 7 << 32 | 5, 1), 0);
    assert_eq!(driver.cuStreamWaitValue64_v2(0, words + 4, 7, 1), INVALID_VALUE, "it is not aligned");
    assert_eq!(driver.cuStreamWaitValue32_v2(0, 64, 5, 0), INVALID_VALUE, "there is nothing");
    // What a function of the host writes before it is there.
    let mut host = std::ptr::null_mut();
    assert_eq!(driver.cuMemAllocHost_v2(&mut host, 4), 0);
    unsafe extern "C" fn write(to: *mut std::ffi::c_void) {
        // SAFETY: the test passes a pointer to a word.
        unsafe { to.cast::<u32>().write_volatile(9) }
    }
    assert_eq!(driver.cuLaunchHostFunc_v2(0, Some(write), host.cast(), 1), 0);
    assert_eq!(driver.cuStreamWaitValue32_v2(0, host as u64, 9, 1), 0);
    assert_eq!(driver.cuLaunchHostFunc_v2(0, None, host.cast(), 0), INVALID_VALUE);
}

/// Writes are checked as waits are, one by one and in a batch.
#[test]
fn writes_of_values_are_aligned_and_have_known_flags() {
    let driver = Driver::new();
    let words = driver.words(&[1, 2, 3, 4]);
    let batch = |kind, address, flags| driver.cuStreamBatchMemOp_v2(0, 1, &operation(kind, address, 9, flags), 0);
    for status in [
        driver.cuStreamWriteValue32_v2(0, words + 2, 9, 0),
        driver.cuStreamWriteValue32_v2(0, words, 9, 2),
        driver.cuStreamWriteValue64_v2(0, words + 4, 9, 0),
        driver.cuStreamWriteValue64_v2(0, words, 9, 1 << 30),
        batch(2, words + 1, 0),
        batch(2, words, 4),
        batch(5, words + 4, 0),
        batch(5, words, 2),
    ] {
        assert_eq!((status, driver.read(words, 4)), (INVALID_VALUE, vec![1, 2, 3, 4]));
    }
    // Without a barrier.
    assert_eq!((driver.cuStreamWriteValue32_v2(0, words, 5, 1), batch(5, words + 8, 1)), (0, 0));
    assert_eq!(driver.read(words, 4), [5, 2, 9, 0]);
}

#[test]
fn operations_on_memory_come_in_batches() {
    let driver = Driver::new();
    let words = driver.words(&[0; 4]);
    let batch = |operations: &[MemoryOperation]| driver.cuStreamBatchMemOp_v2(0, 4, operations.as_ptr(), 0);
    let right = [
        operation(2, words, 0x11, 0),
        operation(1, words, 0x11, 1),
        operation(6, 0, 0, 0),
        operation(5, words + 8, 3 << 32 | 2, 0),
    ];
    assert_eq!((batch(&right), driver.read(words, 4)), (0, vec![0x11, 0, 2, 3]));
    // One that is wrong, and none is done.
    let wrong = [2, 2, 2, 9].map(|kind| operation(kind, words, 1, 0));
    assert_eq!((batch(&wrong), driver.read(words, 1)), (INVALID_VALUE, vec![0x11]));
    assert_eq!(driver.cuStreamBatchMemOp_v2(0, 1, null(), 0), INVALID_VALUE);
}
