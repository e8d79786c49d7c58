//! Types `wgmma`: matrix products by a warpgroup (PTX ISA, "Asynchronous Warpgroup Level Matrix
//! Multiply-Accumulate Instructions").

use crate::Type::{B64, Pred};
use crate::errors::{InstructionError, OperandError, Parsed, fault};
use crate::syntax::constant::Constant;
use crate::syntax::operands::Raw;
use crate::typing::context::Context;
use crate::typing::matrix::fragments::{aligned, element, read, registers, shape_that, written};
use crate::typing::matrix::product::{no_such_product, sparsity};
use crate::{BitProduct, MatrixOp, MatrixRole, MatrixShape, MatrixType, WarpgroupFactor, WarpgroupMultiply};
use MatrixType::*;

/// `wgmma.fence`, `wgmma.commit_group`, `wgmma.wait_group`, `wgmma.mma_async`
pub(in crate::typing) fn wgmma(c: &mut Context<'_, '_>) -> Parsed<MatrixOp> {
    #[derive(Clone, Copy)]
    enum Form {
        Fence,
        Commit,
        Wait,
        Multiply,
    }
    let module = &c.environment.module;
    if module.target != 90 || module.target_suffix.is_none() {
        return fault(c.name_span(), InstructionError::OtherTarget { instruction: c.name(), target: "sm_90a" });
    }
    let forms = [
        ("fence", Form::Fence),
        ("commit_group", Form::Commit),
        ("wait_group", Form::Wait),
        ("mma_async", Form::Multiply),
    ];
    let form = c.require(&forms, "`.mma_async`, `.fence`, `.commit_group` or `.wait_group`")?;
    if let Form::Multiply = form {
        return multiply(c);
    }
    aligned(c)?;
    c.operands(usize::from(matches!(form, Form::Wait)))?;
    Ok(match form {
        Form::Fence => MatrixOp::WarpgroupFence,
        Form::Commit => MatrixOp::CommitProducts,
        _ => MatrixOp::WaitForProducts { groups_left: c.immediate(0, u32::MAX.into())? as u32 },
    })
}

/// The number of elements of A and B along k in a product that is not sparse: 32 bytes.
fn depth(ty: MatrixType) -> u32 {
    256 / ty.bits()
}

/// Whether there is a product with these element types, `n` columns and sums of type `d`.
fn exists(n: u32, d: MatrixType, a: MatrixType, b: MatrixType) -> bool {
    let of_integers = n == 24 || n <= 16 || n.is_multiple_of(16);
    match (a, b) {
        (F16, F16) | (E4m3 | E5m2, E4m3 | E5m2) => matches!(d, F16 | F32),
        (Bf16, Bf16) | (Tf32, Tf32) => d == F32,
        (U8 | S8, U8 | S8) | (B1, B1) => d == S32 && of_integers,
        _ => false,
    }
}

/// `wgmma.mma_async{.sp}.sync.aligned.shape{.satfinite}.d.a.b{.and.popc} D, A, B{, metadata,
/// selector}, scale-d{, imm-scale-a, imm-scale-b{, imm-trans-a}{, imm-trans-b}};`
fn multiply(c: &mut Context<'_, '_>) -> Parsed<MatrixOp> {
    let is_sparse = c.accept("sp");
    aligned(c)?;
    let fits = |&[m, n, _]: &[u32; 3]| m == 64 && n.is_multiple_of(8) && (8..=256).contains(&n);
    let shape = shape_that(c, fits, "a shape such as `.m64n128k16`")?;
    let saturate = c.accept("satfinite");
    let (d_ty, a_ty, b_ty) = (element(c)?, element(c)?, element(c)?);
    let of_bytes = matches!(a_ty, U8 | S8);
    let fits = exists(shape.n, d_ty, a_ty, b_ty)
        && shape.k == depth(a_ty) * if is_sparse { 2 } else { 1 }
        && (!saturate || of_bytes)
        && !(is_sparse && a_ty == B1);
    if !fits {
        return no_such_product(c);
    }
    let bit_product = if a_ty == B1 { Some(bit_product(c)?) } else { None };
    let a_in_registers = c.count() > 1 && matches!(c.raw(1).raw, Raw::Vector(_));
    let has_signs = !of_bytes && a_ty != B1;
    let may_transpose = matches!(a_ty, F16 | Bf16);
    let scale = 3 + if is_sparse { 2 } else { 0 };
    let transpositions = if !may_transpose {
        0
    } else if a_in_registers {
        1
    } else {
        2
    };
    c.operands(scale + 1 + if has_signs { 2 } else { 0 } + transpositions)?;

    // One warp's part of the product.
    let part = MatrixShape { m: 16, ..shape };
    let d = written(c, 0, registers(part, MatrixRole::Accumulator, d_ty, false))?;
    if d.contains(&None) {
        return fault(c.raw(0).span, OperandError::Kind { expected: "registers that are also read", found: "`_`" });
    }
    let first = scale + 3;
    let a = if a_in_registers {
        let stored = MatrixShape { k: depth(a_ty), ..part };
        WarpgroupFactor::Registers(read(c, 1, registers(stored, MatrixRole::A, a_ty, false))?)
    } else {
        let transposed = transpositions == 2 && c.immediate(first, 1)? == 1;
        WarpgroupFactor::Shared { descriptor: c.src(1, B64)?, transposed }
    };
    let transposed = transpositions > 0 && c.immediate(first + transpositions - 1, 1)? == 1;
    let b = WarpgroupFactor::Shared { descriptor: c.src(2, B64)?, transposed };
    if let Raw::Constant(_) = c.raw(scale).raw {
        c.immediate(scale, 1)?;
    }
    let product = WarpgroupMultiply {
        shape,
        d_ty,
        a_ty,
        b_ty,
        saturate,
        bit_product,
        d,
        a,
        b,
        adds: c.src(scale, Pred)?,
        negate_a: has_signs && is_negative(c, scale + 1)?,
        negate_b: has_signs && is_negative(c, scale + 2)?,
        sparsity: if is_sparse { Some(sparsity(c, 3, shape, a_ty)?) } else { None },
    };
    Ok(MatrixOp::WarpgroupMultiply(Box::new(product)))
}

/// `.and.popc`
fn bit_product(c: &mut Context<'_, '_>) -> Parsed<BitProduct> {
    c.require(&[("and", ())], "`.and.popc`")?;
    c.require(&[("popc", ())], "`.and.popc`")?;
    Ok(BitProduct::And)
}

/// Operand `index`: the constant 1, or -1.
fn is_negative(c: &mut Context<'_, '_>, index: usize) -> Parsed<bool> {
    const MINUS_ONE: u64 = u64::MAX;
    match c.raw(index).raw {
        Raw::Constant(Constant::Integer(1)) => Ok(false),
        Raw::Constant(Constant::Integer(MINUS_ONE)) => Ok(true),
        _ => fault(c.raw(index).span, OperandError::NotASign),
    }
}
