//! Stand-in for the crate `cust_raw`, put in its place by `[patch.crates-io]`.
//!
//! The published crate links to the CUDA driver: a program built with it starts only where
//! `libcuda` is installed. This one re-exports `cudarc`'s bindings of the same functions and types,
//! which load the driver library on the first call. So `cust` builds and links without CUDA, and
//! one binary runs on machines with and without a GPU. `cust` and `crates/device/src/gpu` call it;
//! it is the raw layer of the driver.
//!
//! The bindings are those of CUDA 11.4, the only version whose types fit `cust` 0.3.2. They panic
//! when the library or a function is missing. Therefore:
//!
//! - call [`load()`] before anything else: it checks whether there is a driver that these bindings
//!   can use, and returns an error if not;
//! - [`describe`] turns any status into its name and text, also statuses that newer drivers have
//!   added.

mod attributes;
mod tensor_maps;

pub use attributes::{AttributedLaunch, launch_with_attributes};
pub use tensor_maps::{Columns, TensorDescription, TensorMap, encode_columns, encode_tiled};

use core::ffi::{CStr, c_char, c_int, c_uint};
use std::fmt;
use std::sync::OnceLock;

pub use cudarc::driver::sys::*;

/// The oldest version of the CUDA API that a driver must have, as [`cuDriverGetVersion`] counts:
/// 1000 x major + 10 x minor.
///
/// Each function that `cust` 0.3.2 and the host call is in drivers of this version and later.
pub const OLDEST_DRIVER: i32 = 11_000;

/// The functions that `cust` 0.3.2 and the host call. [`load()`] checks that the driver has them,
/// because calling a missing one would panic.
const NEEDED: [&str; 58] = [
    "cuArray3DCreate_v2",
    "cuArrayDestroy",
    "cuCtxEnablePeerAccess",
    "cuCtxResetPersistingL2Cache",
    "cuCtxSetCacheConfig",
    "cuCtxSetCurrent",
    "cuCtxSetLimit",
    "cuDeviceCanAccessPeer",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncSetAttribute",
    "cuFuncSetCacheConfig",
    "cuLaunchCooperativeKernel",
    "cuLaunchKernel",
    "cuMemAllocHost_v2",
    "cuMemAllocManaged",
    "cuMemAllocPitch_v2",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemPrefetchAsync",
    "cuMemcpy2DAsync_v2",
    "cuMemcpy2D_v2",
    "cuMemcpy3D_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoH_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyHtoD_v2",
    "cuMemsetD8Async",
    "cuMipmappedArrayCreate",
    "cuMipmappedArrayDestroy",
    "cuMipmappedArrayGetLevel",
    "cuModuleGetFunction",
    "cuModuleGetGlobal_v2",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuStreamCreateWithPriority",
    "cuStreamDestroy_v2",
    "cuStreamGetFlags",
    "cuStreamSetAttribute",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuSurfObjectCreate",
    "cuSurfObjectDestroy",
    "cuTexObjectCreate",
    "cuTexObjectDestroy",
];

/// Why there is no usable CUDA driver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no driver library on this machine, or it is for another processor architecture.
    NoLibrary,
    /// The driver is installed, but sees no GPU.
    NoDevice,
    /// The driver is older than [`OLDEST_DRIVER`]; holds its version.
    TooOld(i32),
    /// The driver library lacks a function that every driver of [`OLDEST_DRIVER`] and later has;
    /// holds its name.
    Incomplete(&'static str),
    /// The driver refused to start; holds the status, see [`describe`].
    Failed(u32),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLibrary => write!(
                f,
                "no NVIDIA driver is installed (there is no {})",
                if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" }
            ),
            Self::NoDevice => f.write_str("the NVIDIA driver sees no GPU"),
            Self::TooOld(version) => write!(
                f,
                "the NVIDIA driver is too old: it supports CUDA {}.{}, and {}.{} is needed",
                version / 1000,
                version % 1000 / 10,
                OLDEST_DRIVER / 1000,
                OLDEST_DRIVER % 1000 / 10,
            ),
            Self::Incomplete(name) => {
                write!(f, "the NVIDIA driver library lacks the function {name}")
            }
            Self::Failed(status) => {
                write!(f, "the NVIDIA driver does not start: {}", describe(*status))
            }
        }
    }
}

impl std::error::Error for LoadError {}

/// Loads the driver library and starts the driver, once; later calls return the first call's
/// answer.
///
/// After `Ok`, there are all functions that `cust` and the host need, and at least one GPU.
///
/// # Errors
///
/// [`LoadError`] says why there is no usable driver.
pub fn load() -> Result<(), LoadError> {
    static LOADED: OnceLock<Result<(), LoadError>> = OnceLock::new();
    LOADED.get_or_init(start).clone()
}

/// The work of [`load()`]. Statuses are plain numbers here: a driver may return one that
/// [`CUresult`], which ends at CUDA 11.4, does not list.
fn start() -> Result<(), LoadError> {
    // SAFETY: opening the driver library runs its initialisers, which any thread may do at any
    // time.
    if !unsafe { is_culib_present() } {
        return Err(LoadError::NoLibrary);
    }
    let init: unsafe extern "C" fn(c_uint) -> u32 = function("cuInit")?;
    let version: unsafe extern "C" fn(*mut c_int) -> u32 = function("cuDriverGetVersion")?;
    let count: unsafe extern "C" fn(*mut c_int) -> u32 = function("cuDeviceGetCount")?;

    // The version is available before `cuInit`, and is more informative than the failure of
    // `cuInit` in an old driver.
    let mut number = 0;
    // SAFETY: the signature is the driver's, and `number` outlives the call.
    check(unsafe { version(&mut number) })?;
    if number < OLDEST_DRIVER {
        return Err(LoadError::TooOld(number));
    }
    for name in NEEDED {
        function::<unsafe extern "C" fn()>(name)?;
    }
    // SAFETY: the signature is the driver's; 0 is the only flag there is.
    check(unsafe { init(0) })?;
    let mut devices = 0;
    // SAFETY: the signature is the driver's, and `devices` outlives the call.
    check(unsafe { count(&mut devices) })?;
    if devices == 0 {
        return Err(LoadError::NoDevice);
    }
    Ok(())
}

/// A function of the driver library by its name. `F` must be its type, as a function pointer.
fn function<F: Copy>(name: &'static str) -> Result<F, LoadError> {
    // SAFETY: called after `is_culib_present`, so `culib` does not panic; each caller in this
    // module names a function of the driver's API with its documented type, and the library is
    // never unloaded.
    unsafe { culib().get::<F>(name.as_bytes()) }.map(|symbol| *symbol).map_err(|_| LoadError::Incomplete(name))
}

/// Turns a status into the error of [`load()`].
fn check(status: u32) -> Result<(), LoadError> {
    match status {
        0 => Ok(()),
        100 => Err(LoadError::NoDevice),
        status => Err(LoadError::Failed(status)),
    }
}

/// A status with its name and meaning, such as `CUDA_ERROR_INVALID_VALUE (1): invalid argument`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The number of the status (a [`CUresult`], or one that a newer driver has added).
    pub status: u32,
    /// Its name in the driver's API, such as `CUDA_ERROR_INVALID_VALUE`. `None` if unknown.
    pub name: Option<String>,
    /// The driver's description.
    pub text: Option<String>,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, name, text } = self;
        match name {
            Some(name) => write!(f, "{name} ({status})")?,
            None => write!(f, "CUDA status {status}")?,
        }
        match text {
            Some(text) => write!(f, ": {text}"),
            None => Ok(()),
        }
    }
}

/// Name and text of a status.
///
/// They come from the loaded driver, so statuses newer than these bindings are described, too.
/// Without a driver, only the statuses of a driver that fails to start have a name.
pub fn describe(status: u32) -> Description {
    type Getter = unsafe extern "C" fn(u32, *mut *const c_char) -> u32;
    let ask = |function_name| {
        // SAFETY: opening the driver library runs its initialisers, which any thread may do at any
        // time.
        if !unsafe { is_culib_present() } {
            return None;
        }
        let getter: Getter = function(function_name).ok()?;
        let mut text: *const c_char = core::ptr::null();
        // SAFETY: the signature is the driver's, with the status as the plain number that it is in
        // C.
        if unsafe { getter(status, &mut text) } != 0 || text.is_null() {
            return None;
        }
        // SAFETY: the driver answered with a NUL-terminated string that lives as long as the
        // driver.
        Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    };
    Description {
        status,
        name: ask("cuGetErrorName").or_else(|| start_failure(status).map(str::to_owned)),
        text: ask("cuGetErrorString"),
    }
}

/// Names of the statuses of a driver that cannot start, which may not be able to describe them
/// itself.
fn start_failure(status: u32) -> Option<&'static str> {
    Some(match status {
        3 => "CUDA_ERROR_NOT_INITIALIZED",
        34 => "CUDA_ERROR_STUB_LIBRARY",
        46 => "CUDA_ERROR_DEVICE_UNAVAILABLE",
        100 => "CUDA_ERROR_NO_DEVICE",
        101 => "CUDA_ERROR_INVALID_DEVICE",
        304 => "CUDA_ERROR_OPERATING_SYSTEM",
        802 => "CUDA_ERROR_SYSTEM_NOT_READY",
        803 => "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        804 => "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        999 => "CUDA_ERROR_UNKNOWN",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_answers_the_same_twice_and_never_panics() {
        assert_eq!(load(), load());
    }

    #[test]
    fn load_errors_are_one_clear_line() {
        assert_eq!(
            LoadError::TooOld(10_020).to_string(),
            "the NVIDIA driver is too old: it supports CUDA 10.2, and 11.0 is needed"
        );
        assert_eq!(check(100), Err(LoadError::NoDevice));
        assert_eq!(check(0), Ok(()));
        for error in [LoadError::NoLibrary, LoadError::NoDevice, LoadError::Incomplete("cuInit"), LoadError::Failed(46)]
        {
            assert!(!error.to_string().contains('\n'));
        }
    }

    #[test]
    fn statuses_have_names_with_and_without_a_driver() {
        assert!(describe(803).to_string().starts_with("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"));
        assert!(describe(123_456).to_string().contains("123456"));
    }
}
