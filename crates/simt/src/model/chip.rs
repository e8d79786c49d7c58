//! What all multiprocessors share: L2 and DRAM.
//!
//! - L2 writes back. For a missing sector it fetches 64 bytes from DRAM on A100 and H200 (measured
//!   on the latter), and 32 on the others.
//! - L2 of the A100 and H200 has two partitions. Lines of the other partition are kept in both, so
//!   data that all multiprocessors read can use only half of L2. On an H200 at most 27 MB wait to
//!   be written (measured).
//! - The copy engine (`cp.async.bulk`) bypasses L1 and works in parts of 128 bytes. What it brings
//!   to several blocks of a cluster at once is read from L2 once and sent over the crossbar to
//!   each. Each row of a tensor's box is such a copy (measured on an H200).

use std::collections::VecDeque;

use ptx::EvictionPriority;
use rustc_hash::FxHashMap;

use super::cache::Cache;
use super::counters::{ModelCounters, SectorCounters};
use super::gpu::{L2, Model};
use super::multiprocessor::{Multiprocessor, Upstream};
use super::rates::Timing;
use super::traffic::{Density, Note, Traffic, WrittenBack};
use crate::instruction::AccessKind;

const SECTOR_BYTES: u64 = 32;

/// L2 and DRAM of a chip.
///
/// If L2 has two partitions, each line has its home in one of them. A multiprocessor sends requests
/// to the partition near to it. That partition fetches missing sectors from the home, and keeps a
/// copy.
pub(crate) struct Chip {
    l2: Option<L2>,
    partitions: Vec<Cache>,
    /// Lines in the order in which they became dirty, and their dirty sectors.
    dirty: VecDeque<u64>,
    dirty_sectors: FxHashMap<u64, u8>,
    dirty_count: u64,
    /// Reads of this round, by group of multiprocessors and line: which multiprocessor, and which
    /// sectors.
    asked: FxHashMap<(usize, u64), (u32, u8)>,
    counters: ModelCounters,
    /// Bytes that DRAM delivers in its latency.
    in_flight: u64,
    /// What a replay needs to know, if anyone asks.
    pub traffic: Option<Box<Traffic>>,
}

impl Chip {
    /// A chip with empty caches.
    pub fn new(model: &'static Model) -> Self {
        let partitions = model.l2.map_or(0, |l2| l2.partitions);
        let cache = |l2: L2| {
            let lines = l2.bytes / u64::from(l2.line) / u64::from(l2.partitions);
            Cache::new(lines as usize, l2.ways as usize)
        };
        Self {
            l2: model.l2,
            partitions: (0..partitions).filter_map(|_| model.l2.map(cache)).collect(),
            dirty: VecDeque::new(),
            dirty_sectors: FxHashMap::default(),
            dirty_count: 0,
            asked: FxHashMap::default(),
            counters: ModelCounters::new(model),
            in_flight: model.timing().map_or(0, Timing::bytes_in_flight),
            traffic: None,
        }
    }

    /// What was counted in L2 and DRAM.
    pub fn counters(&self) -> &ModelCounters {
        &self.counters
    }

    /// Serves what the multiprocessors have requested since the last round, one request of each in
    /// turn.
    pub fn serve<'m>(&mut self, multiprocessors: impl Iterator<Item = &'m mut Multiprocessor>) {
        let Some(l2) = self.l2 else {
            self.look_at_partitions(multiprocessors);
            return;
        };
        let mut all: Vec<_> = multiprocessors.filter(|from| !from.upstream.is_empty()).collect();
        let merges = all.len() > 1;
        let longest = all.iter().map(|from| from.upstream.len()).max().unwrap_or(0);
        for index in 0..longest {
            for from in &all {
                if let Some(&request) = from.upstream.get(index) {
                    let note = from.notes.as_ref().and_then(|notes| notes.get(index).copied());
                    self.request(&l2, request, from, note, merges);
                }
            }
        }
        self.asked.clear();
        for from in &mut all {
            from.upstream.clear();
            from.notes.iter_mut().for_each(Vec::clear);
        }
    }

    /// Without L2: which partitions of DRAM the multiprocessors use, if anyone asks.
    fn look_at_partitions<'m>(&mut self, multiprocessors: impl Iterator<Item = &'m mut Multiprocessor>) {
        let Some(Traffic { camping, .. }) = self.traffic.as_deref_mut() else { return };
        multiprocessors.filter_map(|from| from.sent.as_mut()).for_each(|sent| camping.take(sent));
        camping.look(self.in_flight);
    }

    fn request(&mut self, l2: &L2, request: Upstream, from: &Multiprocessor, note: Option<Note>, merges: bool) {
        let near = from.position.near;
        let count = u64::from(request.sectors.count_ones());
        match request.kind {
            AccessKind::Load | AccessKind::Copy => {
                // Alone, a multiprocessor has nobody to merge with.
                let sectors = if merges { self.not_asked_for(l2, request, from) } else { request.sectors };
                let mut hits = count - u64::from(sectors.count_ones());
                if sectors != 0 {
                    let found = self.read(l2, Upstream { sectors, ..request }, near);
                    let sectors = u64::from(sectors.count_ones());
                    self.counters.caches.l2_read += SectorCounters { sectors, hits: found };
                    hits += found;
                }
                if let (Some(traffic), Some(note)) = (&mut self.traffic, note) {
                    traffic.read(note, SectorCounters { sectors: count, hits });
                }
            }
            AccessKind::Store => {
                self.counters.caches.l2_write += count;
                self.write(l2, request, near, note);
            }
            AccessKind::Atomic | AccessKind::Reduction => {
                let home = self.home(request.line);
                let hits = self.read(l2, request, home);
                self.write(l2, request, home, note);
                if let (Some(traffic), Some(note)) = (&mut self.traffic, note) {
                    traffic.atomic(note, request.line, request.sectors);
                }
                let counters = match request.kind {
                    AccessKind::Atomic => &mut self.counters.caches.l2_atomic,
                    _ => &mut self.counters.caches.l2_reduction,
                };
                *counters += SectorCounters { sectors: count, hits };
            }
        }
    }

    /// The sectors that no other multiprocessor of the group has requested in this round.
    fn not_asked_for(&mut self, l2: &L2, request: Upstream, from: &Multiprocessor) -> u8 {
        // Requests of the copy engine are not merged.
        if l2.merges_reads_of < 2 || request.kind == AccessKind::Copy {
            return request.sectors;
        }
        let (first, asked) = self.asked.entry((from.position.group, request.line)).or_insert((from.position.number, 0));
        let new = if *first == from.position.number { request.sectors } else { request.sectors & !*asked };
        *asked |= request.sectors;
        new
    }

    fn home(&self, line: u64) -> usize {
        // Pages of 4 KiB, spread by a multiplicative hash.
        let page = (line >> 5).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (page % self.partitions.len().max(1) as u64) as usize
    }

    /// Reads sectors of a line through a partition. Returns how many of them it had.
    fn read(&mut self, l2: &L2, request: Upstream, near: usize) -> u64 {
        let Upstream { line, sectors, priority, .. } = request;
        let found = self.partitions[near].look_up_as(line, priority) & sectors;
        let missing = sectors & !found;
        if missing != 0 {
            let home = self.home(line);
            let at_home = if home == near { 0 } else { self.partitions[home].look_up_as(line, priority) };
            let absent = missing & !at_home;
            let fetched = fetched(l2.fetch, absent);
            if fetched != 0 {
                let present = if home == near { self.partitions[near].look_up(line) } else { at_home };
                let new = fetched & !present;
                self.counters.caches.dram_read_bytes += u64::from(new.count_ones()) * SECTOR_BYTES;
                self.traffic.iter_mut().for_each(|traffic| traffic.fetch(line, new));
                self.keep(home, line, (fetched, 0), priority);
            }
            if home != near {
                self.keep(near, line, (missing | fetched, 0), priority);
            }
        }
        u64::from(found.count_ones())
    }

    /// Writes sectors of a line through a partition.
    fn write(&mut self, l2: &L2, request: Upstream, near: usize, note: Option<Note>) {
        let Upstream { line, sectors, priority, .. } = request;
        let home = self.home(line);
        if near != home {
            self.keep(near, line, (sectors, 0), priority);
        }
        self.keep(home, line, (sectors, sectors), priority);
        if let (Some(traffic), Some(note)) = (&mut self.traffic, note) {
            traffic.write(line, note.bytes);
        }
        let dirty = self.dirty_sectors.entry(line).or_insert_with(|| {
            self.dirty.push_back(line);
            0
        });
        self.dirty_count += u64::from((sectors & !*dirty).count_ones());
        *dirty |= sectors;
        // Write back the oldest first, while more sectors are dirty than L2 allows.
        while self.dirty_count * SECTOR_BYTES > l2.dirty_bytes {
            let Some(line) = self.dirty.pop_front() else { break };
            self.write_back(line);
        }
        // Remove lines that were written back after they were queued.
        if self.dirty.len() > 2 * self.dirty_sectors.len() + 1024 {
            let dirty = &self.dirty_sectors;
            self.dirty.retain(|line| dirty.contains_key(line));
        }
    }

    /// Puts sectors into a partition. Dirty sectors evicted from their home are written to DRAM.
    fn keep(&mut self, partition: usize, line: u64, (sectors, dirty): (u8, u8), priority: EvictionPriority) {
        let evicted = self.partitions[partition].insert_as(line, (sectors, dirty), priority);
        if let Some(evicted) = evicted.filter(|evicted| evicted.dirty != 0) {
            self.write_back(evicted.line);
        }
    }

    fn write_back(&mut self, line: u64) {
        if let Some(sectors) = self.dirty_sectors.remove(&line) {
            let count = u64::from(sectors.count_ones());
            self.dirty_count -= count;
            self.counters.caches.dram_write_bytes += count * SECTOR_BYTES;
            self.traffic.iter_mut().for_each(|traffic| traffic.write_back(line, sectors));
        }
    }

    /// The sectors that were written to DRAM, and those that are still dirty. Nothing without
    /// traffic.
    pub fn writes(&self) -> [WrittenBack; 2] {
        self.traffic.as_ref().map(|traffic| traffic.writes(&self.dirty_sectors)).unwrap_or_default()
    }

    /// How densely DRAM is used.
    pub fn density(&self) -> Density {
        let mut left = self.dirty_sectors.clone();
        // A line that was written back and became dirty again is in the queue twice.
        let mut queue: Vec<_> = self.dirty.iter().rev().filter_map(|line| Some((*line, left.remove(line)?))).collect();
        queue.reverse();
        self.traffic.as_ref().map(|traffic| traffic.density(queue.into_iter())).unwrap_or_default()
    }
}

/// The sectors that DRAM delivers when some are absent.
fn fetched(fetch: u32, absent: u8) -> u8 {
    match fetch {
        128 if absent != 0 => 0b1111,
        64 => [0b0011, 0b1100].into_iter().filter(|pair| pair & absent != 0).fold(0, |all, pair| all | pair),
        _ => absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::gpu::LoadCaching;
    use crate::model::multiprocessor::Position;

    fn serve(chip: &mut Chip, model: &str, from: usize, requests: &[Upstream]) {
        let model = Model::named(model).unwrap();
        let near = |number: u32| (number * model.l2.unwrap().partitions / model.multiprocessors) as usize;
        let position = |number| Position { number, near: near(number), group: 0 };
        let new = |number| Multiprocessor::new(model, position(number), 0, LoadCaching::Default);
        let mut all: Vec<_> = (0..model.multiprocessors).map(new).collect();
        all[from].upstream.extend_from_slice(requests);
        chip.serve(all.iter_mut());
    }

    fn request(line: u64, sectors: u8, kind: AccessKind) -> Upstream {
        Upstream { line, sectors, kind, priority: EvictionPriority::Unchanged }
    }

    #[test]
    fn the_second_read_hits_and_dram_gives_pairs() {
        for (model, bytes) in [("volta", 32), ("ampere", 64)] {
            let mut chip = Chip::new(Model::named(model).unwrap());
            for _ in 0..2 {
                serve(&mut chip, model, 0, &[request(5, 0b0001, AccessKind::Load)]);
            }
            let caches = chip.counters.caches;
            assert_eq!(caches.l2_read, SectorCounters { sectors: 2, hits: 1 });
            assert_eq!(caches.dram_read_bytes, bytes);
        }
    }

    #[test]
    fn a_far_partition_is_asked_once() {
        let mut chip = Chip::new(Model::named("hopper").unwrap());
        // One multiprocessor near each partition: both miss in their own, but DRAM is read once.
        for from in [0, 131, 0, 131] {
            serve(&mut chip, "hopper", from, &[request(7, 0b1111, AccessKind::Load)]);
        }
        let caches = chip.counters.caches;
        assert_eq!(caches.l2_read, SectorCounters { sectors: 16, hits: 8 });
        assert_eq!(caches.dram_read_bytes, 128);
    }

    #[test]
    fn what_is_written_is_written_back_once() {
        let mut chip = Chip::new(Model::named("volta").unwrap());
        let l2 = chip.l2.unwrap();
        let lines = l2.bytes / u64::from(l2.line);
        let store = |line| request(line, 0b1111, AccessKind::Store);
        let stores: Vec<_> = (0..lines).flat_map(|line| [store(line), store(line)]).collect();
        serve(&mut chip, "volta", 0, &stores);
        assert_eq!(chip.counters.caches.dram_write_bytes, 0);
        let more: Vec<_> = (lines..lines + 100).map(store).collect();
        serve(&mut chip, "volta", 0, &more);
        assert_eq!((chip.counters.caches.dram_write_bytes, chip.counters.caches.dram_read_bytes), (100 * 128, 0));
    }

    #[test]
    fn an_atomic_operation_fetches_and_dirties() {
        let mut chip = Chip::new(Model::named("hopper").unwrap());
        serve(&mut chip, "hopper", 3, &[request(9, 1, AccessKind::Reduction), request(9, 2, AccessKind::Atomic)]);
        let caches = chip.counters.caches;
        assert_eq!(caches.l2_reduction, SectorCounters { sectors: 1, hits: 0 });
        assert_eq!(caches.l2_atomic, SectorCounters { sectors: 1, hits: 1 });
        assert_eq!((caches.dram_read_bytes, chip.dirty_count), (64, 2));
    }
}
