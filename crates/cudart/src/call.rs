//! What every function of the API shares, and what pointers of the caller's are read and written with.

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

/// Declares functions of the API. Pointers are the caller's, and the API's contract makes them usable.
macro_rules! runtime {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            #[allow(unused_variables, missing_docs)]
            // SAFETY: the name is one of the runtime's API, of which a process loads one library.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($argument: $type),*) -> u32 {
                crate::call::enter(stringify!($name), || -> crate::error::Done { $body })
            }
        )*
    };
}
pub(crate) use runtime;

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
