//! Executes `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async` and `red.async`: copies by an engine, and stores that tell a barrier.
//!
//! As late as PTX allows, so that a wait that is missing shows: what goes to shared memory is read when the copy begins, and is there
//! when a thread looks at the `mbarrier` that is told of its bytes; what goes from shared to global memory is read when the thread waits
//! for its group (or its reading), or when the block ends, and written when it waits for more than the reading. A cluster has
//! no more than [`LIMIT`] bytes on their way to barriers; then the oldest arrive.

use std::collections::VecDeque;

use ptx::{AtomicOp, Space, Type};

use super::access::{self, Attempt, Refused};
use super::asynchronous::{barrier_addresses, update};
use super::atomic;
use super::block::{Fault, Worker};
use super::local::lanes;
use super::observe::{self, Other};
use super::warp::{Split, Warp};
use crate::check::{Operation, Run};
use crate::lanes::Registers;
use crate::memory::{Access, AccessFault, AccessFaultKind, BLOCK_WINDOW_BYTES, SharedMemory, rank_of};
use crate::program::{BulkCopy, RemoteStore};
use crate::trap::{AccessAction, MbarrierFault, TrapKind};

/// Bytes on their way to barriers, at most.
const LIMIT: usize = 64 << 20;
/// Bytes of the largest copy.
const MOST_BYTES: u32 = (1 << 20) - 16;
/// Bytes that are moved at once.
const UNIT: usize = 16;

/// What becomes of old and new elements.
type Reduction = Option<(AtomicOp, Type)>;

/// Bytes on their way to shared memory.
struct Arriving {
    /// Where to, and the barrier that is told: in shared memory.
    to: u64,
    barrier: u64,
    bytes: Vec<u8>,
    reduction: Reduction,
    /// The sanitizer's number for it.
    number: u32,
}

/// What a cluster has on its way to barriers, oldest first.
#[derive(Default)]
pub(super) struct Arrivals {
    list: VecDeque<Arriving>,
    bytes: usize,
}

/// What a thread has on its way to global memory.
enum Leaving {
    Copy {
        from: u64,
        to: u64,
        bytes: u32,
        reduction: Reduction,
        /// What was read, once it was.
        read: Option<Vec<u8>>,
        /// The sanitizer's number for it.
        number: u32,
    },
    /// Ends a group.
    Commit,
}

/// What the threads of a block have on their way to global memory, oldest first: the thread, where it is told of, and what.
#[derive(Default)]
pub(super) struct Departures {
    list: Vec<(u32, Leaving)>,
}

impl Arrivals {
    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes = 0;
    }
}

impl Departures {
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// How many entries a thread waits for.
    fn awaited(&self, thread: u32, groups_left: u32) -> usize {
        let commits = self.list.iter().enumerate().rev();
        let mut commits = commits.filter(|(_, (of, what))| *of == thread && matches!(what, Leaving::Commit));
        commits.nth(groups_left as usize).map_or(0, |(index, _)| index + 1)
    }
}

/// Begins a copy for each lane.
pub(super) fn begin<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    copy: &BulkCopy,
    split: &Split,
    mask: u32,
    counter: u32,
) -> Attempt {
    let (from, to) = (access::addresses(warp, &copy.from, split), access::addresses(warp, &copy.to, split));
    let barriers = match &copy.barrier {
        Some(reach) => Some(barrier_addresses(worker, warp, reach, split, mask, true)?),
        None => None,
    };
    let (sizes, blocks) = (*warp.registers.word(copy.bytes), copy.blocks.map(|row| *warp.registers.word(row)));
    for lane in lanes(mask) {
        let bytes = sizes[lane];
        if !bytes.is_multiple_of(UNIT as u32) || bytes > MOST_BYTES {
            return Err(Refused::because(TrapKind::BulkCopySize { bytes }, lane as u32));
        }
        // What the copy does is told when it begins.
        let (space, thread) = (copy.from.space, (lane, counter));
        if !tell(worker, warp, space, Telling::Reads, from[lane], bytes, thread) {
            continue;
        }
        let data = read(worker, space, from[lane], bytes, lane)?;
        let writes = match copy.reduction {
            Some(_) => Telling::Combines,
            None => Telling::Writes(&data),
        };
        let Some(barriers) = barriers else {
            if tell(worker, warp, Space::Global, writes, to[lane], bytes, thread) {
                check_global(worker, to[lane], bytes, lane)?;
                let (from, to, reduction) = (from[lane], to[lane], copy.reduction);
                let runs = [run(Space::Shared, from, bytes), run(Space::Global, to, bytes)];
                let number = begins(worker, warp, runs, reduction, thread);
                let leaving = Leaving::Copy { from, to, bytes, reduction, read: None, number };
                worker.block.departures.list.push((warp.index * 32 + lane as u32, leaving));
            }
            continue;
        };
        let ranks = match blocks {
            Some(blocks) => lanes(blocks[lane] & 0xffff).map(|rank| rank as u64).collect(),
            None => vec![rank_of(to[lane])],
        };
        for rank in ranks {
            let to = place_in(rank, to[lane]);
            let barrier = place_in(if blocks.is_some() { rank } else { rank_of(barriers[lane]) }, barriers[lane]);
            let there = Space::ClusterShared;
            if tell(worker, warp, there, writes, to, bytes, thread)
                && tell(worker, warp, there, Telling::Mbarrier, barrier, 1, thread)
            {
                let runs = [run(space, from[lane], bytes), run(Space::Shared, to, bytes)];
                let number = begins(worker, warp, runs, copy.reduction, thread);
                let (bytes, reduction) = (data.clone(), copy.reduction);
                send(worker, Arriving { to, barrier, bytes, reduction, number }, lane)?;
            }
        }
    }
    Ok(())
}

/// `st.async`, `red.async`.
pub(super) fn store<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    store: &RemoteStore,
    split: &Split,
    mask: u32,
    counter: u32,
) -> Attempt {
    let width = store.ty.bytes() * store.rows.len() as u32;
    let mut words = [[0; 32]; 4];
    let value = |registers: &Registers<'_>, row: u32, lane: usize| match store.ty.bits() {
        64 => registers.wide(row)[lane],
        _ => registers.word(row)[lane].into(),
    };
    let data = |registers: &Registers<'_>, lane: usize| -> Vec<u8> {
        let values = store.rows.iter().map(|&row| value(registers, row, lane));
        values.flat_map(|value| value.to_le_bytes().into_iter().take(store.ty.bytes() as usize)).collect()
    };
    for lane in lanes(mask) {
        for (row, word) in words.iter_mut().zip(data(&warp.registers, lane).chunks(4)) {
            row[lane] = little_endian(word) as u32;
        }
    }
    let what = if store.op.is_some() { Other::Combine(width) } else { Other::Write(width, &words) };
    let mask = observe::touch(worker, warp, &store.to, what, split, mask, counter);
    let mask = observe::touch(worker, warp, &store.barrier, Other::Mbarrier, split, mask, counter);
    // Both are in shared memory.
    let to = barrier_addresses(worker, warp, &store.to, split, mask, true)?;
    let barriers = barrier_addresses(worker, warp, &store.barrier, split, mask, true)?;
    for lane in lanes(mask) {
        let bytes = data(&warp.registers, lane);
        let reduction = store.op.map(|op| (op, store.ty));
        let runs = [run(Space::Shared, 0, 0), run(Space::Shared, to[lane], width)];
        let number = begins(worker, warp, runs, reduction, (lane, counter));
        send(worker, Arriving { to: to[lane], barrier: barriers[lane], bytes, reduction, number }, lane)?;
    }
    Ok(())
}

/// The same place in the block of that rank.
fn place_in(rank: u64, address: u64) -> u64 {
    address % BLOCK_WINDOW_BYTES + rank * BLOCK_WINDOW_BYTES
}

fn refused(
    action: AccessAction,
    space: Space,
    width: u32,
    address: u64,
    lane: usize,
    kind: AccessFaultKind,
) -> Box<Refused> {
    Refused::new(action, space, width, AccessFault { lane: lane as u32, address, kind })
}

/// The shared memory that something goes to, or comes from.
fn shared<'w>(
    worker: &'w Worker,
    action: AccessAction,
    address: u64,
    width: u32,
    lane: usize,
) -> Result<&'w SharedMemory, Box<Refused>> {
    worker.shared_at(address).map_err(|kind| refused(action, Space::ClusterShared, width, address, lane, kind))
}

/// What the sanitizer is told of a copy.
#[derive(Clone, Copy)]
enum Telling<'a> {
    Reads,
    Writes(&'a [u8]),
    Combines,
    Mbarrier,
}

/// Tells the sanitizer of bytes that a lane has copied. Returns whether they can be.
fn tell<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    space: Space,
    what: Telling,
    start: u64,
    bytes: u32,
    (lane, counter): (usize, u32),
) -> bool {
    if worker.checker.is_none() {
        return true;
    }
    (0..u64::from(bytes)).step_by(UNIT).all(|at| {
        let addresses = [start.wrapping_add(at); 32];
        let mut words = [[0; 32]; 4];
        let what = match what {
            Telling::Reads => Other::Read(UNIT as u32),
            Telling::Writes(data) => {
                for (row, word) in words.iter_mut().zip(data[at as usize..].chunks(4)) {
                    row[lane] = little_endian(word) as u32;
                }
                Other::Write(UNIT as u32, &words)
            }
            Telling::Combines => Other::Combine(UNIT as u32),
            Telling::Mbarrier => Other::Mbarrier,
        };
        let what = if matches!(what, Other::Mbarrier) { what } else { Other::Async(&what) };
        observe::touch_at(worker, warp, space, what, 1 << lane, &addresses, counter) != 0
    })
}

fn run(space: Space, start: u64, bytes: u32) -> Run {
    Run { shared: space != Space::Global, start, bytes: bytes.into() }
}

/// Something a lane begins that goes on beside it: reads one run, and writes the other. Returns the sanitizer's number for it.
fn begins(
    worker: &mut Worker,
    warp: &Warp,
    [from, to]: [Run; 2],
    reduction: Reduction,
    (lane, place): (usize, u32),
) -> u32 {
    let (block, thread) = (worker.block.number, warp.index * 32 + lane as u32);
    observe::begins(worker, || Operation {
        place,
        block,
        thread,
        reads: vec![from],
        writes: Some(to),
        combines: reduction.is_some(),
        is_product: false,
    })
}

/// Refuses what cannot be written.
fn check_global(worker: &Worker, start: u64, bytes: u32, lane: usize) -> Attempt {
    for at in (0..u64::from(bytes)).step_by(UNIT) {
        let (address, width) = (start.wrapping_add(at), UNIT as u32);
        let checked = worker.launched.memory.check(address, width, true);
        checked.map_err(|kind| refused(AccessAction::Write, Space::Global, width, address, lane, kind))?;
    }
    Ok(())
}

/// The value of up to eight bytes.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// Reads from global memory, or from the block's own shared memory.
fn read(worker: &Worker, space: Space, start: u64, bytes: u32, lane: usize) -> Result<Vec<u8>, Box<Refused>> {
    let mut data = Vec::with_capacity(bytes as usize);
    for first in (0..bytes as usize).step_by(32 * UNIT) {
        let units = ((bytes as usize - first) / UNIT).min(32);
        let addresses = std::array::from_fn(|unit| start.wrapping_add((first + unit * UNIT) as u64));
        let access = Access::new(u32::MAX >> (32 - units), &addresses, UNIT as u32);
        let mut rows = [[0; 32]; 4];
        let loaded = match space {
            Space::Global => worker.launched.memory.load_each(&access, &mut rows),
            _ => worker.block.shared.load_each(&access, &mut rows),
        };
        loaded.map_err(|fault| refused(AccessAction::Read, space, UNIT as u32, fault.address, lane, fault.kind))?;
        data.extend((0..units).flat_map(|unit| rows.map(|row| row[unit].to_le_bytes())).flatten());
    }
    Ok(data)
}

/// Something begins its way to shared memory.
fn send(worker: &mut Worker, arriving: Arriving, lane: usize) -> Attempt {
    let width = arriving.bytes.len().min(UNIT) as u32;
    for at in (0..arriving.bytes.len() as u64).step_by(UNIT) {
        let address = arriving.to.wrapping_add(at);
        let checked = shared(worker, AccessAction::Write, address, width, lane)?.check(address, width);
        let own = rank_of(address) == u64::from(worker.block.rank);
        let space = if own { Space::Shared } else { Space::ClusterShared };
        checked.map_err(|kind| refused(AccessAction::Write, space, width, address, lane, kind))?;
    }
    if rank_of(arriving.to) != rank_of(arriving.barrier) {
        let kind = TrapKind::InvalidMbarrier { address: arriving.barrier, fault: MbarrierFault::OtherBlock };
        return Err(Refused::because(kind, lane as u32));
    }
    // The barrier must be there now; what it counts changes when the bytes arrive.
    update(worker, arriving.barrier, lane, |_| Ok(()))?;
    worker.arrivals.bytes += arriving.bytes.len();
    worker.arrivals.list.push_back(arriving);
    while worker.arrivals.bytes > LIMIT {
        let Some(oldest) = worker.arrivals.list.pop_front() else { break };
        arrive(worker, &oldest, lane)?;
    }
    Ok(())
}

/// A thread looks at a barrier: what is on its way to it arrives.
pub(super) fn arrive_at(worker: &mut Worker, barrier: u64, lane: usize) -> Attempt {
    let mut index = 0;
    while index < worker.arrivals.list.len() {
        if worker.arrivals.list[index].barrier == barrier
            && let Some(arriving) = worker.arrivals.list.remove(index)
        {
            arrive(worker, &arriving, lane)?;
        } else {
            index += 1;
        }
    }
    Ok(())
}

fn arrive(worker: &mut Worker, arriving: &Arriving, lane: usize) -> Attempt {
    let Arriving { to, barrier, ref bytes, reduction, number } = *arriving;
    observe::ends(worker, number);
    worker.arrivals.bytes -= bytes.len();
    let memory = shared(worker, AccessAction::Write, to, 4, lane)?;
    let failed = |fault: AccessFault| {
        refused(AccessAction::Write, Space::ClusterShared, UNIT as u32, fault.address, lane, fault.kind)
    };
    match reduction {
        None => write(to, bytes, |access, rows| memory.store_each(access, rows)).map_err(failed)?,
        Some((op, ty)) => reduce(to, bytes, op, ty, |address, combine| match ty.bytes() {
            8 => memory.atomic64(address, combine).map(drop),
            _ => memory.atomic32(address, |old| combine(old.into()) as u32).map(drop),
        })
        .map_err(failed)?,
    }
    let count = bytes.len() as u32;
    update(worker, barrier, lane, |barrier| barrier.complete(count)).map(drop)
}

/// Writes bytes in pieces of 16, or of as many as there are.
fn write(
    to: u64,
    bytes: &[u8],
    mut store: impl FnMut(&Access, &[[u32; 32]]) -> Result<(), AccessFault>,
) -> Result<(), AccessFault> {
    for (index, unit) in bytes.chunks(UNIT).enumerate() {
        let addresses = [to.wrapping_add((index * UNIT) as u64); 32];
        let mut rows = [[0; 32]; 4];
        for (row, word) in rows.iter_mut().zip(unit.chunks(4)) {
            row[0] = little_endian(word) as u32;
        }
        store(&Access::new(1, &addresses, unit.len() as u32), &rows)?;
    }
    Ok(())
}

/// Combines each element with what is there.
fn reduce(
    to: u64,
    bytes: &[u8],
    op: AtomicOp,
    ty: Type,
    mut modify: impl FnMut(u64, &dyn Fn(u64) -> u64) -> Result<(), AccessFaultKind>,
) -> Result<(), AccessFault> {
    let width = ty.bytes() as usize;
    for (index, element) in bytes.chunks(width).enumerate() {
        let address = to.wrapping_add((index * width) as u64);
        let new = little_endian(element);
        let combine = |old| atomic::combine(op, ty, ty == Type::F32, old, new, 0);
        modify(address, &combine).map_err(|kind| AccessFault { lane: 0, address, kind })?;
    }
    Ok(())
}

/// `cp.async.bulk.commit_group`.
pub(super) fn commit(worker: &mut Worker, warp: &Warp, mask: u32) {
    let threads = lanes(mask).map(|lane| warp.index * 32 + lane as u32);
    worker.block.departures.list.extend(threads.map(|thread| (thread, Leaving::Commit)));
}

/// `cp.async.bulk.wait_group`.
pub(super) fn wait(worker: &mut Worker, warp: &Warp, mask: u32, groups_left: u32, reads_only: bool) -> Attempt {
    for lane in lanes(mask) {
        let thread = warp.index * 32 + lane as u32;
        let end = worker.block.departures.awaited(thread, groups_left);
        leave(worker, end, Some(thread), reads_only)?;
    }
    Ok(())
}

/// All copies of the block are done: it has come to its end.
pub(super) fn finish(worker: &mut Worker) -> Result<(), Fault> {
    let end = worker.block.departures.list.len();
    if end == 0 {
        return Ok(());
    }
    leave(worker, end, None, false).map_err(|refused| refused.at(0))
}

/// Does the copies among the first entries, of one thread or of all.
fn leave(worker: &mut Worker, end: usize, of: Option<u32>, reads_only: bool) -> Attempt {
    let mut list = std::mem::take(&mut worker.block.departures.list);
    for (thread, leaving) in &mut list[..end] {
        let Leaving::Copy { from, to, bytes, reduction, read: found, number } = leaving else { continue };
        if of.is_some_and(|of| of != *thread) {
            continue;
        }
        let lane = *thread as usize % 32;
        let data = match found.take() {
            Some(data) => data,
            None => read(worker, Space::Shared, *from, *bytes, lane)?,
        };
        if reads_only {
            observe::has_read(worker, *number);
            *found = Some(data);
        } else {
            observe::ends(worker, *number);
            put_out(worker, *to, &data, *reduction, lane)?;
            *bytes = 0;
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

/// Writes to global memory.
fn put_out(worker: &Worker, to: u64, data: &[u8], reduction: Reduction, lane: usize) -> Attempt {
    let memory = worker.launched.memory;
    let done = match reduction {
        None => write(to, data, |access, rows| memory.store_each(access, rows)),
        Some((op, ty)) => reduce(to, data, op, ty, |address, combine| match ty.bytes() {
            2 => memory.atomic16(address, |old| combine(old.into()) as u16).map(drop),
            4 => memory.atomic32(address, |old| combine(old.into()) as u32).map(drop),
            _ => memory.atomic64(address, combine).map(drop),
        }),
    };
    let failed =
        |fault: AccessFault| refused(AccessAction::Write, Space::Global, UNIT as u32, fault.address, lane, fault.kind);
    done.map_err(failed)
}
