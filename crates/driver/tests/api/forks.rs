//! A fork of a process that has begun with the driver.

use std::ffi::{CStr, c_int};

use super::support::{Driver, in_child, text};

/// `CUDA_ERROR_NOT_INITIALIZED`.
const NOT_INITIALIZED: u32 = 3;

#[test]
fn a_fork_of_a_process_that_has_begun_is_told_so() {
    let output = in_child("forks::a_fork_of_a_process_that_has_begun_is_told_so", &[], fork);
    if let Some(output) = output {
        let said = text(&output.stderr);
        assert_eq!(
            said.matches("coalesce: this process is a fork of one that had called `cuInit`").count(),
            1,
            "{said}"
        );
    }
}

fn fork(driver: &Driver) {
    let memory = driver.words(&[4; 8]);
    // SAFETY: the child calls the driver, which takes no lock there, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let (mut other, mut name, mut devices) = (0, std::ptr::null(), 0);
        let refused = [
            driver.cuMemAlloc_v2(&mut other, 64),
            driver.cuDeviceGetCount(&mut devices),
            driver.cuInit(0),
            driver.cuCtxSynchronize(),
        ];
        let named = driver.cuGetErrorName(NOT_INITIALIZED, &mut name) == 0;
        // SAFETY: the driver's names end with a zero byte.
        let named = named && unsafe { CStr::from_ptr(name) } == c"CUDA_ERROR_NOT_INITIALIZED";
        let right = named && refused == [NOT_INITIALIZED; 4];
        // SAFETY: ends the child without the destructors of the process that it is a copy of.
        unsafe { libc::_exit(c_int::from(!right)) };
    }
    let mut status = -1;
    // SAFETY: `status` takes the child's.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!((status, driver.read(memory, 8)), (0, vec![4; 8]));
}
