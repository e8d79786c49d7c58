//! The C boundary, the only part with `unsafe` code: statuses, the macro that declares functions of
//! the API, and the caller's pointers.
//!
//! | file | contents |
//! | --- | --- |
//! | [`pointers`] | results and structures of the caller's |
//! | [`places`] | memory of the host and of the device under one address |
//! | [`images`] | what a module is loaded from |
//! | [`callbacks`] | functions of the host |

pub mod callbacks;
pub mod images;
pub mod places;
pub mod pointers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

pub use pointers::{In, Out, Text};

/// A `CUresult` other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u32);

/// What a function returns.
pub type Done<T = ()> = Result<T, Status>;

macro_rules! statuses {
    ($($constant:ident = $number:literal, $name:literal, $text:literal;)*) => {
        #[allow(dead_code)] // a complete list is easier to read
        impl Status {
            $(pub const $constant: Self = Self($number);)*
        }

        /// Number, name and text of each status; name and text end with a zero byte.
        pub const STATUSES: &[(u32, &str, &str)] = &[
            (0, "CUDA_SUCCESS\0", "no error\0"),
            $(($number, concat!($name, "\0"), concat!($text, "\0")),)*
        ];
    };
}

statuses! {
    INVALID_VALUE = 1, "CUDA_ERROR_INVALID_VALUE", "invalid argument";
    OUT_OF_MEMORY = 2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory";
    NOT_INITIALIZED = 3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error";
    DEINITIALIZED = 4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down";
    NO_DEVICE = 100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected";
    INVALID_DEVICE = 101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal";
    INVALID_IMAGE = 200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid";
    INVALID_CONTEXT = 201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context";
    MAP_FAILED = 205, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed";
    NO_BINARY_FOR_GPU = 209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device";
    PEER_ACCESS_UNSUPPORTED = 217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices";
    INVALID_PTX = 218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed";
    INVALID_SOURCE = 300, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid";
    FILE_NOT_FOUND = 301, "CUDA_ERROR_FILE_NOT_FOUND", "file not found";
    INVALID_HANDLE = 400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle";
    NOT_FOUND = 500, "CUDA_ERROR_NOT_FOUND", "named symbol not found";
    NOT_READY = 600, "CUDA_ERROR_NOT_READY", "device not ready";
    ILLEGAL_ADDRESS = 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered";
    LAUNCH_OUT_OF_RESOURCES = 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch";
    LAUNCH_TIMEOUT = 702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated";
    ASSERT = 710, "CUDA_ERROR_ASSERT", "device-side assert triggered";
    ALREADY_REGISTERED = 712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory range is already mapped";
    NOT_REGISTERED = 713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "pointer does not correspond to a registered memory region";
    ILLEGAL_INSTRUCTION = 715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered";
    MISALIGNED_ADDRESS = 716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address";
    LAUNCH_FAILED = 719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure";
    COOPERATIVE_TOO_LARGE = 720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch";
    NOT_PERMITTED = 800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted";
    NOT_SUPPORTED = 801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported";
    UNKNOWN = 999, "CUDA_ERROR_UNKNOWN", "unknown error";
}

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

/// Declares functions of the API and, as `TABLE`, lists them. Bodies are safe code: pointers of the
/// caller's come as [`In`], [`Out`] and [`Text`].
macro_rules! driver {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            #[allow(unused_variables, missing_docs, unsafe_code)]
            // SAFETY: the name is one of the driver's API, of which a process loads one library.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($argument: $type),*) -> u32 {
                crate::boundary::enter(stringify!($name), || -> crate::boundary::Done { $body })
            }
        )*

        /// The functions above.
        pub const TABLE: &[crate::boundary::Entry] =
            &[$(crate::boundary::Entry { name: stringify!($name), pointer: $name as *const () }),*];
    };
}
pub(crate) use driver;
