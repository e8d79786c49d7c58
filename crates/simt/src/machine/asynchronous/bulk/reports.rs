//! Reports copies of the copy engine to the sanitizer: the bytes that a copy reads and writes, when
//! it begins, and that it is under way from then on.

use ptx::Space;

use crate::instruction::AccessKind;
use crate::lanes::Update;
use crate::machine::observe;
use crate::machine::observe::{Observed, sanitizer};
use crate::machine::state::asynchronous::UNIT;
use crate::machine::state::{AtLane, Warp, Worker};
use crate::program::{MbarrierAccess, MemoryOperation, Path};
use crate::sanitizer::{Operation, Run};
use crate::tensor_map::{Piece, RowBytes};

/// What is reported to the sanitizer about a copy.
#[derive(Clone, Copy)]
pub(crate) enum Reported<'a> {
    Reads,
    /// Writes these bytes.
    Writes(&'a [u8]),
    Combines,
    /// Reads a tensor map, not through the async proxy: for an instruction that changes or copies
    /// it, or for the copy that uses it.
    ReadsMap,
    UsesMap,
    WritesMap(&'a [u8]),
    Mbarrier,
}

/// Reports bytes that a lane copies. Returns whether the access is possible.
pub(crate) fn report_part<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    space: Space,
    what: Reported,
    Piece { address, offset, bytes: width }: Piece,
    AtLane { lane, place }: AtLane,
) -> bool {
    if worker.checker.is_none() {
        return true;
    }
    let plain = |kind| MemoryOperation::new(place, kind, width);
    let operation = match what {
        Reported::Reads => plain(AccessKind::Load).through(Path::Async),
        Reported::ReadsMap => plain(AccessKind::Load),
        Reported::UsesMap => plain(AccessKind::Load).through(Path::TensorMap),
        Reported::Writes(_) => plain(AccessKind::Store).through(Path::Async),
        Reported::WritesMap(_) => plain(AccessKind::Store),
        Reported::Combines => MemoryOperation::atomic(place, width).through(Path::Async),
        Reported::Mbarrier => MemoryOperation::mbarrier(place, MbarrierAccess::Arrival),
    };
    let (addresses, mut words) = ([address; 32], [[0; 32]; 4]);
    let access = Observed::new(&operation, space, &addresses);
    let access = match what {
        Reported::Writes(data) | Reported::WritesMap(data) => {
            let data = data.get(offset as usize..(offset + width) as usize).unwrap_or_default();
            for (row, word) in words.iter_mut().zip(data.chunks(4)) {
                row[lane] = little_endian(word) as u32;
            }
            access.storing(&words)
        }
        _ => access,
    };
    sanitizer::access(worker, warp, &access, 1 << lane) != 0
}

/// [`report_part`] for a range of bytes, in parts of 16.
pub(crate) fn report<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    space: Space,
    what: Reported,
    range: RowBytes,
    thread: AtLane,
) -> bool {
    worker.checker.is_none()
        || (0..range.bytes).step_by(UNIT).all(|offset| {
            let part = Piece { address: range.address(offset), offset, bytes: UNIT as u32 };
            report_part(worker, warp, space, what, part, thread)
        })
}

/// [`report_part`] for pieces of global memory.
pub(crate) fn report_pieces<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    what: Reported,
    pieces: &[Piece],
    thread: AtLane,
) -> bool {
    let mut parts = pieces.iter().flat_map(Piece::parts);
    worker.checker.is_none() || parts.all(|part| report_part(worker, warp, Space::Global, what, part, thread))
}

/// A range of shared memory.
pub(crate) fn run_of_shared(start: u64, bytes: u32) -> Run {
    Run { shared: true, start, bytes: bytes.into() }
}

/// The ranges of these pieces of global memory.
pub(crate) fn runs_of_global(pieces: &[Piece]) -> Vec<Run> {
    pieces
        .iter()
        .map(|&Piece { address, bytes, .. }| Run { shared: false, start: address, bytes: bytes.into() })
        .collect()
}

/// A lane begins an operation that runs beside it, with these reads and writes. Returns the
/// sanitizer's number for it.
pub(crate) fn begins(
    worker: &mut Worker,
    warp: &Warp,
    (reads, writes): (Vec<Run>, Vec<Run>),
    reduction: Option<Update>,
    AtLane { lane, place }: AtLane,
) -> u32 {
    let (block, thread, combines) = (worker.block.number, warp.index * 32 + lane as u32, reduction.is_some());
    observe::begins(worker, || Operation {
        place,
        block,
        thread,
        reads,
        writes,
        combines,
        is_product: false,
        left: false,
    })
}

/// The value of up to eight bytes.
pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}
