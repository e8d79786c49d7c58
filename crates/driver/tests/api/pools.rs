use std::ptr::null;

use super::support::{Driver, Handle, INVALID_VALUE, Location, NOT_SUPPORTED, PoolProperties, null_pointer};

const THRESHOLD: u32 = 4;
const KEPT: u32 = 5;
const USED: u32 = 7;
const MOST_USED: u32 = 8;

fn properties(kind: u32, device: i32) -> PoolProperties {
    PoolProperties { kind: 1, handles: 0, location: Location { kind, device }, rest: [0; 9] }
}

fn pool(driver: &Driver) -> Handle {
    let mut pool = 0;
    assert_eq!(driver.cuMemPoolCreate(&mut pool, &properties(1, 0)), 0);
    pool
}

fn get(driver: &Driver, pool: Handle, number: u32) -> u64 {
    let mut value = 77;
    assert_eq!(driver.cuMemPoolGetAttribute(pool, number, &mut value), 0, "{number}");
    value
}

/// What one pool has is not another's.
#[test]
fn a_pool_counts_its_own_memory() {
    let driver = Driver::new();
    let (one, other, mut first, mut second) = (pool(&driver), pool(&driver), 0, 0);
    assert_eq!([USED, MOST_USED, KEPT].map(|number| get(&driver, one, number)), [0; 3]);
    assert_eq!(driver.cuMemAllocFromPoolAsync(&mut first, 1 << 20, one, 0), 0);
    assert_eq!(driver.cuMemAllocFromPoolAsync(&mut second, 1 << 20, one, 0), 0);
    let both = get(&driver, one, USED);
    assert!((2 << 20..3 << 20).contains(&both), "{both}");
    assert_eq!((driver.cuMemFreeAsync(first, 0), driver.cuMemFreeAsync(second, 0)), (0, 0));
    assert_eq!([USED, MOST_USED, KEPT].map(|number| get(&driver, one, number)), [0, both, 0]);
    assert_eq!([USED, MOST_USED].map(|number| get(&driver, other, number)), [0; 2]);
    // The most so far begins anew, by 0 alone.
    assert_eq!(driver.cuMemPoolSetAttribute(one, MOST_USED, &5), INVALID_VALUE);
    assert_eq!((driver.cuMemPoolSetAttribute(one, MOST_USED, &0), get(&driver, one, MOST_USED)), (0, 0));
}

#[test]
fn a_pool_keeps_memory_up_to_its_threshold() {
    let driver = Driver::new();
    let (pool, mut address) = (pool(&driver), 0);
    assert_eq!(driver.cuMemPoolSetAttribute(pool, THRESHOLD, &(1 << 16)), 0);
    assert_eq!(get(&driver, pool, THRESHOLD), 1 << 16);
    assert_eq!(driver.cuMemAllocFromPoolAsync(&mut address, 1 << 20, pool, 0), 0);
    assert_eq!(driver.cuMemFreeAsync(address, 0), 0);
    assert_eq!([KEPT, USED].map(|number| get(&driver, pool, number)), [1 << 16, 0]);
    assert_eq!((driver.cuMemPoolTrimTo(pool, 0), get(&driver, pool, KEPT)), (0, 0));
}

#[test]
fn streams_allocate_from_the_current_pool_of_their_device() {
    let driver = Driver::new();
    let (mine, mut current, mut default, mut address) = (pool(&driver), 0, 0, 0);
    assert_eq!(driver.cuDeviceGetDefaultMemPool(&mut default, 0), 0);
    assert_eq!((driver.cuDeviceGetMemPool(&mut current, 0), current), (0, default));
    assert_eq!((driver.cuDeviceSetMemPool(0, mine), driver.cuDeviceGetMemPool(&mut current, 0)), (0, 0));
    assert_eq!(current, mine);
    assert_eq!(driver.cuMemAllocAsync(&mut address, 64, 0), 0);
    assert!(get(&driver, mine, USED) >= 64 && get(&driver, default, USED) == 0);
    let mut named = 0;
    assert_eq!(driver.cuPointerGetAttribute((&raw mut named).cast(), 17, address), 0);
    assert_eq!(named, mine);
    // A pool that is destroyed is current no more; its memory stays.
    assert_eq!((driver.cuMemPoolDestroy(mine), driver.cuMemFreeAsync(address, 0)), (0, 0));
    assert_eq!((driver.cuDeviceGetMemPool(&mut current, 0), current), (0, default));
}

#[test]
fn what_is_no_pool_is_refused() {
    let driver = Driver::new();
    let (gone, mut to, mut value, mut default) = (pool(&driver), 0, 0, 0);
    assert_eq!((driver.cuMemPoolDestroy(gone), driver.cuDeviceGetDefaultMemPool(&mut default, 0)), (0, 0));
    for status in [
        driver.cuMemPoolDestroy(gone),
        driver.cuMemPoolDestroy(default),
        driver.cuDeviceSetMemPool(0, gone),
        driver.cuMemAllocFromPoolAsync(&mut to, 64, gone, 0),
        driver.cuMemPoolGetAttribute(gone, USED, &mut value),
        driver.cuMemPoolGetAttribute(default, 99, &mut value),
        driver.cuMemPoolSetAttribute(default, USED, &1),
        driver.cuMemPoolSetAttribute(default, THRESHOLD, null()),
        driver.cuMemPoolTrimTo(gone, 0),
        driver.cuMemPoolCreate(null_pointer(), &properties(1, 0)),
    ] {
        assert_eq!(status, INVALID_VALUE);
    }
    let mut none = 0;
    assert_eq!(driver.cuMemPoolCreate(&mut none, &properties(2, 0)), NOT_SUPPORTED);
    assert_eq!(driver.cuMemPoolCreate(&mut none, &properties(1, 5)), 101);
    assert_eq!(driver.cuDeviceGetMemPool(&mut none, 5), 101);
}
