//! The text of matrix instructions.

use super::text::Text;
use crate::{
    BitProduct, MatrixMultiply, MatrixRole, MatrixShape, MatrixTile, MatrixType, Space, Sparsity, WarpgroupFactor,
    WarpgroupMultiply,
};

impl Text<'_> {
    /// `.m16n8k16`
    fn shape(self, MatrixShape { m, n, k }: MatrixShape) -> Self {
        self.dot(&format!("m{m}n{n}k{k}"))
    }

    /// `.f32.f16`
    fn elements(self, types: &[MatrixType]) -> Self {
        types.iter().fold(self, |text, ty| text.dot(ty.name()))
    }

    /// `.xor.popc`
    fn bits(self, product: Option<BitProduct>) -> Self {
        self.dot(product.map_or("", BitProduct::name)).when(product.is_some(), "popc")
    }

    /// The metadata and the selector of a sparse product.
    fn sparsity(self, sparsity: &Option<Sparsity>) -> Self {
        sparsity.iter().fold(self, |text, sparsity| text.arg(sparsity.metadata).number(sparsity.selector))
    }
}

/// The modifiers of `ldmatrix` and `stmatrix`.
pub(super) fn moved(text: Text<'_>, count: usize, transposed: bool, space: Space) -> Text<'_> {
    let text = text.dot("sync.aligned.m8n8").dot(&format!("x{count}")).when(transposed, "trans");
    text.dot(space.name()).dot("b16")
}

/// The modifiers of `wmma.load` and `wmma.store`, which call the sums differently.
pub(super) fn tile<'m>(text: Text<'m>, tile: &MatrixTile, sums: &str) -> Text<'m> {
    let role = match tile.role {
        MatrixRole::A => "a",
        MatrixRole::B => "b",
        MatrixRole::Accumulator => sums,
    };
    let text = text.dot(role).dot("sync.aligned").dot(tile.layout.name()).shape(tile.shape);
    text.dot(tile.space.name()).dot(tile.ty.name())
}

/// `mma...`, `wmma.mma...`
pub(super) fn multiply<'m>(text: Text<'m>, product: &MatrixMultiply) -> Text<'m> {
    let MatrixMultiply { d_ty, a_ty, b_ty, c_ty, bit_product, saturate, .. } = *product;
    let layouts = |text: Text<'m>| text.dot(product.a_layout.name()).dot(product.b_layout.name());
    let text = if product.is_wmma {
        let text = layouts(text.op("wmma.mma").bits(bit_product).dot("sync.aligned"));
        let text = text.shape(product.shape).dot(product.rounding.name()).elements(&[d_ty]);
        // Products of f16 do not say so.
        let text = if a_ty == MatrixType::F16 { text } else { text.elements(&[a_ty, b_ty]) };
        text.elements(&[c_ty]).when(saturate, "satfinite")
    } else {
        let text = text.op("mma").when(product.sparsity.is_some(), "sp").dot("sync.aligned").shape(product.shape);
        let text = layouts(text).when(saturate, "satfinite").dot(product.rounding.name());
        text.elements(&[d_ty, a_ty, b_ty, c_ty]).bits(bit_product)
    };
    let text = text.vector(&product.d).vector(&product.a).vector(&product.b).vector(&product.c);
    text.sparsity(&product.sparsity)
}

/// `wgmma.mma_async...`
pub(super) fn warpgroup<'m>(text: Text<'m>, product: &WarpgroupMultiply) -> Text<'m> {
    let text = text.op("wgmma.mma_async").when(product.sparsity.is_some(), "sp").dot("sync.aligned");
    let text = text.shape(product.shape).when(product.saturate, "satfinite");
    let text = text.elements(&[product.d_ty, product.a_ty, product.b_ty]).bits(product.bit_product);
    let factors = [&product.a, &product.b];
    let text = factors.iter().fold(text.vector(&product.d), |text, factor| match factor {
        WarpgroupFactor::Registers(registers) => text.vector(registers),
        WarpgroupFactor::Shared { descriptor, .. } => text.arg(descriptor),
    });
    let text = text.sparsity(&product.sparsity).arg(product.adds);
    if matches!(product.a_ty, MatrixType::U8 | MatrixType::S8 | MatrixType::B1) {
        return text;
    }
    let sign = |negates: bool| if negates { -1 } else { 1 };
    let text = text.number(sign(product.negate_a)).number(sign(product.negate_b));
    if !matches!(product.a_ty, MatrixType::F16 | MatrixType::Bf16) {
        return text;
    }
    factors.iter().fold(text, |text, factor| match factor {
        WarpgroupFactor::Registers(_) => text,
        WarpgroupFactor::Shared { transposed, .. } => text.number(u8::from(*transposed)),
    })
}
