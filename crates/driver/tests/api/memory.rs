use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::support::{Driver, ILLEGAL_ADDRESS, INVALID_VALUE, KERNELS, OUT_OF_MEMORY, in_child, null_pointer, text};

#[test]
fn memory_is_allocated_and_freed_once() {
    let driver = Driver::new();
    let (mut address, mut free, mut total) = (0, 0, 0);
    assert_eq!(driver.cuMemAlloc_v2(&mut address, 1000), 0);
    assert_eq!((driver.cuMemGetInfo_v2(&mut free, &mut total), total - free), (0, 1000));
    let (mut base, mut bytes) = (0, 0);
    assert_eq!(driver.cuMemGetAddressRange_v2(&mut base, &mut bytes, address + 999), 0);
    assert_eq!((base, bytes), (address, 1000));
    assert_eq!(driver.cuMemGetAddressRange_v2(&mut base, &mut bytes, address + 1000), 500);
    assert_eq!(driver.cuMemFree_v2(address + 4), INVALID_VALUE);
    assert_eq!((driver.cuMemFree_v2(address), driver.cuMemFree_v2(address)), (0, INVALID_VALUE));
    assert_eq!(driver.cuMemFree_v2(0), 0);
    assert_eq!((driver.cuMemGetInfo_v2(&mut free, null_pointer()), free), (0, total));
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    let driver = Driver::new();
    let (mut address, mut pitch) = (0, 0);
    assert_eq!(driver.cuMemAlloc_v2(&mut address, 0), INVALID_VALUE);
    assert_eq!(driver.cuMemAlloc_v2(null_pointer(), 4), INVALID_VALUE);
    assert_eq!(driver.cuMemAlloc_v2(&mut address, usize::MAX), OUT_OF_MEMORY);
    assert_eq!(driver.cuMemAllocPitch_v2(&mut address, &mut pitch, usize::MAX, 2, 4), INVALID_VALUE);
    assert_eq!(driver.cuMemAllocPitch_v2(&mut address, &mut pitch, 1 << 40, 1 << 40, 4), OUT_OF_MEMORY);
    assert_eq!(driver.cuMemAllocPitch_v2(&mut address, &mut pitch, 100, 2, 5), INVALID_VALUE);
    assert_eq!((driver.cuMemAllocPitch_v2(&mut address, &mut pitch, 100, 2, 4), pitch), (0, 512));
    assert_eq!(driver.cuMemAllocManaged(&mut address, 0, 1), INVALID_VALUE);
    assert_eq!(driver.cuMemHostRegister_v2(null_pointer(), 4, 0), INVALID_VALUE);
}

/// A write in a stream goes to memory of the device alone: any other address is refused, not
/// written to.
#[test]
fn writes_of_streams_stay_within_memory() {
    let driver = Driver::new();
    let words = driver.words(&[1, 2]);
    assert_eq!(driver.cuStreamWriteValue32_v2(0, words + 4, 7, 0), 0);
    assert_eq!(driver.read(words, 2), [1, 7]);
    for address in [0, 8, words + 8, u64::MAX, u64::MAX - 7] {
        assert_eq!(driver.cuStreamWriteValue32_v2(0, address, 9, 0), INVALID_VALUE, "{address:#x}");
    }
    assert_eq!(driver.cuStreamWriteValue64_v2(0, words + 4, 9, 0), INVALID_VALUE);
    assert_eq!(driver.read(words, 2), [1, 7]);
}

/// Pinned, managed and registered memory: the host's writes reach the kernel, and the kernel's the
/// host.
#[test]
fn host_and_device_share_memory() {
    let driver = Driver::new();
    let kernel = driver.kernel(driver.module(KERNELS), "add");
    let ones = driver.words(&[1; 8]);
    let (mut pinned, mut managed) = (null_pointer(), 0);
    assert_eq!(driver.cuMemAllocHost_v2(&mut pinned, 32), 0);
    assert_eq!(driver.cuMemAllocManaged(&mut managed, 32, 1), 0);
    let mut own = [0u32; 8];
    let mut registered = 0;
    assert_eq!(driver.cuMemHostRegister_v2(own.as_mut_ptr(), 32, 0), 0);
    assert_eq!(driver.cuMemHostRegister_v2(own.as_mut_ptr(), 32, 0), 712);
    assert_eq!(driver.cuMemHostGetDevicePointer_v2(&mut registered, own.as_mut_ptr(), 0), 0);
    for (host, device) in [(pinned, pinned as u64), (managed as *mut u32, managed), (own.as_mut_ptr(), registered)] {
        // SAFETY: 8 words, which nobody else uses.
        let words = |host: *mut u32| unsafe { std::slice::from_raw_parts_mut(host, 8) };
        words(host).copy_from_slice(&[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(driver.add(kernel, 1, 32, device, ones, 8), 0);
        assert_eq!(words(host), [1, 2, 3, 4, 5, 6, 7, 8]);
    }
    // What is shared or registered, or part of it, is not registered.
    let parts = [pinned, managed as *mut u32, own.as_mut_ptr()];
    assert_eq!(parts.map(|host| driver.cuMemHostRegister_v2(host, 4, 0)), [712; 3]);
    let parts = [own[2..].as_mut_ptr(), own.as_mut_ptr().wrapping_sub(2), pinned.wrapping_sub(1)];
    assert_eq!(parts.map(|host| driver.cuMemHostRegister_v2(host, 12, 0)), [712; 3]);
    assert_eq!(driver.cuMemHostRegister_v2(own.as_mut_ptr(), usize::MAX, 0), INVALID_VALUE);
    // Each kind is freed by its own function.
    assert_eq!(driver.cuMemFree_v2(pinned as u64), INVALID_VALUE);
    assert_eq!(driver.cuMemFreeHost(ones as *mut u32), INVALID_VALUE);
    assert_eq!((driver.cuMemFreeHost(pinned), driver.cuMemFree_v2(managed)), (0, 0));
    assert_eq!((driver.cuMemHostUnregister(own.as_mut_ptr()), driver.cuMemHostUnregister(own.as_mut_ptr())), (0, 713));
}

/// Waits, in memory that it gets, for the host's word, and counts its looks in the second.
const ANSWER: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry answer(.param .u64 words) {
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
again:
    atom.global.sys.add.u32 %r1, [%rd1+4], 1;
    ld.volatile.global.u32 %r2, [%rd1];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra again;
    add.u32 %r3, %r2, 1;
    st.global.u32 [%rd1+8], %r3;
    ret;
}
";

/// Host and device share memory during a launch, too: a kernel and a thread of the host answer each
/// other. In a process of its own: other tests map memory at the same addresses.
#[test]
fn host_and_kernel_answer_each_other_during_a_launch() {
    in_child("memory::host_and_kernel_answer_each_other_during_a_launch", &[], answer);
}

/// Launches that run again change nothing that the host writes. One that waits for the host ends.
#[test]
fn launches_that_run_again_keep_what_the_host_writes() {
    let checked = [("COALESCE_MODEL", "1"), ("COALESCE_CHECK", "all")];
    for more in [&[("COALESCE_PREDICT", "always")][..], &[("COALESCE_SCHEDULES", "2")], &checked] {
        let settings = [&[("COALESCE_DEVICE", "hopper")], more].concat();
        let Some(done) = in_child("memory::launches_that_run_again_keep_what_the_host_writes", &settings, answer)
        else {
            return;
        };
        let said = text(&done.stderr);
        assert_eq!(said.matches("kernel `answer` waits for the host").count(), 1, "{said}");
    }
}

/// Other orders of a kernel that uses managed memory are compared.
#[test]
fn other_orders_of_kernels_with_managed_memory_are_compared() {
    const LAST: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry last(.param .u64 words) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
    mov.u32 %r1, %tid.x;
    shr.u32 %r1, %r1, 5;
    st.global.u32 [%rd1], %r1;
    ret;
}
";
    let test = "memory::other_orders_of_kernels_with_managed_memory_are_compared";
    let done = in_child(test, &[("COALESCE_SCHEDULES", "2")], |driver| {
        let kernel = driver.kernel(driver.module(LAST), "last");
        // Warps of one block, which run in order: of blocks, any may be the last.
        let mut managed = 0;
        assert_eq!(driver.cuMemAllocManaged(&mut managed, 4, 1), 0);
        assert_eq!(driver.launch(kernel, 1, 128, &[(&raw const managed).cast()]), 0);
        assert_eq!(driver.read(managed, 1), [3]);
    });
    let Some(done) = done else { return };
    let said = text(&done.stderr);
    assert!(said.contains("give another result") || said.contains("gives another result"), "{said}");
}

/// Nothing stores to memory that a kernel only reads.
#[test]
fn constants_of_the_host_can_be_registered() {
    static CONSTANT: [u32; 2] = [5, 6];
    for setting in [("COALESCE_PREDICT", "always"), ("COALESCE_SCHEDULES", "2")] {
        let settings = [("COALESCE_DEVICE", "hopper"), setting];
        let done = in_child("memory::constants_of_the_host_can_be_registered", &settings, |driver| {
            let kernel = driver.kernel(driver.module(KERNELS), "add");
            let (ones, host, mut device) = (driver.words(&[1; 2]), CONSTANT.as_ptr().cast_mut(), 0);
            assert_eq!(driver.cuMemHostRegister_v2(host, 5, 0), 0);
            assert_eq!(driver.cuMemHostGetDevicePointer_v2(&mut device, host, 0), 0);
            assert_eq!((driver.add(kernel, 1, 32, ones, device, 1), driver.read(ones, 2)), (0, vec![6, 1]));
        });
        if done.is_none() {
            return;
        }
    }
}

fn answer(driver: &Driver) {
    let kernel = driver.kernel(driver.module(ANSWER), "answer");
    let (mut pinned, mut managed, mut registered) = (null_pointer(), 0, 0);
    assert_eq!((driver.cuMemAllocHost_v2(&mut pinned, 16), driver.cuMemAllocManaged(&mut managed, 16, 1)), (0, 0));
    let mut own = [0u32; 4];
    assert_eq!(driver.cuMemHostRegister_v2(own.as_mut_ptr(), 16, 0), 0);
    assert_eq!(driver.cuMemHostGetDevicePointer_v2(&mut registered, own.as_mut_ptr(), 0), 0);
    for (host, device) in [(pinned as u64, pinned as u64), (managed, managed), (own.as_mut_ptr() as u64, registered)] {
        // SAFETY: the words are there until the end of the test.
        let words = unsafe { &*(host as *const [AtomicU32; 4]) };
        let launched = AtomicBool::new(false);
        let status = std::thread::scope(|scope| {
            scope.spawn(|| {
                while words[1].load(Relaxed) == 0 && !launched.load(Relaxed) {
                    std::thread::yield_now();
                }
                words[0].store(5, Relaxed);
                let mut written = 0;
                while !launched.load(Relaxed) {
                    assert_eq!(words[3].load(Relaxed), written);
                    written += 1;
                    words[3].store(written, Relaxed);
                    std::thread::yield_now();
                }
            });
            let status = driver.launch(kernel, 1, 1, &[(&raw const device).cast()]);
            launched.store(true, Relaxed);
            status
        });
        assert_eq!((status, words[0].load(Relaxed), words[2].load(Relaxed)), (0, 5, 6));
    }
    assert_eq!(driver.cuMemHostUnregister(own.as_mut_ptr()), 0);
}

/// Memory that does not begin at a word is copied for each launch.
#[test]
fn any_address_can_be_registered() {
    let driver = Driver::new();
    let kernel = driver.kernel(driver.module(KERNELS), "add");
    let (ones, mut own, mut device) = (driver.words(&[1; 2]), [7u8; 12], 0);
    let odd = own[1..].as_mut_ptr().cast();
    assert_eq!(driver.cuMemHostRegister_v2(odd, 8, 0), 0);
    assert_eq!(driver.cuMemHostGetDevicePointer_v2(&mut device, odd, 0), 0);
    assert_eq!(driver.add(kernel, 1, 32, device, ones, 2), 0);
    assert_eq!((own, driver.cuMemHostUnregister(odd)), ([7, 8, 7, 7, 7, 8, 7, 7, 7, 7, 7, 7], 0));
}

#[test]
fn pointers_have_attributes() {
    let driver = Driver::new();
    let address = driver.words(&[0; 8]);
    let (mut kind, mut start) = (0u32, 0u64);
    assert_eq!((driver.cuPointerGetAttribute((&raw mut kind).cast(), 2, address + 5), kind), (0, 2));
    assert_eq!((driver.cuPointerGetAttribute((&raw mut start).cast(), 11, address + 5), start), (0, address));
    assert_eq!(driver.cuPointerGetAttribute((&raw mut kind).cast(), 2, 0x1234), INVALID_VALUE);
    assert_eq!(driver.cuPointerGetAttribute(null_pointer(), 2, address), INVALID_VALUE);
    assert_eq!(driver.cuPointerGetAttribute((&raw mut kind).cast(), 999, address), INVALID_VALUE);
}

/// More than 4 GiB in one allocation, of which the host has only the pages that are used. In a
/// process of its own: managed memory is at the same addresses as that of other tests.
#[test]
fn an_allocation_may_be_large() {
    in_child("memory::an_allocation_may_be_large", &[("COALESCE_MEMORY", "17179869184")], |driver| {
        const BYTES: usize = 6 << 30;
        let kernel = driver.kernel(driver.module(KERNELS), "add");
        let (ones, mut own, mut managed, mut more) = (driver.words(&[1; 8]), 0, 0, 0);
        assert_eq!(driver.cuMemAlloc_v2(&mut own, BYTES), 0);
        assert_eq!(driver.cuMemAllocManaged(&mut managed, BYTES, 1), 0);
        assert_eq!(driver.cuMemAlloc_v2(&mut more, BYTES), OUT_OF_MEMORY);
        for start in [own, managed] {
            let end = start + BYTES as u64;
            let words = [2u32; 8];
            assert_eq!(driver.cuMemcpyHtoD_v2(end - 32, words.as_ptr(), 32), 0);
            assert_eq!(driver.add(kernel, 1, 32, end - 32, ones, 8), 0);
            // From one end to the other.
            assert_eq!(driver.add(kernel, 1, 32, start, end - 32, 8), 0);
            assert_eq!((driver.read(start, 9), driver.read(end - 32, 8)), ([&[3; 8][..], &[0]].concat(), vec![3; 8]));
            assert_eq!(driver.cuMemsetD32_v2(end - 32, 7, 8), 0);
            assert_eq!(driver.cuMemcpyDtoD_v2(start + (5 << 30), end - 32, 32), 0);
            assert_eq!(driver.read(start + (5 << 30), 8), [7; 8]);
        }
        assert_eq!((driver.cuMemFree_v2(own), driver.cuMemFree_v2(managed)), (0, 0));
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kibibytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kibibytes < 1 << 20, "{peak}");
    });
}

/// There are 8 TiB of addresses: when all were given, freed ones are given again, and what was freed
/// last is still known.
#[test]
fn addresses_are_used_again() {
    let test = "memory::addresses_are_used_again";
    let done = in_child(test, &[], |driver| {
        let kernel = driver.kernel(driver.module(KERNELS), "add");
        let ones = driver.words(&[1; 2]);
        let mut given = Vec::new();
        for index in 0..2100 {
            let mut address = 0;
            let status = match index % 2 {
                0 => driver.cuMemAlloc_v2(&mut address, 4 << 30),
                _ => driver.cuMemAllocManaged(&mut address, 4 << 30, 1),
            };
            assert_eq!(status, 0, "{index}");
            assert_eq!(driver.add(kernel, 1, 32, address + (3 << 30), ones, 2), 0);
            assert_eq!((driver.read(address + (3 << 30), 2), driver.cuMemFree_v2(address)), (vec![1, 1], 0));
            given.push(address);
        }
        let last = given[given.len() - 1];
        assert!(given[..given.len() - 1].contains(&last));
        assert_eq!(driver.add(kernel, 1, 32, given[1900], ones, 2), ILLEGAL_ADDRESS);
    });
    let Some(done) = done else { return };
    assert!(text(&done.stderr).contains("use after free"), "{}", text(&done.stderr));
}

/// If the host lacks memory, the message says how many bytes were asked for.
#[test]
fn what_the_host_has_no_memory_for_is_refused() {
    let test = "memory::what_the_host_has_no_memory_for_is_refused";
    let done = in_child(test, &[("COALESCE_MEMORY", "9223372036854775807")], |driver| {
        let mut address = 0;
        // More than a process has addresses for; and more than the simulator has.
        assert_eq!(driver.cuMemAlloc_v2(&mut address, 1 << 48), OUT_OF_MEMORY);
        assert_eq!((driver.cuMemAlloc_v2(&mut address, 8), driver.cuMemFree_v2(address)), (0, 0));
    });
    let Some(done) = done else { return };
    let said = text(&done.stderr);
    assert!(said.contains("the host cannot allocate 281474976710656 bytes for device memory"), "{said}");
}
