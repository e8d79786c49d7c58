//! A fake cuBLAS, which computes each function as NVIDIA documents it, element by element, on the
//! CPU: it copies from and to the device (`device_memory.rs`). Matrices are column-major.
//! `FAKE_CUBLAS_FAILS=FUNCTION:STATUS` makes a function fail. The tests of `tests/program/peers.rs`
//! compile it.
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

/// Whether scalars and results are on the device.
static POINTER_MODE: AtomicI32 = AtomicI32::new(0);

/// Declares functions of cuBLAS, with what each does unless it is to fail.
macro_rules! cublas {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
                $(let _ = &$argument;)*
                let wanted = std::env::var("FAKE_CUBLAS_FAILS").unwrap_or_default();
                match wanted.split_once(':') {
                    Some((stringify!($name), status)) => status.parse().unwrap(),
                    // SAFETY: the caller keeps cuBLAS's contract.
                    _ => {
                        #[allow(unused_unsafe)] // not every function has a pointer
                        unsafe { $body }
                        0
                    }
                }
            }
        )*
    };
}

/// A column-major matrix, or its transpose, copied from the device.
struct Matrix {
    elements: Vec<f32>,
    pitch: c_int,
    operation: c_int,
}

impl Matrix {
    /// With so many rows and columns after the operation.
    unsafe fn of(device: *const f32, pitch: c_int, operation: c_int, rows: c_int, columns: c_int) -> Self {
        let (rows, columns) = if operation == 0 { (rows, columns) } else { (columns, rows) };
        assert!(rows <= pitch, "a row is below the leading dimension");
        let count = if rows * columns == 0 { 0 } else { pitch * (columns - 1) + rows };
        Self { elements: unsafe { fetch(device, count as usize) }, pitch, operation }
    }

    fn at(&self, row: c_int, column: c_int) -> f32 {
        let (row, column) = if self.operation == 0 { (row, column) } else { (column, row) };
        self.elements[(row + column * self.pitch) as usize]
    }
}

/// Writes a column of a matrix on the device, from a row on.
unsafe fn put(matrix: *mut f32, pitch: c_int, row: c_int, column: c_int, values: &[f32]) {
    unsafe { store(matrix.add((row + column * pitch) as usize), values) };
}

fn sum(terms: c_int, mut term: impl FnMut(c_int) -> f32) -> f32 {
    (0..terms).map(|i| f64::from(term(i))).sum::<f64>() as f32
}

cublas! {
    cublasCreate_v2(handle: *mut *mut c_void) { *handle = 8 as *mut c_void; }
    cublasDestroy_v2(handle: *mut c_void) {}
    cublasGetVersion_v2(handle: *mut c_void, version: *mut c_int) { *version = 130_100; }
    cublasSetStream_v2(handle: *mut c_void, stream: *mut c_void) { assert!(!stream.is_null()); }
    cublasSetPointerMode_v2(handle: *mut c_void, mode: c_int) { POINTER_MODE.store(mode, Ordering::Relaxed); }
    cublasSetMathMode(handle: *mut c_void, mode: c_int) { assert_eq!(mode, 0, "no TF32"); }
    cublasSgeam(
        handle: *mut c_void, of_a: c_int, of_b: c_int, m: c_int, n: c_int, alpha: *const f32, a: *mut f32, lda: c_int,
        beta: *const f32, b: *mut f32, ldb: c_int, c: *mut f32, ldc: c_int
    ) {
        assert_eq!((*beta, b, ldb, of_b), (0.0, c, ldc, 0), "what is not read may be the output");
        assert!(ldc >= m);
        let a = Matrix::of(a, lda, of_a, m, n);
        for column in 0..n {
            let values: Vec<f32> = (0..m).map(|row| *alpha * a.at(row, column)).collect();
            put(c, ldc, 0, column, &values);
        }
    }
    cublasSgemm_v2(
        handle: *mut c_void, of_a: c_int, of_b: c_int, m: c_int, n: c_int, k: c_int, alpha: *const f32, a: *mut f32,
        lda: c_int, b: *mut f32, ldb: c_int, beta: *const f32, c: *mut f32, ldc: c_int
    ) {
        assert!(*beta == 0.0 && ldc >= m);
        let (a, b) = (Matrix::of(a, lda, of_a, m, k), Matrix::of(b, ldb, of_b, k, n));
        for column in 0..n {
            let element = |row| *alpha * sum(k, |i| a.at(row, i) * b.at(i, column));
            put(c, ldc, 0, column, &(0..m).map(element).collect::<Vec<f32>>());
        }
    }
    cublasSsyrk_v2(
        handle: *mut c_void, fill: c_int, operation: c_int, n: c_int, k: c_int, alpha: *const f32, a: *mut f32, lda: c_int,
        beta: *const f32, c: *mut f32, ldc: c_int
    ) {
        assert!(*beta == 0.0 && ldc >= n);
        let a = Matrix::of(a, lda, operation, n, k);
        for column in 0..n {
            // 0: the lower half; 1: the upper.
            let rows = if fill == 0 { column..n } else { 0..column + 1 };
            let element = |row| *alpha * sum(k, |i| a.at(row, i) * a.at(column, i));
            put(c, ldc, rows.start, column, &rows.map(element).collect::<Vec<f32>>());
        }
    }
    cublasSdot_v2(
        handle: *mut c_void, n: c_int, x: *mut f32, incx: c_int, y: *mut f32, incy: c_int, result: *mut f32
    ) {
        assert_eq!((POINTER_MODE.load(Ordering::Relaxed), incx, incy), (1, 1, 1), "the result is on the device");
        let (x, y) = (fetch(x, n as usize), fetch(y, n as usize));
        store(result, &[sum(n, |i| x[i as usize] * y[i as usize])]);
    }
    cublasSgemv_v2(
        handle: *mut c_void, operation: c_int, m: c_int, n: c_int, alpha: *const f32, a: *mut f32, lda: c_int, x: *mut f32,
        incx: c_int, beta: *const f32, y: *mut f32, incy: c_int
    ) {
        assert_eq!((POINTER_MODE.load(Ordering::Relaxed), *beta, incx, incy), (0, 0.0, 1, 1));
        assert!(lda >= m);
        let (rows, columns) = if operation == 0 { (m, n) } else { (n, m) };
        let (a, x) = (Matrix::of(a, lda, operation, rows, columns), fetch(x, columns as usize));
        let element = |row| *alpha * sum(columns, |i| a.at(row, i) * x[i as usize]);
        store(y, &(0..rows).map(element).collect::<Vec<f32>>());
    }
}
