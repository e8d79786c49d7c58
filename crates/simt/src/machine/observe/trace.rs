//! Records what each request of a traced warp needed from the memory system, for the replay that
//! predicts the launch's time. `model` calls this before and after a request that it passes on.

use crate::address::{Access, rank_of};
use crate::coalesce;
use crate::instruction::AccessKind;
use crate::lanes::lanes;
use crate::machine::state::{Modelled, Warp, Worker};
use crate::model::{Multiprocessor, TextureNeeds, bulk_lines};
use crate::tensor_map::Piece;
use crate::timing::{Event, Meets, Target, Tracer};

/// What a multiprocessor had sent before an access.
#[derive(Clone, Copy)]
pub(super) struct Before {
    requests: usize,
    bytes: u64,
}

/// Bytes that went to DRAM on models without L2.
fn bytes(multiprocessor: &Multiprocessor) -> u64 {
    let caches = &multiprocessor.counters.caches;
    caches.dram_read_bytes + caches.dram_write_bytes
}

/// An instruction is about to access memory. `None` if nobody asks.
#[inline]
pub(super) fn before(modelled: &mut Modelled, multiprocessor: usize, place: u32) -> Option<Before> {
    let multiprocessor = &mut modelled.multiprocessors[multiprocessor];
    multiprocessor.notes.as_ref()?;
    multiprocessor.begin(place);
    modelled.tracer.as_ref()?.current()?;
    Some(Before { requests: multiprocessor.upstream.len(), bytes: bytes(multiprocessor) })
}

/// It has accessed global or local memory.
pub(super) fn memory(modelled: &mut Modelled, before: Before, kind: AccessKind, access: &Access, place: u32) {
    let multiprocessor = &modelled.multiprocessors[0];
    let sent = multiprocessor.upstream.get(before.requests..).unwrap_or_default();
    let sectors: u32 = sent.iter().map(|request| request.sectors.count_ones()).sum();
    let past_caches = (bytes(multiprocessor) - before.bytes) / 32;
    let mut lines: Vec<u64> = lanes(access.mask).map(|lane| access.addresses[lane] / 128).collect();
    lines.sort_unstable();
    lines.dedup();
    let turns = || coalesce::turns_of_sectors(access).map(|(_, most)| most).max().unwrap_or(1);
    let (wavefronts, turns) = match kind {
        AccessKind::Load | AccessKind::Copy => (coalesce::load_wavefronts(access).wavefronts, 1),
        AccessKind::Store => (coalesce::store_wavefronts(access).wavefronts, 1),
        AccessKind::Atomic | AccessKind::Reduction => (coalesce::store_wavefronts(access).wavefronts, turns()),
    };
    let needed = Event {
        lines: lines.len() as u16,
        tags: lines_of_a_bank(&lines),
        sectors: coalesce::sectors(access).sectors as u16,
        missed: (u64::from(sectors) + past_caches) as u16,
        wavefronts: wavefronts as u16,
        turns: turns as u8,
        ..Event::default()
    };
    record(modelled, place, Target::Memory, needed);
}

/// It has accessed shared memory, in this many passes if no lane has to wait for another.
pub(super) fn shared(modelled: &mut Modelled, kind: AccessKind, access: &Access, wavefronts: u32, place: u32) {
    let turns = match kind {
        AccessKind::Atomic | AccessKind::Reduction => lanes_of_a_bank(access),
        _ => 1,
    };
    let needed = Event { wavefronts: wavefronts as u16, turns: turns as u8, ..Event::default() };
    record(modelled, place, Target::Shared, needed);
}

/// It has read constants at this many addresses.
pub(super) fn constant(modelled: &mut Modelled, access: &Access, place: u32) {
    let needed = Event { lines: coalesce::addresses(access) as u16, ..Event::default() };
    record(modelled, place, Target::Constant, needed);
}

/// It has fetched texels from these sectors.
pub(super) fn texture(modelled: &mut Modelled, sectors: Vec<u64>, place: u32) {
    let TextureNeeds { sectors, missed, fresh } = modelled.multiprocessors[0].texture_needs(sectors);
    let needed = Event {
        lines: sectors.div_ceil(4) as u16,
        sectors: sectors as u16,
        missed: missed as u16,
        wavefronts: 1,
        turns: fresh.min(255) as u8,
        ..Event::default()
    };
    record(modelled, place, Target::Texture, needed);
}

/// The copy engine will read or write these pieces of global memory.
pub(in crate::machine) fn bulk_begins(worker: &mut Worker, warp: &Warp, pieces: &[Piece], place: u32) {
    let (block, multiprocessor) = (worker.block.number, worker.block.location.multiprocessor);
    let Some(modelled) = &mut worker.modelled else { return };
    modelled.multiprocessors[multiprocessor].begin(place);
    let records = |tracer: &&mut Box<Tracer>| tracer.runs(block, warp.index);
    let Some(tracer) = modelled.tracer.as_mut().filter(records) else { return };
    let touched = pieces.iter().flat_map(|piece| bulk_lines(piece.address, piece.bytes));
    for (_, sectors) in touched {
        let sectors = sectors.count_ones() as u16;
        let needed = Event { lines: 1, sectors, missed: sectors, ..Event::default() };
        tracer.access(place, Target::Bulk, needed);
    }
}

/// A thread does something at an mbarrier, or the copy will that it begins.
pub(in crate::machine) fn meets(worker: &mut Worker, warp: &Warp, place: u32, barrier: u64, how: Meets) {
    let number = worker.block.number;
    if let Some(tracer) = of_block(worker, barrier) {
        tracer.meets((number, warp.index), place, barrier, how);
    }
}

/// A phase of an mbarrier is complete.
pub(super) fn completes_phase(worker: &mut Worker, barrier: u64) {
    let number = worker.block.number;
    if let Some(tracer) = of_block(worker, barrier) {
        tracer.completes_phase(number, barrier);
    }
}

/// Who records the running block, if the mbarrier at this address is the block's own.
fn of_block<'w>(worker: &'w mut Worker, barrier: u64) -> Option<&'w mut Tracer> {
    let tracer = worker.modelled.as_mut()?.tracer.as_deref_mut()?;
    let is_own = rank_of(barrier) == u64::from(worker.block.rank);
    (is_own && worker.block.location.multiprocessor == 0).then_some(tracer)
}

fn record(modelled: &mut Modelled, place: u32, target: Target, needed: Event) {
    if let Some(tracer) = &mut modelled.tracer {
        tracer.access(place, target, needed);
    }
}

/// L1 looks up four lines at once, if their numbers differ modulo 4.
fn lines_of_a_bank(lines: &[u64]) -> u8 {
    let mut banks = [0; 4];
    lines.iter().for_each(|line| banks[(line % 4) as usize] += 1);
    banks.into_iter().max().unwrap_or(0)
}

/// The most lanes that update words of one bank: these take turns.
fn lanes_of_a_bank(access: &Access) -> u32 {
    let mut banks = [0; 32];
    lanes(access.mask).for_each(|lane| banks[(access.addresses[lane] / 4 % 32) as usize] += 1);
    banks.into_iter().max().unwrap_or(1).max(1)
}
