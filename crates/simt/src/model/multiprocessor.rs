//! A multiprocessor's path to memory: transactions, its L1 cache, and its requests to L2.
//! `machine/observe/model.rs` passes each request of a warp; the chip takes the requests at the end
//! of each round.
//!
//! - Stores go through L1 to L2. On Volta and later a fully written sector can be read from L1
//!   afterwards (measured on an H200); older models drop the line. Local memory is written back on
//!   Fermi and Kepler, and written through on the others.
//! - `ld.cg`, `ld.lu`, `ld.cv`, volatile and ordered loads bypass L1; `ld.ca`, `ld.cs` and `ld.nc`
//!   use it (measured on an H200), except that Kepler has `read_only` for `ld.nc`.
//! - Atomic operations, which L2 performs, drop the line from L1. `barrier.cluster.wait` empties
//!   L1, as the compiler's `CCTL.IVALL` does.
//! - Accesses to the shared memory of another block of the cluster use neither L1 nor L2, but the
//!   crossbar.

use ptx::EvictionPriority;
use rustc_hash::FxHashSet;

use super::cache::Cache;
use super::counters::{ModelCounters, SectorCounters, TransactionCounters};
use super::gpu::{LINE_BYTES, LoadCaching, Model, StoreHit};
use super::partitions::Sent;
use super::priority::{self, AccessWindow};
use super::read_only::{ReadOnlyCaches, SEGMENT_BYTES};
use super::traffic::Note;
use super::transactions;
use super::transactions::Route;
use crate::address::Access;
use crate::coalesce;
use crate::instruction::AccessKind;
use crate::lanes::lanes;

/// Which caches an instruction asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CacheHint {
    /// No preference.
    #[default]
    None,
    /// Through L1: `ca`, `cs`.
    Cached,
    /// Past L1: `cg`, `lu`, `cv`, and loads that are ordered with those of other threads. (`lu` may
    /// use L1, but on an H200 what `lu` has loaded never hits.)
    Bypass,
    /// Through the read-only path, `nc`: a separate cache on Kepler
    /// ([`Multiprocessor::read_only_load`]), L1 on all later GPUs.
    ReadOnly,
}

impl CacheHint {
    /// Whether loads that ask for it go through L1. `by_default`: those that ask for nothing do.
    pub fn goes_through_l1(self, model: &Model, by_default: bool) -> bool {
        model.l1.is_some_and(|l1| match self {
            CacheHint::None => by_default,
            CacheHint::Cached => l1.caches_global_loads || l1.can_cache_global_loads,
            CacheHint::Bypass => false,
            CacheHint::ReadOnly => model.compute_capability >= (5, 0) || by_default,
        })
    }
}

/// Which memory an access goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessOrigin {
    /// Global memory.
    Global,
    /// Local memory, at its hardware addresses.
    Local,
}

/// A multiprocessor's request to L2: sectors of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Upstream {
    /// The line's address over [`LINE_BYTES`].
    pub line: u64,
    /// A bit for each of its sectors.
    pub sectors: u8,
    /// The operation; a copy is the copy engine's.
    pub kind: AccessKind,
    /// What it makes of the line's priority in L2.
    pub priority: EvictionPriority,
}

/// Where a multiprocessor is on the chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// Its number.
    pub number: u32,
    /// The partition of L2 that is near to it.
    pub near: usize,
    /// The group of multiprocessors whose reads are merged before L2.
    pub group: usize,
}

/// A multiprocessor's path to memory.
pub(crate) struct Multiprocessor {
    pub position: Position,
    model: &'static Model,
    l1: Option<Cache>,
    read_only: Option<ReadOnlyCaches>,
    /// Whether loads without a cache operator go through L1.
    caches_global_loads: bool,
    /// What this multiprocessor has counted.
    pub counters: ModelCounters,
    /// Requests that L2 has not served yet, in order.
    pub upstream: Vec<Upstream>,
    /// For each of them, what only the traffic cares about; `None` if nobody asks.
    pub notes: Option<Vec<Note>>,
    /// What was sent to the partitions of DRAM, if anyone asks and there are some.
    pub sent: Option<Sent>,
    /// What the access that is being made asks of L2.
    pub priority: EvictionPriority,
    /// Whose lines L2 is to keep, unless an access asks for something else.
    pub window: Option<AccessWindow>,
    /// The access that is being made.
    note: Note,
    /// Its parts, by lines: the memory is used again for the next access.
    pieces: Vec<Piece>,
    /// The textures' part of L1, for the replay alone: no counter knows it.
    textures: Option<TextureCache>,
}

/// What texture fetches of a multiprocessor find, without counting it.
struct TextureCache {
    l1: Cache,
    /// Sectors that were fetched before.
    seen: FxHashSet<u64>,
}

/// What a texture fetch needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextureNeeds {
    /// Distinct sectors.
    pub sectors: usize,
    /// Those of them that L1 lacks.
    pub missed: usize,
    /// Those of them that this multiprocessor never fetched before.
    pub fresh: usize,
}

/// The part of a request that is in one line.
#[derive(Clone, Copy, Default)]
struct Piece {
    line: u64,
    sectors: u8,
    /// For each sector, the bytes accessed.
    bytes: [u32; 4],
}

impl Piece {
    /// The bytes of the line that are accessed.
    fn all_bytes(&self) -> u128 {
        let [first, second, third, fourth] = self.bytes;
        u128::from(first) | u128::from(second) << 32 | u128::from(third) << 64 | u128::from(fourth) << 96
    }
}

impl Multiprocessor {
    /// A multiprocessor with an empty L1 of the size that shared memory leaves.
    pub fn new(model: &'static Model, position: Position, carveout: u32, caching: LoadCaching) -> Self {
        let l1 = model.l1.map(|l1| Cache::new((model.l1_bytes(carveout) / l1.line) as usize, l1.ways as usize));
        Self {
            position,
            model,
            l1,
            read_only: model.read_only.as_ref().map(ReadOnlyCaches::new),
            caches_global_loads: model.caches_global_loads(caching),
            counters: ModelCounters::new(model),
            upstream: Vec::new(),
            notes: None,
            sent: None,
            priority: EvictionPriority::Unchanged,
            window: None,
            note: Note { place: 0, bytes: 0 },
            pieces: Vec::new(),
            textures: None,
        }
    }

    /// From now on, keeps what a replay needs to know. `textures`: also of texture fetches.
    pub fn keep_notes(&mut self, carveout: u32, textures: bool) {
        self.notes = Some(Vec::new());
        let partitions = self.model.timing().map_or(0, |timing| timing.memory.partitions);
        self.sent = (partitions > 0).then(|| Sent::new(partitions));
        let lines = (self.model.l1_bytes(carveout).max(8 << 10) / 128) as usize;
        self.textures = textures.then(|| TextureCache { l1: Cache::new(lines, 4), seen: FxHashSet::default() });
    }

    /// What a texture fetch of these sectors needs.
    pub fn texture_needs(&mut self, mut sectors: Vec<u64>) -> TextureNeeds {
        sectors.sort_unstable();
        sectors.dedup();
        let mut needs = TextureNeeds { sectors: sectors.len(), ..TextureNeeds::default() };
        let Some(TextureCache { l1, seen }) = &mut self.textures else { return needs };
        for sector in sectors {
            let (line, bit) = (sector / 4, 1 << (sector % 4));
            if l1.look_up(line) & bit == 0 {
                l1.insert(line, bit, 0);
                needs.missed += 1;
                needs.fresh += usize::from(seen.insert(sector));
            }
        }
        needs
    }

    /// The instruction whose accesses follow.
    pub fn begin(&mut self, place: u32) {
        self.note = Note { place, bytes: u128::MAX };
    }

    /// A warp's access to global or local memory.
    pub fn access(&mut self, kind: AccessKind, origin: AccessOrigin, hint: CacheHint, access: &Access) {
        if access.mask == 0 {
            return;
        }
        let through = origin == AccessOrigin::Local || hint.goes_through_l1(self.model, self.caches_global_loads);
        self.count(kind, origin, through, access);
        if self.model.l2.is_none() {
            self.past_caches(kind, transactions::of(self.model.global, access, Route::PastL1).bytes.into());
            if let Some(sent) = &mut self.sent {
                let writes = !matches!(kind, AccessKind::Load | AccessKind::Copy);
                transactions::list(self.model.global, access, Route::PastL1, |address, bytes| {
                    sent.add(address, bytes, writes);
                });
            }
            return;
        }
        let lanes_per_request = self.model.global.lanes_per_request(access.width);
        for start in (0..32).step_by(lanes_per_request) {
            let group = access.mask & (u32::MAX >> (32 - lanes_per_request) << start);
            let mut pieces = std::mem::take(&mut self.pieces);
            split(access, group, &mut pieces);
            for piece in &pieces {
                if self.notes.is_some() {
                    self.note.bytes = piece.all_bytes();
                }
                match kind {
                    AccessKind::Load | AccessKind::Copy => self.load(piece, origin, through),
                    AccessKind::Store => self.store(piece, origin),
                    AccessKind::Atomic | AccessKind::Reduction => self.atomic(piece, kind, access),
                }
            }
            self.pieces = pieces;
        }
    }

    /// Whether read-only loads and texture fetches go through a cache of their own.
    pub fn has_read_only_cache(&self) -> bool {
        self.read_only.is_some()
    }

    /// A read-only load of a warp, given its number on the chip, through the read-only cache.
    pub fn read_only_load(&mut self, warp: u64, access: &Access) {
        let touched = lanes(access.mask).map(|lane| (lane as u32, access.addresses[lane] / SEGMENT_BYTES));
        let queries = self.query(warp, touched);
        self.counters.caches.read_only_load += queries;
        // What the request would cost if nothing hit.
        let found = coalesce::sectors(access);
        let transactions = TransactionCounters {
            transactions: found.sectors.into(),
            bytes_moved: u64::from(found.sectors) * SEGMENT_BYTES,
            bytes_asked: found.bytes.into(),
        };
        self.counters.global_load += transactions;
        self.counters.read_only_load += transactions;
    }

    /// A warp's texture fetch through the read-only cache: the lane and the 32-byte sector of each
    /// texel.
    pub fn texture_fetch(&mut self, warp: u64, touched: impl Iterator<Item = (u32, u64)>) {
        let queries = self.query(warp, touched);
        self.counters.caches.read_only_texture += queries;
    }

    /// Queries the read-only cache, and fetches what it lacks from L2.
    fn query(&mut self, warp: u64, touched: impl Iterator<Item = (u32, u64)>) -> SectorCounters {
        let Some(caches) = &mut self.read_only else { return SectorCounters::default() };
        let (queries, missed) = caches.request(warp, touched);
        self.counters.caches.l2_to_l1_sectors += missed.len() as u64;
        const OF_LINE: u64 = LINE_BYTES / SEGMENT_BYTES;
        let fetch = |&segment: &u64| Upstream {
            line: segment / OF_LINE,
            sectors: 1 << (segment % OF_LINE),
            kind: AccessKind::Load,
            priority: EvictionPriority::Unchanged,
        };
        self.upstream.extend(missed.iter().map(fetch));
        let notes = self.upstream.len();
        let note = self.note;
        self.notes.iter_mut().for_each(|all| all.resize(notes, note));
        queries
    }

    /// The copy engine reads or writes global memory, past L1. What it reads may go to several
    /// multiprocessors.
    pub fn bulk(&mut self, kind: AccessKind, (address, bytes): (u64, u32), receivers: u32) {
        self.priority = EvictionPriority::Unchanged;
        let end = address + u64::from(bytes);
        for (line, sectors) in transactions::bulk_lines(address, bytes) {
            let (from, to) = (address.max(line * LINE_BYTES), end.min((line + 1) * LINE_BYTES));
            self.note.bytes = (u128::MAX >> (LINE_BYTES - (to - from).min(LINE_BYTES))) << (from % LINE_BYTES);
            let count = sectors.count_ones();
            match self.model.l2 {
                Some(_) => self.send(line, sectors, kind),
                None => self.past_caches(kind, u64::from(count) * 32),
            }
            self.counters.caches.l2_to_l1_sectors += u64::from(count * receivers.saturating_sub(1));
        }
    }

    /// A warp's access to the shared memory of another block, which goes to another multiprocessor
    /// and back. Atomic operations of lanes that share a word take turns, and the replies count as
    /// much.
    pub fn distributed(&mut self, kind: AccessKind, access: &Access) {
        self.counters.caches.distributed_sectors += match kind {
            AccessKind::Atomic | AccessKind::Reduction => 2 * u64::from(coalesce::atomic_sectors(access).sectors),
            _ => coalesce::sectors(access).sectors.into(),
        };
    }

    /// Threads of a block acquire what others of their cluster have written: invalidates L1.
    /// (Without clusters there are no such writes.)
    pub fn acquire(&mut self) {
        if let Some(l1) = self.l1.as_mut().filter(|_| !self.model.gpcs.is_empty()) {
            l1.drop_lines();
        }
    }

    fn count(&mut self, kind: AccessKind, origin: AccessOrigin, through: bool, access: &Access) {
        let (found, counters) = match kind {
            _ if origin == AccessOrigin::Local => return,
            AccessKind::Load | AccessKind::Copy => {
                let route = if through { Route::ThroughL1 } else { Route::PastL1 };
                (transactions::of(self.model.global, access, route), &mut self.counters.global_load)
            }
            AccessKind::Store => {
                (transactions::of(self.model.global, access, Route::Store), &mut self.counters.global_store)
            }
            AccessKind::Atomic | AccessKind::Reduction => return,
        };
        *counters += TransactionCounters {
            transactions: found.count.into(),
            bytes_moved: found.bytes.into(),
            bytes_asked: found.asked.into(),
        };
    }

    /// Without caches, each transaction goes to DRAM. Atomic operations read and write.
    fn past_caches(&mut self, kind: AccessKind, bytes: u64) {
        let caches = &mut self.counters.caches;
        if kind != AccessKind::Store {
            caches.dram_read_bytes += bytes;
        }
        if !matches!(kind, AccessKind::Load | AccessKind::Copy) {
            caches.dram_write_bytes += bytes;
        }
    }

    fn load(&mut self, piece: &Piece, origin: AccessOrigin, through: bool) {
        let (Some(l1), Some(rules), true) = (&mut self.l1, &self.model.l1, through) else {
            self.send(piece.line, piece.sectors, AccessKind::Load);
            return;
        };
        let whole_lines = rules.sector == rules.line;
        let wanted = if whole_lines { 0b1111 } else { piece.sectors };
        let found = l1.look_up(piece.line) & wanted;
        let missing = wanted & !found;
        let counters = match origin {
            AccessOrigin::Global => &mut self.counters.caches.l1_global_load,
            AccessOrigin::Local => &mut self.counters.caches.l1_local_load,
        };
        let count = |sectors: u8| if whole_lines { u64::from(sectors == 0b1111) } else { sectors.count_ones().into() };
        *counters += SectorCounters { sectors: count(wanted), hits: count(found) };
        if missing != 0 {
            self.send(piece.line, missing, AccessKind::Load);
            self.keep(piece.line, missing, 0);
        }
    }

    fn store(&mut self, piece: &Piece, origin: AccessOrigin) {
        let (Some(l1), Some(rules)) = (&mut self.l1, &self.model.l1) else {
            self.send(piece.line, piece.sectors, AccessKind::Store);
            return;
        };
        if origin == AccessOrigin::Local {
            let dirty = if rules.local_write_back { piece.sectors } else { 0 };
            let present = if rules.sector == rules.line { 0b1111 } else { piece.sectors };
            if dirty == 0 {
                self.send(piece.line, piece.sectors, AccessKind::Store);
            }
            self.keep(piece.line, present, dirty);
            return;
        }
        match rules.store_hit {
            StoreHit::Evicts => l1.drop_line(piece.line),
            StoreHit::Allocates => {
                // A partly written sector does not count as present for reads of the rest.
                let whole =
                    (0..4).filter(|&sector| piece.bytes[sector] == u32::MAX).fold(0, |all, sector| all | 1 << sector);
                if whole != 0 {
                    self.keep(piece.line, whole, 0);
                }
            }
        }
        self.send(piece.line, piece.sectors, AccessKind::Store);
    }

    /// An atomic operation, which L2 executes. Lanes that share a word take turns.
    fn atomic(&mut self, piece: &Piece, kind: AccessKind, access: &Access) {
        if let Some(l1) = &mut self.l1 {
            l1.drop_line(piece.line);
        }
        let in_line = |lane: &usize| access.addresses[*lane] / LINE_BYTES == piece.line;
        let mask = lanes(access.mask).filter(in_line).fold(0, |mask, lane| mask | 1 << lane);
        let mut turns = [0; 4];
        for (sector, most) in coalesce::turns_of_sectors(&Access::new(mask, access.addresses, access.width)) {
            turns[(sector % 4) as usize] = most;
        }
        for turn in 0..turns.into_iter().max().unwrap_or(0) {
            let sectors = (0..4).filter(|&sector| turns[sector] > turn).fold(0, |all, sector| all | 1 << sector);
            self.send(piece.line, sectors, kind);
        }
    }

    /// Puts sectors into L1. Evicted dirty sectors go to L2.
    fn keep(&mut self, line: u64, sectors: u8, dirty: u8) {
        let evicted = self.l1.as_mut().and_then(|l1| l1.insert(line, sectors, dirty));
        if let Some(evicted) = evicted.filter(|evicted| evicted.dirty != 0) {
            self.send(evicted.line, evicted.dirty, AccessKind::Store);
        }
    }

    fn send(&mut self, line: u64, sectors: u8, kind: AccessKind) {
        let count = u64::from(sectors.count_ones());
        let caches = &mut self.counters.caches;
        match kind {
            AccessKind::Load | AccessKind::Copy => caches.l2_to_l1_sectors += count,
            AccessKind::Store | AccessKind::Reduction => caches.l1_to_l2_sectors += count,
            AccessKind::Atomic => {
                caches.l2_to_l1_sectors += count;
                caches.l1_to_l2_sectors += count;
            }
        }
        let priority = priority::of_line(self.priority, self.window, line, LINE_BYTES);
        self.upstream.push(Upstream { line, sectors, kind, priority });
        let note = self.note;
        self.notes.iter_mut().for_each(|notes| notes.push(note));
    }
}

/// Fills `pieces` with the lines that the lanes of `group` touch, in the order of the lanes.
fn split(access: &Access, group: u32, pieces: &mut Vec<Piece>) {
    pieces.clear();
    let start = access.addresses[group.trailing_zeros() as usize & 31];
    let bytes = u64::from(group.count_ones() * access.width);
    // Whole sectors in order, which is what most accesses are.
    if access.is_consecutive() && start.is_multiple_of(32) && bytes.is_multiple_of(32) {
        let (first, end) = (start / 32, (start + bytes) / 32);
        for line in first / 4..end.div_ceil(4) {
            let sectors = first.max(line * 4)..end.min(line * 4 + 4);
            let mut piece = Piece { line, ..Piece::default() };
            for sector in sectors {
                piece.sectors |= 1 << (sector % 4);
                piece.bytes[(sector % 4) as usize] = u32::MAX;
            }
            pieces.push(piece);
        }
        return;
    }
    for lane in lanes(group) {
        let address = access.addresses[lane];
        let line = address / LINE_BYTES;
        // Neighbours are mostly in the same line.
        let index = pieces.iter().rposition(|piece| piece.line == line).unwrap_or_else(|| {
            pieces.push(Piece { line, ..Piece::default() });
            pieces.len() - 1
        });
        let piece = &mut pieces[index];
        let sector = (address % LINE_BYTES / 32) as usize;
        piece.sectors |= 1 << sector;
        piece.bytes[sector] |= (u32::MAX >> (32 - access.width.clamp(1, 32))) << (address % 32);
    }
}

#[cfg(test)]
mod tests;
