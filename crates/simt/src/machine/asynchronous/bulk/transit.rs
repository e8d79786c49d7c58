//! Moves the bytes of bulk copies: to shared memory, where mbarriers count them, and to global
//! memory, for which threads wait.
//!
//! They complete as late as PTX allows, so that a missing wait shows. A copy to shared memory is
//! read when it begins, and arrives when a thread looks at the `mbarrier` that counts its bytes. A
//! copy from shared to global memory is read when the thread waits for its group (or only for the
//! group's reads), or when the block ends, and is written when the thread waits for more than the
//! reads. A cluster has at most [`LIMIT`] bytes under way to mbarriers; beyond that, the oldest
//! arrive.
//!
//! Bulk copies count no requests, sectors or wavefronts. Neither does an H200, in any counter that
//! has a name here (28 launches, 2026-11-21, `ncu --clock-control none`). Their requests to L2 are
//! counted on models (`docs/MODELS.md`).

use ptx::Space;

use crate::address::{Access, AccessFault, AccessFaultKind, BLOCK_WINDOW_BYTES, rank_of};
use crate::instruction::AccessKind;
use crate::lanes::{Update, lanes};
use crate::machine::asynchronous::bulk::reports::{
    Reported, begins, little_endian, report, report_part, run_of_shared,
};
use crate::machine::mbarrier::update;
use crate::machine::observe;
use crate::machine::state::asynchronous::{Arriving, Departing, LIMIT, Leaving, UNIT};
use crate::machine::state::{AtLane, Attempt, Fault, Refused, Warp, Worker};
use crate::memory::MbarrierFault;
use crate::memory::SharedMemory;
use crate::sanitizer::Run;
use crate::site::AccessAction;
use crate::tensor_map::{Piece, RowBytes};
use crate::trap::TrapKind;

/// The same address in the block of that rank.
fn address_in(rank: u64, address: u64) -> u64 {
    address % BLOCK_WINDOW_BYTES + rank * BLOCK_WINDOW_BYTES
}

pub(crate) fn refused(
    action: AccessAction,
    space: Space,
    width: u32,
    address: u64,
    lane: usize,
    kind: AccessFaultKind,
) -> Box<Refused> {
    Refused::new(action, space, width, AccessFault { lane: lane as u32, address, kind })
}

/// The shared memory that an address is in.
fn shared<'w>(
    worker: &'w Worker,
    action: AccessAction,
    address: u64,
    width: u32,
    lane: usize,
) -> Result<&'w SharedMemory, Box<Refused>> {
    worker.shared_at(address).map_err(|kind| refused(action, Space::ClusterShared, width, address, lane, kind))
}

/// Rejects pieces that cannot be written.
pub(crate) fn check_pieces(worker: &Worker, pieces: &[Piece], lane: usize) -> Attempt {
    for Piece { address, bytes, .. } in pieces.iter().flat_map(Piece::parts) {
        let checked = worker.launched.memory.check(address, bytes, true);
        checked.map_err(|kind| refused(AccessAction::Write, Space::Global, bytes, address, lane, kind))?;
    }
    Ok(())
}

/// Reads a multiple of 16 bytes from global memory, or from the block's own shared memory.
pub(crate) fn read(worker: &Worker, space: Space, range: RowBytes, lane: usize) -> Result<Vec<u8>, Box<Refused>> {
    let bytes = range.bytes as usize;
    let mut data = Vec::with_capacity(bytes);
    for first in (0..bytes).step_by(32 * UNIT) {
        let units = ((bytes - first) / UNIT).min(32);
        let addresses = std::array::from_fn(|unit| range.address((first + unit.min(units) * UNIT) as u32));
        let access = Access::new(u32::MAX >> (32 - units), &addresses, UNIT as u32);
        let mut rows = [[0; 32]; 4];
        let loaded = match space {
            Space::Shared => worker.block.shared.load_each(&access, &mut rows),
            _ => worker.launched.memory.load_each(&access, &mut rows),
        };
        loaded.map_err(|fault| refused(AccessAction::Read, space, UNIT as u32, fault.address, lane, fault.kind))?;
        data.extend((0..units).flat_map(|unit| rows.map(|row| row[unit].to_le_bytes())).flatten());
    }
    Ok(data)
}

/// Bytes that a lane sends to shared memory, already read.
pub(crate) struct Delivery {
    /// The copy, without the sanitizer's number.
    pub what: Arriving,
    /// Where the bytes were read.
    pub reads: Vec<Run>,
    /// The blocks of the cluster that receive them, each at the same place in its memory. `None`:
    /// the block of the address.
    pub blocks: Option<u32>,
}

/// The ranks of the receiving blocks in a mask; `None`: the block of the address receives.
fn ranks(blocks: Option<u32>) -> Option<impl Iterator<Item = u64>> {
    blocks.map(|blocks| lanes(blocks & 0xffff).map(|rank| rank as u64))
}

/// The number of receiving blocks.
pub(crate) fn receivers(blocks: Option<u32>) -> u32 {
    ranks(blocks).map_or(1, |ranks| ranks.count() as u32)
}

/// Sends the bytes to all receiving blocks.
pub(crate) fn deliver<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    Delivery { what, reads, blocks }: Delivery,
    thread: AtLane,
) -> Attempt {
    let Arriving { to, barrier, bytes, layout, reduction, .. } = what;
    let ranks = ranks(blocks).map_or_else(|| vec![rank_of(to)], Iterator::collect);
    let writes = if reduction.is_some() { Reported::Combines } else { Reported::Writes(&bytes) };
    for rank in ranks {
        let to = address_in(rank, to);
        let barrier = address_in(if blocks.is_some() { rank } else { rank_of(barrier) }, barrier);
        let there = Space::ClusterShared;
        let arrival = Piece { address: barrier, offset: 0, bytes: 8 };
        let range = RowBytes { start: to, bytes: bytes.len() as u32, layout };
        if report(worker, warp, there, writes, range, thread)
            && report_part(worker, warp, there, Reported::Mbarrier, arrival, thread)
        {
            let writes = vec![run_of_shared(to, layout.extent(bytes.len() as u32))];
            let number = begins(worker, warp, (reads.clone(), writes), reduction, thread);
            send(worker, Arriving { to, barrier, bytes: bytes.clone(), layout, reduction, number }, thread.lane)?;
        }
    }
    Ok(())
}

/// A copy to shared memory begins.
pub(crate) fn send(worker: &mut Worker, arriving: Arriving, lane: usize) -> Attempt {
    let width = arriving.bytes.len().min(UNIT) as u32;
    for at in (0..arriving.bytes.len() as u32).step_by(UNIT) {
        let address = arriving.layout.address(arriving.to, at);
        let checked = shared(worker, AccessAction::Write, address, width, lane)?.check(address, width);
        let own = rank_of(address) == u64::from(worker.block.rank);
        let space = if own { Space::Shared } else { Space::ClusterShared };
        checked.map_err(|kind| refused(AccessAction::Write, space, width, address, lane, kind))?;
    }
    if rank_of(arriving.to) != rank_of(arriving.barrier) {
        let kind = TrapKind::InvalidMbarrier { address: arriving.barrier, fault: MbarrierFault::OtherBlock };
        return Err(Refused::because(kind, lane as u32));
    }
    // The mbarrier must exist now; its count changes when the bytes arrive.
    update(worker, arriving.barrier, lane, |_| Ok(()))?;
    worker.asynchronous.arrivals.bytes += arriving.bytes.len();
    worker.asynchronous.arrivals.list.push_back(arriving);
    while worker.asynchronous.arrivals.bytes > LIMIT {
        let Some(oldest) = worker.asynchronous.arrivals.list.pop_front() else { break };
        arrive(worker, &oldest, lane)?;
    }
    Ok(())
}

/// A thread looks at an mbarrier: what is under way to it arrives.
pub(crate) fn arrive_at(worker: &mut Worker, barrier: u64, lane: usize) -> Attempt {
    let mut index = 0;
    while index < worker.asynchronous.arrivals.list.len() {
        if worker.asynchronous.arrivals.list[index].barrier == barrier
            && let Some(arriving) = worker.asynchronous.arrivals.list.remove(index)
        {
            arrive(worker, &arriving, lane)?;
        } else {
            index += 1;
        }
    }
    Ok(())
}

fn arrive(worker: &mut Worker, arriving: &Arriving, lane: usize) -> Attempt {
    let Arriving { to, barrier, ref bytes, layout, reduction, number } = *arriving;
    observe::ends(worker, number);
    worker.asynchronous.arrivals.bytes -= bytes.len();
    let memory = shared(worker, AccessAction::Write, to, 4, lane)?;
    let failed = |fault: AccessFault| {
        refused(AccessAction::Write, Space::ClusterShared, UNIT as u32, fault.address, lane, fault.kind)
    };
    match reduction {
        None => {
            let units = (0..).step_by(UNIT).zip(bytes.chunks(UNIT));
            let units = units.map(|(offset, unit)| (layout.address(to, offset), unit));
            write(units, |access, rows| memory.store_each(access, rows)).map_err(failed)?;
        }
        Some(update) => reduce(to, bytes, update, |address, combine| match update.ty.bytes() {
            8 => memory.atomic64(address, combine).map(drop),
            _ => memory.atomic32(address, |old| combine(old.into()) as u32).map(drop),
        })
        .map_err(failed)?,
    }
    let count = bytes.len() as u32;
    update(worker, barrier, lane, |barrier| barrier.complete(count)).map(drop)
}

/// Writes bytes, up to 16 at an address.
fn write<'d>(
    parts: impl Iterator<Item = (u64, &'d [u8])>,
    mut store: impl FnMut(&Access, &[[u32; 32]]) -> Result<(), AccessFault>,
) -> Result<(), AccessFault> {
    for (address, part) in parts {
        let mut rows = [[0; 32]; 4];
        for (row, word) in rows.iter_mut().zip(part.chunks(4)) {
            row[0] = little_endian(word) as u32;
        }
        store(&Access::new(1, &[address; 32], part.len() as u32), &rows)?;
    }
    Ok(())
}

/// Combines each element with memory.
fn reduce(
    to: u64,
    bytes: &[u8],
    update: Update,
    mut modify: impl FnMut(u64, &dyn Fn(u64) -> u64) -> Result<(), AccessFaultKind>,
) -> Result<(), AccessFault> {
    let width = update.ty.bytes() as usize;
    for (index, element) in bytes.chunks(width).enumerate() {
        let address = to.wrapping_add((index * width) as u64);
        let new = little_endian(element);
        let combine = |old| update.apply(old, new, 0);
        modify(address, &combine).map_err(|kind| AccessFault { lane: 0, address, kind })?;
    }
    Ok(())
}

/// `cp.async.bulk.commit_group`.
pub(crate) fn commit(worker: &mut Worker, warp: &Warp, mask: u32) {
    let threads = lanes(mask).map(|lane| warp.index * 32 + lane as u32);
    worker.block.departures.list.extend(threads.map(|thread| (thread, Leaving::Commit)));
}

/// `cp.async.bulk.wait_group`.
pub(crate) fn wait(worker: &mut Worker, warp: &Warp, mask: u32, groups_left: u32, reads_only: bool) -> Attempt {
    for lane in lanes(mask) {
        let thread = warp.index * 32 + lane as u32;
        let end = worker.block.departures.awaited(thread, groups_left);
        leave(worker, end, Some(thread), reads_only)?;
    }
    Ok(())
}

/// The block has ended: completes all its copies.
pub(crate) fn finish(worker: &mut Worker) -> Result<(), Fault> {
    let end = worker.block.departures.list.len();
    if end == 0 {
        return Ok(());
    }
    leave(worker, end, None, false).map_err(|refused| refused.at(0))
}

/// Executes the copies among the first entries, of one thread or of all.
fn leave(worker: &mut Worker, end: usize, of: Option<u32>, reads_only: bool) -> Attempt {
    let mut list = std::mem::take(&mut worker.block.departures.list);
    for (thread, leaving) in &mut list[..end] {
        let Leaving::Copy { departing, read: found } = leaving else { continue };
        if of.is_some_and(|of| of != *thread) {
            continue;
        }
        let lane = *thread as usize % 32;
        let data = match found.take() {
            Some(data) => data,
            None => read(worker, Space::Shared, departing.from, lane)?,
        };
        if reads_only {
            observe::has_read(worker, departing.number);
            *found = Some(data);
        } else {
            match of {
                Some(_) => observe::awaited(worker, departing.number),
                None => observe::left(worker, departing.number),
            }
            put_out(worker, departing, &data, lane)?;
        }
    }
    if !reads_only {
        let mut index = 0;
        list.retain(|(thread, _)| {
            index += 1;
            index > end || of.is_some_and(|of| of != *thread)
        });
    }
    worker.block.departures.list = list;
    Ok(())
}

/// Writes bytes to global memory, or to the block's own shared memory, at once.
pub(crate) fn put(worker: &Worker, space: Space, piece: &Piece, data: &[u8], lane: usize) -> Attempt {
    let parts = piece.parts().map(|part| (part.address, &data[part.offset as usize..][..part.bytes as usize]));
    let done = match space {
        Space::Shared => write(parts, |access, rows| worker.block.shared.store_each(access, rows)),
        _ => write(parts, |access, rows| worker.launched.memory.store_each(access, rows)),
    };
    done.map_err(|fault| refused(AccessAction::Write, space, UNIT as u32, fault.address, lane, fault.kind))
}

/// Writes the pieces of a copy to global memory.
fn put_out(worker: &mut Worker, departing: &Departing, data: &[u8], lane: usize) -> Attempt {
    observe::model::bulk(worker, AccessKind::of_bulk_store(departing.reduction.is_some()), &departing.pieces, 1);
    let memory = worker.launched.memory;
    let bytes_of = |piece: &Piece| &data[piece.offset as usize..(piece.offset + piece.bytes) as usize];
    let done = match departing.reduction {
        None => {
            let parts = departing.pieces.iter().flat_map(Piece::parts).map(|part| (part.address, bytes_of(&part)));
            write(parts, |access, rows| memory.store_each(access, rows))
        }
        Some(update) => departing.pieces.iter().try_for_each(|piece| {
            reduce(piece.address, bytes_of(piece), update, |address, combine| match update.ty.bytes() {
                2 => memory.atomic16(address, |old| combine(old.into()) as u16).map(drop),
                4 => memory.atomic32(address, |old| combine(old.into()) as u32).map(drop),
                _ => memory.atomic64(address, combine).map(drop),
            })
        }),
    };
    let failed =
        |fault: AccessFault| refused(AccessAction::Write, Space::Global, UNIT as u32, fault.address, lane, fault.kind);
    done.map_err(failed)
}
