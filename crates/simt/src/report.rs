//! What a launch did: its findings, and its counters in total, per instruction, per line of PTX and
//! per line of the source program. [`Program::launch`](crate::Program::launch) creates a
//! [`Report`]; the host reads it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Finding;
use crate::counters::{Counters, InstructionCounters};
use crate::instruction::{CountsDiffer, InstructionClass, InstructionInfo, SourceLine};
use crate::model::{LoadCaching, ModelCounters, Occupancy};
use crate::order::Drawn;
use crate::request::{ArrayCounts, Request, Service};
use crate::timing::Predicted;
use crate::touch::Touch;

/// One row of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionReport<'a> {
    /// The instruction.
    pub info: &'a InstructionInfo,
    /// What it did.
    pub counters: &'a InstructionCounters,
}

/// How evenly many share something: its sum, and the sum of the squares of their parts. If all of
/// `n` have as much as each other, the square of the sum is `n` times the sum of the squares; if
/// one has all, the two are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// The sum.
    pub sum: u64,
    /// The sum of the squares.
    pub squares: u128,
}

impl Shares {
    /// Adds a part.
    pub fn add(&mut self, part: u64) {
        self.sum += part;
        self.squares += u128::from(part) * u128::from(part);
    }

    /// The number of equal parts that are as even: `n` for `n` equal parts, 1 if one is all.
    /// `None` if there is nothing to share.
    pub fn effective(&self) -> Option<f64> {
        (self.squares > 0).then(|| self.sum as f64 * self.sum as f64 / self.squares as f64)
    }
}

impl std::ops::AddAssign for Shares {
    fn add_assign(&mut self, other: Self) {
        self.sum += other.sum;
        self.squares += other.squares;
    }
}

/// How evenly blocks and warps share a launch's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evenness {
    /// The warp instructions of each block.
    pub block_instructions: Shares,
    /// The instructions of each warp.
    pub warp_instructions: Shares,
    /// The accesses to memory, parameters excepted, of each block.
    pub block_accesses: Shares,
    /// The accesses of each warp.
    pub warp_accesses: Shares,
}

/// What a launch did.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub(crate) instructions: Arc<[InstructionInfo]>,
    /// One for each of `instructions`.
    pub(crate) counted: Vec<InstructionCounters>,
    pub(crate) evenness: Evenness,
    pub(crate) findings: Vec<Finding>,
    pub(crate) findings_beyond: u64,
    /// The model's occupancy and counters.
    pub(crate) modelled: Option<(Occupancy, ModelCounters)>,
    pub(crate) requests: Vec<Request>,
    pub(crate) arrays: Vec<ArrayCounts>,
    /// The launch's caching of loads.
    pub(crate) caching: LoadCaching,
    pub(crate) prediction: Option<Predicted>,
    pub(crate) drawn: Option<Drawn>,
    pub(crate) touches: Vec<Touch>,
}

impl Report {
    /// A report of counters and requests alone.
    pub(crate) fn recorded(
        instructions: Arc<[InstructionInfo]>,
        counted: Vec<InstructionCounters>,
        modelled: Option<(Occupancy, ModelCounters)>,
        requests: Vec<Request>,
    ) -> Self {
        Self {
            instructions,
            counted,
            evenness: Evenness::default(),
            findings: Vec::new(),
            findings_beyond: 0,
            modelled,
            requests,
            arrays: Vec::new(),
            caching: LoadCaching::default(),
            prediction: None,
            drawn: None,
            touches: Vec::new(),
        }
    }

    /// What the run did, if the launch asked for a drawn order.
    pub fn drawn(&self) -> Option<Drawn> {
        self.drawn
    }

    /// The accesses that [`Launch::follows`](crate::Launch::follows) asks for, in the order in
    /// which they were made: the first 65,536. A thread that reads the same value again and again
    /// does so once.
    pub fn touches(&self) -> &[Touch] {
        &self.touches
    }

    /// The counters of the whole launch.
    pub fn counters(&self) -> Counters {
        let (occupancy, model) = self.modelled.unzip();
        let mut total = Counters { model, occupancy, ..Counters::default() };
        for InstructionReport { info, counters } in self.instructions() {
            let kind = match info.class {
                InstructionClass::Access(kind) => Some(kind),
                _ => None,
            };
            total.add(counters, kind);
            match info.class {
                InstructionClass::Branch => {
                    total.branches += counters.executed;
                    total.divergent_branches += counters.divergent;
                }
                InstructionClass::Barrier => total.barriers += counters.executed,
                InstructionClass::Texture => {
                    total.texture += counters.texture;
                    total.texture_sectors_of_warps += counters.texture_sectors_of_warps;
                }
                InstructionClass::Surface(kind) => *total.surface.of(kind) += counters.texture,
                InstructionClass::Access(_) | InstructionClass::Other => {}
            }
        }
        total
    }

    /// How evenly blocks and warps share the work.
    pub fn evenness(&self) -> Evenness {
        self.evenness
    }

    /// What the checks of the launch found, in the order of first occurrence.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How many occurrences were found of bugs beyond the first hundred, which are not kept.
    pub fn findings_beyond(&self) -> u64 {
        self.findings_beyond
    }

    /// The occupancy of a multiprocessor of the launch's model; `None` without one.
    pub fn occupancy(&self) -> Option<&Occupancy> {
        self.modelled.as_ref().map(|(occupancy, _)| occupancy)
    }

    /// How long it would take on the model's GPU, if the launch asked for that.
    pub fn predicted(&self) -> Option<&Predicted> {
        self.prediction.as_ref()
    }

    /// The microseconds of the predicted time that warps wait at each instruction, where they wait.
    /// Nothing without a predicted time.
    pub fn waits(&self) -> impl Iterator<Item = (&InstructionInfo, f64)> {
        let time = match &self.prediction {
            Some(Predicted::Time(time)) => Some(time),
            _ => None,
        };
        time.into_iter().flat_map(|time| {
            let waits = self.instructions.iter().zip(&time.waits_by_instruction);
            waits.filter(|(_, part)| **part > 0.0).map(|(info, part)| (info, part * time.cold_us))
        })
    }

    /// The requests that the launch kept ([`Launch::watch`](crate::Launch::watch)): by instruction,
    /// block and warp, each warp's in the order of its execution.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// How often lanes loaded each word of global memory, or updated it by atomic operations, by
    /// allocation, if the launch asked for it
    /// ([`Launch::counts_words`](crate::Launch::counts_words)).
    pub fn arrays(&self) -> &[ArrayCounts] {
        &self.arrays
    }

    /// What a request of this report cost on the launch's own model.
    pub fn service_of(&self, request: &Request) -> Service {
        request.service(self.modelled.map(|(_, counters)| counters.model), self.caching)
    }

    /// The instruction that made a request of this report.
    pub fn instruction_of(&self, request: &Request) -> &InstructionInfo {
        &self.instructions[request.instruction as usize]
    }

    /// Each instruction of the program, in the order of its text, even if never executed.
    pub fn instructions(&self) -> impl Iterator<Item = InstructionReport<'_>> {
        self.instructions.iter().zip(&self.counted).map(|(info, counters)| InstructionReport { info, counters })
    }

    /// The executed instructions because of which a GPU can count otherwise, and why.
    pub fn differing(&self) -> impl Iterator<Item = (&InstructionInfo, CountsDiffer)> {
        self.instructions().filter_map(|row| {
            let why = row.info.differs?;
            let did = match why {
                CountsDiffer::Retried => row.counters.shared.requests > 0,
                CountsDiffer::Unrolled | CountsDiffer::Joined => row.counters.divergent > 0,
            };
            did.then_some((row.info, why))
        })
    }

    /// The counters of each line of the PTX, in rising order, without lines that were never
    /// executed.
    pub fn by_ptx_line(&self) -> BTreeMap<u32, InstructionCounters> {
        self.by(|info| Some(info.ptx_line))
    }

    /// The counters of each line of the source program, without lines that were never executed, and
    /// without instructions that come from no line.
    pub fn by_source_line(&self) -> BTreeMap<SourceLine, InstructionCounters> {
        self.by(|info| info.source.clone())
    }

    fn by<K: Ord>(&self, key: impl Fn(&InstructionInfo) -> Option<K>) -> BTreeMap<K, InstructionCounters> {
        let mut lines: BTreeMap<K, InstructionCounters> = BTreeMap::new();
        for InstructionReport { info, counters } in self.instructions().filter(|row| row.counters.executed > 0) {
            if let Some(key) = key(info) {
                *lines.entry(key).or_default() += *counters;
            }
        }
        lines
    }
}
