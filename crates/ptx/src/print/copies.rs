//! The text of copies that run beside the thread, and of the barriers that count them.

use super::memory::{block_or, keeps_subnormals};
use super::text::Text;
use crate::{
    Address, AsyncCopy, AsyncStore, AtomicOp, BulkCopy, MbarrierAction, MbarrierPhase, Space, TensorCopy, TensorField,
    TensorMode, TensorTransfer,
};

/// How a barrier counts the bytes.
const COUNTED: &str = "mbarrier::complete_tx::bytes";

/// `cp.async.ca.shared.global [d], [s], 16, source bytes or predicate`
pub(super) fn by_thread<'m>(text: Text<'m>, copy: &AsyncCopy) -> Text<'m> {
    let text = text.op("cp.async").dot(if copy.at_l2_only { "cg" } else { "ca" }).dot("shared.global");
    let text = text.arg(copy.dst).arg(copy.src).number(copy.bytes);
    text.each(copy.source_bytes).each(copy.ignore_source)
}

/// `cp.async.bulk...`, `cp.reduce.async.bulk...`
pub(super) fn bulk<'m>(text: Text<'m>, copy: &BulkCopy) -> Text<'m> {
    let text = text.op(if copy.reduction.is_some() { "cp.reduce.async.bulk" } else { "cp.async.bulk" });
    let text = text.dot(block_or(copy.to)).dot(block_or(copy.from));
    let text = text.dot(if copy.barrier.is_some() { COUNTED } else { "bulk_group" });
    let text = text.when(copy.blocks.is_some(), "multicast::cluster");
    let text = match copy.reduction {
        Some((op, ty)) => text.dot(op.name()).when(op == AtomicOp::Add && keeps_subnormals(ty), "noftz").ty(ty),
        None => text,
    };
    let text = text.arg(copy.dst).arg(copy.src).arg(copy.bytes);
    copy.barrier.iter().fold(text, Text::arg).each(copy.blocks)
}

/// `st.async...`, `red.async...`
pub(super) fn store<'m>(text: Text<'m>, store: &AsyncStore) -> Text<'m> {
    let text = text.op(if store.op.is_some() { "red.async.relaxed.cluster" } else { "st.async" });
    let text = text.dot(store.space.name()).dot(COUNTED).dot(store.op.map_or("", AtomicOp::name));
    let text = text.lanes(store.srcs.len()).ty(store.ty);
    text.arg(store.address).args(&store.srcs).arg(store.barrier)
}

/// `cp.async.bulk.tensor...`, `cp.reduce.async.bulk.tensor...`
pub(super) fn tensor<'m>(text: Text<'m>, copy: &TensorCopy) -> Text<'m> {
    let rank = format!("{}d", copy.coordinates.len());
    let offsets = match &copy.mode {
        TensorMode::Tile => None,
        TensorMode::ImageToColumn { offsets } => Some(offsets),
    };
    match &copy.transfer {
        TensorTransfer::Load { dst, space, barrier, blocks } => {
            let text = text.op("cp.async.bulk.tensor").dot(&rank).dot(block_or(*space)).dot("global");
            let text = text.when(offsets.is_some(), "im2col").dot(COUNTED);
            let text = text.when(blocks.is_some(), "multicast::cluster").arg(dst);
            let text = text.element([copy.map.base], &copy.coordinates).arg(barrier);
            offsets.into_iter().fold(text, |text, offsets| text.vector(offsets)).each(blocks)
        }
        TensorTransfer::Store { src, reduction } => {
            let text = text.op(if reduction.is_some() { "cp.reduce" } else { "cp" }).dot("async.bulk.tensor");
            let text = text.dot(&rank).dot("global.shared::cta").dot(reduction.map_or("", AtomicOp::name));
            let text = text.when(offsets.is_some(), "im2col_no_offs").dot("bulk_group");
            text.element([copy.map.base], &copy.coordinates).arg(src)
        }
    }
}

/// `tensormap.replace...`, up to the value.
pub(super) fn replace_field<'m>(text: Text<'m>, space: Space, field: TensorField, address: &Address) -> Text<'m> {
    let (name, dimension, ty) = match field {
        TensorField::GlobalAddress => ("global_address", None, "b64"),
        TensorField::Rank => ("rank", None, "b32"),
        TensorField::BoxDimension(dimension) => ("box_dim", Some(dimension), "b32"),
        TensorField::GlobalDimension(dimension) => ("global_dim", Some(dimension), "b32"),
        TensorField::GlobalStride(dimension) => ("global_stride", Some(dimension), "b64"),
        TensorField::ElementStride(dimension) => ("element_stride", Some(dimension), "b32"),
        TensorField::ElementType => ("elemtype", None, "b32"),
        TensorField::InterleaveLayout => ("interleave_layout", None, "b32"),
        TensorField::SwizzleMode => ("swizzle_mode", None, "b32"),
        TensorField::FillMode => ("fill_mode", None, "b32"),
    };
    let text = text.op("tensormap.replace.tile").dot(name).dot(block_or(space)).dot("b1024").dot(ty).arg(address);
    dimension.into_iter().fold(text, Text::number)
}

/// `mbarrier...`
pub(super) fn mbarrier<'m>(text: Text<'m>, action: &MbarrierAction, space: Space, address: &Address) -> Text<'m> {
    let text = text.op("mbarrier");
    let shape = |text: Text<'m>| text.dot(space.name()).dot("b64");
    match action {
        MbarrierAction::Initialize { count } => shape(text.dot("init")).arg(address).arg(count),
        MbarrierAction::Invalidate => shape(text.dot("inval")).arg(address),
        MbarrierAction::Expect { bytes } => shape(text.dot("expect_tx")).arg(address).arg(bytes),
        MbarrierAction::Complete { bytes } => shape(text.dot("complete_tx")).arg(address).arg(bytes),
        MbarrierAction::Arrive(arrival) => {
            let text = text.dot(if arrival.drops { "arrive_drop" } else { "arrive" });
            let text = text.when(arrival.expect.is_some(), "expect_tx").when(arrival.never_completes, "noComplete");
            let text = shape(text).arg(arrival.state).arg(address);
            text.each(arrival.count).each(arrival.expect)
        }
        MbarrierAction::Test(test) => {
            let (by_parity, phase) = match &test.phase {
                MbarrierPhase::State(state) => (false, state),
                MbarrierPhase::Parity(parity) => (true, parity),
            };
            shape(text.dot("test_wait").when(by_parity, "parity")).arg(test.dst).arg(address).arg(phase)
        }
    }
}
