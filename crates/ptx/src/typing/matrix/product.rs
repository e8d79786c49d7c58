//! What the matrix products `mma`, `wmma` and `wgmma` have in common: roundings, layouts, one-bit
//! products, sparsity, and the operands of `mma` and `wmma`.

use crate::Type::B32;
use crate::errors::{InstructionError, Parsed, fault};
use crate::typing::context::Context;
use crate::typing::matrix::fragments::{read, registers, written};
use crate::{
    BitProduct, MatrixLayout, MatrixMultiply, MatrixOp, MatrixRole, MatrixShape, MatrixType, Rounding, Sparsity,
};

/// Roundings of f64 sums.
pub(in crate::typing) const ROUNDINGS: [Rounding; 4] =
    [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up];

/// The layouts of A and B.
pub(in crate::typing) fn layouts(c: &mut Context<'_, '_>) -> Parsed<(MatrixLayout, MatrixLayout)> {
    Ok((
        c.require_of(MatrixLayout::ALL, "`.row` or `.col` for A")?,
        c.require_of(MatrixLayout::ALL, "`.row` or `.col` for B")?,
    ))
}

/// Fails because there is no product with these types, shape and modifiers.
pub(in crate::typing) fn no_such_product<T>(c: &Context<'_, '_>) -> Parsed<T> {
    fault(c.name_span(), InstructionError::NoSuchProduct(c.name()))
}

/// What the modifiers of `mma` or `wmma.mma` say of a product.
pub(in crate::typing) struct Product {
    pub is_wmma: bool,
    pub shape: MatrixShape,
    /// Of A and B.
    pub layouts: (MatrixLayout, MatrixLayout),
    /// Of D, A, B and C.
    pub types: [MatrixType; 4],
    pub saturate: bool,
    pub rounding: Option<Rounding>,
    pub bit_product: Option<BitProduct>,
}

impl Product {
    /// Reads the operands: D, A, B and C, and the metadata and selector of a sparse product.
    pub fn multiply(self, c: &mut Context<'_, '_>, is_sparse: bool) -> Parsed<MatrixOp> {
        let Product { is_wmma, shape, layouts: (a_layout, b_layout), types, saturate, rounding, bit_product } = self;
        let [d_ty, a_ty, b_ty, c_ty] = types;
        c.operands(if is_sparse { 6 } else { 4 })?;
        let stored = MatrixShape { k: if is_sparse { shape.k / 2 } else { shape.k }, ..shape };
        let sum = |ty| registers(shape, MatrixRole::Accumulator, ty, is_wmma);
        let product = MatrixMultiply {
            is_wmma,
            shape,
            a_layout,
            b_layout,
            d_ty,
            a_ty,
            b_ty,
            c_ty,
            saturate,
            rounding: rounding.unwrap_or_default(),
            bit_product,
            d: written(c, 0, sum(d_ty))?,
            a: read(c, 1, registers(stored, MatrixRole::A, a_ty, is_wmma))?,
            b: read(c, 2, registers(shape, MatrixRole::B, b_ty, is_wmma))?,
            c: read(c, 3, sum(c_ty))?,
            sparsity: if is_sparse { Some(sparsity(c, 4, shape, a_ty)?) } else { None },
        };
        Ok(MatrixOp::Multiply(Box::new(product)))
    }
}

/// `.xor.popc` or `.and.popc`
pub(in crate::typing) fn bit_product(c: &mut Context<'_, '_>) -> Parsed<BitProduct> {
    let product = c.require_of(BitProduct::ALL, "`.xor` or `.and`")?;
    c.require(&[("popc", ())], "`.popc`")?;
    Ok(product)
}

/// The metadata of a sparse A (operand `index`), and which threads supply it (the next operand):
/// one or two of four, or all.
pub(in crate::typing) fn sparsity(
    c: &mut Context<'_, '_>,
    index: usize,
    shape: MatrixShape,
    a_ty: MatrixType,
) -> Parsed<Sparsity> {
    let selector = c.immediate(index + 1, u64::from(4 / shape.metadata_lanes(a_ty) - 1))? as u32;
    Ok(Sparsity { metadata: c.src(index, B32)?, selector })
}
