//! What every function of the API shares, and what pointers of the caller's are read and written
//! with.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Done, Error, note};

/// Runs the body of a function: its error becomes the thread's last one, and so does a panic.
pub fn enter(name: &'static str, body: impl FnOnce() -> Done) -> u32 {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        use std::io::Write;
        // The standard error may be closed.
        let _ = writeln!(std::io::stderr(), "coalesce: {name}: a bug of the simulator's runtime library, see above");
        Err(Error::UNKNOWN)
    });
    match result {
        Ok(()) => 0,
        Err(error) => note(error),
    }
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

/// Declares functions of the API. Pointers are the caller's, and the API's contract makes them
/// usable. A name in brackets is that of the same function for programs whose default stream is the
/// thread's own.
macro_rules! runtime {
    ($(fn $name:ident $([$per_thread:ident])? ($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            #[allow(unused_variables, missing_docs)]
            // SAFETY: the name is one of the runtime's API, of which a process loads one library.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($argument: $type),*) -> u32 {
                crate::call::enter(stringify!($name), || -> crate::error::Done { $body })
            }
            crate::call::per_thread!([$($per_thread)?] $name ($($argument: $type),*));
        )*
    };
}
pub(crate) use runtime;

/// The same function for programs whose default stream is the thread's own.
macro_rules! per_thread {
    ([] $name:ident $arguments:tt) => {};
    ([$per_thread:ident] $name:ident ($($argument:ident: $type:ty),*)) => {
        #[allow(missing_docs)]
        // SAFETY: as above.
        #[unsafe(no_mangle)]
        pub extern "C" fn $per_thread($($argument: $type),*) -> u32 {
            crate::call::with_own_stream(|| $name($($argument),*))
        }
    };
}
pub(crate) use per_thread;

/// Writes a result that the caller must take.
pub fn put<T>(to: *mut T, value: T) -> Done {
    if to.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: by the API's contract there is room for a `T`.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// Reads what the caller has put there.
pub fn get<T: Copy>(from: *const T) -> Done<T> {
    if from.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: by the API's contract there is a `T`.
    Ok(unsafe { from.read_unaligned() })
}
