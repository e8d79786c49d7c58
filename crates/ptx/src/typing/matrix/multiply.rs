//! Types `mma`: matrix products (PTX ISA, "Matrix multiply-accumulate operation using mma
//! instruction").

use crate::errors::Parsed;
use crate::typing::context::Context;
use crate::typing::matrix::fragments::{aligned, element, shape};
use crate::typing::matrix::product::{Product, ROUNDINGS, bit_product, layouts, no_such_product};
use crate::{MatrixLayout, MatrixOp, MatrixType};
use MatrixType::*;

/// Element types of A and B that can be multiplied with each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Half,
    BrainFloat,
    TensorFloat,
    Double,
    EightBitFloat,
    Bytes,
    Nibbles,
    Bits,
}

impl Family {
    /// The family of an element of A or B.
    fn of(ty: MatrixType) -> Option<Family> {
        Some(match ty {
            F16 => Family::Half,
            Bf16 => Family::BrainFloat,
            Tf32 => Family::TensorFloat,
            F64 => Family::Double,
            E4m3 | E5m2 => Family::EightBitFloat,
            U8 | S8 => Family::Bytes,
            U4 | S4 => Family::Nibbles,
            B1 => Family::Bits,
            S32 | F32 => return None,
        })
    }

    /// Whether D and C may have these types.
    fn sums_in(self, d: MatrixType, c: MatrixType, is_quads: bool) -> bool {
        match self {
            Family::Half => d == c && matches!(d, F16 | F32) || is_quads && (d, c) == (F32, F16),
            Family::BrainFloat | Family::TensorFloat => (d, c) == (F32, F32),
            Family::EightBitFloat => d == c && matches!(d, F16 | F32),
            Family::Double => (d, c) == (F64, F64),
            Family::Bytes | Family::Nibbles | Family::Bits => (d, c) == (S32, S32),
        }
    }

    /// The shapes of `mma` or `mma.sp` for these types.
    fn shapes(self, is_sparse: bool) -> &'static [[u32; 3]] {
        match (self, is_sparse) {
            (Family::Half, false) => &[[8, 8, 4], [16, 8, 8], [16, 8, 16]],
            (Family::BrainFloat, false) => &[[16, 8, 8], [16, 8, 16]],
            (Family::TensorFloat, false) => &[[16, 8, 4], [16, 8, 8]],
            (Family::Double, false) => &[[8, 8, 4], [16, 8, 4], [16, 8, 8], [16, 8, 16]],
            (Family::EightBitFloat, false) => &[[16, 8, 16], [16, 8, 32]],
            (Family::Bytes, false) => &[[8, 8, 16], [16, 8, 16], [16, 8, 32]],
            (Family::Nibbles, false) => &[[8, 8, 32], [16, 8, 32], [16, 8, 64]],
            (Family::Bits, false) => &[[8, 8, 128], [16, 8, 128], [16, 8, 256]],
            (Family::Half | Family::BrainFloat, true) => &[[16, 8, 16], [16, 8, 32]],
            (Family::TensorFloat, true) => &[[16, 8, 8], [16, 8, 16]],
            (Family::EightBitFloat, true) => &[[16, 8, 64]],
            (Family::Bytes, true) => &[[16, 8, 32], [16, 8, 64]],
            (Family::Nibbles, true) => &[[16, 8, 64], [16, 8, 128]],
            (Family::Double | Family::Bits, true) => &[],
        }
    }
}

/// All shapes of `mma`.
const SHAPES: [[u32; 3]; 11] = [
    [8, 8, 4],
    [8, 8, 16],
    [8, 8, 32],
    [8, 8, 128],
    [16, 8, 4],
    [16, 8, 8],
    [16, 8, 16],
    [16, 8, 32],
    [16, 8, 64],
    [16, 8, 128],
    [16, 8, 256],
];

/// `mma{.sp}.sync.aligned.shape.row.col{.satfinite}{.rn}.d.a.b.c{.xor.popc} D, A, B, C{, metadata,
/// selector};`
pub(in crate::typing) fn multiply(c: &mut Context<'_, '_>) -> Parsed<MatrixOp> {
    let is_sparse = c.accept("sp") || c.accept("sp::ordered_metadata");
    aligned(c)?;
    let shape = shape(c, &SHAPES, "a shape such as `.m16n8k16`")?;
    let quads = [shape.m, shape.n, shape.k] == [8, 8, 4] && !c.has_modifier("f64");
    let layouts = layouts(c)?;
    let saturate = c.accept("satfinite");
    let rounding = c.choose_of(&ROUNDINGS);
    let (d_ty, a_ty, b_ty, c_ty) = (element(c)?, element(c)?, element(c)?, element(c)?);
    let family = Family::of(a_ty).filter(|_| Family::of(a_ty) == Family::of(b_ty));
    let fits = family.is_some_and(|family| {
        family.sums_in(d_ty, c_ty, quads)
            && !(is_sparse && family == Family::EightBitFloat && d_ty == F16)
            && family.shapes(is_sparse).contains(&[shape.m, shape.n, shape.k])
            && (!saturate || matches!(family, Family::Bytes | Family::Nibbles))
            && (quads || layouts == (MatrixLayout::Row, MatrixLayout::Column))
            && (rounding.is_none() || family == Family::Double)
    });
    if !fits {
        return no_such_product(c);
    }
    let bit_product = if a_ty == B1 { Some(bit_product(c)?) } else { None };
    c.operands(if is_sparse { 6 } else { 4 })?;
    let types = [d_ty, a_ty, b_ty, c_ty];
    let product = Product { is_wmma: false, shape, layouts, types, saturate, rounding, bit_product };
    product.multiply(c, is_sparse)
}
