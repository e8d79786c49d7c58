//! `wgmma`: matrix products by a warpgroup, four warps together (PTX ISA, "Asynchronous Warpgroup
//! Level Matrix Multiply-Accumulate Instructions").
//!
//! D has 64 rows, 16 in each warp. A is either in registers, distributed in the same way, or in
//! shared memory; B is always in shared memory. A matrix in shared memory is described by a *matrix
//! descriptor*: 64 bits with its address, two strides and its swizzling.

use super::matrix::{BitProduct, MatrixShape, MatrixType, Sparsity};
use super::operand::{Destination, Operand};

/// Where a factor of a product is.
#[derive(Clone, Debug, PartialEq)]
pub enum WarpgroupFactor {
    /// In registers: the fragment of the warp's 16 rows, in PTX's order.
    Registers(Vec<Operand>),
    /// In shared memory.
    Shared {
        /// The matrix descriptor.
        descriptor: Operand,
        /// `imm-trans`: neighbours in memory are neighbours in a column of A or a row of B
        /// ("MN-major"), not along k.
        transposed: bool,
    },
}

/// `wgmma.mma_async`: `D = A * B + D`, or `D = A * B`.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // as in `MatrixMultiply`
pub struct WarpgroupMultiply {
    /// `m` is 64.
    pub shape: MatrixShape,
    pub d_ty: MatrixType,
    pub a_ty: MatrixType,
    pub b_ty: MatrixType,
    /// `.satfinite`: integer sums saturate to the range of s32.
    pub saturate: bool,
    /// For one-bit elements.
    pub bit_product: Option<BitProduct>,
    /// Both read and written; none of them is `_`.
    pub d: Vec<Destination>,
    pub a: WarpgroupFactor,
    pub b: WarpgroupFactor,
    /// `scale-d`: a predicate, whether D is added.
    pub adds: Operand,
    /// `imm-scale-a` is -1.
    pub negate_a: bool,
    /// `imm-scale-b` is -1.
    pub negate_b: bool,
    /// For `wgmma.mma_async.sp`.
    pub sparsity: Option<Sparsity>,
}
