//! What every function of the API shares: the macro that declares it, keeps panics from crossing the
//! C boundary and lists it for `cuGetProcAddress`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use super::status::{Done, Status};

/// A function that `cuGetProcAddress` can hand out.
pub struct Entry {
    /// Its name, as the library exports it.
    pub name: &'static str,
    /// Its address.
    pub pointer: *const (),
}

static TRACE: LazyLock<bool> = LazyLock::new(|| std::env::var_os("COALESCE_TRACE").is_some());

/// Runs the body of a function: a panic becomes a status, and with `COALESCE_TRACE` the call is
/// shown.
pub fn enter(name: &'static str, body: impl FnOnce() -> Done) -> u32 {
    let status = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(status)) => status.0,
        Err(_) => {
            say(&format!("{name}: a bug of the simulator's driver, see above"));
            Status::UNKNOWN.0
        }
    };
    if traces() {
        say(&format!("{name} -> {status}"));
    }
    status
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

/// Declares functions of the API and, as `TABLE`, lists them. Bodies are safe code: pointers of the
/// caller's come as `In`, `Out` and `Text`.
macro_rules! driver {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            #[allow(unused_variables, missing_docs, unsafe_code)]
            // SAFETY: the name is one of the driver's API, of which a process loads one library.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($argument: $type),*) -> u32 {
                crate::boundary::call::enter(stringify!($name), || -> crate::boundary::status::Done { $body })
            }
        )*

        /// The functions above.
        pub const TABLE: &[crate::boundary::call::Entry] =
            &[$(crate::boundary::call::Entry { name: stringify!($name), pointer: $name as *const () }),*];
    };
}
pub(crate) use driver;
