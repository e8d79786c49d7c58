//! The recording of a launch on a model, from which the replay starts.

use super::servers::DramWork;
use super::trace::BlockTrace;
use crate::counters::InstructionCounters;
use crate::model::{
    Busiest, CacheCounters, Chip, Density, Growth, Model, SectorCounters, Sources, Timing, WrittenBack,
};

/// A launch whose time is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Timed {
    pub timing: &'static Timing,
    /// Registers of a thread, as given or estimated.
    pub registers: u32,
    /// Blocks that they let be resident on a multiprocessor.
    pub resident: u32,
}

/// How many of the recorded blocks ran to their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    /// Those that were to run.
    All,
    /// One, and of the others the beginning.
    One,
    /// Nothing: there is no time to predict.
    None,
}

/// What a launch left.
pub(crate) struct Recording {
    pub model: &'static Model,
    pub timing: &'static Timing,
    pub blocks: Vec<BlockTrace>,
    /// Blocks of the grid, and those of them that ran.
    pub total_blocks: u64,
    pub run_blocks: u64,
    /// How many of a multiprocessor's blocks ran to their end.
    pub ran: Ran,
    /// Blocks resident on a multiprocessor.
    pub resident: u32,
    pub warps_per_block: u32,
    /// The reads of each instruction from L2.
    pub reads: Vec<SectorCounters>,
    /// Of the atomic operations of each instruction, the parts that meet in L2.
    pub busiest: Vec<Busiest>,
    /// What each instruction did in the blocks that ran.
    pub counted: Vec<InstructionCounters>,
    pub caches: CacheCounters,
    pub density: Density,
    /// What DRAM read for each instruction, and the part of the grid over which the blocks that ran
    /// reach.
    pub sources: Sources,
    pub reach: f64,
    /// How many times as long the busiest partition of DRAM works as if all worked alike, and the
    /// same of what is written.
    pub camping: [f64; 2],
    /// What was written back, and what is left dirty in L2.
    pub writes: [WrittenBack; 2],
    /// Distinct bytes that the blocks that ran accessed.
    pub footprint: u64,
    /// Registers of a thread, as given or estimated.
    pub registers: u32,
    /// Bytes of all allocations.
    pub memory: u64,
}

/// What L2 does with the accesses of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlaceTraffic {
    /// The part of its sectors that L2 has not.
    misses: f64,
    /// Misses that are not whole sectors yet.
    carried: f64,
    /// Whether its stores write whole sectors, mostly.
    pub writes_whole_sectors: bool,
    /// Of its atomic operations, the parts that meet.
    pub busiest: Busiest,
}

impl PlaceTraffic {
    /// Of sectors that L1 lacks, those that L2 lacks, too: evenly spread over the launch.
    pub fn misses(&mut self, sectors: u16) -> u16 {
        self.carried += f64::from(sectors) * self.misses;
        let whole = self.carried.floor();
        self.carried -= whole;
        whole as u16
    }
}

/// Data up to this part of L2 stays there.
pub(super) const FITS: f64 = 0.8;
/// Data that is so many times as large as L2 is timed without a flush.
const EXCEEDS: u64 = 4;
/// Stores that write more than this part of their sectors write them as a whole.
const WHOLE: f64 = 0.7;
/// What gaps in the use of DRAM cost, as fitted on an H200: `1 + SPARSE * (1 / density - 1)^power`.
/// Where the gaps are longer than what is read, the power is less: an H100 reads 31 pairs of
/// sectors all over memory in a nanosecond.
const SPARSE_READS: f64 = 0.30;
const SPARSE_READS_POWER: [f64; 2] = [0.6, 0.46];
const SPARSE_WRITES: f64 = 0.45;
/// The most that gaps between written sectors cost.
const MOST_FOR_GAPS: f64 = 4.0;

impl Recording {
    /// Nothing so far.
    pub fn new(model: &'static Model, timed: Timed, total_blocks: u64, warps_per_block: u32, memory: u64) -> Self {
        let Timed { timing, registers, resident } = timed;
        Self {
            model,
            timing,
            blocks: Vec::new(),
            total_blocks,
            run_blocks: 0,
            ran: Ran::All,
            resident,
            warps_per_block,
            reads: Vec::new(),
            busiest: Vec::new(),
            counted: Vec::new(),
            caches: CacheCounters::default(),
            density: Density { read: 1.0, written: 1.0 },
            camping: [1.0; 2],
            writes: <[WrittenBack; 2]>::default(),
            sources: Sources::default(),
            reach: 1.0,
            footprint: 0,
            registers,
            memory,
        }
    }

    /// Takes what the chip and its instructions have done so far, in `blocks` blocks, which reach
    /// over that part of the grid.
    pub fn take_traffic(&mut self, chip: &Chip, counted: &[InstructionCounters], blocks: u64, reach: f64) {
        self.run_blocks = blocks;
        self.counted = counted.to_vec();
        self.caches = chip.counters().caches;
        self.writes = chip.writes();
        if let Some(traffic) = &chip.traffic {
            self.reads.clone_from(&traffic.reads);
            self.busiest = (0..counted.len()).map(|place| traffic.busiest(place as u32)).collect();
            self.density = chip.density();
            (self.sources, self.reach) = (traffic.sources.clone(), reach);
            self.footprint = traffic.footprint();
            self.camping = traffic.camping.factors(self.timing.memory.partitions);
        }
    }

    /// What L2 does with each instruction's accesses.
    pub(super) fn places(&self) -> Vec<PlaceTraffic> {
        let growth = Growth { blocks: self.grown(), length: self.longer(), reach: self.reach };
        let remaining = self.sources.remaining_misses(growth, self.model.l2.map_or(0.0, |l2| FITS * l2.bytes as f64));
        let all = self.reads.iter().copied().chain(std::iter::repeat(SectorCounters::default()));
        let of = |(place, (counters, reads)): (usize, (&InstructionCounters, SectorCounters))| {
            let global = &counters.global;
            PlaceTraffic {
                misses: match reads.sectors {
                    0 => 1.0,
                    sectors => {
                        let remain = remaining.get(&(place as u32)).copied().unwrap_or(1.0);
                        reads.misses() as f64 / sectors as f64 * remain
                    }
                },
                carried: 0.0,
                writes_whole_sectors: self.model.l2.is_none()
                    || global.bytes as f64 >= WHOLE * 32.0 * global.sectors as f64,
                busiest: self.busiest.get(place).copied().unwrap_or_default(),
            }
        };
        self.counted.iter().zip(all).enumerate().map(of).collect()
    }

    /// DRAM's work, relative to what the instructions ask for.
    pub(super) fn dram_work(&self) -> DramWork {
        if self.model.l2.is_none() {
            let [all, entering] = self.camping;
            return DramWork { read: all, written: all, entering, dirty_before: (0.0, 0.0) };
        }
        let missed = self.caches.l2_read.misses() * 32;
        let fetched = match missed {
            0..32_000 => 1.0,
            missed => (self.caches.dram_read_bytes as f64 / missed as f64).clamp(1.0, 2.0),
        };
        let gaps = 1.0 / self.density.read - 1.0;
        let read = fetched * (1.0 + SPARSE_READS * power(gaps, SPARSE_READS_POWER[usize::from(gaps > 1.0)]));
        let [back, left] = self.writes;
        let all = back.sectors + left.sectors;
        let asked = self.caches.l2_write + self.caches.l2_reduction.sectors + self.caches.l2_atomic.sectors;
        let written = match (all, asked) {
            (0, _) | (_, 0) => 1.0,
            (all, asked) => {
                // Sectors that are still dirty may yet be completed.
                let settled = if back.sectors * 10 > all * 3 { back } else { sum(back, left) };
                let partial = settled.partial as f64 / settled.sectors.max(1) as f64;
                let gaps = 1.0 + SPARSE_WRITES * power(1.0 / self.density.written - 1.0, 0.9);
                all as f64 / asked as f64 * (1.0 + partial) * gaps.min(MOST_FOR_GAPS)
            }
        };
        DramWork { read, written, entering: 1.0, dirty_before: self.dirty_before() }
    }

    /// Modified bytes that a cold launch finds in L2, and the part of L2 that they are: what has
    /// filled the cache before it. A launch on much more data than L2 has is timed behind others of
    /// its kind, and finds their data (`docs/TIMING.md`).
    pub(super) fn dirty_before(&self) -> (f64, f64) {
        match self.model.l2 {
            Some(l2) if self.memory < EXCEEDS * l2.bytes => {
                (l2.dirty_bytes as f64, l2.dirty_bytes as f64 / l2.bytes as f64)
            }
            _ => (0.0, 0.0),
        }
    }

    /// Distinct bytes that the whole grid accesses, if its other blocks do as these.
    pub(super) fn whole_footprint(&self) -> f64 {
        (self.footprint as f64 * self.grown() * self.longer()).min(self.memory as f64)
    }

    /// How many times as many blocks the grid has as ran.
    fn grown(&self) -> f64 {
        self.total_blocks as f64 / self.run_blocks.max(1) as f64
    }

    /// How many times as long a block is as what ran of each while the whole chip was looked at.
    fn longer(&self) -> f64 {
        let executed: u64 = self.counted.iter().map(|counters| counters.executed).sum();
        match (self.ran, self.run_blocks, executed) {
            (Ran::All | Ran::None, ..) | (_, 0, _) | (.., 0) => 1.0,
            (Ran::One, blocks, executed) => (average_length(&self.blocks) * blocks as f64 / executed as f64).max(1.0),
        }
    }
}

/// Instructions of a block, on average over those that ended; 0 if none did.
pub(super) fn average_length(blocks: &[BlockTrace]) -> f64 {
    let ended: Vec<u64> = blocks.iter().filter(|block| block.ended).map(BlockTrace::executed).collect();
    ended.iter().sum::<u64>() as f64 / ended.len().max(1) as f64
}

fn sum(one: WrittenBack, other: WrittenBack) -> WrittenBack {
    WrittenBack { sectors: one.sectors + other.sectors, partial: one.partial + other.partial }
}

/// A power, rounded, so that it is the same on every machine.
fn power(base: f64, exponent: f64) -> f64 {
    (base.max(0.0).powf(exponent) * 1024.0).round() / 1024.0
}
