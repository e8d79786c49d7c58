//! A fake cuSPARSE, which computes a product in CSR on the CPU, from the device's memory
//! (`device_memory.rs`). `FAKE_CUSPARSE_FAILS=FUNCTION:STATUS` makes a function fail. The tests of
//! `tests/program/peers.rs` compile it.
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

use std::ffi::{c_int, c_void};

/// Declares functions of cuSPARSE, with what each does unless it is to fail.
macro_rules! cusparse {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
                $(let _ = &$argument;)*
                let wanted = std::env::var("FAKE_CUSPARSE_FAILS").unwrap_or_default();
                match wanted.split_once(':') {
                    Some((stringify!($name), status)) => status.parse().unwrap(),
                    // SAFETY: the caller keeps cuSPARSE's contract.
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

struct Matrix {
    rows: i64,
    columns: i64,
    entries: i64,
    starts: *const u32,
    indices: *const u32,
    values: *const f32,
}

struct Vector {
    length: i64,
    values: *mut f32,
}

/// The required size of the temporary memory.
const ROOM: usize = 123;

cusparse! {
    cusparseCreate(handle: *mut *mut c_void) { *handle = 8 as *mut c_void; }
    cusparseDestroy(handle: *mut c_void) {}
    cusparseGetVersion(handle: *mut c_void, version: *mut c_int) { *version = 12_603; }
    cusparseSetStream(handle: *mut c_void, stream: *mut c_void) { assert!(!stream.is_null()); }
    cusparseCreateCsr(
        matrix: *mut *mut Matrix, rows: i64, columns: i64, entries: i64, starts: *const u32, indices: *const u32,
        values: *const f32, starts_type: c_int, indices_type: c_int, base: c_int, values_type: c_int
    ) {
        assert_eq!((starts_type, indices_type, base, values_type), (2, 2, 0, 0));
        *matrix = Box::into_raw(Box::new(Matrix { rows, columns, entries, starts, indices, values }));
    }
    cusparseCreateDnVec(vector: *mut *mut Vector, length: i64, values: *mut f32, values_type: c_int) {
        assert_eq!(values_type, 0);
        *vector = Box::into_raw(Box::new(Vector { length, values }));
    }
    cusparseDestroySpMat(matrix: *mut Matrix) { drop(Box::from_raw(matrix)); }
    cusparseDestroyDnVec(vector: *mut Vector) { drop(Box::from_raw(vector)); }
    cusparseSpMV_bufferSize(
        handle: *mut c_void, operation: c_int, alpha: *const f32, matrix: *const Matrix, x: *const Vector,
        beta: *const f32, y: *const Vector, compute_type: c_int, algorithm: c_int, bytes: *mut usize
    ) { *bytes = ROOM; }
    cusparseSpMV(
        handle: *mut c_void, operation: c_int, alpha: *const f32, matrix: *const Matrix, x: *const Vector,
        beta: *const f32, y: *const Vector, compute_type: c_int, algorithm: c_int, buffer: *mut c_void
    ) {
        assert_eq!((operation, *alpha, *beta, compute_type, algorithm), (0, 1.0, 0.0, 0, 0));
        assert!(!buffer.is_null());
        let (matrix, x, y) = (&*matrix, &*x, &*y);
        assert_eq!((matrix.columns, matrix.rows), (x.length, y.length));
        let starts = fetch(matrix.starts, matrix.rows as usize + 1);
        let (indices, values) =
            (fetch(matrix.indices, matrix.entries as usize), fetch(matrix.values, matrix.entries as usize));
        let x = fetch(x.values, x.length as usize);
        let term = |i: usize| f64::from(values[i]) * f64::from(x[indices[i] as usize]);
        let of_row = |row: &[u32]| (row[0] as usize..row[1] as usize).map(term).sum::<f64>() as f32;
        store(y.values, &starts.windows(2).map(of_row).collect::<Vec<f32>>());
    }
}

