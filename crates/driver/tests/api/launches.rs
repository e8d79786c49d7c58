use std::ffi::c_void;
use std::ptr::null;

use super::support::{Driver, INVALID_HANDLE, INVALID_VALUE, KERNELS, in_child, text};

const OUT_OF_RESOURCES: u32 = 701;

#[test]
fn arguments_come_one_by_one_or_in_a_buffer() {
    let driver = Driver::new();
    let kernel = driver.kernel(driver.module(KERNELS), "add");
    let (out, input) = (driver.words(&[1, 2, 3, 4]), driver.words(&[10, 20, 30, 40]));
    assert_eq!(driver.add(kernel, 2, 2, out, input, 3), 0);
    assert_eq!(driver.read(out, 4), [11, 22, 33, 4]);
    #[repr(C)]
    struct Packed(u64, u64, u32);
    let (packed, length) = (Packed(out, input, 4), size_of::<Packed>());
    let in_buffer = |length: *const usize| {
        let extra = [1 as *const c_void, (&raw const packed).cast(), 2 as *const c_void, length.cast(), null()];
        driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, null(), extra.as_ptr())
    };
    assert_eq!(in_buffer(&length), 0);
    assert_eq!(driver.read(out, 4), [21, 42, 63, 44]);
    assert_eq!(in_buffer(&19), INVALID_VALUE);
    assert_eq!(in_buffer(null()), INVALID_VALUE);
    let unknown = [7 as *const c_void, null(), null()];
    let status = driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, null(), unknown.as_ptr());
    assert_eq!(status, INVALID_VALUE);
    // None at all, or a pointer to nothing among them.
    assert_eq!(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, null(), null()), INVALID_VALUE);
    assert_eq!(driver.launch(kernel, 1, 1, &[(&raw const out).cast(), null(), null()]), INVALID_VALUE);
}

#[test]
fn launches_that_cannot_be_are_refused_and_do_no_harm() {
    let driver = Driver::new();
    let kernel = driver.kernel(driver.module(KERNELS), "add");
    let words = driver.words(&[1]);
    for (grid, block) in [(0, 32), (1, 0), (1, 1025)] {
        assert_eq!(driver.add(kernel, grid, block, words, words, 1), INVALID_VALUE, "{grid} {block}");
    }
    assert_eq!(driver.add(4242, 1, 1, words, words, 1), INVALID_HANDLE);
    let arguments: [*const c_void; 3] =
        [(&raw const words).cast(), (&raw const words).cast(), (&raw const words).cast()];
    let shared = |bytes| driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, bytes, 0, arguments.as_ptr(), null());
    assert!([INVALID_VALUE, OUT_OF_RESOURCES].contains(&shared(1 << 20)));
    assert_eq!(driver.add(kernel, 1, 32, words, words, 1), 0);
    assert_eq!(driver.read(words, 1), [2]);
}

#[test]
fn checks_find_what_a_launch_survives() {
    const RACE: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry race(.param .u64 out) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
";
    let test = "launches::checks_find_what_a_launch_survives";
    let output = in_child(test, &[("COALESCE_CHECK", "all")], |driver| {
        let kernel = driver.kernel(driver.module(RACE), "race");
        let out = driver.words(&[0]);
        assert_eq!(driver.launch(kernel, 1, 64, &[(&raw const out).cast()]), 0);
        assert_eq!(driver.cuCtxSynchronize(), 0);
    });
    if let Some(output) = output {
        let message = text(&output.stderr);
        assert!(message.starts_with("fault[race]: ") && message.contains("\n   = in kernel `race`, "), "{message}");
    }
}
