//! Calls of libraries as plain data: [`super::Peers`] makes them of buffers and matrices, a backend
//! carries them out.

use std::path::Path;

/// A call of cuBLAS. All matrices are row-major.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlasCall {
    /// `to` becomes the transpose of `from`, which has `rows` x `columns` elements.
    Transpose { rows: i32, columns: i32, from: Operand, to: Operand },
    /// C becomes A B, where A has m rows and k columns, and B has n columns.
    Multiply { m: i32, n: i32, k: i32, a: Operand, b: Operand, c: Operand },
    /// C becomes A times its transpose: all of it by a product, or the half on and below the
    /// diagonal.
    Gram { rows: i32, columns: i32, a: Operand, c: Operand, half: bool },
    /// `result` becomes the dot product.
    Dot { length: i32, a: u64, b: u64, result: u64 },
    /// `sums` becomes the matrix times `ones`.
    RowSums { rows: i32, columns: i32, matrix: Operand, ones: u64, sums: u64 },
}

/// A matrix of f32 on the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub address: u64,
    /// From row to row, in elements.
    pub pitch: i32,
}

/// A call of cuSPARSE: y becomes the matrix, which is in CSR, times x.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseCall {
    pub rows: i32,
    pub columns: i32,
    pub entries: i32,
    pub starts: u64,
    pub indices: u64,
    pub values: u64,
    pub x: u64,
    pub y: u64,
}

/// A call of the library of [`PeerLibraries::library`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum LibraryCall {
    /// `output` becomes the reduction of `length` values.
    Reduce { operation: Reduction, number: Number, input: u64, output: u64, length: u64 },
    /// `output` becomes the sum of each row.
    RowSums { input: u64, output: u64, rows: u64, columns: u64, pitch: u64 },
    /// Each of the `length` sums becomes that of the values of 32 bits up to its own.
    PrefixSums { input: u64, output: u64, length: u64 },
    /// `output` becomes the values of 32 bits that are not 0, and `count` how many there are.
    Compact { input: u64, output: u64, count: u64, length: u64 },
    /// Copies `length` floats.
    Copy { input: u64, output: u64, length: u64 },
}

/// An operation of the library's reduction, with the library's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum; of integers, modulo 2^32.
    Sum = 0,
    /// The product; of integers, modulo 2^32.
    Product = 1,
    /// The least.
    Min = 2,
    /// The greatest.
    Max = 3,
}

/// An element type of the library's reduction, with the library's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// `f32`.
    F32 = 0,
    /// `i32`.
    I32 = 1,
}

/// Which libraries to load.
#[derive(Clone, Copy, Debug)]
pub struct PeerLibraries<'a> {
    /// cuBLAS, if it is installed.
    pub cublas: bool,
    /// Its path, if it is not to be searched for, and what has named the path, for an error. An
    /// empty path means: do not use cuBLAS.
    pub cublas_at: Option<(&'a Path, &'static str)>,
    /// cuSPARSE, likewise.
    pub cusparse: bool,
    /// Its path, likewise.
    pub cusparse_at: Option<(&'a Path, &'static str)>,
    /// A library of reductions and copies with a given interface, such as one compiled from
    /// Coalesce's `docs/compare/cub.cu`.
    pub library: Option<&'a Path>,
}

/// What was loaded: each library with its version, such as `cuBLAS 13.1.0`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loaded {
    pub cublas: Option<String>,
    pub cusparse: Option<String>,
    pub cub: Option<String>,
    pub nvcc: Option<String>,
}
