//! Types `wmma`, the older matrix products, whose fragment layout programs must not rely on (PTX
//! ISA, "Matrix multiply-accumulate operation using wmma instructions").

use crate::Type::U32;
use crate::errors::{Parsed, fault};
use crate::typing::context::Context;
use crate::typing::matrix::fragments::{aligned, element, read, registers, shape, written};
use crate::typing::matrix::product::{Product, ROUNDINGS, bit_product, layouts, no_such_product};
use crate::{
    InstructionError, MatrixLayout, MatrixOp, MatrixRole, MatrixShape, MatrixTile, MatrixType, Operand, Space,
};
use MatrixType::*;

/// All shapes of `wmma`.
const SHAPES: [[u32; 3]; 7] = [[16, 16, 16], [32, 8, 16], [8, 32, 16], [16, 16, 8], [8, 8, 4], [8, 8, 32], [8, 8, 128]];

const WHAT: &str = "a shape such as `.m16n16k16`";

/// Whether there is a product of this shape with elements of this type in A and B.
fn has_shape(shape: MatrixShape, ty: MatrixType) -> bool {
    let shape = [shape.m, shape.n, shape.k];
    match ty {
        F16 | Bf16 | U8 | S8 => SHAPES[..3].contains(&shape),
        Tf32 => shape == [16, 16, 8],
        F64 => shape == [8, 8, 4],
        U4 | S4 => shape == [8, 8, 32],
        B1 => shape == [8, 8, 128],
        S32 | F32 | E4m3 | E5m2 => false,
    }
}

/// Whether there is a product of this shape with sums of this type.
fn has_sums(shape: MatrixShape, ty: MatrixType) -> bool {
    match ty {
        F16 => has_shape(shape, F16),
        F32 => has_shape(shape, F16) || has_shape(shape, Tf32),
        S32 => has_shape(shape, S8) || has_shape(shape, S4) || has_shape(shape, B1),
        F64 => has_shape(shape, F64),
        _ => false,
    }
}

/// Elements of less than a byte have only one layout: A in rows, B in columns.
fn layout_fits(role: MatrixRole, layout: MatrixLayout, ty: MatrixType) -> bool {
    match role {
        MatrixRole::A => ty.bits() >= 8 || layout == MatrixLayout::Row,
        MatrixRole::B => ty.bits() >= 8 || layout == MatrixLayout::Column,
        MatrixRole::Accumulator => true,
    }
}

/// `wmma.load...`, `wmma.mma...`, `wmma.store...`
pub(in crate::typing) fn wmma(c: &mut Context<'_, '_>) -> Parsed<MatrixOp> {
    #[derive(Clone, Copy)]
    enum Form {
        Load,
        Multiply,
        Store,
    }
    let forms = [("load", Form::Load), ("mma", Form::Multiply), ("store", Form::Store)];
    match c.require(&forms, "`.load`, `.mma` or `.store`")? {
        Form::Load => load(c),
        Form::Multiply => multiply(c),
        Form::Store => store(c),
    }
}

/// The modifiers of `wmma.load` and `wmma.store` after `.a`, `.b`, `.c` or `.d`.
fn tile(c: &mut Context<'_, '_>, role: MatrixRole) -> Parsed<(MatrixShape, MatrixLayout, Space, MatrixType)> {
    aligned(c)?;
    let layout = c.require_of(MatrixLayout::ALL, "`.row` or `.col`")?;
    let shape = shape(c, &SHAPES, WHAT)?;
    let space = c.choose_of(&[Space::Global, Space::Shared]).unwrap_or(Space::Generic);
    let ty = element(c)?;
    let exists = if role == MatrixRole::Accumulator { has_sums(shape, ty) } else { has_shape(shape, ty) };
    if !exists || !layout_fits(role, layout, ty) {
        return fault(c.name_span(), InstructionError::NoSuchFragment(c.name()));
    }
    Ok((shape, layout, space, ty))
}

/// The last operand of `wmma.load` and `wmma.store`, if it is there.
fn stride(c: &mut Context<'_, '_>) -> Parsed<Option<Operand>> {
    if c.count() == 3 { c.src(2, U32).map(Some) } else { Ok(None) }
}

/// `wmma.load.a.sync.aligned.row.m16n16k16{.global}.f16 {d0, ...}, [a]{, stride};`
fn load(c: &mut Context<'_, '_>) -> Parsed<MatrixOp> {
    let roles = [("a", MatrixRole::A), ("b", MatrixRole::B), ("c", MatrixRole::Accumulator)];
    let role = c.require(&roles, "`.a`, `.b` or `.c`")?;
    let (shape, layout, space, ty) = tile(c, role)?;
    c.operands_between(2..=3)?;
    let dsts = written(c, 0, registers(shape, role, ty, true))?;
    let address = c.address(1, space)?;
    let tile = MatrixTile { role, shape, layout, ty, space, address, stride: stride(c)? };
    Ok(MatrixOp::LoadFragment { tile: Box::new(tile), dsts })
}

/// `wmma.store.d.sync.aligned.row.m16n16k16{.global}.f32 [a], {s0, ...}{, stride};`
fn store(c: &mut Context<'_, '_>) -> Parsed<MatrixOp> {
    let role = c.require(&[("d", MatrixRole::Accumulator)], "`.d`")?;
    let (shape, layout, space, ty) = tile(c, role)?;
    c.operands_between(2..=3)?;
    let address = c.address(0, space)?;
    let srcs = read(c, 1, registers(shape, role, ty, true))?;
    let tile = MatrixTile { role, shape, layout, ty, space, address, stride: stride(c)? };
    Ok(MatrixOp::StoreFragment { tile: Box::new(tile), srcs })
}

/// `wmma.mma{.xor.popc}.sync.aligned.row.col.m16n16k16.f32.f32 D, A, B, C;` for f16; other types
/// name those of D, A, B and C
fn multiply(c: &mut Context<'_, '_>) -> Parsed<MatrixOp> {
    let bit_product = if c.has_modifier("popc") { Some(bit_product(c)?) } else { None };
    aligned(c)?;
    let layouts = layouts(c)?;
    let shape = shape(c, &SHAPES, WHAT)?;
    let rounding = c.choose_of(&ROUNDINGS);
    let (d_ty, second) = (element(c)?, element(c)?);
    let third = c.modifier().filter(|&name| name != "satfinite");
    let (a_ty, b_ty, c_ty) = if third.is_some() { (second, element(c)?, element(c)?) } else { (F16, F16, second) };
    if third.is_some() && a_ty == F16 {
        return no_such_product(c);
    }
    let saturate = c.accept("satfinite");
    let same_family = a_ty == b_ty || matches!((a_ty, b_ty), (U8, S8) | (S8, U8) | (U4, S4) | (S4, U4));
    let sums = match a_ty {
        F16 => matches!(d_ty, F16 | F32) && matches!(c_ty, F16 | F32),
        Bf16 | Tf32 => (d_ty, c_ty) == (F32, F32),
        F64 => (d_ty, c_ty) == (F64, F64),
        _ => (d_ty, c_ty) == (S32, S32),
    };
    let fits = same_family
        && sums
        && has_shape(shape, a_ty)
        && layout_fits(MatrixRole::A, layouts.0, a_ty)
        && layout_fits(MatrixRole::B, layouts.1, b_ty)
        && bit_product.is_some() == (a_ty == B1)
        && (rounding.is_none() || a_ty == F64)
        && (!saturate || c_ty == S32 && a_ty != B1);
    if !fits {
        return no_such_product(c);
    }
    let types = [d_ty, a_ty, b_ty, c_ty];
    Product { is_wmma: true, shape, layouts, types, saturate, rounding, bit_product }.multiply(c, false)
}
