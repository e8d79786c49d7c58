//! Decodes instructions on matrices, one step for each.

use ptx::{
    Address, Destination, MatrixMultiply, MatrixRole, MatrixShape, MatrixTile, MatrixType, Operand, Space, Sparsity,
    Type, WarpgroupMultiply,
};

use crate::error::LoadErrorReason;
use crate::program::code::Action;
use crate::program::decode::function::{COUNTED, Decoded, FunctionDecoder};
use crate::program::fragment::Fragment;
use crate::program::matrix::{Matrix, Product, Sparse, Tile, WarpgroupFactor, WarpgroupProduct};

/// The type of a register of a fragment.
fn register_type(ty: MatrixType) -> Type {
    if ty == MatrixType::F64 { Type::B64 } else { Type::B32 }
}

impl FunctionDecoder<'_, '_> {
    /// Emits the instruction itself.
    pub(in crate::program) fn matrix(&mut self, matrix: Matrix) -> Decoded<()> {
        self.emit(COUNTED, Action::Matrix(Box::new(matrix)));
        Ok(())
    }

    pub(in crate::program) fn load_matrix(
        &mut self,
        space: Space,
        transposed: bool,
        dsts: &[Destination],
        address: Address,
    ) -> Decoded<()> {
        let (reach, rows) = (self.reach(space, address)?, self.destinations(dsts, Type::B32)?);
        self.matrix(Matrix::Load { reach, transposed, rows })
    }

    pub(in crate::program) fn store_matrix(
        &mut self,
        space: Space,
        transposed: bool,
        address: Address,
        srcs: &[Operand],
    ) -> Decoded<()> {
        let (reach, rows) = (self.reach(space, address)?, self.sources(srcs, Type::B32)?);
        self.matrix(Matrix::Store { reach, transposed, rows })
    }

    pub(in crate::program) fn transpose_matrix(&mut self, dst: Destination, src: Operand) -> Decoded<()> {
        let (d, source) = (self.destination(dst, Type::B32)?, self.word(src, Type::B32)?);
        self.matrix(Matrix::Transpose { d, source })
    }

    pub(in crate::program) fn load_fragment(&mut self, tile: &MatrixTile, dsts: &[Destination]) -> Decoded<()> {
        let registers = self.destinations(dsts, register_type(tile.ty))?;
        let tile = self.tile(tile, registers)?;
        self.matrix(Matrix::LoadFragment(tile))
    }

    pub(in crate::program) fn store_fragment(&mut self, tile: &MatrixTile, srcs: &[Operand]) -> Decoded<()> {
        let registers = self.sources(srcs, register_type(tile.ty))?;
        let tile = self.tile(tile, registers)?;
        self.matrix(Matrix::StoreFragment(tile))
    }

    pub(in crate::program) fn matrix_multiply(&mut self, multiply: &MatrixMultiply) -> Decoded<()> {
        let product = self.product(multiply)?;
        self.matrix(Matrix::Multiply(product))
    }

    pub(in crate::program) fn warpgroup_multiply(&mut self, multiply: &WarpgroupMultiply) -> Decoded<()> {
        let product = self.warpgroup_product(multiply)?;
        self.matrix(Matrix::MultiplyByWarpgroup(product))
    }

    fn destinations(&mut self, dsts: &[Destination], ty: Type) -> Decoded<Vec<u32>> {
        dsts.iter().map(|&dst| self.destination(dst, ty)).collect()
    }

    fn sources(&mut self, srcs: &[Operand], ty: Type) -> Decoded<Vec<u32>> {
        srcs.iter().map(|&src| self.value(src, ty)).collect()
    }

    fn tile(&mut self, tile: &MatrixTile, registers: Vec<u32>) -> Decoded<Tile> {
        let &MatrixTile { role, shape, layout, ty, space, address, stride } = tile;
        let (rows, columns) = match role {
            MatrixRole::A => (shape.m, shape.k),
            MatrixRole::B => (shape.k, shape.n),
            MatrixRole::Accumulator => (shape.m, shape.n),
        };
        let in_rows = layout == ptx::MatrixLayout::Row;
        let stride = match stride {
            Some(stride) => stride,
            None => Operand::Integer(if in_rows { columns } else { rows }.into()),
        };
        Ok(Tile {
            reach: self.reach(space, address)?,
            fragment: Fragment::new(role, ty, shape, registers).for_wmma(),
            in_rows,
            stride: self.word(stride, Type::U32)?,
        })
    }

    fn product(&mut self, multiply: &MatrixMultiply) -> Decoded<Product> {
        let &MatrixMultiply { shape, a_ty, b_ty, c_ty, d_ty, .. } = multiply;
        let quads = [shape.m, shape.n, shape.k] == [8, 8, 4] && a_ty == MatrixType::F16;
        let fragment = |role, ty, registers, layout| {
            let fragment = Fragment::new(role, ty, shape, registers);
            if multiply.is_wmma {
                fragment.for_wmma()
            } else if quads {
                fragment.for_quads(layout)
            } else {
                fragment
            }
        };
        let d = self.destinations(&multiply.d, register_type(d_ty))?;
        let a = self.sources(&multiply.a, register_type(a_ty))?;
        let b = self.sources(&multiply.b, register_type(b_ty))?;
        let c = self.sources(&multiply.c, register_type(c_ty))?;
        let sparse = self.sparse(multiply.sparsity, shape, a_ty)?;
        let copies = if quads { 4 } else { 1 };
        Ok(Product {
            m: (shape.m * copies) as usize,
            n: shape.n as usize,
            k: shape.k as usize,
            quads,
            d: fragment(MatrixRole::Accumulator, d_ty, d, multiply.a_layout),
            a: match sparse {
                // The stored matrix is half as wide.
                Some(_) => Fragment::new(MatrixRole::A, a_ty, ptx::MatrixShape { k: shape.k / 2, ..shape }, a),
                None => fragment(MatrixRole::A, a_ty, a, multiply.a_layout),
            },
            b: fragment(MatrixRole::B, b_ty, b, multiply.b_layout),
            c: fragment(MatrixRole::Accumulator, c_ty, c, multiply.a_layout),
            sparse,
            saturate: multiply.saturate,
            rounding: multiply.rounding,
            bit_product: multiply.bit_product,
        })
    }

    fn sparse(&mut self, sparsity: Option<Sparsity>, shape: MatrixShape, a_ty: MatrixType) -> Decoded<Option<Sparse>> {
        let Some(Sparsity { metadata, selector }) = sparsity else { return Ok(None) };
        let metadata = self.word(metadata, Type::B32)?;
        Ok(Some(Sparse { metadata, first_lane: selector * shape.metadata_lanes(a_ty) }))
    }

    fn warpgroup_product(&mut self, multiply: &WarpgroupMultiply) -> Decoded<WarpgroupProduct> {
        let &WarpgroupMultiply { shape, a_ty, b_ty, d_ty, .. } = multiply;
        let part = MatrixShape { m: 16, ..shape };
        let d = self.destinations(&multiply.d, register_type(d_ty))?;
        for &register in multiply.d.iter().flatten() {
            match multiply.adds {
                Operand::Integer(0) => {}
                Operand::Integer(_) => _ = self.word(Operand::Register(register), register_type(d_ty))?,
                // A loop's first product usually ignores D, which is still uninitialised.
                _ => _ = self.builder.read.insert((self.handle, register)),
            }
        }
        let a = match &multiply.a {
            ptx::WarpgroupFactor::Registers(registers) => {
                let registers = self.sources(registers, register_type(a_ty))?;
                let k = if multiply.sparsity.is_some() { shape.k / 2 } else { shape.k };
                WarpgroupFactor::Registers(Fragment::new(MatrixRole::A, a_ty, MatrixShape { k, ..part }, registers))
            }
            &ptx::WarpgroupFactor::Shared { descriptor, transposed } => {
                WarpgroupFactor::Shared { descriptor: self.wide(descriptor, Type::B64)?, transposed, ty: a_ty }
            }
        };
        let b = match &multiply.b {
            &ptx::WarpgroupFactor::Shared { descriptor, transposed } => (self.wide(descriptor, Type::B64)?, transposed),
            ptx::WarpgroupFactor::Registers(_) => {
                return Err(LoadErrorReason::Misplaced { what: "a second factor in registers".into() });
            }
        };
        Ok(WarpgroupProduct {
            n: shape.n as usize,
            k: shape.k as usize,
            b_ty,
            d: Fragment::new(MatrixRole::Accumulator, d_ty, part, d),
            a,
            b,
            adds: self.predicate(multiply.adds)?,
            negate_a: multiply.negate_a,
            negate_b: multiply.negate_b,
            sparse: self.sparse(multiply.sparsity, shape, a_ty)?,
            saturate: multiply.saturate,
            bit_product: multiply.bit_product,
        })
    }
}
