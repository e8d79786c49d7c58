//! Functions of the host that a stream is given. Each runs on another thread, without the driver's
//! lock: it may wait for what the calling thread holds, as Python's functions do.

use std::ffi::{c_uint, c_void};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use super::status::{Done, Status};

static CALLBACKS: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// A pointer that is only passed on.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Passed(*mut c_void);

// SAFETY: the driver never looks at what it points to; ordering is the caller's, as in the API.
unsafe impl Send for Passed {}

/// `CUhostFn`.
pub type HostFunction = Option<unsafe extern "C" fn(Passed)>;

/// `CUstreamCallback`.
pub type StreamCallback = Option<unsafe extern "C" fn(usize, c_uint, Passed)>;

fn call(function: impl FnOnce() + Send + 'static) -> Done {
    let thread = std::thread::Builder::new().spawn(function).map_err(|_| Status::OUT_OF_MEMORY)?;
    CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
    Ok(())
}

/// Calls a function of the host.
pub fn call_host(function: HostFunction, data: Passed) -> Done {
    let function = function.ok_or(Status::INVALID_VALUE)?;
    // SAFETY: by the API's contract the function takes this pointer.
    call(move || unsafe { function(data) })
}

/// Calls a stream's callback: all work before it is done, without an error.
pub fn call_stream(stream: usize, function: StreamCallback, data: Passed) -> Done {
    let function = function.ok_or(Status::INVALID_VALUE)?;
    // SAFETY: as above.
    call(move || unsafe { function(stream, 0, data) })
}

/// Waits for all functions of the host.
pub fn wait() {
    let all = std::mem::take(&mut *CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner));
    for thread in all {
        // A function that synchronises must not wait for itself.
        if thread.thread().id() != std::thread::current().id() {
            let _ = thread.join();
        }
    }
}

/// `CUoccupancyB2DSize`: the dynamic shared memory of a block of so many threads.
pub type DynamicShared = Option<unsafe extern "C" fn(std::ffi::c_int) -> usize>;

/// Dynamic shared memory for a block of this size.
pub fn dynamic_shared(function: DynamicShared, threads: std::ffi::c_int, otherwise: usize) -> usize {
    // SAFETY: by the API's contract the function takes any size of a block.
    function.map_or(otherwise, |function| unsafe { function(threads) })
}

/// Has a function called when the process ends in order.
pub fn at_end(function: extern "C" fn()) {
    // SAFETY: a function without arguments, which lives as long as the library.
    unsafe { libc::atexit(function) };
}
