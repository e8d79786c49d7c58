//! The driver's statuses as errors: [`to_result`] is the only place that looks at a status, and
//! `cust`'s errors become the same type.
//!
//! Statuses are plain numbers, because a driver may return one that the bindings, which end at CUDA
//! 11.4, do not list.

use std::fmt;

use cust::error::CudaError;
use cust::sys::{self, CUresult, LoadError};

use crate::error::Error;

/// Why a call of the driver failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DriverError {
    /// The driver's status: a `CUresult` other than 0.
    Status(u32),
    /// The driver lacks the function: it is too old for the request.
    Missing(LoadError),
}

pub(super) type Result<T> = std::result::Result<T, DriverError>;

impl DriverError {
    /// `CUDA_ERROR_INVALID_VALUE`: also for a range of memory outside all allocations, which the
    /// driver is not asked about.
    pub const INVALID_VALUE: Self = Self::Status(1);
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    pub const OUT_OF_MEMORY: Self = Self::Status(2);
    /// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`: the PTX is newer than the driver.
    pub const UNSUPPORTED_PTX_VERSION: Self = Self::Status(222);
    /// `CUDA_ERROR_INVALID_HANDLE`: also for an object that is not this GPU's.
    pub const INVALID_HANDLE: Self = Self::Status(400);
    /// `CUDA_ERROR_NOT_FOUND`.
    pub const NOT_FOUND: Self = Self::Status(500);
    /// `CUDA_ERROR_NOT_SUPPORTED`: the GPU cannot do that.
    pub const NOT_SUPPORTED: Self = Self::Status(801);

    /// Whether a kernel did something illegal. The driver reports that at whatever call comes next.
    pub fn is_kernel_fault(&self) -> bool {
        // Illegal address, launch timeout, assert, and the hardware's exceptions (CUDA driver API,
        // `CUresult`).
        matches!(self, Self::Status(700 | 702 | 710 | 714..=719))
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => sys::describe(*status).fmt(f),
            Self::Missing(why) => why.fmt(f),
        }
    }
}

impl From<CudaError> for DriverError {
    fn from(error: CudaError) -> Self {
        Self::Status(error as u32)
    }
}

/// The one place where a status becomes a result.
pub(super) fn to_result(status: CUresult) -> Result<()> {
    number_to_result(status as u32)
}

/// As [`to_result`], for functions newer than the bindings and for libraries that return the
/// driver's statuses.
pub(super) fn number_to_result(status: u32) -> Result<()> {
    match status {
        0 => Ok(()),
        status => Err(DriverError::Status(status)),
    }
}

/// The error of a driver call that has nothing to do with a kernel.
pub(super) fn driver_error(doing: &str, error: impl Into<DriverError>) -> Error {
    Error::Driver { doing: doing.to_owned(), status: error.into().to_string() }
}
