//! Types moves of matrix fragments (`ldmatrix`, `stmatrix`, `movmatrix`), and reads shapes, element
//! types and fragments for `mma`, `wmma` and `wgmma`.

use crate::Type::{B16, B32, F32, F64, S32};
use crate::errors::{InstructionError, OperandError, Parsed, fault};
use crate::syntax::operands::{Raw, RawOperand};
use crate::typing::context::Context;
use crate::typing::names::Width;
use crate::{Destination, MatrixOp, MatrixRole, MatrixShape, MatrixType, Operand, Space, Type};

/// `.sync.aligned`, which all matrix instructions have: the warp executes them together.
pub(in crate::typing) fn aligned(c: &mut Context<'_, '_>) -> Parsed<()> {
    c.require(&[("sync", ())], "`.sync`")?;
    c.require(&[("aligned", ())], "`.aligned`")
}

/// A shape, which must be one of `allowed`; `what` describes it in the error, with an example.
pub(in crate::typing) fn shape(
    c: &mut Context<'_, '_>,
    allowed: &[[u32; 3]],
    what: &'static str,
) -> Parsed<MatrixShape> {
    shape_that(c, |shape| allowed.contains(shape), what)
}

/// A shape for which `fits` is true.
pub(in crate::typing) fn shape_that(
    c: &mut Context<'_, '_>,
    fits: impl Fn(&[u32; 3]) -> bool,
    what: &'static str,
) -> Parsed<MatrixShape> {
    let found = c.take_first(|text| {
        let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?]).filter(&fits)
    });
    match found {
        Some([m, n, k]) => Ok(MatrixShape { m, n, k }),
        None => c.require::<MatrixShape>(&[], what),
    }
}

/// The type of a matrix's elements.
pub(in crate::typing) fn element(c: &mut Context<'_, '_>) -> Parsed<MatrixType> {
    c.require_of(MatrixType::ALL, "a type of elements such as `.f16`")
}

/// The number and type of the registers that hold a fragment in each lane.
pub(in crate::typing) fn registers(
    shape: MatrixShape,
    role: MatrixRole,
    ty: MatrixType,
    is_wmma: bool,
) -> (usize, Type) {
    let MatrixShape { m, n, k } = shape;
    let elements = match role {
        MatrixRole::A => m * k,
        MatrixRole::B => k * n,
        MatrixRole::Accumulator => m * n,
    };
    let (bits, register) = match ty {
        MatrixType::F64 => (64, F64),
        MatrixType::F32 => (32, F32),
        MatrixType::S32 => (32, S32),
        _ => (32, B32),
    };
    let count = elements * ty.bits() / 32 / bits;
    let four_quads = !is_wmma && [m, n, k] == [8, 8, 4] && matches!(ty, MatrixType::F16 | MatrixType::F32);
    let count = match (role, ty) {
        // `wmma` repeats elements if there are fewer.
        (MatrixRole::A | MatrixRole::B, MatrixType::F16) if is_wmma => 8,
        // `m8n8k4` of f16 is four products, one for each pair of quads; a lane has four elements of
        // each operand.
        (MatrixRole::A | MatrixRole::B, _) if four_quads => 2,
        _ if four_quads => 4 * count,
        _ => count,
    };
    (count as usize, register)
}

/// The registers of a fragment: a vector in braces, even if it has one register.
fn fragment<'t>(c: &mut Context<'_, 't>, index: usize, count: usize) -> Parsed<Vec<RawOperand<'t>>> {
    let operand = c.raw(index);
    match &operand.raw {
        Raw::Vector(parts) if parts.len() == count => Ok(parts.clone()),
        Raw::Vector(parts) => fault(operand.span, OperandError::VectorLength { expected: count, found: parts.len() }),
        _ if count > 1 => c.parts(index, count),
        other => {
            fault(operand.span, OperandError::Kind { expected: "a vector of one register", found: other.describe() })
        }
    }
}

/// A fragment to write.
pub(in crate::typing) fn written(
    c: &mut Context<'_, '_>,
    index: usize,
    (count, ty): (usize, Type),
) -> Parsed<Vec<Destination>> {
    let parts = fragment(c, index, count)?;
    parts.iter().map(|part| c.destination(part, ty, Width::Exact)).collect()
}

/// A fragment to read.
pub(in crate::typing) fn read(
    c: &mut Context<'_, '_>,
    index: usize,
    (count, ty): (usize, Type),
) -> Parsed<Vec<Operand>> {
    let parts = fragment(c, index, count)?;
    parts.iter().map(|part| c.source(part, ty, Width::Exact)).collect()
}

/// `.m8n8`, the shape of the matrices that `ldmatrix`, `stmatrix` and `movmatrix` move. Other
/// shapes need sm_100.
fn eight_by_eight(c: &mut Context<'_, '_>) -> Parsed<()> {
    if ["m16n16", "m8n16", "m16n8"].into_iter().any(|shape| c.has_modifier(shape)) {
        return fault(c.name_span(), InstructionError::Unsupported(c.name()));
    }
    c.require(&[("m8n8", ())], "the shape `.m8n8`")
}

/// `.m8n8.x4`, in either order.
fn shape_and_count(c: &mut Context<'_, '_>) -> Parsed<usize> {
    const COUNTS: [(&str, usize); 3] = [("x1", 1), ("x2", 2), ("x4", 4)];
    if let Some(count) = c.choose(&COUNTS) {
        eight_by_eight(c)?;
        return Ok(count);
    }
    eight_by_eight(c)?;
    c.require(&COUNTS, "`.x1`, `.x2` or `.x4`")
}

/// What `ldmatrix` and `stmatrix` move: the number of matrices, whether they are transposed, and
/// the state space.
fn moved(c: &mut Context<'_, '_>) -> Parsed<(usize, bool, Space)> {
    aligned(c)?;
    let count = shape_and_count(c)?;
    let transposed = c.accept("trans");
    let space = c.choose_of(&[Space::Shared]).unwrap_or(Space::Generic);
    c.ty_of(&[B16])?;
    c.operands(2)?;
    Ok((count, transposed, space))
}

/// `ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared}.b16 {d0, d1, d2, d3}, [a];`
pub(in crate::typing) fn load(c: &mut Context<'_, '_>) -> Parsed<MatrixOp> {
    let (count, transposed, space) = moved(c)?;
    Ok(MatrixOp::Load { space, transposed, dsts: written(c, 0, (count, B32))?, address: c.address(1, space)? })
}

/// `stmatrix.sync.aligned.m8n8.x4{.trans}{.shared}.b16 [a], {s0, s1, s2, s3};`
pub(in crate::typing) fn store(c: &mut Context<'_, '_>) -> Parsed<MatrixOp> {
    let (count, transposed, space) = moved(c)?;
    Ok(MatrixOp::Store { space, transposed, address: c.address(0, space)?, srcs: read(c, 1, (count, B32))? })
}

/// `movmatrix.sync.aligned.m8n8.trans.b16 d, a;`
pub(in crate::typing) fn transpose(c: &mut Context<'_, '_>) -> Parsed<MatrixOp> {
    aligned(c)?;
    eight_by_eight(c)?;
    c.require(&[("trans", ())], "`.trans`")?;
    c.ty_of(&[B16])?;
    c.operands(2)?;
    Ok(MatrixOp::Transpose { dst: c.dst(0, B32)?, src: c.src(1, B32)? })
}
