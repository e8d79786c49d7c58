//! Types surface instructions: `suld`, `sust`, `sured`. Coordinates are read as in `texture.rs`.

use super::context::Context;
use super::names::Width;
use super::texture::{element, geometry};
use crate::Type::*;
use crate::errors::{InstructionError, Parsed, fault};
use crate::{AtomicOp, OutOfRange, TextureOp, Type};

/// The vector length, the type, and what happens outside the surface.
fn shape(c: &mut Context<'_, '_>, types: &[Type]) -> Parsed<(usize, Type, OutOfRange)> {
    let count = c.choose(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
    let ty = c.ty_of(types)?;
    if count * ty.bytes() as usize > 16 {
        let error = InstructionError::VectorTooWide { lanes: count as u32, ty: ty.name().into() };
        return fault(c.name_span(), error);
    }
    Ok((count, ty, c.choose_of(OutOfRange::ALL).unwrap_or(OutOfRange::Trap)))
}

/// `suld.b.geometry{.cache}{.vector}.type.outside d, [surface, coordinates];`; a single `d` may
/// stand in braces.
pub(super) fn load(c: &mut Context<'_, '_>) -> Parsed<TextureOp> {
    c.require(&[("b", ())], "`.b`")?;
    let geometry = geometry(c)?;
    c.choose(&[("ca", ()), ("cg", ()), ("cs", ()), ("cv", ())]);
    let (count, ty, outside) = shape(c, &[B8, B16, B32, B64])?;
    c.operands(2)?;
    let parts = c.parts(0, count)?;
    let dsts = parts.iter().map(|part| c.destination(part, ty, Width::AtLeast)).collect::<Parsed<_>>()?;
    let (surface, _, position) = element(c, 1, geometry, S32, SurfaceReference, false)?;
    Ok(TextureOp::SurfaceLoad { ty, dsts, surface, position, outside })
}

/// `sust.b.geometry{.cache}{.vector}.type.outside [surface, coordinates], a;`,
/// `sust.p.geometry{.vector}.b32.outside ...`
pub(super) fn store(c: &mut Context<'_, '_>) -> Parsed<TextureOp> {
    let formatted = c.require(&[("b", false), ("p", true)], "`.b` or `.p`")?;
    let geometry = geometry(c)?;
    c.choose(&[("wb", ()), ("cg", ()), ("cs", ()), ("wt", ())]);
    let (count, ty, outside) = shape(c, if formatted { &[B32] } else { &[B8, B16, B32, B64] })?;
    c.operands(2)?;
    let (surface, _, position) = element(c, 0, geometry, S32, SurfaceReference, false)?;
    let parts = c.parts(1, count)?;
    let srcs = parts.iter().map(|part| c.source(part, ty, Width::AtLeast)).collect::<Parsed<_>>()?;
    Ok(TextureOp::SurfaceStore { formatted, ty, srcs, surface, position, outside })
}

/// `sured.b.op.geometry.type.outside [surface, coordinates], a;`, `sured.p.op.geometry.b32.outside
/// ...`
pub(super) fn reduce(c: &mut Context<'_, '_>) -> Parsed<TextureOp> {
    let by_element = c.require(&[("b", false), ("p", true)], "`.b` or `.p`")?;
    let operations = [AtomicOp::Add, AtomicOp::Minimum, AtomicOp::Maximum, AtomicOp::And, AtomicOp::Or];
    let op = c.require_of(&operations, "an operation such as `.add`")?;
    let geometry = geometry(c)?;
    let bits = matches!(op, AtomicOp::And | AtomicOp::Or);
    let ty = c.ty_of(match (by_element, bits, op) {
        (true, ..) | (_, true, _) => &[B32],
        (_, _, AtomicOp::Add) => &[U32, S32, U64],
        _ => &[U32, S32, U64, S64],
    })?;
    let outside = c.choose_of(OutOfRange::ALL).unwrap_or(OutOfRange::Trap);
    c.operands(2)?;
    let (surface, _, position) = element(c, 0, geometry, S32, SurfaceReference, false)?;
    Ok(TextureOp::SurfaceReduce { by_element, op, ty, src: c.src(1, ty)?, surface, position, outside })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_single_element_may_stand_in_braces() {
        // What nvcc emits for `surf2Dread` and `surf2Dwrite`.
        let text = "
.version 8.0
.target sm_75
.address_size 64
.visible .entry copy(.param .u64 surface)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [surface];
	mov.u32 %r1, %tid.x;
	suld.b.2d.b32.trap {%r2}, [%rd1, {%r1, %r1}];
	sust.b.2d.b32.trap [%rd1, {%r1, %r1}], {%r2};
	sust.b.1d.b32.trap [%rd1, {%r1}], %r2;
	ret;
}";
        assert!(crate::parse("copy.ptx", text).is_ok());
    }
}
