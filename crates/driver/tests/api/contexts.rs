use super::support::{Driver, INVALID_CONTEXT, INVALID_VALUE, NOT_INITIALIZED, null_pointer};

const INVALID_DEVICE: u32 = 101;

#[test]
fn nothing_works_before_the_driver_is_initialised() {
    let driver = Driver::bare();
    let (mut count, mut address) = (9, 0);
    assert_eq!(driver.cuDeviceGetCount(&mut count), NOT_INITIALIZED);
    assert_eq!(driver.cuMemAlloc_v2(&mut address, 4), NOT_INITIALIZED);
    assert_eq!(driver.cuInit(1), INVALID_VALUE);
    assert_eq!(driver.cuInit(0), 0);
    assert_eq!((driver.cuDeviceGetCount(&mut count), count), (0, 1));
    // And not without a context.
    assert_eq!(driver.cuMemAlloc_v2(&mut address, 4), INVALID_CONTEXT);
}

#[test]
fn there_is_one_device_with_a_gpus_properties() {
    let driver = Driver::new();
    let (mut device, mut value, mut bytes) = (9, 0, 0);
    assert_eq!((driver.cuDeviceGet(&mut device, 0), device), (0, 0));
    assert_eq!(driver.cuDeviceGet(&mut device, 1), INVALID_DEVICE);
    assert_eq!(driver.cuDeviceGet(null_pointer(), 0), INVALID_VALUE);
    assert_eq!((driver.cuDeviceGetAttribute(&mut value, 10, 0), value), (0, 32));
    assert_eq!((driver.cuDeviceGetAttribute(&mut value, 75, 0), value), (0, 9));
    assert_eq!(driver.cuDeviceGetAttribute(&mut value, 100_000, 0), INVALID_VALUE);
    assert_eq!((driver.cuDeviceTotalMem_v2(&mut bytes, 0), bytes), (0, 16 << 30));
    let mut name = [1i8; 100];
    assert_eq!(driver.cuDeviceGetName(name.as_mut_ptr().cast(), 100, 0), 0);
    assert_eq!(super::support::pointed(name.as_ptr().cast()), "Coalesce simulator of H200 (GH100)");
    // What does not fit is cut, and ends with a zero byte.
    assert_eq!(driver.cuDeviceGetName(name.as_mut_ptr().cast(), 4, 0), 0);
    assert_eq!(super::support::pointed(name.as_ptr().cast()), "Coa");
    assert_eq!(driver.cuDeviceGetName(name.as_mut_ptr().cast(), 0, 0), INVALID_VALUE);
}

#[test]
fn each_thread_has_a_stack_of_contexts() {
    let driver = Driver::new();
    let (mut primary, mut own, mut now) = (0, 0, 0);
    assert_eq!(driver.cuCtxGetCurrent(&mut primary), 0);
    assert_eq!(driver.cuCtxCreate_v2(&mut own, 0, 0), 0);
    assert_eq!((driver.cuCtxGetCurrent(&mut now), now), (0, own));
    assert_eq!((driver.cuCtxPopCurrent_v2(&mut now), now), (0, own));
    assert_eq!((driver.cuCtxGetCurrent(&mut now), now), (0, primary));
    assert_eq!(driver.cuCtxPushCurrent_v2(own), 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut other = 9;
            assert_eq!((driver.cuCtxGetCurrent(&mut other), other), (0, 0));
            assert_eq!(driver.cuCtxPopCurrent_v2(&mut other), INVALID_CONTEXT);
        });
    });
    assert_eq!(driver.cuCtxDestroy_v2(own), 0);
    assert_eq!((driver.cuCtxGetCurrent(&mut now), now), (0, primary));
    // The primary context is released, not destroyed.
    assert_eq!(driver.cuCtxDestroy_v2(primary), INVALID_CONTEXT);
    for bad in [own, 12345] {
        assert_eq!(driver.cuCtxPushCurrent_v2(bad), INVALID_CONTEXT);
        assert_eq!(driver.cuCtxSetCurrent(bad), INVALID_CONTEXT);
        assert_eq!(driver.cuCtxDestroy_v2(bad), INVALID_CONTEXT);
    }
}

#[test]
fn limits_are_kept() {
    let driver = Driver::new();
    let mut value = 0;
    assert_eq!((driver.cuCtxGetLimit(&mut value, 2), value), (0, 8 << 20));
    assert_eq!(driver.cuCtxSetLimit(2, 64 << 20), 0);
    assert_eq!((driver.cuCtxGetLimit(&mut value, 2), value), (0, 64 << 20));
    assert_eq!(driver.cuCtxSetLimit(77, 1), 215);
    assert_eq!(driver.cuCtxGetLimit(&mut value, 77), 215);
}
