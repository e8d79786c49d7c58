//! Errors: numbers that the driver and the runtime library share, their names, and the last error
//! of each thread.

use std::cell::Cell;
use std::ffi::{CStr, c_char};

/// A `cudaError_t` other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub u32);

/// What a function returns.
pub type Done<T = ()> = Result<T, Error>;

impl Error {
    pub const INVALID_VALUE: Self = Self(1);
    pub const INVALID_CONFIGURATION: Self = Self(9);
    pub const INVALID_SYMBOL: Self = Self(13);
    pub const INVALID_DIRECTION: Self = Self(21);
    pub const NO_DRIVER: Self = Self(35);
    pub const NO_CONFIGURATION: Self = Self(52);
    pub const INVALID_FUNCTION: Self = Self(98);
    pub const INVALID_DEVICE: Self = Self(101);
    pub const NOT_READY: Self = Self(600);
    pub const UNKNOWN: Self = Self(999);
}

/// Numbers, names and texts of errors that the driver does not have, or has under other names.
const NAMES: [(u32, &CStr, &CStr); 54] = [
    (0, c"cudaSuccess", c"no error"),
    (1, c"cudaErrorInvalidValue", c"invalid argument"),
    (2, c"cudaErrorMemoryAllocation", c"out of memory"),
    (3, c"cudaErrorInitializationError", c"initialization error"),
    (4, c"cudaErrorCudartUnloading", c"driver shutting down"),
    (9, c"cudaErrorInvalidConfiguration", c"invalid configuration argument"),
    (12, c"cudaErrorInvalidPitchValue", c"invalid pitch argument"),
    (13, c"cudaErrorInvalidSymbol", c"invalid device symbol"),
    (20, c"cudaErrorInvalidChannelDescriptor", c"invalid channel descriptor"),
    (21, c"cudaErrorInvalidMemcpyDirection", c"invalid copy direction for memcpy"),
    (35, c"cudaErrorInsufficientDriver", c"CUDA driver version is insufficient for CUDA runtime version"),
    (52, c"cudaErrorMissingConfiguration", c"__global__ function call is not configured"),
    (98, c"cudaErrorInvalidDeviceFunction", c"invalid device function"),
    (100, c"cudaErrorNoDevice", c"no CUDA-capable device is detected"),
    (101, c"cudaErrorInvalidDevice", c"invalid device ordinal"),
    (200, c"cudaErrorInvalidKernelImage", c"device kernel image is invalid"),
    (201, c"cudaErrorDeviceUninitialized", c"invalid device context"),
    (205, c"cudaErrorMapBufferObjectFailed", c"mapping of buffer object failed"),
    (209, c"cudaErrorNoKernelImageForDevice", c"no kernel image is available for execution on the device"),
    (215, c"cudaErrorUnsupportedLimit", c"limit is not supported on this architecture"),
    (217, c"cudaErrorPeerAccessUnsupported", c"peer access is not supported between these two devices"),
    (218, c"cudaErrorInvalidPtx", c"a PTX JIT compilation failed"),
    (300, c"cudaErrorInvalidSource", c"device kernel image is invalid"),
    (301, c"cudaErrorFileNotFound", c"file not found"),
    (400, c"cudaErrorInvalidResourceHandle", c"invalid resource handle"),
    (401, c"cudaErrorIllegalState", c"the operation cannot be performed in the present state"),
    (500, c"cudaErrorSymbolNotFound", c"named symbol not found"),
    (600, c"cudaErrorNotReady", c"device not ready"),
    (700, c"cudaErrorIllegalAddress", c"an illegal memory access was encountered"),
    (701, c"cudaErrorLaunchOutOfResources", c"too many resources requested for launch"),
    (702, c"cudaErrorLaunchTimeout", c"the launch timed out and was terminated"),
    (704, c"cudaErrorPeerAccessAlreadyEnabled", c"peer access is already enabled"),
    (705, c"cudaErrorPeerAccessNotEnabled", c"peer access has not been enabled"),
    (710, c"cudaErrorAssert", c"device-side assert triggered"),
    (712, c"cudaErrorHostMemoryAlreadyRegistered", c"part or all of the requested memory range is already mapped"),
    (713, c"cudaErrorHostMemoryNotRegistered", c"pointer does not correspond to a registered memory region"),
    (715, c"cudaErrorIllegalInstruction", c"an illegal instruction was encountered"),
    (716, c"cudaErrorMisalignedAddress", c"misaligned address"),
    (719, c"cudaErrorLaunchFailure", c"unspecified launch failure"),
    (720, c"cudaErrorCooperativeLaunchTooLarge", c"too many blocks in cooperative launch"),
    (800, c"cudaErrorNotPermitted", c"operation not permitted"),
    (801, c"cudaErrorNotSupported", c"operation not supported"),
    (900, c"cudaErrorStreamCaptureUnsupported", c"operation not permitted when stream is capturing"),
    (901, c"cudaErrorStreamCaptureInvalidated", c"operation failed due to a previous error during capture"),
    (902, c"cudaErrorStreamCaptureMerge", c"operation would result in a merge of separate capture sequences"),
    (903, c"cudaErrorStreamCaptureUnmatched", c"capture was not ended in the same stream as it began"),
    (904, c"cudaErrorStreamCaptureUnjoined", c"capturing stream has unjoined work"),
    (905, c"cudaErrorStreamCaptureIsolation", c"dependency created on uncaptured work in another stream"),
    (906, c"cudaErrorStreamCaptureImplicit", c"operation would make the legacy stream depend on a capturing blocking stream"),
    (907, c"cudaErrorCapturedEvent", c"operation not permitted on an event last recorded in a capturing stream"),
    (908, c"cudaErrorStreamCaptureWrongThread", c"attempt to terminate a thread-local capture sequence from another thread"),
    (910, c"cudaErrorGraphExecUpdateFailure", c"the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"),
    (912, c"cudaErrorInvalidClusterSize", c"cluster misconfiguration"),
    (999, c"cudaErrorUnknown", c"unknown error"),
];

thread_local! {
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// Records the thread's last error. `cudaErrorNotReady` is a status, and is not recorded.
pub fn note(error: Error) -> u32 {
    if error != Error::NOT_READY {
        LAST.set(error.0);
    }
    error.0
}

fn named(number: u32) -> Option<&'static (u32, &'static CStr, &'static CStr)> {
    NAMES.iter().find(|(known, ..)| *known == number)
}

/// The last error of this thread, which is then forgotten.
#[unsafe(no_mangle)] // SAFETY: a name of the runtime's API, of which a process loads one library; so are the others.
pub extern "C" fn cudaGetLastError() -> u32 {
    LAST.replace(0)
}

/// The last error of this thread.
#[unsafe(no_mangle)] // SAFETY: as above.
pub extern "C" fn cudaPeekAtLastError() -> u32 {
    LAST.get()
}

/// An error's name.
#[unsafe(no_mangle)] // SAFETY: as above.
pub extern "C" fn cudaGetErrorName(number: u32) -> *const c_char {
    named(number).map_or(c"unrecognized error code", |(_, name, _)| name).as_ptr()
}

/// An error in words.
#[unsafe(no_mangle)] // SAFETY: as above.
pub extern "C" fn cudaGetErrorString(number: u32) -> *const c_char {
    named(number).map_or(c"unrecognized error code", |(_, _, text)| text).as_ptr()
}
