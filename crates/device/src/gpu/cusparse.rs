//! cuSPARSE, loaded at run time: the functions that [`crate::peers`] calls. `peers` owns the
//! library and calls it on the context's stream. The functions have not changed since CUDA 11.2.

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::ptr;

use cust::sys::CUstream;

use super::shared_library::{LibraryStatus, find, functions};
use crate::error::{Error, Result};
use crate::peers::SparseCall;

type Pointer = *mut c_void;
type Scalar = *const f32;

functions! {
    /// The functions, with their types from `cusparse.h`.
    struct Functions {
        status create = "cusparseCreate"(handle: *mut Pointer);
        status destroy = "cusparseDestroy"(handle: Pointer);
        status version = "cusparseGetVersion"(handle: Pointer, version: *mut c_int);
        status set_stream = "cusparseSetStream"(handle: Pointer, stream: CUstream);
        status create_csr = "cusparseCreateCsr"(
            matrix: *mut Pointer, rows: i64, columns: i64, entries: i64, starts: Pointer, indices: Pointer,
            values: Pointer, starts_type: c_int, indices_type: c_int, base: c_int, values_type: c_int,
        );
        status create_vector = "cusparseCreateDnVec"(
            vector: *mut Pointer, length: i64, values: Pointer, values_type: c_int,
        );
        status destroy_matrix = "cusparseDestroySpMat"(matrix: Pointer);
        status destroy_vector = "cusparseDestroyDnVec"(vector: Pointer);
        status scratch = "cusparseSpMV_bufferSize"(
            handle: Pointer, operation: c_int, alpha: Scalar, matrix: Pointer, x: Pointer, beta: Scalar, y: Pointer,
            compute_type: c_int, algorithm: c_int, bytes: *mut usize,
        );
        status multiply = "cusparseSpMV"(
            handle: Pointer, operation: c_int, alpha: Scalar, matrix: Pointer, x: Pointer, beta: Scalar, y: Pointer,
            compute_type: c_int, algorithm: c_int, buffer: Pointer,
        );
    }
}

/// `CUSPARSE_INDEX_32I`, `CUSPARSE_INDEX_BASE_ZERO`, `CUDA_R_32F`,
/// `CUSPARSE_OPERATION_NON_TRANSPOSE` and `CUSPARSE_SPMV_ALG_DEFAULT`.
const INDEX_32: c_int = 2;
const FROM_ZERO: c_int = 0;
const F32: c_int = 0;
const PLAIN: c_int = 0;
const DEFAULT: c_int = 0;

static ONE: f32 = 1.0;
static ZERO: f32 = 0.0;

/// A handle of cuSPARSE on a GPU's stream. Destroyed when dropped, while its context is current.
pub(super) struct Cusparse {
    functions: Functions,
    handle: Pointer,
    /// Such as `cuSPARSE 12.6.3`.
    pub name: String,
}

impl Cusparse {
    /// Loads cuSPARSE, from `named` if it is given, and makes a handle for the current context.
    /// `None` if cuSPARSE is not installed.
    ///
    /// # Errors
    ///
    /// [`Error::File`] for a library that cannot be used, [`Error::Driver`] when cuSPARSE does not
    /// start.
    pub fn load(stream: CUstream, named: Option<(&Path, &str)>) -> Result<Option<Self>> {
        // cuSPARSE needs the second library, which the loader does not look for in its folder.
        let Some((library, path)) = find(named, "cusparse", "nvJitLink")? else { return Ok(None) };
        // SAFETY: the types are those of cuSPARSE's own header.
        let functions = unsafe { Functions::of(&library) }
            .map_err(|name| Error::file(&path, format!("is not a supported cuSPARSE: it lacks the function {name}")))?;
        let mut cusparse = Self { functions, handle: ptr::null_mut(), name: String::new() };
        let Self { functions, handle, .. } = &mut cusparse;
        // SAFETY: a context is current, and the output outlives the call.
        unsafe { functions.create(handle) }.map_err(failed("starting cuSPARSE"))?;
        let mut version = 0;
        // SAFETY: the handle has just been made, the stream belongs to the same context, and the
        // output outlives the call.
        unsafe {
            functions.version(*handle, &mut version).map_err(failed("asking cuSPARSE for its version"))?;
            functions.set_stream(*handle, stream).map_err(failed("choosing cuSPARSE's stream"))?;
        }
        cusparse.name = format!("cuSPARSE {}.{}.{}", version / 1000, version / 100 % 10, version % 100);
        Ok(Some(cusparse))
    }

    /// Starts a product with temporary memory at this address, or says how many bytes it needs.
    ///
    /// # Safety
    ///
    /// The matrix and the vectors are in the memory of this GPU, whose context is current, and so
    /// is the temporary memory, which has as many bytes as this said.
    pub unsafe fn start(&self, call: &SparseCall, scratch: Option<u64>) -> Result<u64> {
        let (cusparse, handle) = (&self.functions, self.handle);
        let (one, zero) = (&raw const ONE, &raw const ZERO);
        // SAFETY: the caller's promise. The handle is valid until this is dropped, the descriptions
        // until the end of this function: cuSPARSE reads them and the scalars before it returns.
        unsafe {
            let described = Described::of(cusparse, call).map_err(failed("describing a matrix to cuSPARSE"))?;
            let Described { matrix, x, y, .. } = described;
            let mut bytes = 0;
            match scratch {
                None => cusparse
                    .scratch(handle, PLAIN, one, matrix, x, zero, y, F32, DEFAULT, &mut bytes)
                    .map_err(failed("cusparseSpMV_bufferSize"))?,
                Some(scratch) => cusparse
                    .multiply(handle, PLAIN, one, matrix, x, zero, y, F32, DEFAULT, pointer(scratch))
                    .map_err(failed("cusparseSpMV"))?,
            }
            Ok(bytes as u64)
        }
    }
}

impl Drop for Cusparse {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the handle was made once and is destroyed once, while its context is current.
            let _ = unsafe { self.functions.destroy(self.handle) };
        }
    }
}

/// cuSPARSE's descriptors of a call's operands, which are in the host's memory. Dropping destroys them.
struct Described<'a> {
    functions: &'a Functions,
    matrix: Pointer,
    x: Pointer,
    y: Pointer,
}

impl<'a> Described<'a> {
    /// # Safety
    ///
    /// The memory of the call is there.
    unsafe fn of(functions: &'a Functions, call: &SparseCall) -> std::result::Result<Self, LibraryStatus> {
        let SparseCall { rows, columns, entries, starts, indices, values, x, y } = *call;
        let (starts, indices, values) = (pointer(starts), pointer(indices), pointer(values));
        let mut described = Self { functions, matrix: ptr::null_mut(), x: ptr::null_mut(), y: ptr::null_mut() };
        let (rows, columns, entries) = (rows.into(), columns.into(), entries.into());
        // SAFETY: the outputs outlive the calls; the rest is the caller's promise.
        unsafe {
            functions.create_csr(
                &mut described.matrix,
                rows,
                columns,
                entries,
                starts,
                indices,
                values,
                INDEX_32,
                INDEX_32,
                FROM_ZERO,
                F32,
            )?;
            functions.create_vector(&mut described.x, columns, pointer(x), F32)?;
            functions.create_vector(&mut described.y, rows, pointer(y), F32)?;
        }
        Ok(described)
    }
}

impl Drop for Described<'_> {
    fn drop(&mut self) {
        let Self { functions, matrix, x, y } = *self;
        // SAFETY: what is not null was made once and is destroyed once. No call uses it any more.
        unsafe {
            if !matrix.is_null() {
                let _ = functions.destroy_matrix(matrix);
            }
            for vector in [x, y].into_iter().filter(|vector| !vector.is_null()) {
                let _ = functions.destroy_vector(vector);
            }
        }
    }
}

/// An address on the device as the pointer that cuSPARSE takes it for.
fn pointer(address: u64) -> Pointer {
    ptr::without_provenance_mut(address as usize)
}

/// The error of a call that failed while `doing` something.
fn failed(doing: &str) -> impl FnOnce(LibraryStatus) -> Error {
    let doing = doing.to_owned();
    move |LibraryStatus(status)| {
        let name = match status {
            1 => "CUSPARSE_STATUS_NOT_INITIALIZED",
            2 => "CUSPARSE_STATUS_ALLOC_FAILED",
            3 => "CUSPARSE_STATUS_INVALID_VALUE",
            4 => "CUSPARSE_STATUS_ARCH_MISMATCH",
            6 => "CUSPARSE_STATUS_EXECUTION_FAILED",
            7 => "CUSPARSE_STATUS_INTERNAL_ERROR",
            8 => "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
            10 => "CUSPARSE_STATUS_NOT_SUPPORTED",
            11 => "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
            _ => "unknown cuSPARSE status",
        };
        Error::Driver { doing, status: format!("{name} ({status})") }
    }
}
