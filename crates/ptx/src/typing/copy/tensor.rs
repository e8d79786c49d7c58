//! Types copies of boxes of tensors by the copy engine, and changes of tensor maps:
//! `cp.async.bulk.tensor`, `tensormap`.

use crate::Type::*;
use crate::errors::{InstructionError, OperandError, Parsed, fault};
use crate::syntax::operands::Raw;
use crate::typing::atomic;
use crate::typing::context::Context;
use crate::typing::memory::{map_bytes, operands_and_policy};
use crate::typing::names::Width;
use crate::{Address, AsyncOp, Op, Operand, Scope, Space, TensorCopy, TensorField, TensorMode, TensorTransfer, Type};

/// How a barrier counts the bytes.
pub(in crate::typing) const COUNTS_BYTES: [(&str, ()); 1] = [("mbarrier::complete_tx::bytes", ())];

/// The most dimensions of a tensor.
const MOST_DIMENSIONS: u64 = 5;

/// Whether a copy is of pixels in a column, and with which modifier.
#[derive(Clone, Copy, PartialEq)]
enum Columns {
    No,
    WithOffsets,
    WithoutOffsets,
}

/// `cp{.reduce}.async.bulk{.prefetch}.tensor...`; `.async.bulk` and `.reduce` are taken
pub(in crate::typing) fn copy(c: &mut Context<'_, '_>, reduces: bool) -> Parsed<Op> {
    c.accept("tensor");
    let ranks = [("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)];
    let rank: usize = c.require(&ranks, "a number of dimensions such as `.2d`")?;
    if !reduces && c.accept("prefetch") {
        return prefetch(c, rank);
    }
    let spaces = [("shared::cluster", Space::ClusterShared), ("shared::cta", Space::Shared), ("global", Space::Global)];
    let to = c.require(&spaces, "where to, such as `.shared::cluster`")?;
    let from = c.require(&spaces, "where from, such as `.global`")?;
    match (to, from) {
        (Space::Global, Space::Shared) => store(c, rank, reduces),
        (Space::ClusterShared | Space::Shared, Space::Global) if !reduces => load(c, rank, to),
        _ => c.misplaced_modifier(),
    }
}

/// `cp.async.bulk.tensor.2d.shared::cluster.global{.tile|.im2col}.mbarrier::complete_tx::bytes{.multicast::cluster}{.L2::cache_hint}
/// [d], [map, {x, y}], [barrier]{, {offsets}}{, blocks}{, policy};`
fn load(c: &mut Context<'_, '_>, rank: usize, space: Space) -> Parsed<Op> {
    let columns = columns(c, rank, ("im2col", Columns::WithOffsets))?;
    c.require(&COUNTS_BYTES, "`.mbarrier::complete_tx::bytes`")?;
    let multicasts = space == Space::ClusterShared && c.accept("multicast::cluster");
    let has_policy = c.accept("L2::cache_hint");
    let has_offsets = columns == Columns::WithOffsets;
    operands_and_policy(c, 3 + usize::from(has_offsets) + usize::from(multicasts), has_policy)?;
    let (map, coordinates) = element(c, 1, rank)?;
    let (dst, barrier) = (c.address(0, space)?, c.address(2, space)?);
    let mode = mode(c, columns, 3, rank)?;
    let blocks = if multicasts { Some(c.src(3 + usize::from(has_offsets), B16)?) } else { None };
    let transfer = TensorTransfer::Load { dst, space, barrier, blocks };
    Ok(Op::Async(AsyncOp::TensorCopy(Box::new(TensorCopy { map, coordinates, mode, transfer }))))
}

/// `cp{.reduce}.async.bulk.tensor.2d.global.shared::cta{.op}{.tile|.im2col_no_offs}.bulk_group{.L2::cache_hint}
/// [map, {x, y}], [s] {, policy};`
fn store(c: &mut Context<'_, '_>, rank: usize, reduces: bool) -> Parsed<Op> {
    let reduction = if reduces { Some(atomic::operation(c, true)?) } else { None };
    let columns = columns(c, rank, ("im2col_no_offs", Columns::WithoutOffsets))?;
    c.require(&[("bulk_group", ())], "`.bulk_group`")?;
    let has_policy = c.accept("L2::cache_hint");
    operands_and_policy(c, 2, has_policy)?;
    let (map, coordinates) = element(c, 0, rank)?;
    let transfer = TensorTransfer::Store { src: c.address(1, Space::Shared)?, reduction };
    let mode = mode(c, columns, 0, rank)?;
    Ok(Op::Async(AsyncOp::TensorCopy(Box::new(TensorCopy { map, coordinates, mode, transfer }))))
}

/// `cp.async.bulk.prefetch.tensor.2d.L2.global{.tile|.im2col}{.L2::cache_hint} [map, {x, y}]{,
/// {offsets}}{, policy};`
fn prefetch(c: &mut Context<'_, '_>, rank: usize) -> Parsed<Op> {
    c.require(&[("L2", ())], "`.L2`")?;
    c.require(&[("global", ())], "`.global`")?;
    let columns = columns(c, rank, ("im2col", Columns::WithOffsets))?;
    let has_policy = c.accept("L2::cache_hint");
    operands_and_policy(c, 1 + usize::from(columns == Columns::WithOffsets), has_policy)?;
    let (address, _) = element(c, 0, rank)?;
    mode(c, columns, 1, rank)?;
    Ok(Op::Prefetch { space: Space::Generic, address })
}

/// `.tile`, or the modifier by which this instruction requests pixels in a column.
fn columns(c: &mut Context<'_, '_>, rank: usize, (name, columns): (&'static str, Columns)) -> Parsed<Columns> {
    const NEWER: [&str; 7] = [
        "tile::gather4",
        "tile::scatter4",
        "im2col::w",
        "im2col::w::128",
        "cta_group::1",
        "cta_group::2",
        "override::global_address",
    ];
    if NEWER.iter().any(|newer| c.has_modifier(newer)) {
        return fault(c.name_span(), InstructionError::Unsupported(c.name()));
    }
    let found = c.choose(&[("tile", Columns::No), (name, columns)]).unwrap_or(Columns::No);
    // Images have channels, one to three dimensions, and an image number.
    if found != Columns::No && rank < 3 { c.misplaced_modifier() } else { Ok(found) }
}

/// How the box is traversed, with the offsets in operand `index`.
fn mode(c: &mut Context<'_, '_>, columns: Columns, index: usize, rank: usize) -> Parsed<TensorMode> {
    Ok(match columns {
        Columns::No => TensorMode::Tile,
        Columns::WithoutOffsets => TensorMode::ImageToColumn { offsets: Vec::new() },
        Columns::WithOffsets => {
            let operand = c.raw(index);
            let Raw::Vector(parts) = &operand.raw else {
                let (expected, found) = ("offsets in braces", operand.raw.describe());
                return fault(operand.span, OperandError::Kind { expected, found });
            };
            if parts.len() != rank - 2 {
                return fault(operand.span, OperandError::VectorLength { expected: rank - 2, found: parts.len() });
            }
            let offsets = parts.iter().map(|part| c.source(part, B16, Width::Exact)).collect::<Parsed<_>>()?;
            TensorMode::ImageToColumn { offsets }
        }
    })
}

/// Operand `index`: `[map, {x, y}]`.
fn element(c: &mut Context<'_, '_>, index: usize, rank: usize) -> Parsed<(Address, Vec<Operand>)> {
    let operand = c.raw(index);
    let expected = "a tensor map and coordinates in brackets";
    let Raw::Element(name, rest) = &operand.raw else {
        return fault(operand.span, OperandError::Kind { expected, found: operand.raw.describe() });
    };
    let [coordinates] = rest.as_slice() else {
        return fault(operand.span, OperandError::Kind { expected, found: "more" });
    };
    let Raw::Vector(parts) = &coordinates.raw else {
        let (expected, found) = ("coordinates in braces", coordinates.raw.describe());
        return fault(coordinates.span, OperandError::Kind { expected, found });
    };
    if parts.len() != rank {
        return fault(coordinates.span, OperandError::VectorLength { expected: rank, found: parts.len() });
    }
    let base = c.address_base(name, Space::Generic)?;
    let coordinates = parts.iter().map(|part| c.source(part, S32, Width::Exact)).collect::<Parsed<_>>()?;
    Ok((Address { base, offset: 0 }, coordinates))
}

/// `tensormap.replace...`, `tensormap.cp_fenceproxy...`
pub(in crate::typing) fn map(c: &mut Context<'_, '_>) -> Parsed<Op> {
    if c.require(&[("replace", true), ("cp_fenceproxy", false)], "`.replace` or `.cp_fenceproxy`")? {
        replace(c)
    } else {
        copy_map(c)
    }
}

/// `tensormap.replace.tile.field{.global|.shared::cta}.b1024.type [a]{, dimension}, value;`
fn replace(c: &mut Context<'_, '_>) -> Parsed<Op> {
    /// The operands after the address, and the range of the value.
    #[derive(Clone, Copy)]
    enum Field {
        Plain(TensorField, Type),
        OfDimension(fn(u8) -> TensorField, Type),
        Coded(TensorField, u64),
    }
    if c.environment.module.target_suffix.is_none() {
        return fault(c.name_span(), InstructionError::OtherTarget { instruction: c.name(), target: "sm_90a" });
    }
    if c.has_modifier("swizzle_atomicity") {
        return fault(c.name_span(), InstructionError::Unsupported(c.name()));
    }
    c.require(&[("tile", ())], "`.tile`")?;
    let fields = [
        ("global_address", Field::Plain(TensorField::GlobalAddress, B64)),
        ("rank", Field::Plain(TensorField::Rank, B32)),
        ("box_dim", Field::OfDimension(TensorField::BoxDimension, B32)),
        ("global_dim", Field::OfDimension(TensorField::GlobalDimension, B32)),
        ("global_stride", Field::OfDimension(TensorField::GlobalStride, B64)),
        ("element_stride", Field::OfDimension(TensorField::ElementStride, B32)),
        ("elemtype", Field::Coded(TensorField::ElementType, 12)),
        ("interleave_layout", Field::Coded(TensorField::InterleaveLayout, 2)),
        ("swizzle_mode", Field::Coded(TensorField::SwizzleMode, 3)),
        ("fill_mode", Field::Coded(TensorField::FillMode, 1)),
    ];
    let field = c.require(&fields, "a field such as `.global_address`")?;
    let space = c.choose(&[("global", Space::Global), ("shared::cta", Space::Shared)]).unwrap_or(Space::Generic);
    c.require(&[("b1024", ())], "`.b1024`")?;
    let ty = match field {
        Field::Plain(_, ty) | Field::OfDimension(_, ty) => ty,
        Field::Coded(..) => B32,
    };
    c.ty_of(&[ty])?;
    c.operands(if matches!(field, Field::OfDimension(..)) { 3 } else { 2 })?;
    let address = c.address(0, space)?;
    let (field, value) = match field {
        Field::Plain(field, ty) => (field, c.src(1, ty)?),
        Field::OfDimension(field, ty) => (field(c.immediate(1, MOST_DIMENSIONS - 1)? as u8), c.src(2, ty)?),
        Field::Coded(field, most) => (field, Operand::Integer(c.immediate(1, most)?)),
    };
    Ok(Op::Async(AsyncOp::ReplaceTensorField { space, address, field, value }))
}

/// `tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [d],
/// [s], 128;`
fn copy_map(c: &mut Context<'_, '_>) -> Parsed<Op> {
    c.require(&[("global", ())], "`.global`")?;
    c.require(&[("shared::cta", ())], "`.shared::cta`")?;
    c.require(&[("tensormap::generic", ())], "`.tensormap::generic`")?;
    c.require(&[("release", ())], "`.release`")?;
    let scope = c.require_of(Scope::ALL, "a scope such as `.gpu`")?;
    c.require(&[("sync", ())], "`.sync`")?;
    c.require(&[("aligned", ())], "`.aligned`")?;
    c.operands(3)?;
    map_bytes(c, 2)?;
    let (dst, src) = (c.address(0, Space::Global)?, c.address(1, Space::Shared)?);
    Ok(Op::Async(AsyncOp::CopyTensorMap { dst, src, scope }))
}
