//! Matrix instructions: `ldmatrix`, `stmatrix`, `movmatrix`, `mma`, `wmma` (PTX ISA, "Warp Level
//! Matrix Multiply-Accumulate Instructions").
//!
//! The warp holds a matrix together: each lane has a few of its elements, its *fragment*, in
//! registers.

use super::names::names;
use super::operand::{Address, Destination, Operand};
use super::operation::Rounding;
use super::types::Space;
use super::warpgroup::WarpgroupMultiply;

/// Operations on matrices.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields as in `Op`
pub enum MatrixOp {
    /// `ldmatrix`: for each destination (one, two or four of `b32`), a matrix of 8 x 8 elements of
    /// 16 bits. The space is shared or generic.
    Load { space: Space, transposed: bool, dsts: Vec<Destination>, address: Address },
    /// `stmatrix`. Typed as [`MatrixOp::Load`].
    Store { space: Space, transposed: bool, address: Address, srcs: Vec<Operand> },
    /// `movmatrix`: a matrix of 8 x 8 elements of 16 bits, transposed. Both are `b32`.
    Transpose { dst: Destination, src: Operand },
    /// `mma` and `wmma.mma`. Shape, types and layouts are one of the variants that PTX lists, and
    /// each operand has as many registers as its fragment needs.
    Multiply(Box<MatrixMultiply>),
    /// `wmma.load`: as many registers as the fragment of `tile` needs.
    LoadFragment { tile: Box<MatrixTile>, dsts: Vec<Destination> },
    /// `wmma.store`. Typed as [`MatrixOp::LoadFragment`].
    StoreFragment { tile: Box<MatrixTile>, srcs: Vec<Operand> },
    /// `wgmma.mma_async`: `b`, and `a` unless it is in registers, is a `b64` descriptor of shared
    /// memory.
    WarpgroupMultiply(Box<WarpgroupMultiply>),
    /// `wgmma.fence`: orders writes to registers before the `wgmma.mma_async` that use them.
    WarpgroupFence,
    /// `wgmma.commit_group`: the products since the last commit become a group.
    CommitProducts,
    /// `wgmma.wait_group`: waits until at most `groups_left` groups are pending.
    WaitForProducts { groups_left: u32 },
}

names! {
    /// The type of a matrix's elements.
    #[allow(missing_docs)] // each is PTX's own name
    pub enum MatrixType {
        B1 = "b1",
        U4 = "u4",
        S4 = "s4",
        U8 = "u8",
        S8 = "s8",
        S32 = "s32",
        E4m3 = "e4m3",
        E5m2 = "e5m2",
        F16 = "f16",
        Bf16 = "bf16",
        Tf32 = "tf32",
        F32 = "f32",
        F64 = "f64",
    }
}

impl MatrixType {
    /// For `mma.sp`: of this many neighbours in a row of A, half are stored and the rest are zeros.
    pub fn sparse_chunk(self) -> u32 {
        match self {
            MatrixType::Tf32 => 2,
            MatrixType::U4 | MatrixType::S4 => 8,
            _ => 4,
        }
    }

    /// Bits that an element takes in a fragment and in memory.
    pub fn bits(self) -> u32 {
        match self {
            MatrixType::B1 => 1,
            MatrixType::U4 | MatrixType::S4 => 4,
            MatrixType::U8 | MatrixType::S8 | MatrixType::E4m3 | MatrixType::E5m2 => 8,
            MatrixType::F16 | MatrixType::Bf16 => 16,
            MatrixType::S32 | MatrixType::Tf32 | MatrixType::F32 => 32,
            MatrixType::F64 => 64,
        }
    }
}

/// The shape of a product: A is `m` x `k`, B is `k` x `n`, C and D are `m` x `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct MatrixShape {
    pub m: u32,
    pub n: u32,
    pub k: u32,
}

impl MatrixShape {
    /// For `mma.sp`: how many of each four lanes supply metadata. Four bits describe a
    /// [`MatrixType::sparse_chunk`], and one lane describes four chunks in two rows.
    pub fn metadata_lanes(self, ty: MatrixType) -> u32 {
        self.k / ty.sparse_chunk() / 4
    }
}

names! {
    /// Whether a matrix's neighbouring elements are in a row or in a column.
    #[allow(missing_docs)]
    pub enum MatrixLayout {
        Row = "row",
        Column = "col",
    }
}

/// Which matrix of `D = A * B + C`; C and D have the same fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MatrixRole {
    A,
    B,
    Accumulator,
}

names! {
    /// How one-bit elements are multiplied; the ones in the result are counted.
    #[allow(missing_docs)]
    pub enum BitProduct {
        Xor = "xor",
        And = "and",
    }
}

/// Where in its rows the stored elements of a sparse A are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sparsity {
    /// The positions, a few bits for each stored element.
    pub metadata: Operand,
    /// Which of each four lanes supply the metadata.
    pub selector: u32,
}

/// `mma` and `wmma.mma`: `D = A * B + C`. Each fragment has its registers in PTX's order.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct MatrixMultiply {
    /// Whether it is `wmma.mma`, whose fragments are laid out differently.
    pub is_wmma: bool,
    pub shape: MatrixShape,
    pub a_layout: MatrixLayout,
    pub b_layout: MatrixLayout,
    pub d_ty: MatrixType,
    pub a_ty: MatrixType,
    pub b_ty: MatrixType,
    pub c_ty: MatrixType,
    /// `.satfinite`: integer sums saturate to the range of s32.
    pub saturate: bool,
    /// The rounding of f64 sums.
    pub rounding: Rounding,
    /// For one-bit elements.
    pub bit_product: Option<BitProduct>,
    /// For `mma.sp`.
    pub sparsity: Option<Sparsity>,
    pub d: Vec<Destination>,
    pub a: Vec<Operand>,
    pub b: Vec<Operand>,
    pub c: Vec<Operand>,
}

/// What `wmma.load` and `wmma.store` move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatrixTile {
    /// Which matrix.
    pub role: MatrixRole,
    /// The shape of the product that it is for.
    pub shape: MatrixShape,
    /// Its layout in memory.
    pub layout: MatrixLayout,
    /// The type of its elements.
    pub ty: MatrixType,
    /// The state space of the address.
    pub space: Space,
    /// The address of its first element.
    pub address: Address,
    /// Elements from one row (or column) to the next; `None`: rows are contiguous.
    pub stride: Option<Operand>,
}
