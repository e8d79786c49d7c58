//! The counts of each source line, added up over launches: instructions, and the accesses to each
//! memory. [`super::text`] shows them. `labs::launcher` adds up launches with it. Pure.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::Arc;

use goals::seen::costliest;
use serde::Serialize;
use simt::Report;
use simt::counts::{AccessKind, InstructionClass, InstructionCounters, InstructionInfo, SourceLine};
use simt::requests::{Request, RequestedMemory};

use super::seen::Seen;

/// The counts of the lines of kernels, in one launch or several.
#[derive(Clone, Debug, Default)]
pub struct LineCounts {
    pub(super) by_source: BTreeMap<SourceLine, Counted>,
    /// For PTX without line information: the PTX's own lines.
    pub(super) by_ptx: BTreeMap<u32, Counted>,
    /// The texts of those lines, and of the lines between them.
    pub(super) ptx: BTreeMap<u32, String>,
    /// Instructions without a source line, if others have one.
    pub(super) elsewhere: Counted,
    /// Of the first launch's watched block: for each store to shared memory that its warps make in
    /// turn, the active lanes of each warp; 0 where a warp makes none.
    pub(super) lanes: Vec<Vec<u32>>,
    /// How many requests of each access to keep, to step through.
    steps: usize,
}

impl LineCounts {
    /// Counts that keep up to this many requests of each access, to step through.
    pub(crate) fn stepping(steps: u32) -> Self {
        Self { steps: steps as usize, ..Self::default() }
    }

    /// Adds a launch's counts.
    pub fn add(&mut self, report: &Report) {
        let executed = || report.instructions().filter(|row| row.counters.executed > 0);
        let has_source = executed().any(|row| row.info.source.is_some());
        if !has_source {
            self.ptx.extend(report.instructions().map(|row| (row.info.ptx_line, row.info.text.to_string())));
        }
        for row in executed() {
            let line = self.line_of(row.info, has_source);
            line.add(row.info.class, row.counters);
            if has_source {
                *line.ptx.entry((row.info.ptx_line, row.info.text.clone())).or_default() += row.counters.executed;
            }
        }
        for (info, waited) in report.waits() {
            self.line_of(info, has_source).waited += waited;
        }
        for request in costliest(report) {
            self.line_of(report.instruction_of(request), has_source).seen.add(report, request);
        }
        if self.lanes.is_empty() {
            self.lanes = lanes(report);
        }
        if self.steps > 0 {
            // As a warp makes them, which may be by several instructions in turn.
            let mut requests: Vec<_> = report.requests().iter().collect();
            requests.sort_by_key(|request| (request.warp, request.step));
            for request in requests {
                let steps = self.steps;
                self.line_of(report.instruction_of(request), has_source).seen.step(report, request, steps);
            }
        }
    }

    /// The line of an instruction.
    fn line_of(&mut self, info: &InstructionInfo, has_source: bool) -> &mut Counted {
        match &info.source {
            _ if !has_source => self.by_ptx.entry(info.ptx_line).or_default(),
            Some(line) => self.by_source.entry(line.clone()).or_default(),
            None => &mut self.elsewhere,
        }
    }
}

/// The active lanes of stores to shared memory: for each that a warp makes in turn, those of each
/// warp.
fn lanes(report: &Report) -> Vec<Vec<u32>> {
    let is_store = |request: &&Request| (request.memory, request.kind) == (RequestedMemory::Shared, AccessKind::Store);
    let mut stores: Vec<_> = report.requests().iter().filter(is_store).collect();
    stores.sort_by_key(|request| (request.warp, request.step));
    let warps = stores.last().map_or(0, |last| last.warp as usize + 1);
    let mut lanes: Vec<Vec<u32>> = Vec::new();
    for of_warp in stores.chunk_by(|a, b| a.warp == b.warp) {
        for (step, request) in of_warp.iter().enumerate() {
            if step == lanes.len() {
                lanes.push(vec![0; warps]);
            }
            lanes[step][request.warp as usize] = request.mask;
        }
    }
    lanes
}

/// The counts of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counted {
    /// All of its instructions together.
    pub(super) all: InstructionCounters,
    /// Its accesses, one entry for each kind of access to each memory.
    pub(super) accesses: BTreeMap<(Memory, Kind), Access>,
    /// The PTX that a line was compiled to, by its lines and texts, with how often a warp executed
    /// it.
    pub(super) ptx: BTreeMap<(u32, Arc<str>), u64>,
    /// What its accesses look like, if the launches kept requests.
    pub(super) seen: Seen,
    /// How long warps would wait there, by launches with predicted times: shares of their
    /// microseconds.
    pub(super) waited: f64,
}

/// The accessed memory, in the order of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Memory {
    Global,
    Shared,
    /// Shared memory of other blocks of the cluster.
    Distributed,
    Local,
    Constant,
    Texture,
    Surface,
}

/// The kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Load,
    Store,
    Atomic,
    Reduction,
    /// An asynchronous copy, which reads global memory and writes shared memory.
    Copy,
}

/// Accesses of one kind to one memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Access {
    /// Warp instructions with an active lane.
    pub requests: u64,
    /// Sectors, wavefronts or addresses, depending on the memory.
    pub units: u64,
    /// The extra wavefronts caused by bank conflicts.
    pub bank_conflicts: u64,
}

impl AddAssign for Access {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.units += other.units;
        self.bank_conflicts += other.bank_conflicts;
    }
}

impl Memory {
    /// The unit in which accesses are measured; none for other blocks' shared memory.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Self::Global | Self::Local | Self::Texture | Self::Surface => Some("sectors"),
            Self::Shared => Some("wavefronts"),
            Self::Constant => Some("addresses"),
            Self::Distributed => None,
        }
    }
}

impl Access {
    /// Units per request.
    pub fn units_per_request(&self) -> f64 {
        self.units as f64 / self.requests as f64
    }
}

impl Counted {
    fn add(&mut self, class: InstructionClass, counters: &InstructionCounters) {
        self.all += *counters;
        let kind = match class {
            InstructionClass::Access(kind) | InstructionClass::Surface(kind) => kind.into(),
            InstructionClass::Texture => Kind::Load,
            InstructionClass::Branch | InstructionClass::Barrier | InstructionClass::Other => return,
        };
        let InstructionCounters { global, local, shared, constant, distributed, texture, .. } = *counters;
        let sectors = |of: simt::counts::MemoryCounters| (of.requests, of.sectors, 0);
        let fetched = if matches!(class, InstructionClass::Surface(_)) { Memory::Surface } else { Memory::Texture };
        for (memory, (requests, units, bank_conflicts)) in [
            (Memory::Global, sectors(global)),
            (Memory::Shared, (shared.requests, shared.wavefronts, shared.bank_conflicts)),
            (Memory::Distributed, (distributed.requests, 0, 0)),
            (Memory::Local, sectors(local)),
            (Memory::Constant, (constant.requests, constant.addresses, 0)),
            (fetched, sectors(texture)),
        ] {
            if requests > 0 {
                *self.accesses.entry((memory, kind)).or_default() += Access { requests, units, bank_conflicts };
            }
        }
    }

    /// The cost by which lines are sorted: sectors and wavefronts, then instructions.
    pub fn cost(&self) -> (u64, u64) {
        let moved = |((memory, _), access): (&(Memory, Kind), &Access)| match memory {
            Memory::Constant | Memory::Distributed => 0,
            _ => access.units,
        };
        (self.accesses.iter().map(moved).sum(), self.all.executed)
    }

    /// Requests to global and local memory.
    pub fn requests(&self) -> u64 {
        self.all.global.requests + self.all.local.requests
    }

    /// Sectors per request.
    pub fn sectors_per_request(&self) -> Option<f64> {
        quotient(self.all.global.sectors + self.all.local.sectors, self.requests())
    }

    /// Active lanes per warp instruction, on average.
    pub fn active_lanes(&self) -> Option<f64> {
        quotient(self.all.active_lanes, self.all.executed)
    }
}

fn quotient(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| numerator as f64 / denominator as f64)
}

impl From<AccessKind> for Kind {
    fn from(kind: AccessKind) -> Self {
        match kind {
            AccessKind::Load => Self::Load,
            AccessKind::Store => Self::Store,
            AccessKind::Atomic => Self::Atomic,
            AccessKind::Reduction => Self::Reduction,
            AccessKind::Copy => Self::Copy,
        }
    }
}
