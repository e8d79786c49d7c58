//! Groups the findings of a launch, so that one bug is one finding. The checker adds occurrences;
//! when the launch ends, `machine` takes the groups for the report.
//!
//! Findings of one kind, on one line, in one allocation are one group; a race belongs to the line
//! of its write. A read of uninitialised memory is not reported if a race explains it.

use std::collections::{HashMap, HashSet};

use ptx::Space;

use super::checks::Checks;
use super::finding::{FindingKind, RaceScope};
use crate::address::BLOCK_WINDOW_BYTES;
use crate::instruction::InstructionInfo;
use crate::site::AccessAction;

/// The most groups that are kept. Further findings are only counted.
const LIMIT: usize = 100;

/// An instruction that a thread executed, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    /// Index of the PTX instruction in `Code::places`.
    pub place: u32,
    /// The block's number in the grid.
    pub block: u64,
    /// The thread's number in its block.
    pub thread: u32,
    /// What it did to memory.
    pub action: Option<AccessAction>,
}

/// One group.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub kind: FindingKind,
    pub first: Party,
    pub second: Option<Party>,
    pub count: u64,
}

/// What identifies a bug: the kind, the line and the allocation.
///
/// For a race, the line is the write's: reads that are too early and too late are missing the same
/// barrier. Between an atomic operation and a plain access, it is the plain one's.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    name: &'static str,
    line: u32,
    allocation: Option<u64>,
}

/// All groups of a launch, in the order in which they were found.
#[derive(Default)]
pub(crate) struct Findings {
    /// For each place, the number of its line.
    lines: Vec<u32>,
    list: Vec<Found>,
    index: HashMap<Key, usize>,
    /// The group that was added to last: most often, the other lanes of the instruction are added
    /// next.
    last: Option<(Key, usize)>,
    /// Occurrences that belong to no group.
    beyond: u64,
    /// All occurrences.
    count: u64,
}

impl Findings {
    /// No findings. Places on one line of the source, or of the PTX if that names no source, count
    /// as one.
    pub fn new(places: &[InstructionInfo]) -> Self {
        let mut numbers = HashMap::new();
        let lines = places.iter().map(|place| {
            let next = numbers.len() as u32;
            let ptx_line = if place.source.is_some() { 0 } else { place.ptx_line };
            *numbers.entry((place.source.as_ref(), ptx_line)).or_insert(next)
        });
        Self { lines: lines.collect(), ..Self::default() }
    }

    fn line(&self, party: &Party) -> u32 {
        self.lines.get(party.place as usize).copied().unwrap_or(u32::MAX)
    }

    /// How often anything has been found.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds one occurrence.
    #[cold]
    pub fn add(&mut self, kind: FindingKind, first: Party, second: Option<Party>) {
        let (name, party) = match (&kind, &second) {
            (
                FindingKind::Race { conflict, .. }
                | FindingKind::PendingCopy(conflict)
                | FindingKind::PendingProduct(conflict)
                | FindingKind::WrittenTexture(conflict)
                | FindingKind::WrittenReadOnly(conflict),
                Some(second),
            ) => ("race", writer(&first, second, conflict.actions)),
            (
                FindingKind::MissingProxyFence(conflict) | FindingKind::MissingTensorMapFence { conflict, .. },
                Some(second),
            ) => (kind.name(), writer(&first, second, conflict.actions)),
            _ => (kind.name(), first),
        };
        let line = self.line(&party);
        let allocation = allocation(&kind);
        let key = Key { name, line, allocation };
        self.count += 1;
        let known = self.last.filter(|(last, _)| *last == key).map(|(_, at)| at);
        if let Some(at) = known.or_else(|| self.index.get(&key).copied()) {
            self.last = Some((key, at));
            let found = &mut self.list[at];
            found.count += 1;
            // The fix for the higher kind fixes the lower ones, too: what orders blocks also orders
            // warps, a thread that waits for a copy is ordered with it, and read-only data must not
            // be written at all.
            if rank(&kind) > rank(&found.kind) {
                *found = Found { kind, first, second, count: found.count };
            }
        } else if self.list.len() < LIMIT {
            self.index.insert(key, self.list.len());
            self.list.push(Found { kind, first, second, count: 1 });
        } else {
            self.beyond += 1;
        }
    }

    /// The groups, and how many occurrences belong to none of them. Reads of uninitialised memory
    /// that a race explains are dropped.
    pub fn into_parts(mut self) -> (Vec<Found>, u64) {
        let races: HashSet<(u32, Option<u64>)> = self
            .list
            .iter()
            .filter(|found| found.kind.check() == Checks::NAMES[2])
            .flat_map(|found| [Some(found.first), found.second].into_iter().flatten().map(move |party| (found, party)))
            .map(|(found, party)| (self.line(&party), allocation(&found.kind)))
            .collect();
        let mut list = std::mem::take(&mut self.list);
        list.retain(|found| {
            !matches!(found.kind, FindingKind::Unwritten { .. })
                || !races.contains(&(self.line(&found.first), allocation(&found.kind)))
        });
        (list, self.beyond)
    }
}

/// The allocation that a finding is about. The shared memory of all blocks of a cluster is one.
fn allocation(kind: &FindingKind) -> Option<u64> {
    let address = kind.allocation().map(|allocation| allocation.address);
    match kind.space() {
        Some(Space::Shared | Space::ClusterShared) => address.map(|address| address % BLOCK_WINDOW_BYTES),
        _ => address,
    }
}

/// The rank of a kind: if a bug shows up as several kinds, the highest is reported.
fn rank(kind: &FindingKind) -> u32 {
    match *kind {
        FindingKind::Race { scope: RaceScope::Block, .. } => 1,
        FindingKind::Race { scope: RaceScope::Grid, .. } => 2,
        FindingKind::PendingCopy(_) | FindingKind::PendingProduct(_) => 3,
        FindingKind::WrittenTexture(_) | FindingKind::WrittenReadOnly(_) => 4,
        _ => 0,
    }
}

/// The party of a race that is blamed.
fn writer(first: &Party, second: &Party, actions: [AccessAction; 2]) -> Party {
    use AccessAction::{Atomic, Read, Write};
    match actions {
        [Read, Write] | [Atomic, Write | Read] => *second,
        [Write, Write] if second.place < first.place => *second,
        _ => *first,
    }
}
