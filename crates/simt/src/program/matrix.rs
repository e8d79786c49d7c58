//! The decoded form of instructions on matrices.

use ptx::{BitProduct, MatrixType, Rounding};

use super::access::AddressOperand;
use crate::program::fragment::Fragment;

/// Instructions that the lanes of a warp execute together on a matrix.
#[derive(Clone, Debug)]
pub(crate) enum Matrix {
    /// `ldmatrix`: a row of words for each matrix of 8 x 8.
    Load { reach: AddressOperand, transposed: bool, rows: Vec<u32> },
    /// `stmatrix`.
    Store { reach: AddressOperand, transposed: bool, rows: Vec<u32> },
    /// `movmatrix`.
    Transpose { d: u32, source: u32 },
    /// `wmma.load`.
    LoadFragment(Tile),
    /// `wmma.store`.
    StoreFragment(Tile),
    /// `mma` and `wmma.mma`.
    Multiply(Product),
    /// `wgmma.mma_async`.
    MultiplyByWarpgroup(WarpgroupProduct),
    /// `wgmma.fence`: products are complete at once.
    Await,
    /// `wgmma.commit_group`.
    CommitProducts,
    /// `wgmma.wait_group`.
    WaitForProducts { groups_left: u32 },
}

/// A matrix in memory, and its fragment in registers.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    pub reach: AddressOperand,
    pub fragment: Fragment,
    /// Whether the elements of a row are contiguous.
    pub in_rows: bool,
    /// A row with the distance from one row (or column) of the matrix to the next, in elements.
    pub stride: u32,
}

/// `D = A * B + C`.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    /// The rows of D, of all products together; the columns of D; the elements in each sum.
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// Whether these are four products, each of 8 rows of A with 8 columns of B.
    pub quads: bool,
    pub d: Fragment,
    pub a: Fragment,
    pub b: Fragment,
    pub c: Fragment,
    pub sparse: Option<Sparse>,
    pub saturate: bool,
    pub rounding: Rounding,
    pub bit_product: Option<BitProduct>,
}

/// `D = A * B + D` of a warpgroup: one warp's part of it.
#[derive(Clone, Debug)]
pub(crate) struct WarpgroupProduct {
    pub n: usize,
    pub k: usize,
    pub b_ty: MatrixType,
    /// The fragment of the warp's 16 rows.
    pub d: Fragment,
    pub a: WarpgroupFactor,
    /// The 64-bit row of the matrix descriptor, and whether it is transposed.
    pub b: (u32, bool),
    /// Whether to add D, as a predicate operand.
    pub adds: u32,
    pub negate_a: bool,
    pub negate_b: bool,
    pub sparse: Option<Sparse>,
    pub saturate: bool,
    pub bit_product: Option<BitProduct>,
}

/// Where A of a warpgroup's product is; `ty` is the type of its elements.
#[derive(Clone, Debug)]
pub(crate) enum WarpgroupFactor {
    Registers(Fragment),
    Shared { descriptor: u32, transposed: bool, ty: MatrixType },
}

impl WarpgroupFactor {
    pub fn ty(&self) -> MatrixType {
        match self {
            Self::Registers(fragment) => fragment.ty,
            Self::Shared { ty, .. } => *ty,
        }
    }
}

/// Where the elements of a sparse A are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sparse {
    pub metadata: u32,
    /// The first of each four lanes that provides metadata.
    pub first_lane: u32,
}
