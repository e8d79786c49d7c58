use super::support::{Driver, KERNELS};

/// Two threads allocate, copy, launch and free at once, each with its own results.
#[test]
fn threads_share_a_device() {
    let driver = Driver::new();
    let kernel = driver.kernel(driver.module(KERNELS), "add");
    std::thread::scope(|scope| {
        for thread in 1..=2 {
            let driver = &driver;
            scope.spawn(move || {
                driver.use_primary();
                for round in 0..20 {
                    let (out, input) = (driver.words(&[round; 32]), driver.words(&[thread; 32]));
                    assert_eq!(driver.add(kernel, 1, 32, out, input, 32), 0);
                    assert_eq!(driver.read(out, 32), [round + thread; 32]);
                    assert_eq!((driver.cuMemFree_v2(out), driver.cuMemFree_v2(input)), (0, 0));
                }
            });
        }
    });
}

/// Of two threads that free one allocation, one succeeds.
#[test]
fn an_allocation_is_freed_by_one_thread() {
    let driver = Driver::new();
    for _ in 0..20 {
        let address = driver.words(&[1]);
        let freed = std::thread::scope(|scope| {
            let both = [(); 2].map(|()| scope.spawn(|| driver.cuMemFree_v2(address)));
            both.map(|thread| thread.join().expect("no panic"))
        });
        assert_eq!(freed.iter().filter(|&&status| status == 0).count(), 1, "{freed:?}");
    }
}
