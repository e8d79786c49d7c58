use super::support::{Driver, ILLEGAL_ADDRESS, INVALID_VALUE, KERNELS, in_child, text};

const LAUNCH_FAILED: u32 = 719;

#[test]
fn a_fault_takes_the_context_until_it_is_reset() {
    let driver = Driver::new();
    let kernel = driver.kernel(driver.module(KERNELS), "add");
    let words = driver.words(&[1, 2]);
    assert_eq!(driver.add(kernel, 1, 32, words, words, 32), ILLEGAL_ADDRESS);
    assert_eq!(driver.cuCtxSynchronize(), ILLEGAL_ADDRESS);
    assert_eq!(driver.cuMemAlloc_v2(&mut 0, 4), ILLEGAL_ADDRESS);
    assert_eq!(driver.add(kernel, 1, 1, words, words, 1), ILLEGAL_ADDRESS);
    assert_eq!(driver.cuDevicePrimaryCtxReset_v2(0), 0);
    driver.use_primary();
    let kernel = driver.kernel(driver.module(KERNELS), "add");
    let words = driver.words(&[1, 2]);
    assert_eq!(driver.add(kernel, 1, 32, words, words, 2), 0);
    assert_eq!(driver.read(words, 2), [2, 4]);
}

#[test]
fn each_fault_has_its_status() {
    let driver = Driver::new();
    let module = driver.module(KERNELS);
    assert_eq!(driver.launch(driver.kernel(module, "trapping"), 1, 32, &[]), LAUNCH_FAILED);
    assert_eq!(driver.cuDevicePrimaryCtxReset_v2(0), 0);
    let (kernel, words) = (driver.kernel(driver.module(KERNELS), "add"), driver.words(&[1, 2]));
    assert_eq!(driver.add(kernel, 1, 1, words + 2, words, 1), 716);
    assert_eq!(driver.cuDevicePrimaryCtxReset_v2(0), 0);
    // Atomic operations do not work on local memory.
    assert_eq!(driver.launch(driver.kernel(driver.module(KERNELS), "local"), 1, 32, &[]), 717);
}

#[test]
fn a_fault_can_be_shown_and_skipped() {
    let test = "faults::a_fault_can_be_shown_and_skipped";
    let output = in_child(test, &[("COALESCE_FAULT", "continue")], |driver| {
        let kernel = driver.kernel(driver.module(KERNELS), "add");
        let words = driver.words(&[1, 2]);
        assert_eq!(driver.add(kernel, 1, 32, words, words, 32), 0);
        assert_eq!(driver.read(words, 2), [2, 4]);
    });
    if let Some(output) = output {
        let message = text(&output.stderr);
        assert!(message.contains("out of bounds") && message.contains("add"), "{message}");
    }
}

#[test]
fn a_fault_can_wait_for_the_next_synchronisation() {
    let test = "faults::a_fault_can_wait_for_the_next_synchronisation";
    in_child(test, &[("COALESCE_FAULT", "defer")], |driver| {
        let kernel = driver.kernel(driver.module(KERNELS), "add");
        let words = driver.words(&[1, 2]);
        let mut event = 0;
        assert_eq!(driver.add(kernel, 1, 32, words, words, 32), 0);
        // What is only queued behind it succeeds, and does nothing.
        assert_eq!(driver.cuEventCreate(&mut event, 0), 0);
        assert_eq!(driver.cuEventRecord(event, 0), 0);
        assert_eq!(driver.add(kernel, 1, 2, words, words, 2), 0);
        assert_eq!(driver.cuStreamSynchronize(0), ILLEGAL_ADDRESS);
        assert_eq!(driver.add(kernel, 1, 2, words, words, 2), ILLEGAL_ADDRESS);
    });
}

#[test]
fn a_bad_setting_is_reported_and_ignored() {
    let settings = [("COALESCE_CHECK", "everything"), ("COALESCE_DEVICE", "abacus"), ("COALESCE_STEPS", "many")];
    let output = in_child("faults::a_bad_setting_is_reported_and_ignored", &settings, |driver| {
        let words = driver.words(&[1, 2]);
        let kernel = driver.kernel(driver.module(KERNELS), "add");
        assert_eq!(driver.add(kernel, 1, 2, words, words, 2), 0);
    });
    if let Some(output) = output {
        let message = text(&output.stderr);
        for part in ["COALESCE_CHECK: ", "COALESCE_DEVICE: there is no GPU 'abacus'", "COALESCE_STEPS: 'many'"] {
            assert_eq!(message.matches(part).count(), 1, "{message}");
        }
    }
}

#[test]
fn calls_fail_as_the_environment_says() {
    let test = "faults::calls_fail_as_the_environment_says";
    in_child(test, &[("COALESCE_FAIL", "cuMemAlloc:CUDA_ERROR_OUT_OF_MEMORY:2")], |driver| {
        let statuses = [(); 3].map(|()| driver.cuMemAlloc_v2(&mut 0, 4));
        assert_eq!(statuses, [0, 2, 0]);
    });
}

/// A mistake in the setting would pass for a program that survives all faults.
#[test]
fn a_setting_that_names_no_call_is_refused_at_once() {
    let test = "faults::a_setting_that_names_no_call_is_refused_at_once";
    for (setting, why) in [
        ("cuMemAllok:2", "the driver's API has no function 'cuMemAllok'"),
        ("cuMemAlloc", "'cuMemAlloc' is not FUNCTION:STATUS or FUNCTION:STATUS:N, as in cuMemAlloc:2:3"),
        ("cuMemAlloc:none", "'none' is not the number or the name of an error"),
        ("cuMemAlloc:2:0", "'0' is not the number of a call, from 1 on"),
    ] {
        let role = ("COALESCE_DRIVER_REFUSES", "1");
        if std::env::var_os(role.0).is_some() {
            let driver = Driver::bare();
            assert_eq!(driver.cuInit(0), INVALID_VALUE);
            return;
        }
        let mut command = std::process::Command::new(std::env::current_exe().expect("a path"));
        command.args([test, "--exact", "--nocapture"]).env(role.0, role.1).env("COALESCE_FAIL", setting);
        let output = command.output().expect("the test runs");
        assert!(output.status.success(), "{}", text(&output.stdout));
        let said = text(&output.stderr);
        assert!(said.contains(&format!("coalesce: COALESCE_FAIL: {why}\n")), "{said}");
    }
}
