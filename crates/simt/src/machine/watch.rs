//! Keeps requests for the report, if the launch asks for them. Instructions call it with the lanes
//! whose access is possible, where they count it; without [`Launch::watch`](crate::Launch::watch),
//! that is a branch at most. It changes only what is kept.

use ptx::Space;

use crate::address::Access;
use crate::coalesce::CopyAccesses;
use crate::instruction::AccessKind;
use crate::instruction::InstructionClass;
use crate::lanes::WideRow;
use crate::machine::state::{At, AtLane, Attempt, Block, ReportsTo, RunningLaunch, Warp, Worker};
use crate::machine::{access, counted};
use crate::model::CacheHint;
use crate::program::{Atomic, CountedAs};
use crate::request::{Path, Request, RequestedMemory, Run};
use crate::tensor_map::Piece;
use crate::texture::Touched;

/// Makes a load or a store, and keeps its requests.
#[cold]
#[inline(never)]
pub(super) fn around<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    (requests, hint): (&[CountedAs], CacheHint),
    at: At,
    make: impl FnOnce(&mut Worker<'l>, &mut Warp<'l>) -> Attempt,
) -> Attempt {
    // It may load its own addresses.
    let addresses = counted::all_addresses(warp, requests, at);
    worker.possible = at.mask;
    make(worker, warp)?;
    let Worker { launched, block, possible, .. } = &*worker;
    for (&CountedAs { reach, width }, addresses) in requests.iter().zip(&addresses) {
        let watched = Watched { space: reach.space, width, hint, mask: *possible, addresses };
        access_at(launched, block, warp, watched, at.counter);
    }
    Ok(())
}

/// An atomic operation.
#[inline(always)]
pub(super) fn atomic(worker: &Worker, warp: &Warp, operation: &Atomic, at: At) {
    if worker.reports_to == ReportsTo::Recorder {
        let (reach, width) = (&operation.reach, operation.width());
        let addresses = access::addresses(warp, reach, at.split);
        let Worker { launched, block, .. } = worker;
        let (hint, mask) = (CacheHint::Bypass, counted::lanes_of(operation.combined.one_lane, at.mask));
        let watched = Watched { space: reach.space, width, hint, mask, addresses: &addresses };
        access_at(launched, block, warp, watched, at.counter);
    }
}

/// An access at known addresses.
pub(super) struct Watched<'a> {
    pub space: Space,
    /// Bytes a lane.
    pub width: u32,
    pub hint: CacheHint,
    pub mask: u32,
    pub addresses: &'a WideRow,
}

/// Any other access.
pub(super) fn access_at(launched: &RunningLaunch, block: &Block, warp: &Warp, access: Watched, counter: u32) {
    let Watched { space, width, hint, mask, addresses } = access;
    if mask == 0 || !watched(launched, block, warp) {
        return;
    }
    // No access is rejected here.
    let _ = access::by_space(space, block.rank, mask, addresses, &mut |space, mask, addresses| {
        if let Some(memory) = requested(space) {
            let access = Access::new(mask, addresses, width);
            keep(launched, request(launched, block, warp, counter, memory, &access, Path::Plain(hint)));
        }
        Ok(())
    });
}

/// `cp.async`: a read and a write.
pub(super) fn copy(worker: &Worker, warp: &Warp, copy: &CopyAccesses, counter: u32) {
    let Worker { launched, block, .. } = worker;
    if !watched(launched, block, warp) {
        return;
    }
    let sides = [(RequestedMemory::Global, &copy.from, &copy.to), (RequestedMemory::Shared, &copy.to, &copy.from)];
    for (memory, side, other) in sides.into_iter().filter(|(_, side, _)| side.mask != 0) {
        let (mask, addresses) = (other.mask, Box::new(*other.addresses));
        let path = Path::Copy { mask, addresses, fills: copy.fills, at_l2_only: copy.at_l2_only };
        keep(launched, request(launched, block, warp, counter, memory, side, path));
    }
}

/// `ldmatrix`, `stmatrix`.
pub(super) fn rows(worker: &Worker, warp: &Warp, access: &Access, matrices: usize, counter: u32) {
    let Worker { launched, block, .. } = worker;
    if access.mask != 0 && watched(launched, block, warp) {
        let path = Path::Rows(matrices as u32);
        keep(launched, request(launched, block, warp, counter, RequestedMemory::Shared, access, path));
    }
}

/// A lane's bulk copy, with these pieces of global memory.
pub(super) fn bulk(worker: &Worker, warp: &Warp, kind: AccessKind, pieces: &[Piece], at: AtLane) {
    let (Worker { launched, block, .. }, AtLane { lane, counter }) = (worker, at);
    let Some(first) = pieces.first().filter(|_| watched(launched, block, warp)) else { return };
    let run = |piece: &Piece| Run { lane: lane as u8, address: piece.address, bytes: piece.bytes };
    let path = Path::Bulk(pieces.iter().map(run).collect());
    let addresses = [first.address; 32];
    let access = Access::new(1 << lane, &addresses, first.bytes);
    let request = request(launched, block, warp, counter, RequestedMemory::Global, &access, path);
    keep(launched, Request { kind, ..request });
}

/// Elements of a texture or surface, of this many bytes each, sorted.
pub(super) fn elements(
    worker: &Worker,
    warp: &Warp,
    memory: RequestedMemory,
    (width, touched): (u32, &[Touched]),
    at: At,
) {
    let Worker { launched, block, .. } = worker;
    if touched.is_empty() || !watched(launched, block, warp) {
        return;
    }
    let mut addresses = [0; 32];
    for element in touched.iter().rev() {
        addresses[element.lane as usize & 31] = element.layout_address();
    }
    let access = Access::new(at.mask, &addresses, width);
    keep(launched, request(launched, block, warp, at.counter, memory, &access, Path::Elements(touched.to_vec())));
}

fn watched(launched: &RunningLaunch, block: &Block, warp: &Warp) -> bool {
    launched.recorder.as_ref().is_some_and(|recorder| recorder.watches(block.number, warp.index))
}

/// The memory that a state space is in, if accesses to it are counted.
fn requested(space: Space) -> Option<RequestedMemory> {
    match space {
        Space::Global => Some(RequestedMemory::Global),
        Space::Local => Some(RequestedMemory::Local),
        Space::Constant => Some(RequestedMemory::Constant),
        Space::Shared => Some(RequestedMemory::Shared),
        Space::ClusterShared => Some(RequestedMemory::Distributed),
        Space::Generic | Space::Parameter => None,
    }
}

/// Keeps the request of an instruction.
fn keep(launched: &RunningLaunch, request: Request) {
    if let Some(recorder) = &launched.recorder {
        recorder.keep(request);
    }
}

fn request(
    launched: &RunningLaunch,
    block: &Block,
    warp: &Warp,
    counter: u32,
    memory: RequestedMemory,
    access: &Access,
    path: Path,
) -> Request {
    let kind = match launched.code.places.get(counter as usize).map(|info| info.class) {
        Some(InstructionClass::Access(kind) | InstructionClass::Surface(kind)) => kind,
        _ => AccessKind::Load,
    };
    Request {
        instruction: counter,
        kind,
        memory,
        block: block.number,
        position: block.position,
        warp: warp.index,
        step: warp.executed,
        mask: access.mask,
        width: access.width,
        addresses: *access.addresses,
        path,
    }
}
