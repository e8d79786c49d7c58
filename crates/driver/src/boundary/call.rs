//! What every function of the API shares: the macro that declares it, keeps panics from crossing
//! the C boundary and lists it for `cuGetProcAddress`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, Once, PoisonError};

use super::callbacks::{call_what_is_due, is_forked};
use super::fail;
use super::status::{Done, Status};

/// A function that `cuGetProcAddress` can hand out.
pub struct Entry {
    /// Its name, as the library exports it.
    pub name: &'static str,
    /// Its address.
    pub pointer: *const (),
}

static TRACE: LazyLock<bool> = LazyLock::new(|| std::env::var_os("COALESCE_TRACE").is_some());

static COUNTS: LazyLock<bool> = LazyLock::new(|| std::env::var_os("COALESCE_HOST_RECORD").is_some());

/// Calls by name: how many, and how many of them failed.
static CALLS: Mutex<BTreeMap<&str, [u64; 2]>> = Mutex::new(BTreeMap::new());

/// The calls so far, if they are counted.
pub fn counted() -> BTreeMap<String, [u64; 2]> {
    let calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    calls.iter().map(|(name, counts)| ((*name).to_owned(), *counts)).collect()
}

/// Runs the body of a function, unless `COALESCE_FAIL` has the call fail: a panic becomes a status,
/// and with `COALESCE_TRACE` the call is shown.
pub fn enter(name: &'static str, body: impl FnOnce() -> Done) -> u32 {
    let body = || match fail::status_of(name) {
        Some(status) => Err(status),
        None if is_forked() && needs_initialization(name) => {
            FORK.call_once(|| say(FORK_SAYS));
            Err(Status::NOT_INITIALIZED)
        }
        None => body(),
    };
    let status = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(status)) => status.0,
        Err(_) => {
            say(&format!("{name}: a bug of the simulator's driver, see above"));
            Status::UNKNOWN.0
        }
    };
    call_what_is_due();
    if *COUNTS {
        let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
        let [all, failed] = calls.entry(name).or_default();
        *all += 1;
        *failed += u64::from(status != 0 && status != Status::NOT_READY.0);
    }
    if traces() {
        say(&format!("{name} -> {status}"));
    }
    status
}

static FORK: Once = Once::new();

const FORK_SAYS: &str = "this process is a fork of one that had called `cuInit`: as on a GPU, CUDA does not work here; fork first, or \
                         start the process anew (in Python: the start method `spawn`)";

/// Whether a function of the driver's API fails in a process that has not initialized it.
fn needs_initialization(name: &str) -> bool {
    let works = ["cuGetErrorName", "cuGetErrorString", "cuDriverGetVersion", "cuGetProcAddress", "cuGetProcAddress_v2"];
    name.starts_with("cu") && !works.contains(&name)
}

/// Whether calls are shown.
pub fn traces() -> bool {
    *TRACE
}

/// Writes a message to the standard error, which may be closed.
pub fn say(message: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "coalesce: {message}");
}

/// Writes lines to the standard error.
pub fn show(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end_matches('\n'));
}

thread_local! {
    /// Whether the call under way takes the default stream to be the thread's own.
    static PER_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Whether the call under way takes the default stream to be the thread's own.
pub fn is_per_thread() -> bool {
    PER_THREAD.get()
}

/// Runs a function whose default stream is the thread's own.
pub fn with_own_stream(function: impl FnOnce() -> u32) -> u32 {
    PER_THREAD.set(true);
    let status = function();
    PER_THREAD.set(false);
    status
}

/// Declares functions of the API and, as `TABLE`, lists them. Bodies are safe code: pointers of the
/// caller's come as `In`, `Out` and `Text`. A name in brackets is that of the same function for
/// programs whose default stream is the thread's own.
macro_rules! driver {
    ($(fn $name:ident $([$per_thread:ident])? ($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            #[allow(unused_variables, missing_docs, unsafe_code)]
            // SAFETY: the name is one of the driver's API, of which a process loads one library.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($argument: $type),*) -> u32 {
                crate::boundary::call::enter(stringify!($name), || -> crate::boundary::status::Done { $body })
            }
            crate::boundary::call::per_thread!([$($per_thread)?] $name ($($argument: $type),*));
        )*

        /// The functions above.
        pub const TABLE: &[crate::boundary::call::Entry] = &[
            $(crate::boundary::call::Entry { name: stringify!($name), pointer: $name as *const () },)*
            $($(
                crate::boundary::call::Entry { name: stringify!($per_thread), pointer: $per_thread as *const () },
            )?)*
        ];
    };
}
pub(crate) use driver;

/// The same function for programs whose default stream is the thread's own.
macro_rules! per_thread {
    ([] $name:ident $arguments:tt) => {};
    ([$per_thread:ident] $name:ident ($($argument:ident: $type:ty),*)) => {
        #[allow(missing_docs, unsafe_code)]
        // SAFETY: as above.
        #[unsafe(no_mangle)]
        pub extern "C" fn $per_thread($($argument: $type),*) -> u32 {
            crate::boundary::call::with_own_stream(|| $name($($argument),*))
        }
    };
}
pub(crate) use per_thread;

/// Declares functions of a library that comes with the driver.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            #[allow(unused_variables, missing_docs, unsafe_code)]
            // SAFETY: the name is one of that library's, of which a process loads one, or which
            // hands on to the other.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($argument: $type),*) -> u32 {
                crate::boundary::call::enter(stringify!($name), || -> crate::boundary::status::Done { $body })
            }
        )*
    };
}
pub(crate) use functions;

/// Declares functions of the nvJitLink library: each under its plain name, and under those that the
/// headers of CUDA 12 and 13 call.
macro_rules! jit_linker {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        crate::boundary::call::functions! { $(fn $name($($argument: $type),*) $body)* }
        $(crate::boundary::call::versions!($name ($($argument: $type),*));)*
    };
}
pub(crate) use jit_linker;

/// The same function under its names with versions.
macro_rules! versions {
    ($name:ident $arguments:tt) => {
        crate::boundary::call::versions!($name $arguments "12_0" "12_1" "12_2" "12_3" "12_4");
        crate::boundary::call::versions!($name $arguments "12_5" "12_6" "12_7" "12_8" "12_9");
        crate::boundary::call::versions!($name $arguments "13_0" "13_1" "13_2" "13_3" "13_4" "13_5");
    };
    ($name:ident $arguments:tt $($version:literal)+) => {
        $(crate::boundary::call::version!($version $name $arguments);)+
    };
}
pub(crate) use versions;

macro_rules! version {
    ($version:literal $name:ident ($($argument:ident: $type:ty),*)) => {
        const _: () = {
            #[allow(unsafe_code)]
            // SAFETY: as above.
            #[unsafe(export_name = concat!("__", stringify!($name), "_", $version))]
            extern "C" fn with_version($($argument: $type),*) -> u32 {
                $name($($argument),*)
            }
        };
    };
}
pub(crate) use version;
