//! cuBLAS, loaded at run time: the functions that [`crate::peers`] calls. `peers` owns the
//! library and calls it on the context's stream.
//!
//! `cudarc` has bindings, too, but they panic if the library is missing, and they find it only
//! under the names that it had up to CUDA 11.4 (see `cust_raw`). The functions used here have not
//! changed since 2010.

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::ptr;

use cust::sys::CUstream;

use super::shared_library::{LibraryStatus, find, functions};
use crate::error::{Error, Result};
use crate::peers::{BlasCall, Operand};

type Handle = *mut c_void;
type Scalar = *const f32;
type Address = *mut f32;

functions! {
    /// The functions, with their types from `cublas_api.h`.
    struct Functions {
        status create = "cublasCreate_v2"(handle: *mut Handle);
        status destroy = "cublasDestroy_v2"(handle: Handle);
        status version = "cublasGetVersion_v2"(handle: Handle, version: *mut c_int);
        status set_stream = "cublasSetStream_v2"(handle: Handle, stream: CUstream);
        status set_pointer_mode = "cublasSetPointerMode_v2"(handle: Handle, mode: c_int);
        status set_math_mode = "cublasSetMathMode"(handle: Handle, mode: c_int);
        status geam = "cublasSgeam"(
            handle: Handle, transa: c_int, transb: c_int, m: c_int, n: c_int, alpha: Scalar, a: Address, lda: c_int,
            beta: Scalar, b: Address, ldb: c_int, c: Address, ldc: c_int,
        );
        status gemm = "cublasSgemm_v2"(
            handle: Handle, transa: c_int, transb: c_int, m: c_int, n: c_int, k: c_int, alpha: Scalar, a: Address,
            lda: c_int, b: Address, ldb: c_int, beta: Scalar, c: Address, ldc: c_int,
        );
        status syrk = "cublasSsyrk_v2"(
            handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: Scalar, a: Address, lda: c_int,
            beta: Scalar, c: Address, ldc: c_int,
        );
        status dot = "cublasSdot_v2"(
            handle: Handle, n: c_int, x: Address, incx: c_int, y: Address, incy: c_int, result: Address,
        );
        status gemv = "cublasSgemv_v2"(
            handle: Handle, trans: c_int, m: c_int, n: c_int, alpha: Scalar, a: Address, lda: c_int, x: Address,
            incx: c_int, beta: Scalar, y: Address, incy: c_int,
        );
    }
}

/// `cublasOperation_t`, `cublasFillMode_t`, `cublasPointerMode_t` and `cublasMath_t`.
const PLAIN: c_int = 0;
const TRANSPOSED: c_int = 1;
const UPPER: c_int = 1;
const POINTERS_TO_HOST: c_int = 0;
const POINTERS_TO_DEVICE: c_int = 1;
const FULL_PRECISION: c_int = 0;

/// A handle of cuBLAS on a GPU's stream. Destroyed when dropped, while its context is current.
pub(super) struct Cublas {
    functions: Functions,
    handle: Handle,
    /// Such as `cuBLAS 13.1.0`.
    pub name: String,
}

impl Cublas {
    /// Loads cuBLAS, from `named` if it is given, and makes a handle for the current context.
    /// `None` if cuBLAS is not installed.
    ///
    /// # Errors
    ///
    /// [`Error::File`] for a library that cannot be used, [`Error::Driver`] when cuBLAS does not
    /// start.
    pub fn load(stream: CUstream, named: Option<(&Path, &str)>) -> Result<Option<Self>> {
        // cuBLAS needs the second library, which the loader does not look for in its folder.
        let Some((library, path)) = find(named, "cublas", "cublasLt")? else { return Ok(None) };
        // SAFETY: the types are those of cuBLAS's own header.
        let functions = unsafe { Functions::of(&library) }
            .map_err(|name| Error::file(&path, format!("is not a supported cuBLAS: it lacks the function {name}")))?;
        let mut cublas = Self { functions, handle: ptr::null_mut(), name: String::new() };
        let Self { functions, handle, .. } = &mut cublas;
        // SAFETY: a context is current, and the output outlives the call.
        unsafe { functions.create(handle) }.map_err(failed("starting cuBLAS"))?;
        let mut version = 0;
        // SAFETY: the handle has just been made, the stream belongs to the same context, and the
        // output outlives the call.
        unsafe {
            functions.version(*handle, &mut version).map_err(failed("asking cuBLAS for its version"))?;
            functions.set_stream(*handle, stream).map_err(failed("choosing cuBLAS's stream"))?;
            // Never TF32, which rounds the factors to 10 bits: that would be another task. Full
            // precision is also the default.
            functions.set_math_mode(*handle, FULL_PRECISION).map_err(failed("choosing cuBLAS's precision"))?;
        }
        cublas.name = format!("cuBLAS {}", version_text(version));
        Ok(Some(cublas))
    }

    /// Starts a call. cuBLAS's matrices are column-major: to it, a row-major matrix is its own
    /// transpose.
    ///
    /// # Safety
    ///
    /// The matrices and vectors of the call are in the memory of this GPU, whose context is
    /// current.
    pub unsafe fn start(&self, call: &BlasCall) -> Result<()> {
        let (cublas, handle) = (&self.functions, self.handle);
        let (one, zero) = (&raw const ONE, &raw const ZERO);
        // SAFETY: the caller's promise; the handle is valid until this is dropped, and cuBLAS reads
        // the scalars before it returns. An operand whose factor is 0 is not read.
        let (name, status) = unsafe {
            match *call {
                BlasCall::Transpose { rows, columns, from, to } => {
                    let ((from, pitch), (to, to_pitch)) = (from.parts(), to.parts());
                    let (operation, other) = (TRANSPOSED, PLAIN);
                    let status = cublas.geam(
                        handle, operation, other, rows, columns, one, from, pitch, zero, to, to_pitch, to, to_pitch,
                    );
                    ("cublasSgeam", status)
                }
                // The transpose of A B is that of B times that of A.
                BlasCall::Multiply { m, n, k, a, b, c } => {
                    let ((a, a_pitch), (b, b_pitch), (c, c_pitch)) = (a.parts(), b.parts(), c.parts());
                    let status =
                        cublas.gemm(handle, PLAIN, PLAIN, n, m, k, one, b, b_pitch, a, a_pitch, zero, c, c_pitch);
                    ("cublasSgemm", status)
                }
                // The product is its own transpose.
                BlasCall::Gram { rows, columns, a, c, half: false } => {
                    let ((a, pitch), (c, c_pitch)) = (a.parts(), c.parts());
                    let status = cublas.gemm(
                        handle, TRANSPOSED, PLAIN, rows, rows, columns, one, a, pitch, a, pitch, zero, c, c_pitch,
                    );
                    ("cublasSgemm", status)
                }
                // The upper triangle of a column-major matrix is the lower one of the row-major
                // matrix.
                BlasCall::Gram { rows, columns, a, c, half: true } => {
                    let ((a, pitch), (c, c_pitch)) = (a.parts(), c.parts());
                    let status = cublas.syrk(handle, UPPER, TRANSPOSED, rows, columns, one, a, pitch, zero, c, c_pitch);
                    ("cublasSsyrk", status)
                }
                BlasCall::Dot { length, a, b, result } => ("cublasSdot", self.dot(length, a, b, result)),
                BlasCall::RowSums { rows, columns, matrix, ones, sums } => {
                    let (matrix, pitch) = matrix.parts();
                    let (ones, sums) = (pointer(ones), pointer(sums));
                    let status =
                        cublas.gemv(handle, TRANSPOSED, columns, rows, one, matrix, pitch, ones, 1, zero, sums, 1);
                    ("cublasSgemv", status)
                }
            }
        };
        status.map_err(failed(name))
    }

    /// Leaves the result on the device, so that the host does not wait for it.
    ///
    /// # Safety
    ///
    /// As [`Cublas::start`].
    unsafe fn dot(&self, length: c_int, a: u64, b: u64, result: u64) -> std::result::Result<(), LibraryStatus> {
        let (cublas, handle) = (&self.functions, self.handle);
        // SAFETY: as of `start`.
        unsafe {
            cublas.set_pointer_mode(handle, POINTERS_TO_DEVICE)?;
            let started = cublas.dot(handle, length, pointer(a), 1, pointer(b), 1, pointer(result));
            // The other calls need the default mode. Setting it fails only for an invalid handle.
            let _ = cublas.set_pointer_mode(handle, POINTERS_TO_HOST);
            started
        }
    }
}

static ONE: f32 = 1.0;
static ZERO: f32 = 0.0;

impl Operand {
    /// The address and the leading dimension.
    fn parts(self) -> (Address, c_int) {
        (pointer(self.address), self.pitch)
    }
}

/// An address on the device as the pointer that cuBLAS takes it for.
fn pointer(address: u64) -> Address {
    ptr::without_provenance_mut(address as usize)
}

impl Drop for Cublas {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the handle was made once and is destroyed once, while its context is current.
            let _ = unsafe { self.functions.destroy(self.handle) };
        }
    }
}

/// 130100 is 13.1.0.
fn version_text(version: c_int) -> String {
    format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
}

/// The error of a call that failed while `doing` something.
fn failed(doing: &str) -> impl FnOnce(LibraryStatus) -> Error {
    let doing = doing.to_owned();
    move |LibraryStatus(status)| {
        let name = match status {
            1 => "CUBLAS_STATUS_NOT_INITIALIZED",
            3 => "CUBLAS_STATUS_ALLOC_FAILED",
            7 => "CUBLAS_STATUS_INVALID_VALUE",
            8 => "CUBLAS_STATUS_ARCH_MISMATCH",
            11 => "CUBLAS_STATUS_MAPPING_ERROR",
            13 => "CUBLAS_STATUS_EXECUTION_FAILED",
            14 => "CUBLAS_STATUS_INTERNAL_ERROR",
            15 => "CUBLAS_STATUS_NOT_SUPPORTED",
            16 => "CUBLAS_STATUS_LICENSE_ERROR",
            _ => "unknown cuBLAS status",
        };
        Error::Driver { doing, status: format!("{name} ({status})") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_statuses_have_words() {
        assert_eq!(version_text(130_100), "13.1.0");
        assert_eq!(version_text(120_803), "12.8.3");
        let error = failed("cublasSgemm")(LibraryStatus(3));
        assert_eq!(error.to_string(), "cublasSgemm failed on the GPU: CUBLAS_STATUS_ALLOC_FAILED (3)");
        let error = failed("cublasSgemm")(LibraryStatus(4242));
        assert!(error.to_string().ends_with("unknown cuBLAS status (4242)"), "{error}");
    }
}
