//! Libraries that programs time beside their kernels on a GPU: cuBLAS, cuSPARSE, and a library of
//! reductions such as the one compiled from `docs/compare/cub.cu`.
//!
//! [`Peers`] takes a program's own buffers and matrices, which are row-major, and checks their
//! sizes; the backend translates them for the libraries. Calls are asynchronous and in order, like
//! launches.

use std::rc::Rc;

use bytemuck::Pod;

use super::calls::{BlasCall, LibraryCall, Loaded, Number, Operand, PeerLibraries, Reduction, SparseCall};
use crate::error::{Error, Result};
use crate::on_device::{Owned, Owner};
use crate::{Backend, Buffer, Matrix, OnDevice, Tail};

/// The libraries that are loaded.
pub struct Peers {
    backend: Rc<dyn Backend>,
    loaded: Loaded,
}

impl Peers {
    pub(crate) fn load(backend: &Rc<dyn Backend>, wanted: PeerLibraries<'_>) -> Result<Self> {
        Ok(Self { backend: Rc::clone(backend), loaded: backend.load_peers(wanted)? })
    }

    /// cuBLAS with its version, if it is loaded.
    pub fn cublas(&self) -> Option<&str> {
        self.loaded.cublas.as_deref()
    }

    /// cuSPARSE with its version, if it is loaded.
    pub fn cusparse(&self) -> Option<&str> {
        self.loaded.cusparse.as_deref()
    }

    /// CUB with its version, if it is loaded.
    pub fn cub(&self) -> Option<&str> {
        self.loaded.cub.as_deref()
    }

    /// The compiler of the loaded library's own kernels, with its version.
    pub fn nvcc(&self) -> Option<&str> {
        self.loaded.nvcc.as_deref()
    }

    /// `cublasSgeam`: `to` becomes the transpose of `from`.
    ///
    /// # Errors
    ///
    /// Those of the library; [`Error::Request`] for sizes that exceed its 32 bits.
    ///
    /// # Panics
    ///
    /// If the matrices' shapes do not match: a bug of the caller. The same holds for the methods
    /// below.
    pub fn transpose(&self, from: &Matrix<f32>, to: &mut Matrix<f32>) -> Result<()> {
        assert_eq!([from.rows(), from.columns()], [to.columns(), to.rows()]);
        self.require(&[from, to])?;
        let (rows, columns) = (int(from.rows())?, int(from.columns())?);
        self.blas(&BlasCall::Transpose { rows, columns, from: operand(from)?, to: operand(to)? })
    }

    /// `cublasSgemm` in full precision: C becomes A B.
    ///
    /// # Errors
    ///
    /// As [`Peers::transpose`].
    pub fn multiply(&self, a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) -> Result<()> {
        assert_eq!([a.columns(), c.rows(), c.columns()], [b.rows(), a.rows(), b.columns()]);
        self.require(&[a, b, c])?;
        let (m, n, k) = (int(a.rows())?, int(b.columns())?, int(a.columns())?);
        self.blas(&BlasCall::Multiply { m, n, k, a: operand(a)?, b: operand(b)?, c: operand(c)? })
    }

    /// C becomes A times its transpose: by `cublasSgemm`, or the half on and below the diagonal by
    /// `cublasSsyrk`.
    ///
    /// # Errors
    ///
    /// As [`Peers::transpose`].
    pub fn gram(&self, a: &Matrix<f32>, c: &mut Matrix<f32>, half: bool) -> Result<()> {
        assert_eq!([a.rows(), a.rows()], [c.rows(), c.columns()]);
        self.require(&[a, c])?;
        let (rows, columns) = (int(a.rows())?, int(a.columns())?);
        self.blas(&BlasCall::Gram { rows, columns, a: operand(a)?, c: operand(c)?, half })
    }

    /// `cublasSdot`: the first element of `result` becomes the dot product of the first `length`
    /// elements.
    ///
    /// # Errors
    ///
    /// As [`Peers::transpose`].
    pub fn dot(&self, a: Tail<'_, f32>, b: Tail<'_, f32>, length: usize, result: &mut Buffer<f32>) -> Result<()> {
        assert!(a.len() >= length && b.len() >= length && !result.is_empty());
        self.require(&[&a, &b, result])?;
        let (a, b, result) = (a.address(), b.address(), result.address());
        self.blas(&BlasCall::Dot { length: int(length)?, a, b, result })
    }

    /// `cublasSgemv`: the first elements of `sums` become the products of the rows with `ones`.
    ///
    /// # Errors
    ///
    /// As [`Peers::transpose`].
    pub fn row_products(&self, matrix: &Matrix<f32>, ones: &Buffer<f32>, sums: &mut Buffer<f32>) -> Result<()> {
        assert!(ones.len() >= matrix.columns() && sums.len() >= matrix.rows());
        self.require(&[matrix, ones, sums])?;
        let (rows, columns) = (int(matrix.rows())?, int(matrix.columns())?);
        let (ones, sums) = (ones.address(), sums.address());
        self.blas(&BlasCall::RowSums { rows, columns, matrix: operand(matrix)?, ones, sums })
    }

    /// The temporary memory that [`Peers::multiply_sparse`] needs.
    ///
    /// # Errors
    ///
    /// Those of the library, and [`Error::OutOfMemory`].
    pub fn scratch_for_sparse(&self, matrix: &SparseMatrix<'_>, x: &Buffer<f32>, y: &Buffer<f32>) -> Result<Scratch> {
        let bytes = self.backend.start_sparse(&self.sparse_call(matrix, x, y)?, None)?;
        Ok(Scratch(Buffer::new(&self.backend, (bytes as usize).max(1))?))
    }

    /// `cusparseSpMV`: the first elements of y become the matrix times x.
    ///
    /// # Errors
    ///
    /// Those of the library; [`Error::Request`] for sizes that exceed 32 bits.
    pub fn multiply_sparse(
        &self,
        matrix: &SparseMatrix<'_>,
        x: &Buffer<f32>,
        y: &mut Buffer<f32>,
        scratch: &Scratch,
    ) -> Result<()> {
        self.require(&[&scratch.0])?;
        let call = self.sparse_call(matrix, x, y)?;
        self.backend.start_sparse(&call, Some(scratch.0.address())).map(drop)
    }

    fn sparse_call(&self, matrix: &SparseMatrix<'_>, x: &Buffer<f32>, y: &Buffer<f32>) -> Result<SparseCall> {
        let SparseMatrix { rows, columns, starts, indices, values } = *matrix;
        assert!(starts.len() > rows && indices.len() == values.len() && x.len() >= columns && y.len() >= rows);
        self.require(&[starts, indices, values, x, y])?;
        Ok(SparseCall {
            rows: int(rows)?,
            columns: int(columns)?,
            entries: int(values.len())?,
            starts: starts.address(),
            indices: indices.address(),
            values: values.address(),
            x: x.address(),
            y: y.address(),
        })
    }

    /// The driver's copy of a matrix, row by row.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn copy_rows(&self, from: &Matrix<f32>, to: &mut Matrix<f32>) -> Result<()> {
        assert_eq!([from.rows(), from.columns()], [to.rows(), to.columns()]);
        self.require(&[from, to])?;
        let bytes = |elements: usize| (elements * size_of::<f32>()) as u64;
        let pitches = [bytes(from.pitch()), bytes(to.pitch())];
        self.backend.copy_rows(from.address(), to.address(), pitches, bytes(from.columns()), from.rows() as u64)
    }

    /// The library's copy of a vector.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub fn copy(&self, from: &Buffer<f32>, to: &mut Buffer<f32>) -> Result<()> {
        assert!(from.len() <= to.len());
        self.require(&[from, to])?;
        let call = LibraryCall::Copy { input: from.address(), output: to.address(), length: from.len() as u64 };
        self.backend.start_library(&call, None).map(drop)
    }

    /// The temporary memory that [`Peers::reduce`] needs.
    ///
    /// # Errors
    ///
    /// Those of the library, and [`Error::OutOfMemory`].
    pub fn scratch_for_reduce(&self, operation: Reduction, number: Number, length: usize) -> Result<Scratch> {
        self.scratch(&LibraryCall::Reduce { operation, number, input: 0, output: 0, length: length as u64 })
    }

    /// `cub::DeviceReduce`: the first element of `output` becomes the reduction of the first
    /// `length` values.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub fn reduce<T: Pod>(
        &self,
        (operation, number): (Reduction, Number),
        (input, length): (&Buffer<T>, usize),
        output: &mut Buffer<T>,
        scratch: &Scratch,
    ) -> Result<()> {
        assert!(size_of::<T>() == 4 && input.len() >= length && !output.is_empty());
        self.require(&[input, output, &scratch.0])?;
        let (input, output, length) = (input.address(), output.address(), length as u64);
        self.library(&LibraryCall::Reduce { operation, number, input, output, length }, scratch)
    }

    /// The temporary memory that [`Peers::sum_rows`] needs for this matrix.
    ///
    /// # Errors
    ///
    /// Those of the library, and [`Error::OutOfMemory`].
    pub fn scratch_for_row_sums(&self, matrix: &Matrix<f32>) -> Result<Scratch> {
        self.scratch(&sums_of_rows(matrix, 0))
    }

    /// `cub::DeviceSegmentedReduce`: the first elements of `sums` become the sums of the rows.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub fn sum_rows(&self, matrix: &Matrix<f32>, sums: &mut Buffer<f32>, scratch: &Scratch) -> Result<()> {
        assert!(sums.len() >= matrix.rows());
        self.require(&[matrix, sums, &scratch.0])?;
        self.library(&sums_of_rows(matrix, sums.address()), scratch)
    }

    /// The temporary memory that [`Peers::prefix_sums`] needs.
    ///
    /// # Errors
    ///
    /// Those of the library, and [`Error::OutOfMemory`].
    pub fn scratch_for_sums(&self, length: usize) -> Result<Scratch> {
        self.scratch(&LibraryCall::PrefixSums { input: 0, output: 0, length: length as u64 })
    }

    /// `cub::DeviceScan`: each of the first `length` sums becomes that of the values up to its own,
    /// modulo 2^32.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub fn prefix_sums(
        &self,
        values: &Buffer<u32>,
        sums: &mut Buffer<u32>,
        length: usize,
        scratch: &Scratch,
    ) -> Result<()> {
        assert!(values.len() >= length && sums.len() >= length);
        self.require(&[values, sums, &scratch.0])?;
        let (input, output, length) = (values.address(), sums.address(), length as u64);
        self.library(&LibraryCall::PrefixSums { input, output, length }, scratch)
    }

    /// The temporary memory that [`Peers::compact`] needs.
    ///
    /// # Errors
    ///
    /// Those of the library, and [`Error::OutOfMemory`].
    pub fn scratch_for_compaction(&self, length: usize) -> Result<Scratch> {
        self.scratch(&LibraryCall::Compact { input: 0, output: 0, count: 0, length: length as u64 })
    }

    /// `cub::DeviceSelect`: the first elements of `kept` become those of the first `length` values
    /// that are not 0, and the first of `count` how many there are.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub fn compact(
        &self,
        values: &Buffer<u32>,
        kept: &mut Buffer<u32>,
        count: &mut Buffer<u32>,
        length: usize,
        scratch: &Scratch,
    ) -> Result<()> {
        assert!(values.len() >= length && kept.len() >= length && !count.is_empty());
        self.require(&[values, kept, count, &scratch.0])?;
        let (input, output, count, length) = (values.address(), kept.address(), count.address(), length as u64);
        self.library(&LibraryCall::Compact { input, output, count, length }, scratch)
    }

    /// Fails unless the memory is that of the libraries' device.
    fn require(&self, memory: &[&dyn Owned]) -> Result<()> {
        let owners: Vec<_> = memory.iter().map(|memory| memory.owner()).collect();
        Owner::of(&self.backend).require("a library", &owners)
    }

    fn blas(&self, call: &BlasCall) -> Result<()> {
        self.backend.start_blas(call)
    }

    fn library(&self, call: &LibraryCall, scratch: &Scratch) -> Result<()> {
        self.backend.start_library(call, Some((scratch.0.address(), scratch.0.bytes()))).map(drop)
    }

    /// Asks the library how much temporary memory a call needs.
    fn scratch(&self, call: &LibraryCall) -> Result<Scratch> {
        let bytes = self.backend.start_library(call, None)?;
        // A null pointer would be another question for the size.
        Ok(Scratch(Buffer::new(&self.backend, (bytes as usize).max(1))?))
    }
}

/// A sparse matrix in CSR: where each row begins and the last one ends, and the column and the value
/// of each entry.
#[derive(Clone, Copy)]
pub struct SparseMatrix<'a> {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Where each row begins, and where the last one ends.
    pub starts: &'a Buffer<u32>,
    /// The column of each entry.
    pub indices: &'a Buffer<u32>,
    /// Its value.
    pub values: &'a Buffer<f32>,
}

/// Memory on the device for a library's intermediate results.
pub struct Scratch(Buffer<u8>);

fn sums_of_rows(matrix: &Matrix<f32>, output: u64) -> LibraryCall {
    let (rows, columns, pitch) = (matrix.rows() as u64, matrix.columns() as u64, matrix.pitch() as u64);
    LibraryCall::RowSums { input: matrix.address(), output, rows, columns, pitch }
}

fn operand(matrix: &Matrix<f32>) -> Result<Operand> {
    // A matrix without columns has no pitch, but cuBLAS requires at least 1.
    Ok(Operand { address: matrix.address(), pitch: int(matrix.pitch().max(1))? })
}

/// A size as cuBLAS takes it, and cuSPARSE's indices.
fn int(size: usize) -> Result<i32> {
    i32::try_from(size).map_err(|_| {
        let problem = format!("{size} is more than the {} that the library counts to; use smaller sizes", i32::MAX);
        Error::request("--peer", problem)
    })
}
