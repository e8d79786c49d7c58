//! Keeps requests for the report, if the launch asks for them: those of the lanes whose access is
//! possible. It changes only what is kept.

use ptx::Space;

use crate::address::Access;
use crate::coalesce::CopyAccesses;
use crate::instruction::AccessKind;
use crate::instruction::InstructionClass;
use crate::machine::state::{At, AtLane, Warp, Worker};
use crate::program::MemoryOperation;
use crate::request::{Mechanism, Request, RequestedMemory, Run};
use crate::tensor_map::Piece;
use crate::texture::Touched;

/// A request is about to be made, in one state space.
pub(super) fn request(worker: &Worker, warp: &Warp, operation: &MemoryOperation, space: Space, access: &Access) {
    if let Some(memory) = requested(space)
        && watches(worker, warp, space)
    {
        keep(worker, warp, operation.place, memory, access, Mechanism::Plain(operation.hint));
    }
}

/// `cp.async`: a read and a write.
pub(in crate::machine) fn copy(worker: &Worker, warp: &Warp, copy: &CopyAccesses, place: u32) {
    if !watches(worker, warp, Space::Global) {
        return;
    }
    let sides = [(RequestedMemory::Global, &copy.from, &copy.to), (RequestedMemory::Shared, &copy.to, &copy.from)];
    for (memory, side, other) in sides.into_iter().filter(|(_, side, _)| side.mask != 0) {
        let (mask, addresses) = (other.mask, Box::new(*other.addresses));
        let mechanism = Mechanism::Copy { mask, addresses, fills: copy.fills, at_l2_only: copy.at_l2_only };
        keep(worker, warp, place, memory, side, mechanism);
    }
}

/// `ldmatrix`, `stmatrix`.
pub(in crate::machine) fn rows(worker: &Worker, warp: &Warp, access: &Access, matrices: usize, place: u32) {
    if access.mask != 0 && watches(worker, warp, Space::Shared) {
        keep(worker, warp, place, RequestedMemory::Shared, access, Mechanism::Rows(matrices as u32));
    }
}

/// A lane's bulk copy, with these pieces of global memory.
pub(in crate::machine) fn bulk(worker: &Worker, warp: &Warp, kind: AccessKind, pieces: &[Piece], at: AtLane) {
    let AtLane { lane, place } = at;
    let Some(first) = pieces.first().filter(|_| watches(worker, warp, Space::Global)) else { return };
    let run = |piece: &Piece| Run { lane: lane as u8, address: piece.address, bytes: piece.bytes };
    let mechanism = Mechanism::Bulk(pieces.iter().map(run).collect());
    let addresses = [first.address; 32];
    let access = Access::new(1 << lane, &addresses, first.bytes);
    keep_as(worker, warp, (place, kind), RequestedMemory::Global, &access, mechanism);
}

/// Elements of a texture or surface, of this many bytes each, sorted.
pub(in crate::machine) fn elements(
    worker: &Worker,
    warp: &Warp,
    memory: RequestedMemory,
    (width, touched): (u32, &[Touched]),
    at: At,
) {
    let Some(recorder) = &worker.launched.recorder else { return };
    if touched.is_empty() || !recorder.keeps(worker.block.number, warp.index) {
        return;
    }
    let mut addresses = [0; 32];
    for element in touched.iter().rev() {
        addresses[element.lane as usize & 31] = element.layout_address();
    }
    let access = Access::new(at.mask, &addresses, width);
    keep(worker, warp, at.place, memory, &access, Mechanism::Elements(touched.to_vec()));
}

/// Whether the recorder takes requests of a warp to a state space.
#[inline(always)]
pub(super) fn watches(worker: &Worker, warp: &Warp, space: Space) -> bool {
    let Some(recorder) = &worker.launched.recorder else { return false };
    recorder.watches(worker.block.number, warp.index, space)
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
fn keep(worker: &Worker, warp: &Warp, place: u32, memory: RequestedMemory, access: &Access, mechanism: Mechanism) {
    let kind = match worker.launched.code.places.get(place as usize).map(|info| info.class) {
        Some(InstructionClass::Access(kind) | InstructionClass::Surface(kind)) => kind,
        _ => AccessKind::Load,
    };
    keep_as(worker, warp, (place, kind), memory, access, mechanism);
}

fn keep_as(
    worker: &Worker,
    warp: &Warp,
    (instruction, kind): (u32, AccessKind),
    memory: RequestedMemory,
    access: &Access,
    mechanism: Mechanism,
) {
    let Some(recorder) = &worker.launched.recorder else { return };
    recorder.keep(Request {
        instruction,
        kind,
        memory,
        block: worker.block.number,
        position: worker.block.position,
        warp: warp.index,
        step: warp.executed,
        mask: access.mask,
        width: access.width,
        addresses: *access.addresses,
        mechanism,
    });
}
