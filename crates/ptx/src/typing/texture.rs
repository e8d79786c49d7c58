//! Types texture instructions: `tex`, `tld4`, `txq` and `suq`.

use super::context::Context;
use super::names::{Resolved, Width};
use crate::Type::*;
use crate::errors::{InstructionError, NameError, NameKind, OperandError, Parsed, fault};
use crate::syntax::operands::{Name, Raw, RawOperand};
use crate::{
    Fetch, FromName as _, Geometry, Kind, Level, Opaque, Operand, Symbol, TexelPosition, TextureFetch, TextureOp,
    TextureQuery, Type,
};

/// The geometries that all instructions have.
const GEOMETRIES: [Geometry; 5] =
    [Geometry::Line, Geometry::Plane, Geometry::Volume, Geometry::LineArray, Geometry::PlaneArray];

/// The geometries that only `tex` has.
const CUBES: [Geometry; 2] = [Geometry::Cube, Geometry::CubeArray];

/// How an instruction selects the level.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Base,
    Level,
    Gradient,
}

/// `tex{.base|.level|.grad}.geometry.v4.type.type d{|p}, [texture{, sampler}, coordinates]{,
/// level}{, offset};`
pub(super) fn fetch(c: &mut Context<'_, '_>) -> Parsed<TextureOp> {
    let forms = [("base", Form::Base), ("level", Form::Level), ("grad", Form::Gradient)];
    let form = c.choose(&forms).unwrap_or(Form::Base);
    let geometry = match c.choose_of(&CUBES) {
        Some(cube) => cube,
        None => geometry(c)?,
    };
    let pairs = c.require(&[("v4", false), ("v2", true)], "`.v4`, or `.v2` for `.f16x2`")?;
    let ty = c.ty_of(if pairs { &[F16x2] } else { &[U32, S32, F32, F16] })?;
    let is_cube = matches!(geometry, Geometry::Cube | Geometry::CubeArray);
    let coordinates = c.ty_of(if form == Form::Gradient || is_cube { &[F32] } else { &[S32, F32] })?;
    let levels = match form {
        Form::Base => 0,
        Form::Level => 1,
        Form::Gradient => 2,
    };
    c.operands_between(2 + levels..=3 + levels)?;
    let level = match form {
        Form::Base => Level::Base,
        Form::Level => Level::At(c.src(2, coordinates)?),
        Form::Gradient => Level::Gradient(vector(c, 2, geometry, F32)?, vector(c, 3, geometry, F32)?),
    };
    texture_fetch(c, Fetch::Sample, ty, (geometry, coordinates), level, if pairs { 2 } else { 4 })
}

/// `tld4.component.geometry.v4.type.f32 d{|p}, [texture{, sampler}, coordinates]{, offset};`
pub(super) fn gather(c: &mut Context<'_, '_>) -> Parsed<TextureOp> {
    let component = c.require(&[("r", 0), ("g", 1), ("b", 2), ("a", 3)], "a component such as `.r`")?;
    let geometry = geometry(c)?;
    if !matches!(geometry, Geometry::Plane | Geometry::PlaneArray) {
        return c.misplaced_modifier();
    }
    c.require(&[("v4", ())], "`.v4`")?;
    let ty = c.ty_of(&[U32, S32, F32])?;
    let coordinates = c.ty_of(&[F32])?;
    c.operands_between(2..=3)?;
    texture_fetch(c, Fetch::Gather(component), ty, (geometry, coordinates), Level::Base, 4)
}

pub(super) fn geometry(c: &mut Context<'_, '_>) -> Parsed<Geometry> {
    if let Some("cube" | "acube" | "2dms" | "a2dms") = c.modifier() {
        return fault(c.name_span(), InstructionError::Unsupported(c.name()));
    }
    c.require_of(&GEOMETRIES, "a geometry such as `.2d`")
}

/// The operands that `tex` and `tld4` share.
fn texture_fetch(
    c: &mut Context<'_, '_>,
    fetch: Fetch,
    ty: Type,
    (geometry, coordinates): (Geometry, Type),
    level: Level,
    results: usize,
) -> Parsed<TextureOp> {
    let operand = c.raw(0);
    let (parts, resident) = match &operand.raw {
        Raw::VectorAndPredicate(parts, predicate) => (parts.clone(), *predicate),
        _ => (c.parts(0, results)?, None),
    };
    if parts.len() != results {
        return fault(operand.span, OperandError::VectorLength { expected: results, found: parts.len() });
    }
    let dsts = parts.iter().map(|part| c.destination(part, ty, Width::Exact)).collect::<Parsed<_>>()?;
    let resident = match resident {
        Some(name) => Some(c.predicate_named(&name)?.register),
        None => None,
    };
    let (texture, sampler, position) = element(c, 1, geometry, coordinates, TextureReference, true)?;
    let first = match level {
        Level::Base => 2,
        Level::At(_) => 3,
        Level::Gradient(..) => 4,
    };
    let mut offset = Vec::new();
    if c.count() > first {
        if !matches!(c.raw(first).raw, Raw::Vector(_)) && geometry.dimensions() > 1 {
            // A depth to compare with: depth textures are not represented.
            return fault(c.name_span(), InstructionError::Unsupported(format!("{} with a depth", c.name())));
        }
        offset = vector(c, first, geometry, S32)?;
    }
    let fetch = TextureFetch { fetch, ty, dsts, resident, texture, sampler, position, level, offset };
    Ok(TextureOp::Fetch(Box::new(fetch)))
}

/// Operand `index`: one value for each dimension of the geometry. A fourth after three is ignored.
fn vector(c: &mut Context<'_, '_>, index: usize, geometry: Geometry, ty: Type) -> Parsed<Vec<Operand>> {
    let operand = c.raw(index);
    let count = geometry.dimensions();
    let parts: &[RawOperand<'_>] = match &operand.raw {
        Raw::Vector(parts) => parts,
        _ => std::slice::from_ref(operand),
    };
    let wanted = if count == 3 { 4 } else { count };
    if parts.len() != wanted && parts.len() != count {
        return fault(operand.span, OperandError::VectorLength { expected: wanted, found: parts.len() });
    }
    parts.iter().take(count).map(|part| c.source(part, ty, Width::Exact)).collect()
}

/// Operand `index`: `[object{, sampler}, coordinates]`.
pub(super) fn element(
    c: &mut Context<'_, '_>,
    index: usize,
    geometry: Geometry,
    ty: Type,
    kind: Type,
    may_sample: bool,
) -> Parsed<(Opaque, Option<Opaque>, TexelPosition)> {
    let operand = c.raw(index);
    let (name, rest) = match &operand.raw {
        Raw::Element(name, rest) => (name, rest.as_slice()),
        other => {
            let expected = "an object and coordinates in brackets";
            return fault(operand.span, OperandError::Kind { expected, found: other.describe() });
        }
    };
    let object = opaque(c, name, kind)?;
    let (sampler, coordinates) = match rest {
        [coordinates] => (None, coordinates),
        [RawOperand { raw: Raw::Name(sampler), .. }, coordinates] if may_sample => {
            (Some(opaque(c, sampler, SamplerReference)?), coordinates)
        }
        _ => {
            let expected = "an object and coordinates in brackets";
            return fault(operand.span, OperandError::Kind { expected, found: "more" });
        }
    };
    let parts: &[RawOperand<'_>] = match &coordinates.raw {
        Raw::Vector(parts) => parts,
        _ => std::slice::from_ref(coordinates),
    };
    let (layers, count) = (usize::from(geometry.is_layered()), geometry.dimensions());
    // Vectors have 1, 2 or 4 parts; parts that are left over are ignored.
    let wanted = (layers + count).next_power_of_two();
    if parts.len() != wanted && parts.len() != layers + count {
        return fault(coordinates.span, OperandError::VectorLength { expected: wanted, found: parts.len() });
    }
    let layer = match parts.first() {
        Some(part) if layers == 1 => Some(c.source(part, B32, Width::Exact)?),
        _ => None,
    };
    let values = parts[layers..].iter().take(count).map(|part| c.source(part, ty, Width::Exact));
    let coordinates = values.collect::<Parsed<_>>()?;
    Ok((object, sampler, TexelPosition { geometry, layer, coordinates, ty }))
}

/// An opaque object by name: a variable of type `kind`, or a register with a handle.
fn opaque<'t>(c: &mut Context<'_, 't>, name: &Name<'t>, kind: Type) -> Parsed<Opaque> {
    let text = name.text.to_owned();
    match c.resolve(name)? {
        Resolved::Symbol(Symbol::Variable(variable)) => {
            let found = c.environment.module.variables[variable].ty;
            if found != kind {
                return fault(name.span, OperandError::Type { name: text, found, expected: kind });
            }
            Ok(Opaque::Variable(variable))
        }
        Resolved::Register(register) => {
            let found = c.environment.function.registers[register].ty;
            if found.bits() != 64 || !matches!(found.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed) {
                return fault(name.span, OperandError::Type { name: text, found, expected: B64 });
            }
            Ok(Opaque::Register(register))
        }
        _ => fault(
            name.span,
            NameError::WrongKind { name: text, expected: NameKind::Variable, found: NameKind::SpecialRegister },
        ),
    }
}

/// Operand `index`: a texture, sampler or surface alone in brackets.
fn object(c: &mut Context<'_, '_>, index: usize, kind: Type) -> Parsed<Opaque> {
    let operand = c.raw(index);
    match &operand.raw {
        Raw::Memory(Some(name), 0) => opaque(c, name, kind),
        other => {
            let expected = "a texture, sampler or surface in brackets";
            fault(operand.span, OperandError::Kind { expected, found: other.describe() })
        }
    }
}

/// `txq{.level}.what.b32 d, [texture]{, level};`, `suq.what.b32 d, [surface];`
pub(super) fn query(c: &mut Context<'_, '_>) -> Parsed<TextureOp> {
    use TextureQuery::*;
    let of_surface = c.opcode() == "suq";
    let has_level = !of_surface && c.accept("level");
    let allowed = |what: &TextureQuery| match what {
        Width | Height | Depth => true,
        ChannelDataType | ChannelOrder | ArraySize => !has_level,
        MemoryLayout => of_surface,
        NormalizedCoordinates | MipmapLevels | Samples | ForceUnnormalizedCoordinates | FilterMode | AddressMode(_) => {
            !of_surface && !has_level
        }
    };
    let what = match c.take_first(|name| TextureQuery::from_name(name).filter(allowed)) {
        Some(what) => what,
        None => c.require(&[], "what to ask for, such as `.width`")?,
    };
    let ty = c.ty_of(&[B32])?;
    c.operands(if has_level { 3 } else { 2 })?;
    let dst = c.dst(0, ty)?;
    let kind = match what {
        _ if of_surface => SurfaceReference,
        FilterMode | AddressMode(_) | ForceUnnormalizedCoordinates => SamplerReference,
        _ => TextureReference,
    };
    let object = object(c, 1, kind)?;
    let level = if has_level { Some(c.src(2, B32)?) } else { None };
    Ok(TextureOp::Query { what, of_surface, dst, object, level })
}
