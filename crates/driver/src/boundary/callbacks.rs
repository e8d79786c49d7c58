//! Functions of the host that a stream is given. They run on other threads, one after the other in
//! each stream, without the driver's lock: a function may wait for what the calling thread holds,
//! as Python's do. What a stream does after such a function waits for it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{c_uint, c_void};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, Once, PoisonError};

use super::status::{Done, Status};

/// How many functions a stream was given, and how many have ended.
#[derive(Default)]
struct Queue {
    given: u64,
    ended: u64,
}

static QUEUES: LazyLock<Mutex<HashMap<usize, Queue>>> = LazyLock::new(Mutex::default);
/// A function has ended.
static ENDED: Condvar = Condvar::new();

thread_local! {
    /// Whether this thread runs a function of the host, which must not wait for itself.
    static RUNS: Cell<bool> = const { Cell::new(false) };
}

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

/// A place in a stream: behind so many functions of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    stream: usize,
    functions: u64,
}

fn queues() -> MutexGuard<'static, HashMap<usize, Queue>> {
    QUEUES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait_until(mut done: impl FnMut(&HashMap<usize, Queue>) -> bool) {
    let mut all = queues();
    while !done(&all) {
        all = ENDED.wait(all).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Queues a host function on a stream. It runs after the stream's earlier functions, and after the
/// functions of other streams up to the places in `after`.
pub fn call(stream: usize, after: Vec<Behind>, function: impl FnOnce() + Send + 'static) -> Done {
    let mut all = queues();
    let queue = all.entry(stream).or_default();
    let before = queue.given;
    let body = move || {
        after.into_iter().for_each(Behind::wait);
        wait_until(|all| all.get(&stream).is_none_or(|queue| queue.ended >= before));
        RUNS.set(true);
        function();
        if let Some(queue) = queues().get_mut(&stream) {
            queue.ended = before + 1;
        }
        ENDED.notify_all();
    };
    std::thread::Builder::new().spawn(body).map_err(|_| Status::OUT_OF_MEMORY)?;
    queue.given += 1;
    Ok(())
}

/// Calls a function of the host.
pub fn call_host(stream: usize, after: Vec<Behind>, function: HostFunction, data: Passed) -> Done {
    let function = function.ok_or(Status::INVALID_VALUE)?;
    // SAFETY: by the API's contract the function takes this pointer.
    call(stream, after, move || unsafe { function(data) })
}

thread_local! {
    /// Functions to call at the end of the call under way. Never dropped, as threads may call the
    /// driver at their end; it is empty then.
    static LATER: RefCell<ManuallyDrop<Vec<(HostFunction, Passed)>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// Has a function called on this thread at the end of the call under way, without the driver's
/// lock.
pub fn call_later(function: HostFunction, data: Passed) {
    LATER.with_borrow_mut(|all| all.push((function, data)));
}

/// Calls these functions.
pub fn call_what_is_due() {
    let all = LATER.with_borrow_mut(|all| std::mem::take(&mut **all));
    for (function, data) in all {
        if let Some(function) = function {
            // SAFETY: by the API's contract the function takes this pointer.
            unsafe { function(data) }
        }
    }
}

/// Calls a stream's callback: all work before it is done, without an error.
pub fn call_stream(stream: usize, after: Vec<Behind>, function: StreamCallback, data: Passed) -> Done {
    let function = function.ok_or(Status::INVALID_VALUE)?;
    // SAFETY: as above.
    call(stream, after, move || unsafe { function(stream, 0, data) })
}

/// The end of a stream as it is now.
pub fn end_of(stream: usize) -> Behind {
    Behind { stream, functions: queues().get(&stream).map_or(0, |queue| queue.given) }
}

impl Behind {
    /// Whether all functions before it have ended.
    pub fn is_reached(self) -> bool {
        RUNS.get() || queues().get(&self.stream).is_none_or(|queue| queue.ended >= self.functions)
    }

    /// Waits for the functions before it.
    pub fn wait(self) {
        if !self.is_reached() {
            wait_until(|all| all.get(&self.stream).is_none_or(|queue| queue.ended >= self.functions));
        }
    }
}

/// Adds places to others: of each stream the last alone, and none that is reached.
pub fn merge(all: &mut Vec<Behind>, more: impl IntoIterator<Item = Behind>) {
    all.retain(|behind| !behind.is_reached());
    for one in more.into_iter().filter(|behind| !behind.is_reached()) {
        match all.iter_mut().find(|it| it.stream == one.stream) {
            Some(it) => it.functions = it.functions.max(one.functions),
            None => all.push(one),
        }
    }
}

/// Waits for all functions of the host.
pub fn wait() {
    if !RUNS.get() {
        wait_until(|all| all.values().all(|queue| queue.ended >= queue.given));
    }
}

/// `CUoccupancyB2DSize`: the dynamic shared memory of a block of so many threads.
pub type DynamicShared = Option<unsafe extern "C" fn(std::ffi::c_int) -> usize>;

/// Dynamic shared memory for a block of this size.
pub fn dynamic_shared(function: DynamicShared, threads: std::ffi::c_int, otherwise: usize) -> usize {
    // SAFETY: by the API's contract the function takes any size of a block.
    function.map_or(otherwise, |function| unsafe { function(threads) })
}

/// Whether this process is a fork of one that had begun with the driver. A GPU's driver doesn't
/// work there, and the threads that run functions of the host are missing.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Whether this process is a fork of one that had begun with the driver.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// From now on, a fork of this process knows that it is one.
pub fn watch_forks() {
    extern "C" fn note() {
        FORKED.store(true, Ordering::Relaxed);
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function lives as long as the library, and only sets a flag. That fails only
        // without memory, and then forks are not known.
        unsafe { libc::pthread_atfork(None, None, Some(note)) };
    });
}

/// Has a function called when the process ends in order.
pub fn at_end(function: extern "C" fn()) {
    // SAFETY: a function without arguments, which lives as long as the library.
    unsafe { libc::atexit(function) };
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Each function adds its own number to what the one before has left, times ten.
    #[test]
    fn the_functions_of_a_stream_run_in_order() {
        unsafe extern "C" fn next(sum: Passed) {
            // SAFETY: the test passes a pointer to this, and waits.
            let sum = unsafe { &*sum.0.cast::<AtomicUsize>() };
            sum.store(10 * sum.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        let sums = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let passed = |index: usize| Passed((&raw const sums[index]).cast_mut().cast());
        for _ in 0..4 {
            call_host(70, Vec::new(), Some(next), passed(0)).unwrap();
        }
        call_host(71, Vec::new(), Some(next), passed(1)).unwrap();
        let end = end_of(70);
        end.wait();
        assert!(end.is_reached());
        assert_eq!(sums[0].load(Ordering::Relaxed), 1111);
        wait();
        assert_eq!(sums[1].load(Ordering::Relaxed), 1);
        assert_eq!(call_host(70, Vec::new(), None, passed(0)), Err(Status::INVALID_VALUE));
        assert_eq!(dynamic_shared(None, 32, 5), 5);
    }
}
