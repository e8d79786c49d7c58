//! Executes `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor` and `tensormap`: copies of boxes
//! of tensors, and changes to the maps that describe these.
//!
//! [`crate::tensor_map`] finds the bytes of a box; [`transit`] moves them like all bulk copies.

use ptx::{AtomicOp, Space, TensorField, Type};

use crate::address::space_name;
use crate::instruction::AccessKind;
use crate::lanes::{Update, WideRow, lanes};
use crate::machine::asynchronous::bulk::reports::{
    Reported, begins, report, report_part, report_pieces, run_of_shared, runs_of_global,
};
use crate::machine::asynchronous::bulk::transit;
use crate::machine::asynchronous::bulk::transit::{Delivery, check_pieces, refused};
use crate::machine::mbarrier::barrier_addresses;
use crate::machine::state::asynchronous::{Arriving, Departing, UNIT};
use crate::machine::state::{At, AtLane, Attempt, Refused, Warp, Worker};
use crate::machine::{access, observe};
use crate::program::{AddressOperand, Fence, SyncScope, TensorCopy, TensorTransfer};
use crate::sanitizer::FindingKind;
use crate::site::AccessAction;
use crate::tensor_map::{
    Corner, Piece, RowBytes, RowLayout, TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES, TensorBox, TensorElement, TensorFault,
    TensorMap, is_of_columns, replace,
};
use crate::timing::Meets;
use crate::trap::TrapKind;

/// The size of a tensor map.
const MAP: u32 = TENSOR_MAP_BYTES as u32;

type MapBytes = [u8; TENSOR_MAP_BYTES];

fn fault(fault: TensorFault, lane: usize) -> Box<Refused> {
    Refused::because(TrapKind::Tensor(fault), lane as u32)
}

/// Begins a copy for each lane.
pub(crate) fn begin<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>, copy: &TensorCopy, at: At) -> Attempt {
    let At { split, mask, place } = at;
    let maps = access::addresses(warp, &copy.map, split);
    let (shared, barriers) = match &copy.transfer {
        TensorTransfer::Load { to, barrier, .. } => {
            let barriers = barrier_addresses(worker, warp, barrier, split, mask, true)?;
            (access::addresses(warp, to, split), Some(barriers))
        }
        TensorTransfer::Store { from, .. } => (access::addresses(warp, from, split), None),
    };
    for lane in lanes(mask) {
        let thread = AtLane { lane, place };
        let (space, address) = access::resolve(copy.map.space, maps[lane], worker.block.rank);
        let Some(bytes) = read_map(worker, warp, space, address, thread)? else { continue };
        let map = TensorMap::decode(&bytes).map_err(|problem| fault(problem, lane))?;
        let of_lane = |rows: &[u32]| rows.iter().map(|&row| warp.registers.word(row)[lane]).collect::<Vec<u32>>();
        let coordinates: Vec<i32> = of_lane(&copy.coordinates).into_iter().map(|bits| bits as i32).collect();
        let offsets = copy.offsets.as_deref().map(of_lane);
        let stores = barriers.is_none();
        let corner = Corner { coordinates: &coordinates, offsets: offsets.as_deref(), shared: shared[lane], stores };
        let part = TensorBox::new(&map, &corner).map_err(|problem| fault(problem, lane))?;
        match (&copy.transfer, &barriers) {
            (TensorTransfer::Load { blocks, .. }, Some(barriers)) => {
                let blocks = blocks.map(|row| warp.registers.word(row)[lane]);
                let target = Target { to: shared[lane], barrier: barriers[lane], blocks };
                load(worker, warp, &part, target, thread)?;
            }
            (TensorTransfer::Store { reduction, .. }, _) => {
                let reduction = match reduction {
                    None => None,
                    Some(op) => Some(reduction_of(*op, map.element).map_err(|problem| fault(problem, lane))?),
                };
                store(worker, warp, part, (shared[lane], reduction), thread)?;
            }
            (TensorTransfer::Load { .. }, None) => {}
        }
    }
    Ok(())
}

/// Where in shared memory a box goes, and which barrier counts it.
struct Target {
    to: u64,
    barrier: u64,
    /// The blocks of the cluster that receive it; `None`: the block of the address.
    blocks: Option<u32>,
}

/// Copies a box to shared memory.
fn load<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    part: &TensorBox,
    Target { to, barrier, blocks }: Target,
    thread: AtLane,
) -> Attempt {
    let mut bytes = part.filled();
    for piece in &part.pieces {
        for access in piece.parts() {
            let Piece { offset, bytes: width, address } = access;
            let range = (offset as usize)..(offset + width) as usize;
            // An invalid read has been reported, and gives zero.
            let mut value = 0;
            if report_part(worker, warp, Space::Global, Reported::Reads, access, thread) {
                let memory = worker.launched.memory;
                let checked = memory.check(address, width, false);
                checked
                    .map_err(|kind| refused(AccessAction::Read, Space::Global, width, address, thread.lane, kind))?;
                value = memory.value(address, width);
            }
            bytes[range].copy_from_slice(&value.to_le_bytes()[..width as usize]);
        }
        part.loaded(&mut bytes[piece.offset as usize..(piece.offset + piece.bytes) as usize]);
    }
    observe::recorder::bulk(worker, warp, AccessKind::Copy, &part.pieces, thread);
    observe::bulk_begins(worker, warp, &part.pieces, thread.place);
    observe::model::bulk(worker, AccessKind::Copy, &part.pieces, transit::receivers(blocks));
    observe::meets(worker, warp, thread.place, barrier, Meets::Joins);
    let what = Arriving { to, barrier, bytes, layout: part.layout, reduction: None, number: 0 };
    transit::deliver(worker, warp, Delivery { what, reads: runs_of_global(&part.pieces), blocks }, thread)
}

/// Copies a box from shared memory.
fn store<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    part: TensorBox,
    (from, reduction): (u64, Option<Update>),
    thread: AtLane,
) -> Attempt {
    let TensorBox { element, pieces, bytes, layout, .. } = part;
    if worker.checker.is_some() {
        // Parts outside the tensor are not read.
        for piece in &pieces {
            let (mut offset, end) = (piece.offset, piece.offset + piece.bytes);
            while offset < end {
                let whole = offset.is_multiple_of(UNIT as u32) && end - offset >= UNIT as u32;
                let width = if whole { UNIT as u32 } else { element.bytes() };
                let part = Piece { address: layout.address(from, offset), offset, bytes: width };
                if !report_part(worker, warp, Space::Shared, Reported::Reads, part, thread) {
                    return Ok(());
                }
                offset += width;
            }
        }
    }
    let source = RowBytes { start: from, bytes, layout };
    let data = transit::read(worker, Space::Shared, source, thread.lane)?;
    let writes = if reduction.is_some() { Reported::Combines } else { Reported::Writes(&data) };
    if report_pieces(worker, warp, writes, &pieces, thread) {
        check_pieces(worker, &pieces, thread.lane)?;
        observe::recorder::bulk(worker, warp, AccessKind::of_bulk_store(reduction.is_some()), &pieces, thread);
        observe::bulk_begins(worker, warp, &pieces, thread.place);
        let runs = (vec![run_of_shared(from, layout.extent(bytes))], runs_of_global(&pieces));
        let number = begins(worker, warp, runs, reduction, thread);
        let departing = Departing { from: source, pieces, reduction, number };
        worker.block.departures.begin(warp.index * 32 + thread.lane as u32, departing);
    }
    Ok(())
}

/// The operation and the type of a reduction of a tensor's elements (PTX ISA,
/// "cp.reduce.async.bulk.tensor").
fn reduction_of(op: AtomicOp, element: TensorElement) -> Result<Update, TensorFault> {
    use TensorElement as Element;
    let ty = match (op, element) {
        (AtomicOp::And | AtomicOp::Or | AtomicOp::Xor, Element::U32 | Element::S32) => Type::B32,
        (AtomicOp::And | AtomicOp::Or | AtomicOp::Xor, Element::U64) => Type::B64,
        (AtomicOp::Add | AtomicOp::Minimum | AtomicOp::Maximum, Element::S32) => Type::S32,
        (AtomicOp::Add | AtomicOp::Minimum | AtomicOp::Maximum, Element::U64) => Type::U64,
        (AtomicOp::Add | AtomicOp::Minimum | AtomicOp::Maximum, Element::F16) => Type::F16,
        (AtomicOp::Add | AtomicOp::Minimum | AtomicOp::Maximum, Element::Bf16) => Type::Bf16,
        (AtomicOp::Minimum | AtomicOp::Maximum, Element::S64) => Type::S64,
        (AtomicOp::Add, Element::F32 | Element::F32Ftz) => Type::F32,
        (
            AtomicOp::Add | AtomicOp::Minimum | AtomicOp::Maximum | AtomicOp::Increment | AtomicOp::Decrement,
            Element::U32,
        ) => Type::U32,
        _ => return Err(TensorFault::Reduction { op, element }),
    };
    // Measured on an H200 (2026-11-21): only the type decides whether subnormal numbers are kept.
    Ok(Update { op, ty, flush: element == Element::F32Ftz })
}

/// The bytes of the tensor map of a copy. `None`: it cannot be read, which has been reported.
fn read_map<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    space: Space,
    address: u64,
    thread: AtLane,
) -> Result<Option<MapBytes>, Box<Refused>> {
    match space {
        Space::Global | Space::Constant => map_bytes(worker, warp, Space::Global, address, Reported::UsesMap, thread),
        Space::Parameter => {
            check_alignment(address, thread.lane)?;
            let parameters = &worker.launched.parameters;
            if let Some(kind) = access::check_parameter(address, MAP / 2, parameters.len() as u64)
                .or_else(|| access::check_parameter(address + u64::from(MAP / 2), MAP / 2, parameters.len() as u64))
            {
                return Err(refused(AccessAction::Read, space, MAP, address, thread.lane, kind));
            }
            let mut bytes = [0; TENSOR_MAP_BYTES];
            bytes.copy_from_slice(&parameters[address as usize..][..TENSOR_MAP_BYTES]);
            Ok(Some(bytes))
        }
        _ => Err(fault(TensorFault::MapSpace { space: space_name(space) }, thread.lane)),
    }
}

fn check_alignment(address: u64, lane: usize) -> Attempt {
    match address.is_multiple_of(TENSOR_MAP_ALIGN) {
        true => Ok(()),
        false => Err(fault(TensorFault::MapAlignment { address }, lane)),
    }
}

fn bytes_of_map(address: u64) -> RowBytes {
    RowBytes { start: address, bytes: MAP, layout: RowLayout::LINEAR }
}

/// The bytes of a tensor map in global memory or the block's own shared memory, read for a copy or
/// by an instruction. `None`: they cannot be read, which has been reported.
fn map_bytes<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    space: Space,
    address: u64,
    how: Reported,
    thread: AtLane,
) -> Result<Option<MapBytes>, Box<Refused>> {
    check_alignment(address, thread.lane)?;
    let map = bytes_of_map(address);
    if !report(worker, warp, space, how, map, thread) {
        return Ok(None);
    }
    let mut bytes = [0; TENSOR_MAP_BYTES];
    bytes.copy_from_slice(&transit::read(worker, space, map, thread.lane)?);
    Ok(Some(bytes))
}

/// Writes a tensor map.
fn put_map<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    space: Space,
    address: u64,
    bytes: &MapBytes,
    thread: AtLane,
) -> Attempt {
    check_alignment(address, thread.lane)?;
    if report(worker, warp, space, Reported::WritesMap(bytes), bytes_of_map(address), thread) {
        let piece = Piece { offset: 0, bytes: MAP, address };
        transit::put(worker, space, &piece, bytes, thread.lane)?;
    }
    Ok(())
}

/// `tensormap.replace`; the value is a wide row or a word.
pub(crate) fn replace_field<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    reach: &AddressOperand,
    (field, value): (TensorField, &WideRow),
    at: At,
) -> Attempt {
    let At { split, mask, place } = at;
    let addresses = access::addresses(warp, reach, split);
    for lane in lanes(mask) {
        let thread = AtLane { lane, place };
        let (space, address) = access::resolve(reach.space, addresses[lane], worker.block.rank);
        if !matches!(space, Space::Global | Space::Shared) {
            return Err(fault(TensorFault::ReplaceSpace { space: space_name(space) }, lane));
        }
        let Some(mut bytes) = map_bytes(worker, warp, space, address, Reported::ReadsMap, thread)? else { continue };
        if is_of_columns(&bytes)
            && let Some(checker) = worker.checker.as_mut().filter(|checker| checker.checks().undefined)
        {
            checker.report(FindingKind::TiledReplacement { space, address }, place, warp.index, lane as u32, None);
        }
        replace(&mut bytes, field, value[lane]).map_err(|problem| fault(problem, lane))?;
        put_map(worker, warp, space, address, &bytes, thread)?;
    }
    Ok(())
}

/// `tensormap.cp_fenceproxy`: the warp copies one map, and releases it.
pub(crate) fn copy_map<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    (to, from): (&AddressOperand, &AddressOperand),
    scope: SyncScope,
    at: At,
) -> Attempt {
    let At { split, mask, place } = at;
    let first = mask.trailing_zeros() as usize & 31;
    let missing = warp.alive & !mask;
    if missing != 0 {
        let kind = TrapKind::IncompleteWarp { missing, absence: warp.absence(missing.trailing_zeros()) };
        return Err(Refused::because(kind, first as u32));
    }
    let (to, from) = (access::addresses(warp, to, split), access::addresses(warp, from, split));
    if let Some(lane) = lanes(mask).find(|&lane| to[lane] != to[first] || from[lane] != from[first]) {
        return Err(Refused::because(TrapKind::NotUniform { what: "the address of a tensor map" }, lane as u32));
    }
    let thread = AtLane { lane: first, place };
    if let Some(bytes) = map_bytes(worker, warp, Space::Shared, from[first], Reported::ReadsMap, thread)? {
        put_map(worker, warp, Space::Global, to[first], &bytes, thread)?;
    }
    observe::fence(worker, warp, mask, &Fence { releases_maps: true, ..Fence::of(scope) });
    Ok(())
}
