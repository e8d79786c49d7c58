use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use super::support::{CONTEXT_IS_DESTROYED, Driver, INVALID_CONTEXT, INVALID_HANDLE, KERNELS};

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

/// The simulator's threads outlive the last launch: a program that closes the library must not take
/// their code away.
#[test]
fn a_closed_library_stays_loaded() {
    let driver = Driver::new();
    let kernel = driver.kernel(driver.module(KERNELS), "add");
    let (a, b) = (driver.words(&[1; 64]), driver.words(&[2; 64]));
    assert_eq!(driver.add(kernel, 2, 32, a, b, 64), 0);
    let path = driver.path().display().to_string();
    drop(driver);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains(&path), "{path} is gone");
}

/// A kernel that never ends does not keep a context from being destroyed: it ends with that.
#[test]
fn a_context_is_destroyed_while_its_kernel_runs() {
    let driver = Driver::new();
    let mut context = 0;
    assert_eq!(driver.cuCtxCreate_v2(&mut context, 0, 0), 0);
    let module = driver.module(KERNELS);
    let (endless, count) = (driver.kernel(module, "endless"), driver.kernel(module, "count"));
    let (about, launches) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let launched = scope.spawn(|| {
            assert_eq!(driver.cuCtxSetCurrent(context), 0);
            about.send(()).unwrap();
            let ended = driver.launch(endless, 1, 1, &[]);
            // It stays current here, and nothing works in it.
            let mut address = 0;
            (ended, driver.launch(count, 1, 1, &[]), driver.cuMemAlloc_v2(&mut address, 4), driver.cuCtxSynchronize())
        });
        launches.recv().unwrap();
        // Most often the kernel runs by then; if not, it must not begin.
        (0..1000).for_each(|_| std::thread::yield_now());
        assert_eq!(driver.cuCtxDestroy_v2(context), 0);
        let destroyed = CONTEXT_IS_DESTROYED;
        assert_eq!(launched.join().unwrap(), (destroyed, destroyed, destroyed, destroyed));
    });
    assert_eq!(driver.cuCtxDestroy_v2(context), INVALID_CONTEXT);
    // Others work as before.
    driver.use_primary();
    assert_eq!(driver.launch(count, 1, 1, &[]), 0);
}

/// The same for a primary context, which can be used again.
#[test]
fn a_device_is_reset_while_a_kernel_runs() {
    let driver = Driver::new();
    let endless = driver.kernel(driver.module(KERNELS), "endless");
    let (about, launches) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let launched = scope.spawn(|| {
            driver.use_primary();
            about.send(()).unwrap();
            driver.launch(endless, 1, 1, &[])
        });
        launches.recv().unwrap();
        // It may not have begun: then it has gone with its module.
        while !launched.is_finished() {
            assert_eq!(driver.cuDevicePrimaryCtxReset_v2(0), 0);
        }
        let ended = launched.join().unwrap();
        assert!(ended == CONTEXT_IS_DESTROYED || ended == INVALID_HANDLE, "{ended}");
    });
    let count = driver.kernel(driver.module(KERNELS), "count");
    assert_eq!(driver.launch(count, 1, 1, &[]), 0);
}

/// What a thread destroys at its end, after the driver's own variables of that thread, may still
/// call the driver.
#[test]
fn a_thread_calls_the_driver_while_it_ends() {
    struct AtEnd(Arc<Driver>, Sender<(u32, usize)>);
    impl Drop for AtEnd {
        fn drop(&mut self) {
            let mut context = 0;
            let status = self.0.cuCtxGetCurrent(&mut context);
            let _ = self.1.send((status, context));
        }
    }
    thread_local! {
        static AT_END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
    }
    let driver = Arc::new(Driver::new());
    let (sender, receiver) = channel();
    let mut expected = 0;
    assert_eq!(driver.cuCtxGetCurrent(&mut expected), 0);
    let mine = driver.clone();
    let thread = std::thread::spawn(move || {
        // Destroyed last, as it was there first.
        AT_END.set(Some(AtEnd(mine.clone(), sender)));
        mine.use_primary();
    });
    thread.join().expect("no panic");
    assert_eq!(receiver.recv(), Ok((0, expected)));
    assert_ne!(expected, 0);
}
