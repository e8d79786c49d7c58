//! The path of an access: the load-store unit, the port of L1, L2 and DRAM, each a server with a
//! queue. A request begins at the later of its arrival and the end of the one before, and occupies
//! the server for its work. The replayed multiprocessor owns the first two; of L2 and DRAM it has
//! the share that is left if all active multiprocessors do alike, of DRAM on average only. Without
//! L2, its server of writes is the entrance to DRAM's partitions; this and DRAM work longer if a
//! launch uses them unevenly.

use super::delay::Delays;
use super::kinds::{Arithmetic, Kind};
use super::record::PlaceTraffic;
use super::trace::{Event, Target};
use crate::model::Timing;

/// Cycles of work that the load-store unit queues before warps have to wait.
const LSU_QUEUE: f64 = 24.0;
/// Cycles of stores that wait for the port.
const STORE_QUEUE: f64 = 64.0;
/// How far DRAM may lag behind before stores wait for it, in cycles; L2 a quarter of that.
const WRITE_SLACK: f64 = 2000.0;
/// Cycles of the load-store unit for lines in the same bank of L1's tags, and for a line that L1
/// lacks: `l1_stride33` (8 lines a bank), `l1_random64K` (10.8 lines on average) and
/// `cg_1sm_stride33` on an H200.
const TAG: f64 = 1.1;
/// However its lines lie, a look-up takes no longer than this for each: `rows`, down a column of
/// rows.
const ANY_LINE: f64 = 1.0;
const MISSED_LINE: f64 = 1.03;
/// Sectors of atomic operations that L2 does for each line that it can look up: `atomic_mode4` and
/// `access random` on an H200.
const ATOMIC: f64 = 0.65;
/// Cycles between two atomic operations of the chip on one sector, of integers and of floats: one
/// lane a warp on one address takes 1.60 and 3.63 on an H100, 32 lanes 46.7 and 111.5.
const ONE_SECTOR: [f64; 2] = [1.5, 3.5];
/// Between two in one slice of L2, on an H100: random words of 256 bytes up to 4 KiB.
const ONE_SLICE: f64 = 1.45;
/// Shared memory has no unit for sums of floats, nor for most operations on 64 bits: a warp
/// compares and swaps in a loop, and one lane of a bank gets through each time. Cycles of such a
/// turn, and between two of a warp's, on an H100: f32 14 and 95, u64 15 to 21 and 111.
const SWAP: f64 = 14.5;
const SWAP_LATENCY: f64 = 95.0;
/// What a sector that is written in part costs in L2, in whole ones.
const PARTIAL: f64 = 2.0;
/// The random part of the latencies of L2 and DRAM, and how much longer they are on average than
/// the numbers of a model: as fitted to `launch` with few blocks on an H200.
const L2_JITTER: f64 = 0.1;
const L2_LONGER: f64 = 15.0;
const DRAM_JITTER: f64 = 0.18;
const DRAM_LONGER: f64 = 60.0;
/// Waiting for a busy DRAM: `QUEUEING * use^2 / (1 + ROOM - use)` cycles.
const QUEUEING: f64 = 260.0;
const ROOM: f64 = 0.12;
/// Cycles of its share of DRAM that a multiprocessor may take at once, as far as it has left them
/// idle: others wait at other moments. Of 1000, 2000 and 4000, with 1000 the published `read` of a
/// V100 and an L40 (`measurements/time.md`) comes out best.
const BURST: f64 = 1000.0;
/// Sectors that the copy engine asks for at once: as many as a warp with words of 16 bytes, for on
/// an H200, `pipeline`'s bulk copies take as long as those by `cp.async` (-0.9 to +1.9 %).
const BULK_SECTORS: u16 = 16;
/// Cycles over which the use of DRAM is averaged.
const WINDOW: f64 = 3000.0;
/// Cycles of the constant cache for each address beyond the first.
const CONSTANT_ADDRESS: f64 = 2.3;
/// How far the constant cache may lag behind before its scheduler waits.
const CONSTANT_QUEUE: f64 = 200.0;

/// Cycles for which each server has worked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Busy {
    pub lsu: f64,
    pub shared: f64,
    pub port: f64,
    pub l2: f64,
    pub dram: f64,
    pub constant: f64,
    /// L2, on the sector or slice that most atomic operations go to.
    pub hottest: f64,
}

/// The rates of a launch, in bytes a cycle for the replayed multiprocessor.
#[derive(Clone, Copy, Debug)]
struct Rates {
    port_in: f64,
    port_out: f64,
    l2_read: f64,
    l2_write: f64,
    l2_lines: f64,
    l2_atomics: f64,
    dram: f64,
    /// What a byte costs that a store makes DRAM write.
    dram_write: f64,
    /// How many bytes DRAM reads for one that is asked for.
    dram_read: f64,
}

/// When a copy of the copy engine has read its source, and is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub read: f64,
    pub done: f64,
}

/// The servers, each with the time from which it is free.
pub(super) struct Servers<'t> {
    timing: &'t Timing,
    rates: Rates,
    /// Multiprocessors that work.
    active: f64,
    warm: bool,
    /// Modified bytes in L2 that reads will displace, this multiprocessor's share; and the part of
    /// what they displace that is modified.
    dirty: (f64, f64),
    /// Bytes that stores can modify before L2 has to write others back: it may hold as many
    /// modified ones as it did before the launch, whose end does not wait for them.
    room: f64,
    lsu: f64,
    port_in: f64,
    stores: f64,
    l2_read: f64,
    l2_write: f64,
    hottest: f64,
    dram: f64,
    constant: f64,
    /// The recent use of DRAM, when it was looked at, and how long it had worked.
    recent: (f64, f64, f64),
    pub busy: Busy,
    delays: Delays,
}

/// DRAM's work for the launch, relative to what its instructions ask for.
#[derive(Clone, Copy, Debug)]
pub(super) struct DramWork {
    pub read: f64,
    pub written: f64,
    /// What goes before it to the partitions of a GPU without L2.
    pub entering: f64,
    /// Modified bytes in L2 at first, and the part of L2 that they are.
    pub dirty_before: (f64, f64),
}

impl<'t> Servers<'t> {
    /// `active` multiprocessors share L2 and DRAM. `warm`: all that is read is in L2, and nothing
    /// is written back.
    pub fn new(timing: &'t Timing, active: f64, work: DramWork, warm: bool) -> Self {
        let share = |gbps: f64| gbps * 1e3 / timing.clock_mhz / active;
        let memory = &timing.memory;
        let rates = Rates {
            port_in: memory.port_in,
            port_out: memory.port_out,
            l2_read: share(memory.l2_read),
            l2_write: share(memory.l2_write) / work.entering,
            l2_lines: memory.l2_lines / active,
            l2_atomics: memory.l2_lines * ATOMIC / active,
            dram: share(memory.dram),
            dram_write: work.written * memory.dram_write,
            dram_read: work.read,
        };
        Self {
            timing,
            rates,
            active,
            warm,
            dirty: (work.dirty_before.0 / active, work.dirty_before.1),
            room: 0.0,
            lsu: 0.0,
            port_in: 0.0,
            stores: 0.0,
            l2_read: 0.0,
            l2_write: 0.0,
            hottest: 0.0,
            dram: 0.0,
            constant: 0.0,
            recent: (0.0, 0.0, 0.0),
            busy: Busy::default(),
            delays: Delays::default(),
        }
    }

    /// When the queues have room for an access; at most `now` if they have.
    pub fn room(&self, now: f64, stores: bool) -> f64 {
        let lsu = self.lsu - LSU_QUEUE;
        let stores = if stores { self.stores - STORE_QUEUE } else { now };
        lsu.max(stores).max(now)
    }

    /// When the last store is done.
    pub fn drained(&self) -> f64 {
        self.l2_write.max(self.hottest).max(self.lsu)
    }

    /// Until when the scheduler waits for the constant cache.
    pub fn constant_backlog(&self) -> f64 {
        self.constant - CONSTANT_QUEUE
    }

    /// An access begins. Returns when its result is there.
    pub fn access(&mut self, now: f64, event: &Event, kind: Kind, place: &mut PlaceTraffic) -> f64 {
        self.look(now);
        match event.target {
            Target::Nothing => now,
            Target::Shared => self.shared(now, event, kind),
            Target::Constant => self.constant(now, event),
            Target::Texture => self.texture(now, event),
            Target::Bulk => self.bulk(now, event, kind, place).done,
            Target::Memory => match kind {
                Kind::Load => self.load(now, event, place),
                Kind::Store => self.store(now, event, place),
                Kind::Atomic(what) => self.atomic(now, event, what, place),
            },
        }
    }

    /// A shuffle, which the load-store unit does.
    pub fn shuffle(&mut self, now: f64) -> f64 {
        self.enter(now, self.timing.memory.lsu)
    }

    /// Averages the use of DRAM.
    fn look(&mut self, now: f64) {
        let (recent, last, worked) = self.recent;
        let since = now - last;
        if since > 400.0 {
            let weight = (since / WINDOW).min(1.0);
            let part = (self.busy.dram - worked) / since;
            self.recent = (recent + (part - recent) * weight, now, self.busy.dram);
        }
    }

    /// Work for the load-store unit. Returns when it begins.
    fn enter(&mut self, now: f64, cycles: f64) -> f64 {
        let begin = self.lsu.max(now);
        self.lsu = begin + cycles;
        self.busy.lsu += cycles;
        begin
    }

    fn shared(&mut self, now: f64, event: &Event, kind: Kind) -> f64 {
        let passes = match kind {
            Kind::Atomic(Arithmetic::Increment) | Kind::Load | Kind::Store => event.wavefronts,
            Kind::Atomic(_) => event.wavefronts.max(event.turns.into()),
        };
        let passes = f64::from(passes.max(1));
        let swaps = kind.loops(Target::Shared);
        let cycles = passes * if swaps { SWAP } else { self.timing.memory.lsu };
        let begin = self.enter(now, cycles);
        self.busy.shared += cycles;
        match swaps {
            true => (begin + cycles).max(begin + passes * SWAP_LATENCY),
            false => begin + cycles + self.timing.latency.shared - 1.0,
        }
    }

    fn constant(&mut self, now: f64, event: &Event) -> f64 {
        let cycles = 1.0 + f64::from(event.lines.saturating_sub(1)) * CONSTANT_ADDRESS;
        self.constant = self.constant.max(now) + cycles;
        self.busy.constant += cycles;
        self.constant + 30.0
    }

    fn load(&mut self, now: f64, event: &Event, place: &mut PlaceTraffic) -> f64 {
        let missed_lines = missed_lines(event);
        let tags = (f64::from(event.tags) * TAG).min(f64::from(event.lines) * ANY_LINE);
        let cycles = f64::from(event.wavefronts).max(tags).max(missed_lines * MISSED_LINE);
        let cycles = cycles.max(1.0) * self.timing.memory.lsu;
        let begin = self.enter(now, cycles);
        let hit = begin + cycles + self.timing.latency.l1;
        match event.missed {
            0 => hit,
            missed => self.fetch(begin, begin + cycles, missed, missed_lines, place.misses(missed)),
        }
    }

    fn texture(&mut self, now: f64, event: &Event) -> f64 {
        let begin = self.enter(now, self.timing.memory.lsu);
        let hit = begin + self.timing.latency.texture;
        match event.missed {
            0 => hit,
            missed => self.fetch(begin, hit, missed, missed_lines(event).max(1.0), event.turns.into()),
        }
    }

    /// L1 fetches sectors of some lines; DRAM has to deliver `from_dram` of them. `hit`: when L1's
    /// part is done.
    fn fetch(&mut self, begin: f64, hit: f64, missed: u16, lines: f64, from_dram: u16) -> f64 {
        let (rates, latency) = (self.rates, &self.timing.latency);
        let bytes = f64::from(missed) * 32.0;
        self.port_in = self.port_in.max(begin) + bytes / rates.port_in;
        self.busy.port += bytes / rates.port_in;
        let work = (bytes / rates.l2_read).max(lines / rates.l2_lines);
        self.l2_read = self.l2_read.max(self.port_in) + work;
        self.busy.l2 += work;
        let delay = self.delays.largest_of(lines.max(1.0) as u32);
        let from_l2 = self.l2_read.max(hit) + latency.l2 + L2_LONGER + latency.l2 * L2_JITTER * (delay - 1.0);
        if from_dram == 0 || self.warm {
            return from_l2;
        }
        // Lines that come displace others, and the modified ones must be written first.
        let come = lines.max(1.0) * f64::from(from_dram) / f64::from(missed) * 128.0;
        let displaced = (come * self.dirty.1).min(self.dirty.0);
        self.dirty.0 -= displaced;
        self.room += displaced;
        let written = displaced * self.timing.memory.dram_write;
        let work = (f64::from(from_dram) * 32.0 * rates.dram_read + written) / rates.dram;
        self.dram = self.dram.max(self.l2_read - BURST) + work;
        self.busy.dram += work;
        let delivered = self.dram.max(self.l2_read + work / self.active);
        let used = self.recent.0.min(1.0);
        let queue = QUEUEING * used * used / (1.0 + ROOM - used);
        from_l2.max(delivered + latency.dram + DRAM_LONGER + latency.dram * DRAM_JITTER * (delay - 1.0) + queue)
    }

    fn store(&mut self, now: f64, event: &Event, place: &PlaceTraffic) -> f64 {
        let tags = (f64::from(event.tags) * TAG).min(f64::from(event.lines) * ANY_LINE);
        let cycles = f64::from(event.wavefronts).max(tags).max(1.0) * self.timing.memory.lsu;
        let begin = self.enter(now, cycles);
        self.write(begin, event.missed, place);
        begin + cycles
    }

    /// Sectors go to L2, and at some time from there to DRAM. Returns when they are in L2.
    fn write(&mut self, begin: f64, sectors: u16, place: &PlaceTraffic) -> f64 {
        let written = self.send(begin, sectors, place);
        if !self.warm {
            let bytes = f64::from(sectors) * 32.0;
            let kept = bytes.min(self.room);
            self.room -= kept;
            let work = (bytes - kept) * self.rates.dram_write / self.rates.dram;
            self.dram = self.dram.max(written) + work;
            self.busy.dram += work;
            self.stores = self.stores.max(self.dram - WRITE_SLACK);
        }
        self.stores = self.stores.max(self.l2_write - WRITE_SLACK / 4.0);
        written
    }

    /// The copy engine copies to shared memory, or from there: like loads or stores of whole warps,
    /// but past the load-store unit.
    pub fn bulk(&mut self, now: f64, event: &Event, kind: Kind, place: &mut PlaceTraffic) -> Transfer {
        self.look(now);
        let mut transfer = Transfer { read: now, done: now };
        let mut left = event.missed;
        while left > 0 {
            let sectors = left.min(BULK_SECTORS);
            left -= sectors;
            let lines = f64::from(event.lines) * f64::from(sectors) / f64::from(event.missed);
            let there = match kind {
                Kind::Store => {
                    let done = self.write(now, sectors, place) + self.timing.latency.l2;
                    transfer.read = transfer.read.max(self.stores);
                    done
                }
                _ => self.fetch(now, now, sectors, lines, place.misses(sectors)),
            };
            transfer.done = transfer.done.max(there);
        }
        transfer
    }

    fn atomic(&mut self, now: f64, event: &Event, what: Arithmetic, place: &PlaceTraffic) -> f64 {
        let cycles = f64::from(event.wavefronts).max(1.0) * self.timing.memory.lsu;
        let begin = self.enter(now, cycles);
        let turns = f64::from(event.missed);
        let at_port = self.stores.max(begin);
        self.stores = at_port + turns * 32.0 / self.rates.port_out;
        let work = turns / self.rates.l2_atomics;
        self.l2_write = self.l2_write.max(at_port) + work;
        self.busy.l2 += work;
        // Each of the multiprocessors has as many for the same sector and slice.
        let of_sector = place.busiest.sector * ONE_SECTOR[usize::from(what == Arithmetic::Float)];
        let work = turns * of_sector.max(place.busiest.slice * ONE_SLICE) * self.active;
        self.hottest = self.hottest.max(at_port) + work;
        self.busy.hottest += work;
        let done = self.l2_write.max(self.hottest);
        self.stores = self.stores.max(done - WRITE_SLACK / 2.0);
        done + self.timing.latency.atomic
    }

    /// Sectors go through the port to L2. Returns when they are there.
    fn send(&mut self, begin: f64, sectors: u16, place: &PlaceTraffic) -> f64 {
        let bytes = f64::from(sectors) * 32.0;
        let at_port = self.stores.max(begin);
        self.stores = at_port + bytes / self.rates.port_out;
        let cost = if place.writes_whole_sectors { 1.0 } else { PARTIAL };
        let work = bytes * cost / self.rates.l2_write;
        self.l2_write = self.l2_write.max(at_port) + work;
        self.busy.l2 += work;
        self.l2_write
    }
}

/// Of the lines of an access, those that L1 lacks, if its misses are spread evenly.
fn missed_lines(event: &Event) -> f64 {
    f64::from(event.lines) * f64::from(event.missed) / f64::from(event.sectors.max(event.missed).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Busiest, Model};

    /// A server works for no longer than until it is free again.
    #[test]
    fn no_server_is_used_above_100_percent() {
        let model = Model::named("hopper").unwrap();
        let work = DramWork { read: 1.7, written: 2.5, entering: 1.0, dirty_before: (1e6, 0.4) };
        let mut servers = Servers::new(model.timing().unwrap(), 132.0, work, false);
        let mut place = PlaceTraffic::default();
        place.busiest = Busiest { sector: 0.01, slice: 0.02 };
        let mut random = 1u64;
        for step in 0..4000u32 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let part = |shift: u32, most: u64| (random >> shift) % (most + 1);
            let target = [Target::Memory, Target::Bulk, Target::Shared, Target::Constant][part(60, 3) as usize];
            let event = Event {
                target,
                lines: part(20, 31) as u16 + 1,
                tags: part(15, 7) as u8 + 1,
                sectors: part(25, 127) as u16,
                missed: part(33, 127) as u16,
                wavefronts: part(41, 32) as u16,
                ..Event::default()
            };
            let atomic = [Arithmetic::Increment, Arithmetic::Integer, Arithmetic::Wide, Arithmetic::Float];
            let atomic = Kind::Atomic(atomic[part(47, 3) as usize]);
            let kind = [Kind::Load, Kind::Store, atomic, atomic][part(50, 3) as usize];
            let now = f64::from(step) * 7.0;
            let ready = servers.access(now, &event, kind, &mut place);
            assert!(ready.is_finite() && ready >= now, "{event:?} {ready}");
            let Busy { lsu, shared, port, l2, dram, constant, hottest } = servers.busy;
            assert!(lsu <= servers.lsu && shared <= lsu && port <= servers.port_in && dram <= servers.dram);
            // It reads and writes at once.
            assert!(l2 <= servers.l2_read + servers.l2_write && constant <= servers.constant);
            assert!(hottest <= servers.hottest);
        }
    }
}
